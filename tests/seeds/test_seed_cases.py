"""The recorded cases of five earlier systems: all pass but the listed deviations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import toolfmt
from tests.seeds.seed_cases import DIALECTS, Case, listed, load, offered
from tests.seeds.test_transcript_cases import CHECKS
from toolfmt import jsontext
from toolfmt.conversation import ReasoningPart, TextPart
from toolfmt.events import CallEnd, CallFailed, CallStart, TextDelta, coalesce
from toolfmt.formatters.syntax_calls import content_text
from toolfmt.ids import hashed
from toolfmt.parsers.reading.leaks import drop_leaks

CASES = load()
DEVIATIONS = listed("deviations.toml")
LATER = listed("later.toml")
READ = [
    case
    for case in CASES
    if case.format in DIALECTS and case.policy is None and case.id not in DEVIATIONS and case.id not in LATER
]

pytestmark = pytest.mark.skipif(not CASES, reason="there is no ../shared")


def read(case: Case, chunks: list[str]) -> toolfmt.ParseResult:
    dialect = DIALECTS[case.format]
    tools = offered(case)
    events = list(
        toolfmt.parse_stream(
            chunks,
            dialect=dialect,
            tools=tools,
            validate=case.format == "react-decision",
            ids=hashed() if case.expect.get("calls") and "call_" in str(case.expect) else None,
        )
    )
    return toolfmt.ParseResult(tuple(coalesce(events)), dialect)


def same_calls(_: Case, result: toolfmt.ParseResult, expected: list[dict[str, Any]]) -> None:
    assert [call.name for call in result.calls] == [call["name"] for call in expected]
    for call, wanted in zip(result.calls, expected, strict=True):
        assert jsontext.equal(call.arguments, wanted["arguments"]), call.arguments
        for key in ("id", "server", "agent"):
            if key in wanted:
                assert getattr(call, key) == wanted[key]


def same_text(case: Case, result: toolfmt.ParseResult, wanted: str) -> None:
    trims = case.format.startswith("forge") and case.format != "forge-stream-raw"
    assert (result.text.strip() if trims else result.text) == wanted


def same_reasoning(_: Case, result: toolfmt.ParseResult, wanted: str | list[str]) -> None:
    blocks = [part.text for part in result.parts if isinstance(part, ReasoningPart) and part.text.strip()]
    assert ("".join(blocks) if isinstance(wanted, str) else blocks) == wanted


def fails(_: Case, result: toolfmt.ParseResult, wanted: str) -> None:
    assert result.failures or wanted == "no_tool_call"


def same_bodies(case: Case, result: toolfmt.ParseResult, wanted: list[str]) -> None:
    ended = [event for event in result.events if isinstance(event, (CallEnd, CallFailed))]
    bodies = [case.text[event.span[0] : event.span[1]] for event in ended]
    assert [re.sub(r"^<tool>|</tool>$", "", body).strip() for body in bodies] == wanted


def same_results(_: Case, result: toolfmt.ParseResult, wanted: list[Any]) -> None:
    (block,) = [notice for notice in result.notices if notice.kind == "hidden_block"]
    assert jsontext.equal(jsontext.loads(block.detail.strip()), wanted)


def same_name(_: Case, result: toolfmt.ParseResult, wanted: str) -> None:
    assert "".join(event.name for event in result.events if isinstance(event, CallStart)) == wanted


def same_surroundings(case: Case, result: toolfmt.ParseResult, before: str) -> None:
    texts = [part.text.strip() for part in result.parts if isinstance(part, TextPart) and part.text.strip()]
    assert texts == [text for text in (before, case.expect["after"]) if text]


def discards_the_rest(case: Case, result: toolfmt.ParseResult, _: object) -> None:
    again = read(case, [case.text, "and so on"])
    assert again.text == result.text
    assert [notice.kind for notice in again.notices][-1] == "after_end"


COMPARED: dict[str, Callable[[Case, toolfmt.ParseResult, Any], None]] = {
    "calls": same_calls,
    "text": same_text,
    "answer": same_text,
    "thinking": same_reasoning,
    "error": fails,
    "raw": same_bodies,
    "results": same_results,
    "tool_name": same_name,
    "before": same_surroundings,
    "after": lambda *_: None,  # compared with what is before
    "stop": discards_the_rest,
    "end": discards_the_rest,
}
"""How each key of an expectation is compared; a key that is not here is an error."""


def check(case: Case) -> None:
    result = read(case, [case.text])
    for chunks in (case.chunks, list(case.text)):
        assert read(case, chunks).events == result.events
    for key, wanted in case.expect.items():
        COMPARED[key](case, result, wanted)


@pytest.mark.parametrize("case", READ, ids=lambda case: case.id)
def test_an_answer_is_read_as_recorded(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.id in DEVIATIONS and case.format in DIALECTS], ids=lambda case: case.id
)
def test_a_deviation_still_deviates(case: Case) -> None:
    with pytest.raises(AssertionError):
        check(case)


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "call-object"], ids=lambda case: case.id)
def test_a_stored_call_is_strict_json(case: Case) -> None:
    try:
        value = jsontext.loads(case.text)
    except toolfmt.ParseError:
        assert case.expect == {"calls": [], "error": "invalid_json"}
        return
    text = f"<execute>[{jsontext.dumps({'args': {}, **value})}]</execute>"
    same_calls(case, toolfmt.parse(text, dialect="execute-array"), case.expect["calls"])


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "result-text"], ids=lambda case: case.id)
def test_a_result_is_shown_as_text(case: Case) -> None:
    if "value" in case.input:
        shown = content_text(case.input["value"])
        same = shown == case.expect["text"] or jsontext.equal(
            jsontext.loads(shown), jsontext.loads(case.expect["text"])
        )
        assert same
    else:
        result = toolfmt.ToolResult(name="f", content=case.input["error"], is_error=True)
        assert case.input["error"] in toolfmt.render_results([result], dialect="react")
        assert "ERROR" in toolfmt.render_results([result], dialect="react")


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "stepn-result"], ids=lambda case: case.id)
def test_a_step_result_is_wrapped(case: Case) -> None:
    result = toolfmt.ToolResult(name=case.input["tool"], content=case.input["output"])
    shown = toolfmt.render_results([result], dialect="step-json")
    assert jsontext.equal(jsontext.loads(shown), jsontext.loads(case.expect["text"]))


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "args-leak"], ids=lambda case: case.id)
def test_an_echo_of_the_arguments_is_a_leak(case: Case) -> None:
    call = toolfmt.ToolInvocation(name="f", arguments=case.input["arguments"])
    said = TextDelta(case.input["content"], 0)
    assert (said not in drop_leaks([said], [call])) is case.expect["leak"]


@pytest.mark.parametrize("case", [case for case in CASES if case.format == "arguments-text"], ids=lambda case: case.id)
def test_slips_in_arguments_are_tolerated_and_what_is_cut_off_is_not_completed(case: Case) -> None:
    text = f'{{"name": "f", "arguments": {case.text}' + "}" * case.text.endswith("}")
    result = toolfmt.parse(text, dialect="openai-json", repair=True)
    if case.id in DEVIATIONS:
        assert (result.calls, [failure.reason for failure in result.failures]) == ((), ["truncated"])
    else:
        assert jsontext.equal(result.calls[0].arguments, case.expect["arguments"])
        assert {notice.kind for notice in result.notices} == {"repaired_json"}


TESTED = {
    *DIALECTS,
    "call-object",
    "result-text",
    "stepn-result",
    "args-leak",
    "arguments-text",
    "executor",  # in tests/seeds/test_executor_cases.py, with the policies of single cases
    "stepn-order",
    *CHECKS,  # in tests/seeds/test_transcript_cases.py
}


def test_every_case_has_its_place() -> None:
    """Each of the 383 cases passes, deviates for a reason, or waits for a capability that is named."""
    waiting = [case for case in CASES if case.format not in TESTED and case.id not in LATER]
    formats = Counter(case.format for case in waiting)
    assert formats == {name: int(entry["cases"]) for name, entry in LATER.items() if "cases" in entry}
    assert len(CASES) == 383
    known = {case.id for case in CASES}
    assert set(DEVIATIONS) <= known
    assert {name for name, entry in LATER.items() if "cases" not in entry} <= known
