"""A conversation as one flat list of parts, each result linked to its call, with ids and names that a format allows.

[Place(0, "user", TextPart("Weather?")),
 Place(1, "assistant", CallPart("get_weather", ...), call=0),
 Place(2, "tool", ResultPart(...), call=0)]
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import CallPart, Message, Part, ResultPart, Role
from toolfmt.transcripts.parts.pieces import changed

if TYPE_CHECKING:
    from toolfmt.transcripts.format import Rules, Spelling


_DIGITS: Final = 8
"""The number of characters at an id's end that may be replaced by a number."""


class Names:
    """Makes tool names legal in a format: equal names stay equal, different names stay different."""

    def __init__(self, rules: Rules, known: Iterable[str] = ()) -> None:
        """Use a format's rules; `known` names that are legal keep their spelling."""
        self._spelling = rules.tool_name
        self._found: dict[str, str] = {}
        self._taken: dict[str, str] = {}
        for name in known if self._spelling.characters else ():
            if name not in self._found and legal(name, self._spelling, {}) == name:
                self._found[name] = self._taken[name] = name

    def __call__(self, name: str) -> str:
        """Return a legal spelling of a name."""
        if not self._spelling.characters:
            return name
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = legal(name, self._spelling, self._taken)
            self._taken[found] = name
        return found


def legal(name: str, spelling: Spelling, taken: dict[str, str]) -> str:
    """Replace illegal characters in a name or id by `_`; add a hash if it is too long or taken."""
    allowed, length, _, start = spelling
    fitted = (re.sub(f"(?:(?!{allowed}).)", "_", name, flags=re.DOTALL) if allowed else name) or "_"
    if start and not re.match(start, fitted):
        fitted = f"_{fitted}"
    if (not length or len(fitted) <= length) and taken.get(fitted, name) == name:
        return fitted
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{fitted[: length - 9] if length else fitted}_{mark}"


def linked(messages: Sequence[Message], rules: Rules, names: Names, taken: Iterable[str]) -> Sequence[Message]:
    """Give calls and their results names and ids that the format allows."""
    used = set(taken)
    if _fine(messages, rules, names, used):
        return messages
    ids = iter(_ids(messages, rules, dict.fromkeys(taken, "")))
    shaped: list[Message] = []
    for message in messages:
        parts: list[Part] | None = None
        for number, part in enumerate(message.parts):
            if not isinstance(part, (CallPart, ResultPart)):
                continue
            new_id, called = next(ids)
            name = called if called is not None and rules.result_names else part.name
            name = name if name is None else names(name)
            if new_id != part.id or name != part.name:
                parts = list(message.parts) if parts is None else parts
                parts[number] = replace(part, id=new_id, name=name)
        shaped.append(message if parts is None else changed(message, message.role, parts))
    return shaped


def _fine(messages: Sequence[Message], rules: Rules, names: Names, used: set[str]) -> bool:
    """Whether all ids and names are already legal, which is the common case."""
    fits = _id_pattern(rules).fullmatch
    pairs = rules.call_ids != "none" and not rules.result_names
    for message in messages:
        for part in () if message.plain else message.parts:
            if isinstance(part, CallPart):
                found = part.id
                if found is None or found in used or not pairs or not fits(found) or names(part.name) != part.name:
                    return False
                used.add(found)
            elif isinstance(part, ResultPart) and (part.id is None or part.id not in used):
                return False
    return True


def _id_pattern(rules: Rules) -> re.Pattern[str]:
    allowed, length, exact, _ = rules.call_id
    return re.compile(f"(?:{allowed or '.'}){{{length if exact else 1},{length or ''}}}", re.DOTALL)


def _ids(messages: Sequence[Message], rules: Rules, taken: dict[str, str]) -> list[tuple[str | None, str | None]]:
    """List each call's and result's id in the format and the call's name, in order."""
    fit = _id_policy(rules, taken)
    calls: list[tuple[str | None, str]] = []
    found: list[tuple[str | None, str | None]] = []
    answer: set[str | None] = set()
    for place in flatten(messages):
        part = place.part
        if place.role != "assistant":
            answer.clear()
        if isinstance(part, CallPart):
            calls.append((fit(part.id, part.name, len(calls), twice=part.id in answer), part.name))
            answer.add(part.id)
            found.append(calls[-1])
        elif isinstance(part, ResultPart):
            found.append((part.id, None) if place.call is None else calls[place.call])
    return found


