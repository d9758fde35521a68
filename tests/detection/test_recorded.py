"""Of recorded answers the right dialect is found, or one that reads the same calls."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

import pytest

import toolfmt
from tests.detection.recorded import Answer, cases, suite
from toolfmt.events import coalesce

OPEN = tomllib.loads((Path(__file__).parent / "open.toml").read_text("utf-8"))


@cache
def known() -> list[Answer]:
    return [*cases(), *cases(offered=False)]


@cache
def answers() -> list[Answer]:
    return [*known(), *suite()]


def test_the_calls_are_those_of_the_known_dialect() -> None:
    wrong = {one.id for one in answers() if not one.same_calls()}
    assert wrong == {id_ for id_ in OPEN if known() or id_ in {one.id for one in answers()}}
    assert len(wrong) <= 0.02 * len(answers())
    assert len(answers()) >= 469


@pytest.mark.parametrize(("size", "first"), [(1, 0), (4, 1), (7, 2)])
def test_cuts_change_nothing(size: int, first: int) -> None:
    for one in answers()[first::3]:
        text = one.text
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        events = coalesce(list(toolfmt.parse_stream(pieces, dialect="auto", **one.options)))
        assert tuple(events) == one.read("auto").events, one.id


def reported(answer: Answer, dialect: str) -> tuple[str, str, list[object]]:
    """Give what the answer holds: text and reasoning without the blank at their edges, calls and failures."""
    result = answer.read(dialect)
    ends = [event for event in result.events if isinstance(event, toolfmt.CallEnd | toolfmt.CallFailed)]
    return result.text.strip(), result.reasoning.strip(), [*ends]


def test_what_is_read_is_what_the_chosen_dialect_reads() -> None:
    for one in answers():
        chosen = one.read("auto").dialect
        if chosen:
            assert reported(one, "auto") == reported(one, chosen), one.id
