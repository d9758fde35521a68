"""Under `auto`, a call in a second format is reported, and one that another format's call quotes is a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse, parse_stream
from toolfmt.events import CallEnd, coalesce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt import ParseResult
    from toolfmt.dialect.record import Dialect

DIALECTS = sampling.dialects()
WRITE, RM = {"path": "a.txt", "text": "x"}, {"p": "/"}
TOOLS = [slips.tool("write", WRITE), slips.tool("rm", RM)]
UNSEEN = {"muse", "inkling", "qwen25-coder"}
"""Headers that detection knows at the beginning of an answer alone, and what definitions of tools look like too."""


def read(text: str) -> ParseResult:
    result = parse(text, dialect="auto", tools=TOOLS)
    assert tuple(coalesce(list(parse_stream(iter(text), dialect="auto", tools=TOOLS)))) == result.events
    return result


def quoting(dialect: Dialect[str]) -> Iterator[tuple[str, str]]:
    """Another format's name and its call of `rm`."""
    for other in sampling.partners(dialect, DIALECTS):
        text = slips.written(other, [slips.call(other, "rm", RM)])
        assert text is not None
        yield other.name, text.strip()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_in_a_second_format_is_reported(dialect: Dialect[str]) -> None:
    first = slips.written(dialect, [slips.call(dialect, "write", WRITE)])
    assert first is not None
    for name, second in quoting(dialect):
        result = read(f"{first.rstrip()}\n\nAnd then:\n\n{second}")
        called = [call.name for call in result.calls]
        notices = [notice for notice in result.notices if notice.kind != "dialect_detected"]
        if not UNSEEN & {name, dialect.name}:
            assert called == ["write", "rm"] or result.failures or notices, result
        assert "rm" not in called or not result.failures


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_that_a_value_quotes_is_no_second_one(dialect: Dialect[str]) -> None:
    for _, quoted in quoting(dialect):
        arguments = WRITE | {"text": f"see\n{quoted}\nend"}
        text = slips.written(dialect, [slips.call(dialect, "write", arguments)])
        if text is None or dialect.name in UNSEEN:
            continue
        result = read(text)
        assert [call.name for call in result.calls] == ["write"]
        assert (jsontext.equal(result.calls[0].arguments, arguments), result.failures) == (True, ())


@pytest.mark.parametrize(
    ("before", "calls"),
    [
        ("<tol_call>write<arg_key>text</arg_key><arg_value>I call ", 0),
        ("<tol_call>write\n<parameter=text>\nI call ", 0),
        ("<wrte><text>I call ", 0),
        ("<wrte><text>I call <text>x</text> ", 0),
        ("Write <text> here, and then\n", 1),
        ("<text>x</text>\n", 1),
        ("<b>x</b>\n<i>", 1),
    ],
)
def test_what_a_value_of_an_unknown_call_quotes_never_runs(before: str, calls: int) -> None:
    result = read(f'{before}[TOOL_CALLS]rm[ARGS]{{"p": "/"}}')
    assert len(result.calls) == calls


def test_a_second_format_that_is_only_shown_is_text() -> None:
    call = '<tool_call>\n{"name": "rm", "arguments": {"p": "/"}}\n</tool_call>'
    shown = f"{call}\nIn the other format it is `[TOOL_CALLS]rm[ARGS]{{}}`.\n> <function=rm>{{}}</function>"
    result = read(shown)
    assert ([one.name for one in result.calls], result.failures) == (["rm"], ())


def test_a_marker_that_is_left_out_of_the_text_begins_a_call_in_a_second_format() -> None:
    call = '{"name": "rm", "parameters": {"p": "/"}}'
    (failure,) = read(f'{call}\nOk:\n<|python_tag|>rm.call(p="/")').failures
    assert failure.raw == '<|python_tag|>rm.call(p="/")'
    shown = read(f"{call}\nIt was written after\n<|python_tag|>as rm.call is.")
    assert (shown.text, shown.failures) == ("\nIt was written after\nas rm.call is.", ())


def test_the_failure_is_the_text_of_the_call() -> None:
    text = '<tool_call>\n{"name": "rm", "arguments": {"p": "/"}}\n</tool_call>\nOk:\n[TOOL_CALLS]rm[ARGS]{"p": "/"}\n'
    result = read(text)
    (failure,) = result.failures
    assert (failure.reason, failure.index, failure.raw) == ("unread_call", 1, '[TOOL_CALLS]rm[ARGS]{"p": "/"}')
    assert text[slice(*failure.span)] == failure.raw
    assert [event for event in result.events if isinstance(event, CallEnd)]
