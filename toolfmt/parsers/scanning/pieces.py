"""Collects short pieces of text as few long strings, and their events as few long ones.

A string object costs about fifty bytes besides its characters and an event twice that, so a megabyte in tokens of
four characters would take sixteen, and forty with its events.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from toolfmt.events import Event, coalesce

MOST = 512
"""The number of short pieces before they are joined; each character is joined at most twice."""


class Waiting(Protocol):
    """Receives pieces while a grammar waits."""

    def show(self, text: str, at: int, /) -> list[Event]:
        """Return the events of a piece at the absolute offset `at`; `keep` receives it later."""
        ...

    def keep(self, text: str, /) -> None:
        """Store joined pieces whose events were already emitted."""
        ...


class Taker(Waiting, Protocol):
    """Receives a text piece by piece."""

    def add(self, text: str, /) -> None:
        """Store a piece and emit its events."""
        ...


def no_events(_: str, __: int) -> list[Event]:
    """Return no events."""
    return []


class Ignored:
    """Discards text."""

    @staticmethod
    def add(_: str) -> None:
        """Discard a piece."""

    show = staticmethod(no_events)
    keep = add


IGNORED = Ignored()


class Pieces:
    """A growing text: `add` is cheap, `text` joins the pieces."""

    def __init__(self) -> None:
        self._long: list[str] = []
        self._short: list[str] = []

    def __bool__(self) -> bool:
        """Whether anything was added."""
        return bool(self._short or self._long)

    def add(self, piece: str) -> None:
        """Add a piece."""
        short = self._short
        short.append(piece)
        if len(short) == MOST:
            self._long.append("".join(short))
            short.clear()

    show = staticmethod(no_events)
    keep = add

    def text(self) -> str:
        """Return the whole text so far."""
        if self._short:
            self._long.append("".join(self._short))
            self._short.clear()
        if len(self._long) > 1:
            self._long[:] = ["".join(self._long)]
        return self._long[0] if self._long else ""

    def take(self) -> str:
        """Return the whole text so far and clear it."""
        if not self._long and len(self._short) < 2:  # noqa: PLR2004 - as most often: nothing, or one piece
            return self._short.pop() if self._short else ""
        text = self.text()
        self._long.clear()
        return text


class KeptEvents:
    """A growing list of events, with adjacent deltas joined."""

    def __init__(self) -> None:
        self._joined: list[Event] = []
        self._recent: list[Event] = []

    def __bool__(self) -> bool:
        """Whether anything was added."""
        return bool(self._recent or self._joined)

    def add(self, events: Iterable[Event]) -> None:
        """Add events."""
        self._recent += events
        if len(self._recent) >= MOST:
            self._joined += coalesce(self._recent)
            self._recent.clear()

    def take(self) -> list[Event]:
        """Return all events so far and clear them."""
        events = self._joined + self._recent
        self._joined, self._recent = [], []
        return events
