"""Bounds on one answer: the same failure however it is cut, and no more text read for a call than it may have."""

from __future__ import annotations

import pytest

from tests import sampling
from toolfmt.dialect import Dialect, Limits, ParserOptions
from toolfmt.events import CallEnd, CallFailed, Event, TextDelta, coalesce
from toolfmt.model import ToolDefinition, ToolInvocation

DIALECTS = sampling.dialects()


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name)
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    return request.param


def offered(dialect: Dialect[str]) -> dict[str, ToolDefinition]:
    """The tool, for formats in which nothing else tells a call."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = ToolDefinition(name="f", parameters=schema)
    return {"f": tool} if dialect.traits.needs_tools else {}


def calls(dialect: Dialect[str], *arguments: str) -> str:
    return "\n".join(
        dialect.calls([ToolInvocation(name="f", arguments={"a": text})], offered(dialect)) for text in arguments
    )


def read(dialect: Dialect[str], text: str, size: int, limits: Limits) -> list[Event]:
    options = ParserOptions(tools=offered(dialect), limits=limits)
    parser = dialect.open_parser(options)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return coalesce([*events, *parser.close()])


@pytest.mark.parametrize("size", [1, 7, 64, 10**9])
def test_a_call_too_long_fails_alike_however_it_is_cut(dialect: Dialect[str], size: int) -> None:
    text = calls(dialect, "x" * 2000, "short")
    limits = Limits(call_chars=500)
    events = read(dialect, text, size, limits)
    assert events == read(dialect, text, 10**9, limits)
    failed = [event for event in events if isinstance(event, CallFailed)]
    assert failed[0].reason == "limit"
    assert len(failed[0].raw) <= 2500
    whole = [event.call.arguments for event in events if isinstance(event, CallEnd)]
    if not dialect.traits.stops:
        assert whole == [{"a": "short"}]


@pytest.mark.parametrize("size", [1, 7, 10**9])
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("dialect", [one for one in DIALECTS if one.traits.parallel], ids=lambda one: one.name)
def test_calls_past_their_number_are_refused_once(dialect: Dialect[str], size: int, most: int) -> None:
    three = [ToolInvocation(name="f", arguments={"a": f"number {number}"}) for number in range(3)]
    events = read(dialect, dialect.calls(three, offered(dialect)), size, Limits(calls=most))
    assert sum(isinstance(event, CallEnd) for event in events) == most
    assert [event.reason for event in events if isinstance(event, CallFailed)] == ["limit"]


def test_as_many_calls_as_allowed_are_no_failure(dialect: Dialect[str]) -> None:
    events = read(dialect, calls(dialect, "one") + "\nafter", 5, Limits(calls=1))
    assert not [event for event in events if isinstance(event, CallFailed)]
    assert sum(isinstance(event, CallEnd) for event in events) == 1
    if not dialect.traits.stops:
        assert [event.text.strip() for event in events if isinstance(event, TextDelta)] == ["after"]
