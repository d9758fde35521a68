"""A call that is written otherwise than its format writes it is tolerated, with a notice."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import Notice, parse, parse_stream, read_answer
from toolfmt.correcting import feedback, no_call_feedback
from toolfmt.events import coalesce

ONE = '{"name": "f", "arguments": {"a": 1}}'
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (ONE, ""),
        ('{"arguments": {"a": 1}, "name": "f"}', ""),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "repaired_json"),
        (f"[{ONE}]", "loose_form"),
        (f"{ONE}\n{ONE}", "loose_form"),
        ('{"name": "f", "args": {"a": 1}}', "alias_used"),
        ('{"name": "f", "parameters": {"a": 1}}', "alias_used"),
        ('{"function": {"name": "f", "arguments": {"a": 1}}}', "alias_used"),
    ],
)
def test_hermes(body: str, kind: str) -> None:
    text = f"<tool_call>\n{body}\n</tool_call>"
    result = parse(text, dialect="hermes", tools=[TOOL])
    assert {(call.name, str(call.arguments)) for call in result.calls} == {("f", "{'a': 1}")}
    assert {call.certainty for call in result.calls} == {"tolerated" if kind else "exact"}
    assert {notice.kind for notice in result.notices} == ({kind} if kind else set[str]())
    assert tuple(coalesce(list(parse_stream(iter(text), dialect="hermes", tools=[TOOL])))) == result.events


def test_spellings_of_the_format_itself_are_exact() -> None:
    text = '{"type": "function", "function": {"name": "f", "arguments": "{\\"a\\": 1}"}}'
    (call,) = parse(text, dialect="openai-json", tools=[TOOL]).calls
    assert (call.arguments, call.certainty) == ({"a": 1}, "exact")
    (call,) = parse(ONE, dialect="llama3-json", tools=[TOOL]).calls
    assert call.certainty == "exact"


@pytest.mark.parametrize("given", [{"arguments": None}, {"arguments": ""}, {}, {"arguments": "{}"}])
def test_an_api_call_without_arguments(given: dict[str, Any]) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", **given}}
    result = read_answer({"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]})
    missing = not given.get("arguments")
    assert (result.calls[0].arguments, result.calls[0].certainty) == ({}, "tolerated" if missing else "exact")
    assert [notice.kind for notice in result.notices] == ["defaulted"] * missing


@pytest.mark.parametrize("text", ["Write <tool_call> to call a tool.", "Write <tool_call> first."])
def test_a_marker_in_a_sentence_is_text(text: str) -> None:
    result = parse(text, dialect="hermes", tools=[TOOL])
    assert (result.text, result.failures, [one.kind for one in result.notices]) == (text, (), ["quoted_call"])
    assert tuple(coalesce(list(parse_stream(iter(text), dialect="hermes", tools=[TOOL])))) == result.events


@pytest.mark.parametrize("rest", ["", "\n", " {", ' {"na', " f with a", " f", " [", "\nThen more."])
def test_a_cut_or_damaged_call_in_a_sentence_is_a_failure(rest: str) -> None:
    assert parse(f"Now <tool_call>{rest}", dialect="hermes", tools=[TOOL]).failures


def test_feedback_names_the_misspelt_marker() -> None:
    text = f"<toolcall>{ONE}</toolcall>"
    (notice,) = parse(text, dialect="hermes", tools=[TOOL]).notices
    for message in (
        feedback(notice, tools=[TOOL], dialect="hermes"),
        no_call_feedback(text, tools=[TOOL], dialect="hermes"),
    ):
        assert "write <tool_call> instead of '<toolcall>'" in message
    with pytest.raises(TypeError, match="nothing to correct"):
        feedback(Notice("missing_close", "", (0, 0)), dialect="hermes")


def test_feedback_names_the_notation() -> None:
    text = "<tool_call>\n{'name': 'f', 'arguments': {'a': 'it's done'}}\n</tool_call>"
    assert "double quotes" in feedback(parse(text, dialect="hermes", tools=[TOOL]).failures[0], tools=[TOOL])
    text = '<tool name="f">{"a": 1}</tool>'
    message = feedback(parse(text, dialect="xml-items", tools=[TOOL]).failures[0], tools=[TOOL])
    assert "not as JSON" in message
    assert "&lt;" not in message
