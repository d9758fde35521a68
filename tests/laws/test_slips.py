"""A slip ends where it is: no wrong call comes of it, and nothing around it is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt.dialect.record import Dialect
from toolfmt.events import CallEnd, CallFailed, Notice, TextDelta
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.workshop.testing import laws

DIALECTS = {dialect.name: dialect for dialect in default_registry() if dialect.syntax is not None}
ARGUMENTS = (
    {"query": "alpha one"},
    {"query": "alpha one", "limit": 30},
    {"query": "alpha one", "where": "beta two"},
    {"query": "alpha one", "tags": ["x1", "x2"], "where": {"country": "de"}},
)
BRACKETS = ("')'", "']'", "'}'")
OTHERS = ("hermes", "qwen3-coder", "xml-items", "olmo3")
"""Formats that are quoted in each other's answers."""


def _calls(dialect: Dialect[str], arguments: Mapping[str, Any]) -> list[ToolInvocation]:
    second = {"body": "gamma three", "copies": 2}
    return [slips.call(dialect, "look_up", dict(arguments)), slips.call(dialect, "send_mail", second)]


def _tools(calls: list[ToolInvocation]) -> list[ToolDefinition]:
    return [slips.tool(call.name, call.arguments) for call in calls]


TESTED = sampling.kinds()
PARALLEL = [dialect for dialect in TESTED if dialect.traits.parallel]


@pytest.mark.parametrize("dialect", PARALLEL, ids=lambda dialect: dialect.name)
def test_a_call_without_its_closer_takes_nothing_from_the_next(dialect: Dialect[str]) -> None:
    for arguments in ARGUMENTS:
        calls = _calls(dialect, arguments)
        text = slips.written(dialect, calls)
        assert text
        untyped = laws.calls(dialect, text)
        typed = [call.arguments for call in untyped] == [call.arguments for call in calls]
        for slip in slips.without_closers(dialect, *calls):
            slips.closer_left_out(dialect, slip.text, calls, _tools(calls))
            if typed or not slip.what.startswith(BRACKETS):  # untyped, "[1" may be meant as text
                slips.no_wrong_call(dialect, slip.text, untyped)


@pytest.mark.parametrize("dialect", TESTED, ids=lambda dialect: dialect.name)
def test_what_was_quoted_never_runs(dialect: Dialect[str]) -> None:
    for number, name in enumerate(dict.fromkeys([dialect.name, *OTHERS])):
        inner = slips.written(DIALECTS[name], [slips.call(DIALECTS[name], "remove", {"path": "/"})])
        arguments = {"text": f"{slips.FIRST}{inner}{slips.LAST}", "mode": "w"}
        outer = slips.call(dialect, "write", dict(list(arguments.items())[: 1 + number % 2]))
        text = slips.written(dialect, [outer])
        if text is None:
            continue
        tools = [*_tools([outer]), slips.tool("remove", {"path": "/"})]
        cuts = range(number, len(text), 7 if number else 2)
        for slip in [*slips.quoting(dialect, outer), *(slips.Slip(text[:at], "a cut") for at in cuts)]:
            slips.no_wrong_call(dialect, slip.text, [outer], tools if number % 3 else ())


@pytest.mark.parametrize("dialect", TESTED, ids=lambda dialect: dialect.name)
def test_every_beginning_of_an_answer_is_cut_off_and_no_more(dialect: Dialect[str]) -> None:
    calls = _calls(dialect, ARGUMENTS[-1])
    text = slips.written(dialect, calls) or slips.written(dialect, calls[:1])
    assert text is not None
    text, opening = slips.in_prose(dialect, text), slips.opening(dialect, calls[0])
    for at in sampling.share(range(len(text) + 1), TESTED.index(dialect), 7):
        slips.beginning(dialect, text, at, opening, _tools(calls))
        if at % 5 == 0 and not dialect.traits.needs_tools:
            slips.beginning(dialect, text, at, opening)


def _told(text: str) -> tuple[list[tuple[str, object]], list[str], str, list[str]]:
    events = laws.read(DIALECTS["hermes"], [text])
    assert laws.read(DIALECTS["hermes"], text) == events
    return (
        [(event.call.name, event.call.arguments) for event in events if isinstance(event, CallEnd)],
        [event.reason for event in events if isinstance(event, CallFailed)],
        "".join(event.text for event in events if isinstance(event, TextDelta)),
        [event.kind for event in events if isinstance(event, Notice)],
    )


def _tagged(text: str) -> str:
    return f"<tool_call>\n{text}\n</tool_call>"


REMOVE = _tagged('{"name": "rm", "arguments": {"p": "/"}}')


@pytest.mark.parametrize("quoted", [f"x {REMOVE}", f'5" x {REMOVE} {REMOVE}', f'"{REMOVE}', f'a "b" {REMOVE}'])
@pytest.mark.parametrize("end", ['"}}\n</tool_call>', ""])
def test_a_quotation_without_escapes_is_part_of_the_failure(quoted: str, end: str) -> None:
    calls, failures, text, _ = _told(f'Hi.<tool_call>\n{{"name": "w", "arguments": {{"text": "{quoted} y{end}')
    assert (calls, text) == ([], "Hi.")
    assert failures in (["malformed"], ["truncated"])


def test_a_fence_inside_the_markers_is_read_over() -> None:
    calls, failures, text, notices = _told("Hi." + _tagged('```json\n{"name": "f", "arguments": {"a": "```"}}\n```'))
    assert (calls, failures, text) == ([("f", {"a": "```"})], [], "Hi.")
    assert notices == ["code_fence", "code_fence"]


def test_a_marker_in_backticks_is_text() -> None:
    said = "Open it with `<tool_call>` and close it with `</tool_call>` please."
    assert _told(said) == ([], [], said, [])


def test_a_brace_is_missing_where_one_reading_is_left() -> None:
    call = '{"name": "f", "arguments": {"a": {"b": 1}}'
    assert _told(_tagged(call)) == ([("f", {"a": {"b": 1}})], [], "", ["missing_close"])
    assert _told(_tagged('{"name": "f", "arguments": {"a": {"b": 1, "c": 2}}'))[:2] == ([], ["malformed"])
    assert _told(_tagged('{"name": "f", "arguments": {"a": "b"'))[:2] == ([], ["malformed"])
