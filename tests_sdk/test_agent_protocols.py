"""The conversations that toolfmt writes, loaded by the protocols between agents whose messages they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import BY_HAND, transcripts
from hypothesis import given, settings
from sources import SOURCES, speaks, written
from traits import TRAITS

from toolfmt import check, convert
from toolfmt.conversation import Transcript

core = pytest.importorskip("ag_ui.core")


def judge(value: Any, source: str) -> None:
    """Load a run's input; none of its fields is one that the protocol does not know."""
    if source == "ag-ui" or check(value, format=source) or not speaks(value, source):
        return
    made = json.loads(json.dumps(convert(value, source=source, target="ag-ui").value))
    loaded = core.RunAgentInput.model_validate({"threadId": "t", "runId": "r", **made})
    assert [message.role for message in loaded.messages] == [message["role"] for message in made["messages"]]
    for message in loaded.messages:
        assert not message.model_extra
        for call in getattr(message, "tool_calls", None) or ():
            assert not call.model_extra
    assert len({message.id for message in loaded.messages}) == len(loaded.messages)
    assert [tool.name for tool in loaded.tools or ()] == [tool["name"] for tool in made.get("tools", ())]


@pytest.mark.parametrize("title", [*BY_HAND, *TRAITS])
def test_conversations_are_loaded(title: str) -> None:
    for source in SOURCES:
        judge(written((BY_HAND | TRAITS)[title], source.name), source.name)


@settings(max_examples=10)
@given(drawn=transcripts())
def test_drawn_conversations_are_loaded(drawn: Transcript) -> None:
    for source in SOURCES:
        judge(written(drawn, source.name), source.name)
