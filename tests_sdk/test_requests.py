"""The conversations that toolfmt writes, judged by the types of the providers' SDKs, whatever format they come from."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import given, settings
from judges import JUDGES
from particular_conversations import TRAITS
from pydantic import ValidationError
from sources import CASES, SOURCES, converted, speaks, written

from toolfmt import check, convert_request
from toolfmt.conversation import Transcript
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.settings.tables import TABLES

every_target = pytest.mark.parametrize("target", JUDGES)


def judge(value: Any, source: str, target: str) -> None:
    """Convert what its provider would accept, and ask the other's SDK."""
    if not check(value, format=source) and speaks(value, source):
        made = value if source == target else converted(value, source, target)
        if made is not None:
            JUDGES[target](made)


@every_target
@pytest.mark.parametrize("title", BY_HAND)
def test_conversations_written_by_hand_are_accepted(target: str, title: str) -> None:
    for source in SOURCES:
        judge(written(BY_HAND[title], source.name), source.name, target)


@every_target
@pytest.mark.parametrize("title", TRAITS)
def test_what_few_formats_share_is_accepted(target: str, title: str) -> None:
    for source in SOURCES:
        judge(written(TRAITS[title], source.name), source.name, target)


@every_target
@settings(max_examples=15)
@given(drawn=transcripts())
def test_drawn_conversations_are_accepted(target: str, drawn: Transcript) -> None:
    for source in SOURCES:
        judge(written(drawn, source.name), source.name, target)


@every_target
@pytest.mark.skipif(not CASES.is_file(), reason="there is no ../shared")
def test_cases_are_accepted(target: str) -> None:
    for case in map(json.loads, CASES.read_text("utf-8").splitlines()):
        source = find(case["fmt"]).name
        if source != target:  # a case may hold what only servers know, and stays as it is
            judge(case["request"], source, target)


@every_target
def test_what_an_sdk_does_not_know_is_refused(target: str) -> None:
    value = written(BY_HAND["one call"], target)
    messages = value if isinstance(value, list) else next(item for item in value.values() if isinstance(item, list))
    for message in messages:
        message["colour"] = "red"
        with pytest.raises((ValidationError, AssertionError)):
            JUDGES[target](value)
        del message["colour"]
    JUDGES[target](value)


RECORDED = Path(__file__).resolve().parents[2] / "shared" / "transcripts" / "recorded.jsonl.gz"
GIVEN = {"model": "m", "max_tokens": 4096}
SETTINGS: dict[str, Any] = {
    **GIVEN,
    "temperature": 1.2,
    "top_p": 0.9,
    "top_k": 7,
    "seed": 3,
    "stop": ["END", " "],
    "n": 2,
    "frequency_penalty": -1,
    "presence_penalty": 1.5,
    "logprobs": True,
    "top_logprobs": 3,
    "effort": "high",
    "budget": 2048,
    "thinks": True,
    "thoughts": "auto",
    "user": "u1",
    "metadata": {"a": "b"},
    "service_tier": "flex",
    "store": False,
    "verbosity": "low",
    "cache_key": "k",
    "format": {"type": "schema", "name": "city", "schema": {"type": "object", "properties": {}}, "strict": True},
}


@pytest.mark.parametrize("target", TABLES)
@pytest.mark.parametrize("name", [name for name in SETTINGS if name not in GIVEN])
def test_each_setting_is_accepted(target: str, name: str) -> None:
    value = {"messages": [{"role": "user", "content": "Hi"}]}
    given = {**GIVEN, name: SETTINGS[name]}
    JUDGES[target](convert_request(value, source="openai-chat", target=target, settings=given).value)


@pytest.mark.parametrize("target", TABLES)
def test_all_settings_together_are_accepted(target: str) -> None:
    value = {"messages": [{"role": "user", "content": "Hi"}]}
    JUDGES[target](convert_request(value, source="openai-chat", target=target, settings=SETTINGS).value)


@pytest.mark.parametrize("target", TABLES)
@pytest.mark.skipif(not RECORDED.is_file(), reason="there is no ../shared")
def test_recorded_requests_are_accepted(target: str) -> None:
    refused: dict[str, str] = {}
    for row in map(json.loads, gzip.decompress(RECORDED.read_bytes()).splitlines()):
        if row["status"] != 200 or row["fmt"] == target:
            continue
        made = convert_request(
            row["request"], source=row["fmt"], target=target, settings={"stream": False, "model": "m"}, defaults=GIVEN
        )
        try:
            JUDGES[target](made.value)
        except (ValidationError, AssertionError) as error:
            refused[row["id"]] = str(error)[:600]
    assert not refused, (len(refused), list(refused.items())[:3])
