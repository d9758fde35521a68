"""A back's key in its own answer: however it is cut and escaped, no client reads it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, ReasoningDelta, TextDelta
from toolfmt.gateway.concealing import MARK, Concealer
from toolfmt.model import ToolInvocation

KEY = 'sk-sk-"0123456789/sk'
SAID = f"The key sk- is {KEY}{KEY}, not {KEY[:9]} or {KEY[1:]}."
HIDDEN = SAID.replace(KEY, MARK)


def concealed(events: Iterable[Event], key: str = KEY) -> list[Event]:
    async def batches() -> AsyncIterator[list[Event]]:
        for event in events:
            yield [event]

    async def read() -> list[Event]:
        return [event async for batch in Concealer(key).batches(batches()) for event in batch]

    return joined(asyncio.run(read()))


def joined(events: Iterable[Event]) -> list[Event]:
    """Join what clients join: neighbours of a kind."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        match last, event:
            case (TextDelta(text, _), TextDelta(more, _)) | (ReasoningDelta(text, _), ReasoningDelta(more, _)):
                found[-1] = type(event)(text + more, 0)
            case ArgumentsDelta(index, text), ArgumentsDelta(_, more):
                found[-1] = ArgumentsDelta(index, text + more)
            case _:
                found.append(event)
    return found


def pieces(text: str, cuts: Iterable[int]) -> list[str]:
    return [text[start:end] for start, end in pairwise([0, *sorted(cuts), len(text)])]


CUTS = st.lists(st.integers(0, len(SAID)), max_size=9)


@given(CUTS)
def test_a_key_is_found_in_any_pieces_of_a_text(cuts: list[int]) -> None:
    for kind in (TextDelta, ReasoningDelta):
        (event,) = concealed(kind(piece, 0) for piece in pieces(SAID, cuts))
        assert event == kind(HIDDEN, 0)


@given(CUTS)
def test_a_key_is_found_in_any_pieces_of_a_call(cuts: list[int]) -> None:
    text, call = json.dumps({"a": SAID}), ToolInvocation(name="look", arguments={"a": SAID}, raw_arguments=SAID)
    made = [ArgumentsDelta(0, piece) for piece in pieces(text, cuts)]
    _, deltas, end = concealed([CallStart(0, "look", None), *made, CallEnd(0, call, (0, 0))])
    assert isinstance(deltas, ArgumentsDelta)
    assert isinstance(end, CallEnd)
    assert json.loads(deltas.json) == end.call.arguments == {"a": HIDDEN}


def test_single_letters_come_out_unless_they_are_most_of_a_key() -> None:
    assert concealed([TextDelta(one, 0) for one in "say: sk-"]) == [TextDelta("say: sk-", 0)]
    assert concealed([TextDelta(one, 0) for one in f"say: {KEY[:-1]}"]) == [TextDelta(f"say: {MARK}", 0)]


def test_texts_that_are_not_joined_are_not_searched_together() -> None:
    events: list[Event] = [TextDelta(KEY[:4], 0), ReasoningDelta(KEY[4:8], 0), TextDelta(KEY[8:], 0)]
    assert concealed(events) == events


def test_a_failed_call_is_searched_too() -> None:
    failed = CallFailed(0, json.dumps({"a": KEY}), "malformed", "no call", (0, 0))
    assert concealed([failed]) == [CallFailed(0, json.dumps({"a": MARK}), "malformed", "no call", (0, 0))]


@pytest.mark.parametrize("escaped", [json.dumps(KEY), json.dumps(KEY).replace("/", r"\/").replace("-", r"\u002D")])
def test_a_key_is_found_however_json_escapes_it(escaped: str) -> None:
    assert json.loads(Concealer(KEY).json(escaped.encode())) == MARK


@pytest.mark.parametrize(
    ("key", "hidden"), [("hunter2-prod", True), ("not-needed", False), ("none", False), ("", False)]
)
def test_a_short_key_is_hidden_unless_it_is_a_word(key: str, hidden: bool) -> None:  # noqa: FBT001 - a parameter
    text = f"The key is {key}."
    assert (Concealer(key).json(text.encode()) != text.encode()) is hidden
    assert (concealed([TextDelta(text, 0)], key) != [TextDelta(text, 0)]) is hidden
