"""The conversations that toolfmt writes, loaded by the protocols between agents whose messages they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import given, settings
from particular_conversations import TRAITS
from sources import SOURCES, converted, speaks, written

from toolfmt import check
from toolfmt.conversation import Transcript


def judge_ag_ui(made: Any) -> None:
    """Load a run's input; none of its fields is one that the protocol does not know."""
    core = pytest.importorskip("ag_ui.core")
    loaded = core.RunAgentInput.model_validate({"threadId": "t", "runId": "r", **made})
    assert [message.role for message in loaded.messages] == [message["role"] for message in made["messages"]]
    for message in loaded.messages:
        assert not message.model_extra
        for call in getattr(message, "tool_calls", None) or ():
            assert not call.model_extra
    assert len({message.id for message in loaded.messages}) == len(loaded.messages)
    assert [tool.name for tool in loaded.tools or ()] == [tool["name"] for tool in made.get("tools", ())]


def judge_a2a(made: Any) -> None:
    """Load messages, whose fields the protocol all knows; each has an id of its own."""
    types, json_format = pytest.importorskip("a2a.types"), pytest.importorskip("google.protobuf.json_format")
    loaded = [json_format.ParseDict(message, types.Message()) for message in made]
    assert [len(message.parts) for message in loaded] == [len(message["parts"]) for message in made]
    assert all(part.WhichOneof("content") for message in loaded for part in message.parts)
    assert len({message.message_id for message in loaded}) == len(loaded)


def judge_acp(made: Any) -> None:
    """Load notifications, as a client of the protocol does."""
    schema = pytest.importorskip("acp.schema")
    for line in made:
        loaded = schema.SessionNotification.model_validate(line["params"])
        written = loaded.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert written == line["params"]


JUDGES = {"ag-ui": judge_ag_ui, "a2a": judge_a2a, "acp": judge_acp}


def judge(value: Any, source: str, target: str) -> None:
    if source != target and not check(value, format=source) and speaks(value, source):
        made = converted(value, source, target)
        if made is not None:
            JUDGES[target](json.loads(json.dumps(made)))


@pytest.mark.parametrize("target", JUDGES)
@pytest.mark.parametrize("title", [*BY_HAND, *TRAITS])
def test_conversations_are_loaded(title: str, target: str) -> None:
    for source in SOURCES:
        judge(written((BY_HAND | TRAITS)[title], source.name), source.name, target)


@pytest.mark.parametrize("target", JUDGES)
@settings(max_examples=10)
@given(drawn=transcripts())
def test_drawn_conversations_are_loaded(drawn: Transcript, target: str) -> None:
    for source in SOURCES:
        judge(written(drawn, source.name), source.name, target)
