"""JSON calls whose brace comes before all of their members: they fail, and run in no part."""

from __future__ import annotations

import pytest

import toolfmt
from toolfmt.events import coalesce
from toolfmt.workshop.testing.slips import tool

TOOLS = [tool("write", {"path": "a", "count": 1}), tool("move", {"path": "a"})]
NEXT = {"path": "b.txt"}
HERMES = "<tool_call>\n{}\n</tool_call>\n"
LISTS = {"mistral-v3": "[TOOL_CALLS][{}, {}]", "granite3": "<|tool_call|>[{}, {}]"}
KIMI = "<|tool_call_begin|>functions.{}:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
EARLY = (
    '{"name": "write"} "arguments": {"path": "a.txt", "count": 3}}',
    '{"name": "write", }arguments": {"path": "a.txt", "count": 3}}',
    '{"name": "write"}, "arguments": {"path": "a.txt"}}',
    '{"name": "write", "arguments": {"path": "a"}} x": 1, "count": 3}}',
)
BROKEN = '{"name": "write", "arguments": {"path": "a"}]) b", "count": 3}}'
"""Its quotes are in doubt, so that what follows may be quoted."""
ARGUMENTS = ('{}path": "a.txt"}', '{"path": "a.txt"}, "count": 3}', '{"path": "a"}]) b", "count": 3}')


def read(dialect: str, text: str) -> toolfmt.ParseResult:
    """Read it whole, and make sure that the cuts change nothing."""
    result = toolfmt.parse(text, dialect=dialect, tools=TOOLS)
    streamed = toolfmt.parse_stream(text, dialect=dialect, tools=TOOLS)
    assert tuple(coalesce(list(streamed))) == result.events
    assert result.failures
    return result


@pytest.mark.parametrize("early", EARLY)
def test_text_before_the_closer_is_a_part_of_the_call(early: str) -> None:
    text = HERMES.format(early) + HERMES.format('{"name": "move", "arguments": {"path": "b.txt"}}')
    assert [(call.name, call.arguments) for call in read("hermes", text).calls] == [("move", NEXT)]


@pytest.mark.parametrize("early", ARGUMENTS)
def test_text_before_the_closer_is_a_part_of_the_arguments(early: str) -> None:
    calls = KIMI.format("write", early) + KIMI.format("move", '{"path": "b.txt"}')
    text = f"<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>"
    assert [(call.name, call.arguments) for call in read("kimi-k2", text).calls] == [("move", NEXT)]


@pytest.mark.parametrize("dialect", LISTS)
@pytest.mark.parametrize("early", [*(each for each in EARLY if '"},' not in each), BROKEN])
def test_an_element_of_a_list_runs_in_no_part(dialect: str, early: str) -> None:
    text = LISTS[dialect].format(early, '{"name": "move", "arguments": {"path": "b.txt"}}')
    assert not [call for call in read(dialect, text).calls if call.name == "write"]


def test_words_before_the_closer_are_text() -> None:
    text = '<tool_call>{"name": "move", "arguments": {"path": "b.txt"}} and that is all.</tool_call>'
    result = toolfmt.parse(text, dialect="hermes", tools=TOOLS)
    assert [call.arguments for call in result.calls] == [NEXT]


@pytest.mark.parametrize(
    ("escape", "value"), [("it\\'s", "it's"), ("a\\d", "a\\d"), ("a\\'' b", None), ("\\u00", None)]
)
def test_an_escape_that_json_lacks_has_one_meaning_or_none(escape: str, value: str | None) -> None:
    text = '<tool_call>{"name": "move", "arguments": {"path": "' + escape + '"}}</tool_call>'
    result = toolfmt.parse(text, dialect="hermes", tools=TOOLS)
    assert [call.arguments["path"] for call in result.calls] == ([] if value is None else [value])
