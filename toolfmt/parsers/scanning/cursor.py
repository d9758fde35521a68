"""A window over the incoming text, with a tape for going back.

Grammars are generators. One that needs more text stores its place in `pos` and
yields; the window then drops what was read and grows by the next chunk. Each
character is copied a bounded number of times, so reading stays linear whatever
the chunk size.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

from toolfmt.events import Event
from toolfmt.parsers.scanning.pieces import Pieces, Waiting, no_events

ResultT = TypeVar("ResultT")
Reading: TypeAlias = Generator[None, None, ResultT]
"""A running grammar: yields when it needs more text, and returns what it read."""

NEVER = sys.maxsize
WHITE = "".join(char for char in map(chr, range(0x3001)) if char.isspace() and not "\x1c" <= char <= "\x1f")
"""White space as `\\s` of the `regex` module defines it; `str.strip()` removes four more control characters."""


class Malformed(Exception):  # noqa: N818 - control flow inside the parsers, never seen by callers
    """The text at `at` does not fit the grammar; the search for the next marker may begin at `resume`."""

    def __init__(  # noqa: PLR0913 - a fault and where it is
        self, reason: str, detail: str, at: int, resume: int | None = None, *, inside: bool = False, whole: bool = False
    ) -> None:
        """Store the reason, the description, and absolute offsets.

        `inside`: the fault is in a text of unknown end, so calls after it may be quoted in that text.
        `whole`: it was found in a call that was read to its end, so `at` is not its place.
        """
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.at = at
        self.resume = at if resume is None else resume
        self.inside = inside
        self.placed = detail if whole else f"{detail}, at offset {at}"
        """The description with the fault's place."""


class Truncated(Exception):  # noqa: N818 - control flow inside the parsers, never seen by callers
    """The input ended inside a value; `suspect` is an earlier place that may be the real fault."""

    def __init__(self, suspect: int | None = None) -> None:
        super().__init__()
        self.suspect = suspect


class Cursor:
    """A place in the text: `buf[pos:]` is unread, `base` is the absolute offset of `buf[0]`.

    One character before `pos` is kept, so that patterns can look back.
    """

    # Defaults of the class: few answers change them.
    buf = ""
    pos = 0
    base = 0
    eof = False
    mark_at = 0
    back = 0
    """The number of characters that are read again."""
    _tape: Pieces | None = None
    _from = 0
    _left = ""  # the character before the mark, for patterns that look back
    _pinned = False
    deadline = NEVER
    """The offset at which the current call must have ended; no text past it is added before then."""
    stop: Callable[[str], object] | None = None
    """Set by `wait`: finds text in a chunk that the grammar must read."""
    show: Callable[[str, int], list[Event]] = staticmethod(no_events)
    """Returns the events of a chunk without such text."""
    keep: Callable[[str], object] = str
    """Receives those chunks, joined."""
    reached = 0
    """The absolute offset after the last of those chunks."""
    take: Callable[[], bool] | None = None
    """Set by a waiting grammar: reads added text, or returns False if the grammar must be resumed."""

    def __init__(self) -> None:
        self.held: list[str] = []
        """The chunks that passed since `wait`, not joined yet."""

    @property
    def end(self) -> int:
        """The absolute offset of the end of the available text."""
        return self.base + len(self.buf)

    @property
    def at(self) -> int:
        """The absolute offset of the next unread character."""
        return self.base + self.pos

    def append(self, chunk: str) -> None:
        """Add text; drop what was read, except its last character."""
        pos = self.pos
        if pos > 1:
            if self._tape is not None:
                self._tape.add(self.buf[self._from : pos])
                self._from = 1
            self.base += pos - 1
            self.buf = self.buf[pos - 1 :] + chunk
            self.pos = 1
        else:
            self.buf += chunk

    def wait(self, stop: Callable[[str], object], out: Waiting) -> None:
        """Pass chunks to `out` without resuming the grammar, up to one in which `stop` finds something.

        The grammar must have read all available text.
        """
        if self._pinned:
            return
        self.stop, self.show, self.keep = stop, out.show, out.keep
        self.reached = self.base + len(self.buf)

    def catch_up(self) -> None:
        """Count the chunks that passed while the grammar waited as read."""
        if self.held:
            text = "".join(self.held)
            self.held.clear()
            self.skip(text)
            self.keep(text)

    def skip(self, chunk: str) -> None:
        """Add text that is already read; all text before it must be read."""
        if self._tape is not None:
            self._tape.add(self.buf[self._from :])
            self._from = 0
        self.base += len(self.buf)
        self.buf = chunk
        self.pos = len(chunk)

    def mark(self) -> None:
        """Start keeping what is read from here on, so that it can be quoted or read again."""
        if self._pinned:
            return
        self._tape = Pieces()
        self._from = self.pos
        self._left = self.buf[self.pos - 1 : self.pos] if self.pos else ""
        self.mark_at = self.base + self.pos

    def marked(self) -> str:
        """Return everything read since the mark."""
        here = self.buf[self._from : self.pos]
        return self._tape.text() + here if self._tape else here

    def since(self, start: int) -> str:
        """Return what was read from the absolute offset `start`, which is after the mark."""
        if start >= self.base:
            return self.buf[start - self.base : self.pos]
        return self.marked()[start - self.mark_at :]

    def go(self, to: int) -> None:
        """Move to the absolute offset `to`: back to the mark at most, or forward within the available text."""
        if to < self.at:
            self.rewind(to)
        else:
            self.pos = min(to - self.base, len(self.buf))

    def rewind(self, to: int) -> None:
        """Move back to the absolute offset `to`, which is between the mark and the current place."""
        self.back += self.at - to
        if to < self.base + (self._from if self._tape is not None else 0):
            text = self.marked()
            self.buf = self._left + text + self.buf[self.pos :]
            self._from = len(self._left)
            self.base = self.mark_at - self._from
            if self._tape:
                self._tape = Pieces()
        self.pos = to - self.base

    def release(self) -> None:
        """Stop keeping what is read."""
        if not self._pinned:
            self._tape = None

    def pin(self) -> None:
        """Keep what is read from here until `unpin`; marks set in between have no effect."""
        self.mark()
        self._pinned = True

    def unpin(self) -> None:
        """Allow new marks again."""
        self._pinned = False
        self._tape = None
