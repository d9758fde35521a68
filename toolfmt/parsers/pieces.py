"""Text that grows by short pieces, kept as few long ones.

A string object costs some fifty bytes beside its characters, so that a megabyte
in tokens of four would take sixteen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 512
"""Short pieces before they are joined; each character is joined twice at most."""


class Pieces:
    """A text under way; `add` is cheap, `text` joins it."""

    __slots__ = ("_long", "_short")

    def __init__(self) -> None:
        """Begin with no text."""
        self._long: list[str] = []
        self._short: list[str] = []

    def __bool__(self) -> bool:
        """Whether anything was added."""
        return bool(self._short or self._long)

    def add(self, piece: str) -> None:
        """Add a piece."""
        short = self._short
        short.append(piece)
        if len(short) == _MOST:
            self._long.append("".join(short))
            short.clear()

    def text(self) -> str:
        """Everything so far."""
        if self._short:
            self._long.append("".join(self._short))
            self._short.clear()
        if len(self._long) > 1:
            self._long[:] = ["".join(self._long)]
        return self._long[0] if self._long else ""


class Unpadded:
    """Text without the one line break on each side that belongs to the markers around it."""

    __slots__ = ("_emit", "_held")

    def __init__(self, emit: Callable[[str], None]) -> None:
        """Pass the text on to `emit`, but for those line breaks."""
        self._emit = emit
        self._held: str | None = None  # None until the first character is known

    def add(self, text: str) -> None:
        """Take a piece of the text."""
        if self._held is None:
            text = text.removeprefix("\n")
            self._held = ""
        text = self._held + text
        self._held = "\n" if text.endswith("\n") else ""
        if len(text) > len(self._held):
            self._emit(text.removesuffix("\n"))
