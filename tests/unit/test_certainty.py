"""How certain the reading of a call is: exact, with a slip that has one reading, or guessed."""

from __future__ import annotations

import json

import pytest

import toolfmt
from toolfmt.agents import AgentState
from toolfmt.conversation import CallPart
from toolfmt.events import CallEnd, CallFailed
from toolfmt.transcripts.answering.answer_message import answer_message

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
HERMES = '<tool_call>{"name": "f", "arguments": %s}</tool_call>'
ITEMS = '<tool name="f"><arguments>%s</arguments></tool>'
CASES = [
    ("hermes", HERMES % '{"a": "x"}', "exact"),
    ("hermes", HERMES % '{"a": "x",}', "tolerated"),
    ("hermes", HERMES.removesuffix("</tool_call>") % '{"a": "x"}', "tolerated"),
    ("hermes", "<think>Perhaps " + HERMES % '{"a": "x"}', "guessed"),
    ("hermes", "<think>So.</think>" + HERMES % '{"a": "x"}', "exact"),
    ("xml-items", ITEMS % '<arg name="a">x</arg>', "exact"),
    ("xml-items", ITEMS % '<arg name="a">x </arg> y</arg>', "guessed"),
    ("xml-items", ITEMS % '<arg name="a">x</arg><arg name="a">x</arg>', "tolerated"),
    (
        "hermes",
        "<tool_call>\n```json\n" + '{"name": "f", "arguments": {"a": "x"}}' + "\n```\n</tool_call>",
        "tolerated",
    ),
    ("pythonic", '[f(a="x")]', "exact"),
    ("pythonic", '[f(a="say "x" now")]', "guessed"),
]


@pytest.mark.parametrize(("dialect", "answer", "certainty"), CASES)
def test_a_call_says_how_certain_its_reading_was(dialect: str, answer: str, certainty: str) -> None:
    (call,) = toolfmt.parse(answer, dialect=dialect, tools=TOOLS).calls
    assert call.certainty == certainty
    events = toolfmt.parse_stream(iter(answer), dialect=dialect, tools=TOOLS)
    assert [event.call for event in events if isinstance(event, CallEnd)] == [call]


def test_every_call_after_reasoning_that_was_not_closed_is_guessed() -> None:
    answer = "<think>Perhaps " + HERMES % '{"a": "x"}' + HERMES % '{"a": "y"}'
    assert [call.certainty for call in toolfmt.parse(answer, dialect="hermes").calls] == ["guessed"] * 2


def test_a_slip_of_one_call_is_none_of_the_next() -> None:
    answer = HERMES % '{"a": "x",}' + HERMES % '{"a": "y"}'
    assert [call.certainty for call in toolfmt.parse(answer, dialect="hermes").calls] == ["tolerated", "exact"]


def test_a_mended_call_is_guessed() -> None:
    (call,) = toolfmt.parse(HERMES % '{a: "x"}', dialect="hermes", repair=True).calls
    assert call.certainty == "guessed"


@pytest.mark.parametrize(("dialect", "answer", "certainty"), CASES)
def test_the_parts_of_an_answer_keep_how_certain_its_calls_are(dialect: str, answer: str, certainty: str) -> None:
    result = toolfmt.parse(answer, dialect=dialect, tools=TOOLS)
    state = AgentState.of("f!").with_messages(answer_message(result.events))
    (stored,) = AgentState.from_json(json.loads(json.dumps(state.to_json()))).messages[1:]
    for parts in (result.parts, stored.parts):
        (made,) = [part.invocation for part in parts if isinstance(part, CallPart)]
        assert (made.certainty, made.provenance) == (certainty, result.calls[0].provenance)


def test_the_part_of_a_failed_call_is_guessed() -> None:
    failed = CallFailed(0, '{"a": "x"}', "truncated", "it was cut off", (0, 10), "f")
    (part,) = answer_message([failed]).parts
    assert isinstance(part, CallPart)
    assert part.invocation.certainty == "guessed"
