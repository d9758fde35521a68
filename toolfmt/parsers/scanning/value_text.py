r"""Emits the text of a raw value: certain text at once; possible layout or slips are held back.

<arg>\n  if a:\n    b()\n  \n</arg>
^ text              ^^^^ white space waits for what follows
"""

from __future__ import annotations

from collections.abc import Callable

from toolfmt import jsontext
from toolfmt.events import Event
from toolfmt.jsontext import quoted
from toolfmt.model import JsonObject, JsonValue
from toolfmt.parsers.scanning.cursor import WHITE, Cursor
from toolfmt.parsers.scanning.damage import REACH
from toolfmt.parsers.scanning.pieces import Pieces, Taker


class ValueText:
    """Receives the text of one value piece by piece."""

    def __init__(self, out: Taker, beginning: str, *, padded: bool) -> None:
        """Emit the text to `out`; `beginning` is the closer's beginning if it is unusual in text.

        If `padded`, one line break on each side belongs to the markers.
        """
        self._out = out
        self._beginning = beginning
        self.padded = self._first = padded
        self._break = "\n"  # the line break on each side
        self._shown_white: list[str] = []  # the white space held back when a wait began
        self.white: list[str] = []
        """White space that may be layout before the next argument."""
        self.held: Pieces | None = None
        """Text held back until it is known to belong to the value."""
        self.last = ""
        """The last characters of the text."""
        self.marked = False
        """Whether the text contains the beginning of its closer."""

    def emit(self, text: str) -> None:
        """Add text; white space at its end is held back."""
        body = text.rstrip(WHITE)
        if body:
            before = "".join(self.white) if self._first else ""  # a line break may be split between two pieces
            self.white = [] if self._first else self.white
            self.flush()
            self.put(before + body)
        if len(body) < len(text):
            self.white.append(text[len(body) :])

    def begin_quoted(self) -> None:
        """Take the following text literally."""
        self.flush()
        self._first = False

    def wait(self, cur: Cursor, stop: Callable[[str], object]) -> None:
        """Take text up to the next character that the grammar has to look at."""
        if not self._first:
            self._shown_white = [*self.white]
            cur.wait(stop, self)

    def show(self, text: str, at: int) -> list[Event]:
        """Return the events of a piece in which nothing begins or ends."""
        white = self.white
        if text[-1] in WHITE:
            body = text.rstrip(WHITE)
            if not body:
                white.append(text)
                return []
            text, self.white = "".join((*white, body)), [text[len(body) :]]
        elif white:
            text, self.white = "".join((*white, text)), []
        return self._out.show(text, at) if self.held is None else []

    def keep(self, text: str) -> None:
        """Take pieces whose events were shown."""
        body = text.rstrip(WHITE)
        if not body:
            self._shown_white.append(text)
            return
        white, self._shown_white = self._shown_white, [text[len(body) :]]
        text = "".join((*white, body))
        if self._hold_unless_certain(text):
            self._out.keep(text)

    def flush(self) -> None:
        """Emit the held white space, because text follows it."""
        if self.white:
            white, self.white = self.white, []
            self.put("".join(white))

    def put(self, text: str) -> None:
        """Emit text unchanged."""
        if self._hold_unless_certain(text):
            self._give(text)

    def _hold_unless_certain(self, text: str) -> bool:
        """Return whether text is certain; hold it back otherwise."""
        before, self.last = self.last, (self.last + text[-REACH:])[-REACH:]
        if self.held is not None:
            self.held.add(text)
            return False
        self.marked = self.marked or (bool(self._beginning) and self._beginning in before + text)
        return True

    def _give(self, text: str) -> None:
        if self._first:
            self._break, self._first = "\r\n" if text.startswith("\r\n") else "\n", False
            text = text.removeprefix(self._break)
        if text:
            self._out.add(text)

    def finish(self) -> None:
        """End the value at its own closer: all text held back belongs to it."""
        if self.held is not None:
            held, self.held = self.held, None
            self._give(held.text())
        if self.padded and self.white:
            white = "".join(self.white)
            crlf = white.startswith("\r\n") if self._first else self._break == "\r\n"
            self.white = [white.removesuffix("\r\n" if crlf else "\n")]
        self.flush()


def object_text(values: JsonObject) -> str:
    """Write arguments as JSON; a fast path for mostly text values without lone surrogates."""
    return "{" + ", ".join([f"{quoted(key)}: {_value_text(one)}" for key, one in values.items()]) + "}"


def _value_text(value: JsonValue) -> str:
    if value.__class__ is str:
        return quoted(value)
    return repr(value) if value.__class__ is int else jsontext.dumps(value)  # which takes longer
