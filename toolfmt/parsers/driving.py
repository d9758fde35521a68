"""What drives a grammar: chunks in, events out, each call bounded in size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.errors import ParseError
from toolfmt.parsers.cursor import Malformed

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.dialect import Parser
    from toolfmt.events import Event
    from toolfmt.parsers.cursor import Cursor, Reading
    from toolfmt.parsers.sink import Sink


class GrammarDriver:
    """Feeds one grammar at work."""

    __slots__ = ("_cur", "_run", "_sink")

    def __init__(self, cur: Cursor, sink: Sink, grammar: Callable[[], Reading[None]]) -> None:
        """Begin; `grammar` reads from `cur` into `sink` and waits at its first step."""
        self._cur = cur
        self._sink = sink
        self._run: Reading[None] | None = grammar()
        next(self._run)

    @property
    def ended(self) -> bool:
        """Whether the answer is over by its own markers, so that nothing more need be asked for."""
        return False

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        if self._run is None:
            raise ParseError("the parser is closed; open a new one for the next answer")
        cur = self._cur
        if not chunk:
            return []
        short = cur.base + len(cur.buf) + len(chunk) < cur.deadline
        if short and cur.clean is not None and cur.clean(chunk) is not None:
            cur.skip(chunk)
            cur.pass_on(chunk)
        elif short and cur.take is not None:
            cur.append(chunk)
            if not cur.take():
                cur.clean = cur.take = None
                next(self._run, None)
        else:
            self._read_on(self._run, chunk)
        sink = self._sink
        events, sink.events = sink.events, []
        return events

    def _read_on(self, run: Reading[None], chunk: str) -> None:
        """Wake the grammar with more text; a call gets no more than one call may have."""
        cur, longest = self._cur, self._sink.options.limits.call_chars
        while chunk:
            room = min(longest, cur.deadline - cur.end)
            piece, chunk = (chunk, "") if len(chunk) <= room else (chunk[:room], chunk[room:])
            cur.clean = cur.take = None
            cur.append(piece)
            next(run, None)
            if cur.end >= cur.deadline:
                cur.clean = cur.take = None
                run.throw(Malformed("limit", f"a call of more than {longest} characters", cur.deadline))

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        if self._run is None:
            raise ParseError("the parser is closed already")
        self._cur.eof = True
        for _ in self._run:
            pass
        self._run = None
        self._cur.pass_on = str  # it may be a method of this parser, which would then wait for the garbage collector
        self._sink.settle()
        return self._sink.take()


def has_ended(parser: Parser[str]) -> bool:
    """Whether a parser says that the answer is over by its own markers; many formats have none."""
    return getattr(parser, "ended", False) is True
