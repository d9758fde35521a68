"""A conversation as one flat list of parts, each result linked to its call.

[Place(0, "user", TextPart("Weather?")),
 Place(1, "assistant", CallPart("get_weather", ...), call=0),
 Place(2, "tool", ResultPart(...), call=0)]
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from toolfmt.conversation import CallPart, Message, Part, ResultPart, Role


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
