"""The input as it comes in: a window over the text, with a tape to go back.

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
"""A grammar at work: yields when it needs more text, returns what it read."""

NEVER = sys.maxsize
WHITE = "".join(char for char in map(chr, range(0x3001)) if char.isspace() and not "\x1c" <= char <= "\x1f")
"""White space as `\\s` of the `regex` module has it; `str.strip()` alone takes four control characters more."""


class Malformed(Exception):  # noqa: N818 - control flow inside the parsers, never seen by callers
    """The text at `at` does not fit the grammar; `resume` is where looking for the next marker may begin."""

    def __init__(self, reason: str, detail: str, at: int, resume: int | None = None, *, inside: bool = False) -> None:
        """Keep the reason's word, the words for people, and absolute offsets.

        `inside` says that the fault is in a text whose end is not known, so that calls after it may be quoted in it.
        """
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.at = at
        self.resume = at if resume is None else resume
        self.inside = inside


class Truncated(Exception):  # noqa: N818 - control flow inside the parsers, never seen by callers
    """The input ended inside a value; `suspect` is where it may have gone wrong earlier, if anywhere."""

    def __init__(self, suspect: int | None = None) -> None:
        super().__init__()
        self.suspect = suspect


class Cursor:
    """A place in the text: `buf[pos:]` is unread, `base` is the absolute offset of `buf[0]`.

    One read character stays before `pos`, so that a pattern can look back.
    """

    # Defaults are the class's: most answers are read without a change of them.
    buf = ""
    pos = 0
    base = 0
    eof = False
    mark_at = 0
    back = 0
    """Characters that are read again."""
    _tape: Pieces | None = None
    _from = 0
    _left = ""  # the character before the mark, at which patterns look back
    _pinned = False
    deadline = NEVER
    """The offset at which the call that is being read must have ended; no text after it is added before."""
    stop: Callable[[str], object] | None = None
    """Set by `wait`: finds in a chunk what the grammar must look at."""
    show: Callable[[str, int], list[Event]] = staticmethod(no_events)
    """Gives the events of a chunk in which there is no such thing."""
    keep: Callable[[str], object] = str
    """Takes those chunks, joined."""
    reached = 0
    """The absolute offset after the last of them."""
    take: Callable[[], bool] | None = None
    """Set by a grammar that waits: reads what was added, or says False where the grammar must be woken."""

    def __init__(self) -> None:
        self.held: list[str] = []
        """The chunks that `wait` lets by, before they are joined."""

    @property
    def end(self) -> int:
        """The absolute offset at which the text that is here ends."""
        return self.base + len(self.buf)

    @property
    def at(self) -> int:
        """The absolute offset of the next unread character."""
        return self.base + self.pos

    def append(self, chunk: str) -> None:
        """Add text; drop what was read, except one character."""
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
        """Let chunks go to `out` without the grammar, which has read all that is here, up to one that holds a `stop`.

        It holds until the grammar is woken.
        """
        if self._pinned:
            return
        self.stop, self.show, self.keep = stop, out.show, out.keep
        self.reached = self.base + len(self.buf)

    def catch_up(self) -> None:
        """Count the chunks that went by while the grammar waited as read."""
        if self.held:
            text = "".join(self.held)
            self.held.clear()
            self.skip(text)
            self.keep(text)

    def skip(self, chunk: str) -> None:
        """Add text that is read already; all text before it was read."""
        if self._tape is not None:
            self._tape.add(self.buf[self._from :])
            self._from = 0
        self.base += len(self.buf)
        self.buf = chunk
        self.pos = len(chunk)

    def mark(self) -> None:
        """Begin to keep what is read from here, so that it can be quoted or read again."""
        if self._pinned:
            return
        self._tape = Pieces()
        self._from = self.pos
        self._left = self.buf[self.pos - 1 : self.pos] if self.pos else ""
        self.mark_at = self.base + self.pos

    def marked(self) -> str:
        """Everything read since the mark."""
        here = self.buf[self._from : self.pos]
        return self._tape.text() + here if self._tape else here

    def since(self, start: int) -> str:
        """What was read from the absolute offset `start`, which is after the mark."""
        if start >= self.base:
            return self.buf[start - self.base : self.pos]
        return self.marked()[start - self.mark_at :]

    def go(self, to: int) -> None:
        """Go to the absolute offset `to`, back as far as the mark or on within what is here."""
        if to < self.at:
            self.rewind(to)
        else:
            self.pos = min(to - self.base, len(self.buf))

    def rewind(self, to: int) -> None:
        """Go back to the absolute offset `to`, which lies between the mark and here."""
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
        """Keep what is read from here up to `unpin`: all marks until then are this one."""
        self.mark()
        self._pinned = True

    def unpin(self) -> None:
        """Let marks be set again."""
        self._pinned = False
        self._tape = None
