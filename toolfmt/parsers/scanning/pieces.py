"""Text that grows by short pieces, kept as few long ones.

A string object costs some fifty bytes beside its characters, so that a megabyte
in tokens of four would take sixteen.
"""

from __future__ import annotations

from typing import Protocol

from toolfmt.events import Event

MOST = 512
"""Short pieces before they are joined; each character is joined twice at most."""


class Waiting(Protocol):
    """Where pieces go while a grammar waits."""

    def show(self, text: str, at: int, /) -> list[Event]:
        """The events of a piece at the absolute offset `at`, which is kept later."""
        ...

    def keep(self, text: str, /) -> None:
        """Take pieces, joined, whose events were shown."""
        ...


class Taker(Waiting, Protocol):
    """Where a grammar puts a text that comes piece by piece."""

    def add(self, text: str, /) -> None:
        """Take a piece, and emit what it gives."""
        ...


def no_events(_: str, __: int) -> list[Event]:
    """Show nothing."""
    return []


class Ignored:
    """Takes what nobody asked for."""

    @staticmethod
    def add(_: str) -> None:
        """Drop a piece."""

    show = staticmethod(no_events)
    keep = add


IGNORED = Ignored()


class Pieces:
    """A text under way; `add` is cheap, `text` joins it."""

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
        """Everything so far."""
        if self._short:
            self._long.append("".join(self._short))
            self._short.clear()
        if len(self._long) > 1:
            self._long[:] = ["".join(self._long)]
        return self._long[0] if self._long else ""

    def take(self) -> str:
        """Everything so far, and begin with no text again."""
        if not self._long and len(self._short) < 2:  # noqa: PLR2004 - as most often: nothing, or one piece
            return self._short.pop() if self._short else ""
        text = self.text()
        self._long.clear()
        return text
