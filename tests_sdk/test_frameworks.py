"""The conversations that toolfmt writes, loaded by the frameworks whose formats they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import given, settings
from langchain_core.messages import messages_from_dict
from particular_conversations import TRAITS
from pydantic_ai.messages import ModelMessagesTypeAdapter
from sources import CASES, SOURCES, converted, speaks, written

from toolfmt import check
from toolfmt.conversation import Transcript
from toolfmt.transcripts.formats import find


def pydantic_ai(value: Any) -> None:
    """Load messages; what they say is what was written."""
    loaded = ModelMessagesTypeAdapter.validate_json(json.dumps(value))
    dumped = ModelMessagesTypeAdapter.dump_python(loaded, mode="json")
    assert [item["kind"] for item in dumped] == [item["kind"] for item in value]
    for item, wrote in zip(dumped, value, strict=True):
        assert [part["part_kind"] for part in item["parts"]] == [part["part_kind"] for part in wrote["parts"]]


def langchain(value: Any) -> None:
    """Load messages, and read their blocks by the framework's own reader."""
    loaded = messages_from_dict(value)
    assert [message.type for message in loaded] == [item["type"] for item in value]
    for message in loaded:
        _ = message.content_blocks


JUDGES: dict[str, Callable[[Any], None]] = {"pydantic-ai": pydantic_ai, "langchain": langchain}
every_target = pytest.mark.parametrize("target", JUDGES)


def judge(value: Any, source: str, target: str) -> None:
    if source != target and not check(value, format=source) and speaks(value, source):
        made = converted(value, source, target)
        if made is not None:
            JUDGES[target](json.loads(json.dumps(made)))


@every_target
@pytest.mark.parametrize("title", [*BY_HAND, *TRAITS])
def test_conversations_are_loaded(target: str, title: str) -> None:
    for source in SOURCES:
        judge(written((BY_HAND | TRAITS)[title], source.name), source.name, target)


@every_target
@settings(max_examples=10)
@given(drawn=transcripts())
def test_drawn_conversations_are_loaded(target: str, drawn: Transcript) -> None:
    for source in SOURCES:
        judge(written(drawn, source.name), source.name, target)


@every_target
@pytest.mark.skipif(not CASES.is_file(), reason="there is no ../shared")
def test_cases_are_loaded(target: str) -> None:
    for case in map(json.loads, CASES.read_text("utf-8").splitlines()):
        judge(case["request"], find(case["fmt"]).name, target)
