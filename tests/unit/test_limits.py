"""Bounds on one answer: the same failure however it is cut, and no more text read for a call than it may have."""

from __future__ import annotations

import pytest

from tests import sampling
from toolfmt.dialect.record import Dialect, Limits, ParserOptions
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, Event, TextDelta, coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolDefinition, ToolInvocation

DIALECTS = sampling.kinds()


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


PARALLEL = [one for one in DIALECTS if one.traits.parallel]


def outcome(events: list[Event]) -> list[str]:
    """What became of each call, in order."""
    return [
        "call" if isinstance(event, CallEnd) else event.reason
        for event in events
        if isinstance(event, CallEnd | CallFailed)
    ]


def settled(events: list[Event]) -> list[Event]:
    """All but the arguments of calls that failed: how much of them was out before the limit is up to the pieces."""
    whole = {event.index for event in events if isinstance(event, CallEnd)}
    return [event for event in events if not isinstance(event, ArgumentsDelta) or event.index in whole]


def test_the_last_length_that_is_read_is_the_same_however_it_is_cut(dialect: Dialect[str]) -> None:
    text = calls(dialect, "x" * 60)
    whole = [outcome(read(dialect, text, 10**9, Limits(call_chars=longest))) for longest in range(20, len(text) + 2)]
    assert whole[-1] == ["call"]
    assert whole[0] in (["limit"], [])  # without a marker, what is too long is text
    first = whole.index(["call"])
    assert whole[first:] == [["call"]] * len(whole[first:])
    for longest in (20, *range(20 + first - 2, 20 + first + 2)):
        for size in (1, 7, 64):
            limits = Limits(call_chars=longest)
            pieces, at_once = read(dialect, text, size, limits), read(dialect, text, 10**9, limits)
            assert settled(pieces) == settled(at_once), (size, longest)


@pytest.mark.parametrize("size", [1, 50, 10**9])
@pytest.mark.parametrize("dialect", PARALLEL, ids=lambda one: one.name)
def test_calls_are_measured_each_and_not_together(dialect: Dialect[str], size: int) -> None:
    three = [ToolInvocation(name="f", arguments={"a": letter * 200}) for letter in "abc"]
    events = read(dialect, dialect.calls(three, offered(dialect)), size, Limits(call_chars=500))
    assert outcome(events) == ["call"] * 3


@pytest.mark.parametrize("size", [1, 50, 10**9])
@pytest.mark.parametrize("dialect", PARALLEL, ids=lambda one: one.name)
def test_of_several_calls_the_long_one_fails(dialect: Dialect[str], size: int) -> None:
    three = [ToolInvocation(name="f", arguments={"a": text}) for text in ("one", "x" * 2000, "three")]
    limits = Limits(call_chars=500)
    text = dialect.calls(three, offered(dialect))
    found = outcome(read(dialect, text, size, limits))
    assert found[:2] == ["call", "limit"]
    assert read(dialect, text, size, limits) == read(dialect, text, 10**9, limits)


@pytest.mark.parametrize("name", ["hermes", "granite3", "command-r-plus", "xml-items", "qwen3-coder"])
@pytest.mark.parametrize("size", [1, 7, 10**9])
def test_a_call_that_was_looked_at_before_it_is_read_is_measured_too(name: str, size: int) -> None:
    """In reasoning that nobody closes, the whole text is there when the call turns out to be real."""
    dialect = default_registry().dialect(name)
    text = f"<think>Hm. {calls(dialect, 'x' * 2000)}"
    events = read(dialect, text, size, Limits(call_chars=500))
    assert "call" not in outcome(events)
    assert "limit" in outcome(events)
