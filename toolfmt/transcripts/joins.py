r"""Texts of a conversation that are one text in another, with at most white space between them.

["Hi.", "Are you there?"]  ->  ["Hi.\n\nAre you there?"]: nothing is lost but where one ends
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import TextPart

if TYPE_CHECKING:
    from toolfmt.transcripts.flat import Place

SIDE: Final = {"system": "system", "developer": "system", "user": "user", "tool": "user", "assistant": "assistant"}
"""Whose side of the conversation each role is on."""
_NEAR: Final = 8
"""How many texts further on the first of those that were joined is looked for."""


def joined_texts(
    before: Sequence[Place], after: Sequence[Place]
) -> tuple[list[tuple[Place, Place]], Sequence[Place], Sequence[Place]]:
    """Pair each text that was joined with its part of the new one; give the places that are left of both."""
    olds, news = _apart(before, after), _apart(after, before)
    joined: list[tuple[Place, Place]] = []
    gone: set[int] = set()
    at = 0
    for place in news:
        for start in range(at, min(at + _NEAR, len(olds))):
            run = _run(olds, start, place)
            if not run:
                continue
            at = start + len(run)
            joined += ((old, replace(place, part=TextPart(_text(old)))) for old in run)
            gone.add(place.at)
            break
    if not joined:
        return [], before, after
    used = {old.at for old, _ in joined}
    return joined, _without(before, used), _without(after, gone)


def _apart(places: Sequence[Place], others: Sequence[Place]) -> list[Place]:
    """List the texts that the other conversation does not have."""
    known = {_said(place) for place in others}
    return [place for place in places if isinstance(place.part, TextPart) and _said(place) not in known]


def _said(place: Place) -> tuple[str, str]:
    return SIDE[place.role], _text(place)


def _text(place: Place) -> str:
    return place.part.text if isinstance(place.part, TextPart) else ""


def _run(olds: Sequence[Place], start: int, place: Place) -> list[Place]:
    """Give the texts from one on that make up another; none if they do not."""
    whole, end = _text(place), 0
    run: list[Place] = []
    for old in olds[start:]:
        text = _text(old)
        while run and not whole.startswith(text, end) and whole[end : end + 1].isspace():
            end += 1
        if SIDE[old.role] != SIDE[place.role] or not text or not whole.startswith(text, end):
            return []
        run.append(old)
        end += len(text)
        if end == len(whole):
            return run if isinstance(place.part, TextPart) and not place.part.citations else []
    return []


def _without(places: Sequence[Place], numbers: set[int]) -> list[Place]:
    return [place for place in places if place.at not in numbers]