def _id_policy(rules: Rules, taken: dict[str, str]) -> Callable[..., str | None]:
    """Return a function that makes a call's id legal; `twice`: the same answer already has the id."""
    if rules.call_ids == "none":
        return lambda *_, **__: None
    if rules.call_id.exact:
        return _exact_id_policy(rules, taken)

    tried: dict[str, int] = {}

    def fit(given: str | None, name: str, number: int, *, twice: bool) -> str | None:
        if given is None and rules.call_ids == "optional":
            return None
        wanted = given or f"call_{number}"
        if any(rules.call_id):
            wanted = legal(wanted, rules.call_id, taken)
        if (rules.unique_ids or rules.fresh_ids or twice or not given) and wanted in taken:
            wanted = _free(wanted, taken, rules.call_id.length, tried)
        taken[wanted] = given or f"{name} {number}"
        return wanted

    return fit


def _exact_id_policy(rules: Rules, taken: dict[str, str]) -> Callable[..., str | None]:
    """Keep legal ids and hash the others; equal ids stay equal."""
    fits = _id_pattern(rules).fullmatch

    def fit(given: str | None, name: str, number: int, *, twice: bool) -> str | None:
        if given is not None and not twice and fits(given) and taken.setdefault(given, given) == given:
            return given
        meant = f"{given or name} {number}" if twice or not given else given
        for salt in count():
            found = hashed_id(meant, rules.call_id.length, salt)
            if taken.setdefault(found, meant) == meant:
                return found
        return None

    return fit


def hashed_id(meant: str, length: int, salt: int = 0) -> str:
    """Hash an id to exactly `length` letters and digits; another `salt` gives another hash."""
    return sha256(f"{salt} {meant}".encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _free(wanted: str, taken: dict[str, str], length: int, tried: dict[str, int]) -> str:
    """Add a number to an id that is taken; `tried` keeps the last number of each, so that this stays linear."""
    stem = wanted[: length - _DIGITS] if length > _DIGITS else wanted
    for number in count(tried.get(stem, 2)):
        ending = f"_{number}"
        candidate = (wanted[: length - len(ending)] if length else wanted) + ending
        if candidate not in taken:
            tried[stem] = number + 1
            return candidate
    raise AssertionError("there are more numbers")


@dataclass(slots=True)
class Place:
    """A part and its place: its message, and for calls and results the number of the call."""

    message: int
    role: Role
    part: Part | None
    """None is a message without parts."""
    call: int | None = None
    at: int = 0
    """The place in the list."""


def flatten(messages: Iterable[Message]) -> list[Place]:
    """List the parts of a conversation, linking results to calls.

    A result is linked by id to an open call with that id; without an id, to an open call
    of its name, or of any name if it has none. Of several calls, it is the oldest of
    the latest answer, because the model has moved on from earlier ones.
    """
    places: list[Place] = []
    calls = _Open()
    role = None
    for number, message in enumerate(messages):
        if message.role == "assistant" != role:
            calls.answer_begins()
        role = message.role
        if not message.parts:
            places.append(Place(number, role, None, None, len(places)))
        for part in message.parts:
            if isinstance(part, CallPart):
                places.append(Place(number, role, part, calls.add(part), len(places)))
            elif isinstance(part, ResultPart):
                places.append(Place(number, role, part, calls.answer(part), len(places)))
            else:
                places.append(Place(number, role, part, None, len(places)))
    return places


class _Open:
    """The calls without a result; answered ones leave the queues when they reach the front."""

    def __init__(self) -> None:
        self._count = 0
        self._turn = 0
        self._answered: set[int] = set()
        self._queues: dict[tuple[str, str], list[tuple[int, deque[int]]]] = {}

    def answer_begins(self) -> None:
        self._turn += 1

    def add(self, part: CallPart) -> int:
        number = self._count
        self._count += 1
        keys = [("name", part.name), ("any", "")]
        if part.id is not None:
            keys.append(("id", part.id))
        for key in keys:
            queues = self._queues.setdefault(key, [])
            if not queues or queues[-1][0] != self._turn:
                queues.append((self._turn, deque()))
            queues[-1][1].append(number)
        return number

    def answer(self, part: ResultPart) -> int | None:
        key = ("id", part.id) if part.id is not None else ("any", "") if part.name is None else ("name", part.name)
        queues = self._queues.get(key, [])
        while queues:
            _, queue = queues[-1]
            while queue:
                number = queue.popleft()
                if number not in self._answered:
                    self._answered.add(number)
                    return number
            queues.pop()
        return None
