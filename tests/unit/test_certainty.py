"""How certain the reading of a call is: exact, with a slip that has one reading, or guessed."""

from __future__ import annotations

import pytest

import toolfmt
from toolfmt.events import CallEnd

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
