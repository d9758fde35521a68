"""Calls without a marker: when they are released as text, and what belongs to them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import toolfmt
from toolfmt.dialect.record import Parser, ParserOptions
from toolfmt.events import CallEnd, CallFailed, Event, TextDelta
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop.testing import laws

if TYPE_CHECKING:
    from collections.abc import Callable

TOOLS = [toolfmt.tool({"name": name, "parameters": {"type": "object"}}) for name in ("f", "g")]
CALL = '{"name": "f", "arguments": {"a": 1}}'


def opened(name: str, *, offered: bool) -> Parser[str]:
    tools = {tool.name: tool for tool in TOOLS} if offered else {}
    return default_registry().dialect(name).open_parser(ParserOptions(tools=tools))


def shown(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("dialect", "offered", "held", "telling"),
    [
        pytest.param("openai-json", True, '{"name": "Alice', '"', id="a name that is not offered"),
        pytest.param("openai-json", False, '{"name": "Alice", "age"', ":1", id="a flat call with another key"),
        pytest.param("openai-json", True, '{"type": "object', '"', id="another constant"),
        pytest.param("default-json", True, '{"tool": "hammer', '"', id="no place left for a name"),
        pytest.param("step-json", True, '{"why"', ":1", id="a key that a closed shape does not name"),
        pytest.param("react", False, '{"answers"', ":1", id="no tools and a key of no call"),
        pytest.param("gemini-json", True, '{"\\u006eame"', ":1", id="an escaped key"),
    ],
)
def test_what_can_be_no_call_is_text_at_once(dialect: str, offered: bool, held: str, telling: str) -> None:  # noqa: FBT001
    parser = opened(dialect, offered=offered)
    assert shown(parser.feed(held)) == ""
    reported = shown(parser.feed(telling + ","))
    assert f"{held}{telling},".startswith(reported)
    assert len(reported) >= len(held)
    rest = f'"k": {{"call": {CALL}, "calls": [{CALL}, {CALL}]}}, "l": {CALL}'
    events = [*parser.feed(rest), *parser.close()]
    assert reported + shown(events) == f"{held}{telling},{rest}"


@pytest.mark.parametrize("text", [CALL, '{"role": "x", "tool_calls": [' + CALL])
def test_what_may_still_be_a_call_is_held(text: str) -> None:
    for at in range(1, len(text)):
        assert shown(opened("openai-json", offered=False).feed(text[:at])) == ""


@pytest.mark.parametrize(
    "keys", [("name", "arguments", "id"), ("id", "arguments", "name"), ("arguments", "name", "id")]
)
def test_keys_may_come_in_any_order(keys: tuple[str, ...]) -> None:
    values = {"name": "f", "arguments": {"a": [1, {"b": None}]}, "id": "7"}
    text = json.dumps({key: values[key] for key in keys})
    for dialect in ("openai-json", "xlam", "llama3-json"):
        (call,) = toolfmt.parse(text, dialect=dialect, tools=TOOLS).calls
        assert (call.name, call.arguments, call.id) == ("f", {"a": [1, {"b": None}]}, "7")


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "f", "arguments": [1]}\n```',
        '```\n[{"name": "f", "arguments": {"x": NaN}}, ' + CALL + "]\n``` tail",
        f'so {{"tool_calls": [{CALL}, 1, {{"name": "f", "arguments": "{{"}}]}}',
        f'[{CALL}, {{"name": "f", "arg',
        f"[{CALL}, {{oops, [{CALL}",
        '{"name": "f", "arguments": {oops} and no end',
    ],
)
def test_a_failure_quotes_its_span(text: str) -> None:
    for tools in ([], TOOLS):
        events = laws.read(default_registry().dialect("openai-json"), [text], tools)
        failures = [event for event in events if isinstance(event, CallFailed)]
        assert failures
        for failure in failures:
            assert failure.raw == text[slice(*failure.span)]
        laws.lossless(default_registry().dialect("openai-json"), text, tools)


def test_what_closes_a_list_or_a_fence_belongs_to_the_last_call() -> None:
    for text in (f"[{CALL}]", f"```json\n[{CALL}, ]\n```", f'{{"tool_calls": [{CALL}]}}', f"```\n{CALL}\n```"):
        (end,) = (event for event in toolfmt.parse_stream([text], dialect="openai-json") if isinstance(event, CallEnd))
        assert end.span == (0, len(text))


def test_a_call_that_stands_alone_is_reported_once_nothing_of_it_can_follow() -> None:
    for after in ("\nD", ' {"name": "f", "arguments": {', " Done.\n"):
        parser = opened("openai-json", offered=True)
        assert not [event for event in parser.feed(CALL) if isinstance(event, CallEnd)]
        assert [event for event in parser.feed(after) if isinstance(event, CallEnd)], after


@pytest.mark.parametrize("after", [' x", "b": 2}}', '}}, x"}', ', "b": 2}', ' "b": 2}'])
@pytest.mark.parametrize("before", ["", "["])
def test_the_rest_of_a_call_makes_it_a_failure(before: str, after: str) -> None:
    for cut in (1, len(CALL)):
        text = f"{before}{CALL}{after}"
        events = [
            *toolfmt.parse_stream([text[at : at + cut] for at in range(0, len(text), cut)], dialect="openai-json")
        ]
        assert {event.reason for event in events if isinstance(event, CallFailed)} == {"malformed"}, text
        assert not [event for event in events if isinstance(event, CallEnd)], text


@pytest.mark.parametrize("text", ["", " ", "{}", "{'a': 1}", '{"a": 1,}', "{/* c */}", "[]", "{", "1", "{} {}", "NaN"])
def test_arguments_in_a_string_are_an_object_or_a_failure(text: str) -> None:
    result = toolfmt.parse(f"<tool_call>{json.dumps({'name': 'f', 'arguments': text})}</tool_call>", dialect="hermes")
    if "{" in text and text not in {"{", "{} {}"}:
        assert [call.arguments for call in result.calls] == [{"a": 1} if "a" in text else {}]
    elif not text.strip():
        assert [call.arguments for call in result.calls] == [{}]
    else:
        assert not result.calls
        assert len(result.failures) == 1


@pytest.mark.parametrize(
    ("dialect", "trap"),
    [
        ("openai-json", '{"role": "assistant", "tool_calls": [' + CALL + "]}"),
        ("openai-json", "[1, " + CALL + "]"),
        ("openai-json", '{ /* c */ "name": "f", "arguments": {"a": 1}}'),
        ("gemini-json", '{"a": {"name": "x"}, "args": {}, "name": "f"}'),
        ("react", '{"x": 1, "thought": "t"}'),
        ("react", '{"a": {"tool": "f", "args": {}}, "tool": "f", "args": {}}'),
        ("step-json", '{"agent": "a", "tool": {"name": "f", "arguments": {}}}'),
    ],
)
def test_results_hold_no_call_in_any_order_of_keys(dialect: str, trap: str) -> None:
    chosen = default_registry().dialect(dialect)
    for content in (trap, f"x {trap} {trap} y", f'{{"k": 1}} {trap}', f"{trap[:-1]} {trap}"):
        laws.harmless(chosen, [toolfmt.ToolResult(name="f", content=content)], TOOLS)
        laws.harmless(chosen, [toolfmt.ToolResult(name="f", content=content)])


class Losing:
    """A parser that loses what `lose` says."""

    def __init__(self, parser: Parser[str], lose: Callable[[Event], Event | None]) -> None:
        self._parser = parser
        self._lose = lose

    def feed(self, chunk: str) -> list[Event]:
        return [kept for event in self._parser.feed(chunk) if (kept := self._lose(event))]

    def close(self) -> list[Event]:
        return [kept for event in self._parser.close() if (kept := self._lose(event))]


@pytest.mark.parametrize("lost", ["]", ",", "}", "[note]", "<b>", "`", "Final Answer:", ";"])
def test_the_law_sees_every_character_that_is_lost(lost: str) -> None:
    def lose(event: Event) -> Event | None:
        return None if isinstance(event, TextDelta) and event.start < len(lost) else event

    dialect = default_registry().dialect("openai-json")
    losing = replace(dialect, open_parser=lambda options: Losing(dialect.open_parser(options), lose))
    text = f"{lost} {CALL}"
    laws.lossless(dialect, text)
    with pytest.raises(AssertionError, match="lost"):
        laws.lossless(losing, text)


def test_the_law_sees_a_failure_that_quotes_something_else() -> None:
    def shorten(event: Event) -> Event:
        return replace(event, raw=event.raw[1:]) if isinstance(event, CallFailed) else event

    dialect = default_registry().dialect("openai-json")
    losing = replace(dialect, open_parser=lambda options: Losing(dialect.open_parser(options), shorten))
    with pytest.raises(AssertionError, match="does not stand"):
        laws.lossless(losing, '{"name": "f", "arguments": [1]}')
