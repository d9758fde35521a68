"""The driver of a grammar: it takes chunks, returns events, and bounds the size of each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Final, TypeAlias

from toolfmt.arguments import check_text
from toolfmt.dialect.record import Parser
from toolfmt.errors import ParseError
from toolfmt.events import ArgumentsDelta, CallStart, Event, coalesce
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading
from toolfmt.parsers.scanning.pieces import MOST, no_events
from toolfmt.parsers.scanning.sink import Sink

Find: TypeAlias = Callable[[list[Event], str], Sequence[Event]]


class GrammarDriver:
    """Runs one grammar on the chunks of an answer."""

    _run: Reading[None] | None = None
    _closed = False

    def __init__(self, cur: Cursor, sink: Sink) -> None:
        """Prepare the grammar, which reads from `cur` into `sink`; it starts at the first text that needs it."""
        self._cur = cur
        self._sink = sink

    def _answer(self) -> Reading[None]:
        """Read the answer."""
        raise NotImplementedError

    @property
    def ended(self) -> bool:
        """Whether the answer's own markers have ended it, so that the stream can be closed."""
        return False

    def feed(self, chunk: str) -> list[Event]:
        """Read the next chunk and return its events."""
        cur = self._cur
        if cur.stop is not None and chunk and cur.stop(chunk) is None:
            at = cur.reached
            end = at + len(chunk)
            if end < cur.deadline:
                cur.reached = end
                held = cur.held
                held.append(chunk)
                events = cur.show(chunk, at)
                if len(held) == MOST:
                    cur.catch_up()
                return events
        if self._closed:
            raise ParseError("the parser is closed; open a new one for the next answer")
        run = self._run
        check_text(chunk)
        if not chunk:
            return []
        if run is None:
            self._run = self._answer()
            self._read_on(self._run, chunk)
            return self._sink.take()
        cur.catch_up()
        cur.stop = None
        if cur.take is not None and cur.base + len(cur.buf) + len(chunk) < cur.deadline:
            cur.append(chunk)
            if not cur.take():
                cur.stop = cur.take = None
                next(run, None)
        else:
            self._read_on(run, chunk)
        return self._sink.take()

    def _read_on(self, run: Reading[None], chunk: str) -> None:
        """Resume the grammar with more text; a call gets no more characters than the limit allows."""
        cur, longest = self._cur, self._sink.options.limits.call_chars
        while chunk:
            room = min(longest, cur.deadline - cur.end)
            piece, chunk = (chunk, "") if len(chunk) <= room else (chunk[:room], chunk[room:])
            cur.stop = cur.take = None
            cur.append(piece)
            next(run, None)
            if cur.end >= cur.deadline:
                cur.stop = cur.take = None
                run.throw(Malformed("limit", f"a call of more than {longest} characters", cur.deadline))

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        if self._closed:
            raise ParseError("the parser is closed already")
        self._closed = True
        cur = self._cur
        cur.catch_up()
        cur.eof, cur.stop = True, None
        for _ in self._run or self._answer():
            pass
        self._run = None
        cur.show, cur.keep = no_events, str  # break reference cycles, which the garbage collector would have to find
        self._sink.settle()
        return self._sink.take()


def has_ended(parser: Parser[str]) -> bool:
    """Whether markers of the format have ended the answer; many formats have no such markers."""
    return getattr(parser, "ended", False) is True


class PassingParser:
    """Wraps another parser and changes its events in `_passed`."""

    def __init__(self, parser: Parser[str]) -> None:
        """Read with `parser`."""
        self._parser = parser

    @property
    def ended(self) -> bool:
        """Whether the answer's own markers have ended it."""
        return has_ended(self._parser)

    def feed(self, chunk: str) -> list[Event]:
        """Read the next chunk and return its events."""
        return self._passed(self._parser.feed(chunk))

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        return self._passed(self._parser.close())

    def _passed(self, events: list[Event]) -> list[Event]:
        raise NotImplementedError


class AtEnd:
    """Adds what `find` returns for the events and the text of a finished answer."""

    def __init__(self, parser: Parser[str], find: Find, most: float = inf) -> None:
        """Wrap `parser`; chunks after the first `most` characters are not kept for `find`."""
        self._parser, self._feed, self._find, self._room = parser, parser.feed, find, most
        self._source: list[str] = []
        self._pieces: list[str] = []
        self._events: list[Event] = []
        self._recent: list[Event] = []

    @property
    def ended(self) -> bool:
        """Whether the answer's own markers have ended it."""
        return has_ended(self._parser)

    def feed(self, chunk: str) -> list[Event]:
        """Read the next chunk and return its events."""
        events = self._feed(chunk)
        if self._room > 0:
            self._pieces.append(chunk)
            self._room -= len(chunk)
        recent = self._recent
        recent += events
        if len(recent) >= MOST:
            self._join()
        return events

    def _join(self) -> None:
        """Join what was collected since the last time."""
        self._source.append("".join(self._pieces))
        self._pieces.clear()
        self._events += coalesce([event for event in self._recent if type(event) not in _UNFINISHED])
        self._recent.clear()

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        events = self._parser.close()
        self._recent += events
        self._join()
        return [*events, *self._find(self._events, "".join(self._source))]


_UNFINISHED: Final = frozenset({CallStart, ArgumentsDelta})
"""The events of a call before its end, of which there is one a piece."""
