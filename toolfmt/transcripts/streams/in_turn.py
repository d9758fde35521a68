"""One call at a time, for streams that cannot interleave: what comes while a call is open waits until it ends.

    start 0, arguments 0, start 1, arguments 1, text, end 0, end 1
    start 0, arguments 0,                             end 0, start 1, arguments 1, end 1, text

Nothing else waits, and each thing waits once, so time is linear.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, coalesce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.events import Event


class InTurn:
    """Puts the events of an answer in an order in which no two calls are open."""

    def __init__(self) -> None:
        """Begin an answer."""
        self._open: int | None = None
        self._waiting: deque[list[Event]] = deque()
        self._late: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> Iterator[Event]:
        """Give the events that may be written now."""
        index = event.index if isinstance(event, (CallStart, ArgumentsDelta, CallEnd, CallFailed)) else None
        ends = isinstance(event, (CallEnd, CallFailed))
        if index is not None and index in self._late:
            self._late[index].append(event)
            if ends:
                del self._late[index]
        elif self._open is not None and index != self._open:
            if isinstance(event, CallStart) and event.name:
                self._waiting.append([event])
                self._late[event.index] = self._waiting[-1]
            elif self._waiting and not isinstance(self._waiting[-1][0], CallStart):
                self._waiting[-1].append(event)
            else:
                self._waiting.append([event])
        else:
            if isinstance(event, CallStart) and event.name:
                self._open = event.index
            yield event
            if ends:
                yield from self.go_on()

    def go_on(self) -> Iterator[Event]:
        """End the open call, and give what waited for that; a call that failed before it began has only failed."""
        self._open = None
        while self._waiting and self._open is None:
            group = self._waiting.popleft()
            first, last = group[0], group[-1]
            if isinstance(first, CallStart) and first.index in self._late:
                del self._late[first.index]
                self._open = first.index
            failed = isinstance(first, CallStart) and isinstance(last, CallFailed)
            yield from group[-1:] if failed else coalesce(group)
