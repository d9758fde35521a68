"""Broken, hostile and huge input: no exception, no hang, and no call that was not written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import pytest

from bench.traps import offers, prefixes, sample
from tests import sampling
from toolfmt import jsontext
from toolfmt.events import CallEnd, CallFailed
from toolfmt.workshop.testing import laws

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect
    from toolfmt.events import Event
    from toolfmt.model import ToolInvocation


T = TypeVar("T")
UNITS = {
    "tool": "<tool",
    "brace": "{",
    "bracket": "[x ",
    "key": '{"a":',
    "arg": '<arg name="',
    "item": "<item>",
    "segment": "[[SEG_START ",
    "action": "Action: ",
    "execute": "<execute>",
    "bad-arguments": '{"name": "x", "arguments": {bad',
    "bad-args": '{"name": "x", "args": {bad',
    "tool-name": "<tool><tool_name>x</tool_name>",
    "ampersand": "&",
    "comment": "<!--",
    "cdata": "<![CDATA[",
    "blanks": "{" + " " * 1000,
    "string": '{"a": "x',
    "quote": '"',
    "digit": "9",
    "backslash": "\\",
    "surrogate": "\ud800",
    "nul": "\x00",
    "doctype": "<!DOCTYPE x [<!ENTITY a '&a;&a;'>",
    "entity": "&a;&#xD800;&#0;",
}
NESTED = {
    "arrays": ("[", "]"),
    "objects": ('{"a":', "}"),
    "elements": ("<a>", "</a>"),
    "items": ("<item>", "</item>"),
    "args": ('<arg name="a">', "</arg>"),
    "tools": ('<tool name="f">', "</tool>"),
}
HOSTILE = {
    "NaN": "NaN",
    "Infinity": "-Infinity",
    "overflow": "1e999",
    "digits": "9" * 5_000,
    "surrogate": '"\ud800"',
    "escaped-surrogate": '"\\ud800"',
    "nul": '"\x00"',
    "doctype": "\"<!DOCTYPE a SYSTEM 'file:///etc/passwd'>&a;\"",
    "bomb": "\"<!DOCTYPE a [<!ENTITY x 'lol'><!ENTITY y '&x;&x;&x;&x;'>]>&y;&y;\"",
    "reference": '"&#xD800;&#0;&#x110000;&#99999999999999999999;"',
}
AT_FULL_SIZE = {dialect.name for dialect in sampling.bodies()}
"""A dialect of each kind of reader; with `--all` the others are tested too, with a tenth of the text."""
DIALECTS = sampling.kinds() if sampling.everything else sampling.bodies()
REFUSED = {"malformed", "unsafe", "limit"}


@pytest.fixture(params=DIALECTS, ids=lambda dialect: dialect.name, scope="module")
def dialect(request: pytest.FixtureRequest) -> Dialect[str]:
    return request.param


def size(dialect: Dialect[str]) -> int:
    """How many characters of nothing it is given."""
    most = 200_000 if sampling.everything else 4_000  # `bench.growth` looks at how time grows
    return most if dialect.name in AT_FULL_SIZE else most // 10


def calls(events: list[Event]) -> list[ToolInvocation]:
    return [event.call for event in events if isinstance(event, CallEnd)]


def places(dialect: Dialect[str]) -> tuple[str, ...]:
    """Where a trap may stand: in prose, where a value is due, and in a string."""
    string = sample(dialect).partition("HOLE")[0]
    return tuple(dict.fromkeys(("", string.removesuffix('"'), string)))


def checked(dialect: Dialect[str], text: str, offer: str = "") -> list[Event]:
    """Read a text whole; what is read can be written as JSON, names as well as arguments."""
    offer = offer or ("fitting" if dialect.traits.needs_tools else "none")
    events = laws.read(dialect, [text], offers()[offer])
    laws.ordered(events)
    for call in calls(events):
        assert call.name in text
        jsontext.dumps(call.name)
        jsontext.dumps(call.arguments)
    return events


def offer_turns(items: Sequence[T], offer: str, first: int = 0) -> Sequence[T]:
    """The items of one offer of tools: without `--all` the offers take turns."""
    order = sorted(offers())
    return sampling.share(items, order.index(offer) + first, len(order))


def dialect_turns(dialect: Dialect[str], items: Sequence[T], turn: int = 0) -> Sequence[T]:
    """A third of the items: the dialects take turns."""
    return sampling.share(items, turn + DIALECTS.index(dialect), 3)


@pytest.mark.parametrize("offer", sorted(offers()))
def test_a_call_that_is_cut_anywhere_is_no_call(dialect: Dialect[str], offer: str) -> None:
    for count in (1, 2):
        text = sample(dialect, count if dialect.traits.parallel else 1)
        ends = offer_turns(range(len(text) + 1), offer)
        laws.truncated(dialect, text, ends, offers()[offer])
        for at in ends:
            checked(dialect, text[:at], offer)
            laws.lossless(dialect, text[:at], offers()[offer])


@pytest.mark.parametrize("offer", sorted(offers()))
def test_missing_doubled_and_wrong_marks_make_no_call_of_their_own(dialect: Dialect[str], offer: str) -> None:
    text = sample(dialect)
    marks = [match.span() for match in re.finditer(r"</?\w+|>|\[\[|\]\]|[\[\]{}:,\"]|\w+:?", text)]
    for start, end in sampling.share(marks, DIALECTS.index(dialect), 2):
        mark = text[start:end]
        others = ["", mark * 2, f"{mark}x", mark[::-1], "</x>", "<x>", "}", "{", '"', "\x00", "\ud800", "\ud800\udc00"]
        for other in offer_turns(others, offer, start):
            broken = text[:start] + other + text[end:]
            found = calls(checked(dialect, broken, offer))
            assert len(found) <= 1
            laws.chunking(dialect, broken, range(len(broken)), offers()[offer])
            laws.lossless(dialect, broken, offers()[offer])


@pytest.mark.parametrize("kind", UNITS)
def test_much_of_nothing_is_no_call_and_in_pieces_the_same(dialect: Dialect[str], kind: str) -> None:
    unit = UNITS[kind]
    for place in places(dialect):
        assert not calls(checked(dialect, place + unit * (size(dialect) // len(unit))))
    length = 1_000 if sampling.everything and dialect.name in AT_FULL_SIZE else 250
    for place in dialect_turns(dialect, prefixes(dialect), list(UNITS).index(kind)):
        text = place + unit * (length // len(unit) + 1)
        laws.chunking(dialect, text, range(0, len(text), 7))
    for place in places(dialect):
        text = place + unit * (size(dialect) // 50 // len(unit))
        laws.chunking(dialect, text, range(len(text)))


@pytest.mark.parametrize(("opener", "closer"), NESTED.values(), ids=NESTED.keys())
def test_a_hundred_thousand_levels_are_no_call(dialect: Dialect[str], opener: str, closer: str) -> None:
    levels = size(dialect) // 2
    deep = opener * levels
    for place in places(dialect):
        assert not calls(checked(dialect, place + deep))
        closed = deep + "0" + closer * levels
        for call in calls(checked(dialect, place + closed + sample(dialect).partition("HOLE")[2])):
            assert call.name == "f"


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_value_that_json_cannot_hold_is_refused_or_text(dialect: Dialect[str], kind: str) -> None:
    value = HOSTILE[kind]
    text = sample(dialect)
    is_json = '"HOLE"' in text
    text = text.replace('"HOLE"', value) if is_json else text.replace("HOLE", value.strip('"'))
    for offer, tools in offers().items():
        if dialect.traits.needs_tools and not tools:
            continue
        events = checked(dialect, text, offer)
        laws.chunking(dialect, text, range(len(text)), tools)
        laws.lossless(dialect, text, tools)
        if is_json and kind in {"NaN", "Infinity", "overflow", "digits", "surrogate", "escaped-surrogate"}:
            assert not calls(events)
            assert {event.reason for event in events if isinstance(event, CallFailed)} <= REFUSED
            assert any(isinstance(event, CallFailed) for event in events)
        for call in calls(events):
            held = call.arguments["s"]
            for piece in held if isinstance(held, list) else [held]:
                assert isinstance(piece, str)
                assert len(piece) <= len(value)


def test_a_key_that_is_given_twice_is_never_silent(dialect: Dialect[str]) -> None:
    text = re.sub(r'"s": "HOLE"', '"s": "HOLE", "s": 2', sample(dialect))
    events = checked(dialect, text)
    if text != sample(dialect):
        assert [event.reason for event in events if isinstance(event, CallFailed)] == ["duplicate_key"]
        assert not calls(events)


def test_a_lone_surrogate_anywhere_raises_nothing(dialect: Dialect[str]) -> None:
    text = sample(dialect)
    for at in dialect_turns(dialect, range(len(text) + 1)):
        for bad in ("\ud800", "\udfff\ud800"):
            broken = text[:at] + bad + text[at:]
            checked(dialect, broken)
            laws.chunking(dialect, broken, range(len(broken)))
