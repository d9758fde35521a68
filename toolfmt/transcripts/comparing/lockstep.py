r"""Matches two conversations: their common beginning, and texts that were joined in one of them.

["Hi.", "Are you there?"]  ->  ["Hi.\n\nAre you there?"]: nothing is lost but where one ends
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Final

from pydantic_core import to_json

from toolfmt.conversation import CallPart, Message, Part, ResultPart, TextPart
from toolfmt.model import JsonValue
from toolfmt.transcripts.comparing.linking import Place

_SIDE: Final = {"system": "system", "developer": "developer", "user": "user", "tool": "user", "assistant": "assistant"}
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_strict = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_spaced = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def common_prefix_length(before: Sequence[Message], after: Sequence[Message]) -> int | None:
    """Count the parts up to the first difference, whole turns only; None if there is no difference.

    Results in separate messages are equal to results in one message.
    """
    if len(before) == len(after) and all(map(_same_turn, before, after)):
        return None
    olds, news = _turns(before), _turns(after)
    same = sum(1 for _ in takewhile(bool, map(_same_turn, olds, news)))
    return None if same == len(olds) == len(news) else sum(len(old.parts) or 1 for old in olds[:same])


def _turns(messages: Sequence[Message]) -> list[Message]:
    """Join messages of results with each other and with the user's message after them."""
    if not any(message.parts and type(message.parts[0]) is ResultPart for message in messages):
        return list(messages)
    turns: list[Message] = []
    joined: list[Part] = []
    answers = False
    for message in messages:
        parts = message.parts
        if answers and parts and type(parts[0]) is ResultPart and not (message.extra or turns[-1].extra):
            joined = joined or [*turns[-1].parts]
            joined += parts
        else:
            if joined:
                turns[-1] = Message(turns[-1].role, tuple(joined))
                joined = []
            turns.append(message)
        answers = bool(parts) and type(parts[-1]) is ResultPart
    if joined:
        turns[-1] = Message(turns[-1].role, tuple(joined))
    return turns


def _same_turn(a: Message, b: Message) -> bool:
    if a is b:
        return True
    if (a.role != b.role and _SIDE[a.role] != _SIDE[b.role]) or a.name != b.name or a.extra != b.extra:
        return False
    return len(a.parts) == len(b.parts) and all(map(_same, a.parts, b.parts))


def _same(a: Part, b: Part) -> bool:
    if a is b:
        return True
    kind = type(a)
    if kind is not type(b):
        return False
    compare = _COMPARE.get(kind)
    return a == b if compare is None else compare(a, b)


def _text(a: TextPart, b: TextPart) -> bool:
    return a.text == b.text and a.citations == b.citations and a.extra == b.extra


def _call(a: CallPart, b: CallPart) -> bool:
    if a.id != b.id or a.name != b.name or a.custom or b.custom or a.extra != b.extra:
        return False
    if a.signature != b.signature or a.namespace != b.namespace:
        return False
    if a.text is not None and b.text is not None:
        return a.text == b.text
    try:
        return _same_arguments(a, b)
    except (RecursionError, ValueError):  # not writable: nested too deeply, NaN, or an integer of thousands of digits
        return False


def _same_arguments(a: CallPart, b: CallPart) -> bool:
    """Whether the arguments of two calls have the same text, whether kept or written."""
    text, value = (a.text, b.arguments) if a.text is not None else (b.text, a.arguments)
    if text is None:
        return a.arguments is b.arguments or _compact(a.arguments) == _compact(b.arguments)
    if '": ' in text:  # most likely spaced
        return text == _spaced(value) or text == _strict(value)
    return _is_compact(text, value) or text == _strict(value) or text == _spaced(value)


def _is_compact(text: str, value: JsonValue) -> bool:
    """Whether a text is a value's compact JSON, by the faster encoder where it agrees with `json`."""
    same = to_json(value) == text.encode()
    return same and _EXPONENT(text) is None and "NaN" not in text and "Infinity" not in text


_EXPONENT: Final = re.compile(r"[0-9][eE]").search


def _result(a: ResultPart, b: ResultPart) -> bool:
    return (
        a.id == b.id
        and a.id is not None
        and a.is_error == b.is_error
        and a.extra == b.extra
        and len(a.content) == len(b.content)
        and all(map(_same, a.content, b.content))
    )


_COMPARE: Final[dict[type, Callable[..., bool]]] = {TextPart: _text, CallPart: _call, ResultPart: _result}


SIDE: Final = {"system": "system", "developer": "system", "user": "user", "tool": "user", "assistant": "assistant"}
"""The side of the conversation of each role."""
_NEAR: Final = 8
"""The number of further texts that are searched for the first of the joined ones."""


def joined_texts(
    before: Sequence[Place], after: Sequence[Place]
) -> tuple[list[tuple[Place, Place]], Sequence[Place], Sequence[Place]]:
    """Pair joined texts with their part of the new text; return the pairs and the remaining places of both."""
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
            joined += ((old, replace(place, part=TextPart(_words(old)))) for old in run)
            gone.add(place.at)
            break
    if not joined:
        return [], before, after
    used = {old.at for old, _ in joined}
    return joined, _without(before, used), _without(after, gone)


def _apart(places: Sequence[Place], others: Sequence[Place]) -> list[Place]:
    """List the texts that are missing in the other conversation."""
    known = {_said(place) for place in others}
    return [place for place in places if isinstance(place.part, TextPart) and _said(place) not in known]


def _said(place: Place) -> tuple[str, str]:
    return SIDE[place.role], _words(place)


def _words(place: Place) -> str:
    return place.part.text if isinstance(place.part, TextPart) else ""


def _run(olds: Sequence[Place], start: int, place: Place) -> list[Place]:
    """Return the consecutive texts, from `start` on, that make up another text, or none."""
    whole, end = _words(place), 0
    run: list[Place] = []
    for old in olds[start:]:
        text = _words(old)
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
