"""The whole answers that toolfmt writes, judged by the SDKs' types."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anthropic.types import Message
from botocore.session import Session
from botocore.validate import ParamValidator
from cohere.v2.types import V2ChatResponse
from google.genai.interactions import Interaction
from google.genai.types import GenerateContentResponse
from mistralai.client.models import ChatCompletionResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import BaseModel, TypeAdapter, ValidationError

from toolfmt import convert_answer
from toolfmt.transcripts.answering.failures import read_error

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "recorded.jsonl.gz"
TYPES: dict[str, Any] = {
    "anthropic": Message,
    "cohere": V2ChatResponse,
    "gemini": GenerateContentResponse,
    "gemini-interactions": Interaction,
    "mistral": ChatCompletionResponse,
    "ollama": ChatResponse,
    "openai-chat": ChatCompletion,
    "openai-responses": Response,
}
BESIDE = {"signature", "reasoning_content", "thinking_blocks", "extra_content", "cache_control", "object"}
"""What no SDK knows and servers send."""
_CONVERSE: Any = Session().get_service_model("bedrock-runtime").operation_model("Converse").output_shape


def unknown(value: object) -> set[str]:
    """Find what a type took without knowing it."""
    if isinstance(value, BaseModel):
        fields = [vars(value)[name] for name in type(value).model_fields if name in vars(value)]
        return set(value.model_extra or ()).union(*map(unknown, fields))
    return set[str]().union(*map(unknown, value)) if isinstance(value, list) else set()


def _typed(name: str) -> Callable[[Any], None]:
    read = TypeAdapter(TYPES[name]).validate_python

    def judge(value: Any) -> None:
        found = unknown(read(value)) - BESIDE
        assert not found, found

    return judge


def _converse(value: Any) -> None:
    errors = ParamValidator().validate(value, _CONVERSE)
    assert not errors.has_errors(), errors.generate_report()


JUDGES = {name: _typed(name) for name in TYPES} | {"bedrock": _converse}


@pytest.mark.parametrize("target", JUDGES)
@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
def test_recorded_answers_have_the_target_s_type(target: str) -> None:
    refused: dict[str, str] = {}
    for row in map(json.loads, gzip.decompress(RECORDED.read_bytes()).splitlines()):
        value = row["response"]
        if row["fmt"] == target or not isinstance(value, dict) or row["status"] != 200:
            continue
        if value.keys() & {"pathname", "input_tokens"}:
            continue
        made = convert_answer(value, source=row["fmt"], target=target, id="a", model="m", created=7)
        if value.get("status") in {"queued", "in_progress"}:  # there is nothing yet that a client could take
            assert value["status"] in read_error(made.value).message
            continue
        try:
            JUDGES[target](made.value)
        except (ValidationError, AssertionError) as error:
            refused[row["id"]] = str(error)[:500]
    assert not refused, (len(refused), list(refused.items())[:3])
