"""The parser of `dialect="auto"`: a detector, and after its decision the dialect's own parser."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from toolfmt.arguments import check_text
from toolfmt.detection.detector import Detector
from toolfmt.detection.records import Detection
from toolfmt.dialect.record import Parser
from toolfmt.errors import ParseError
from toolfmt.events import CallEnd, CallFailed, CallStart, Event, Notice, ReasoningDelta, TextDelta

DETECTED = "dialect_detected"
"""The kind of the notice that reports the choice."""


class DetectingParser:
    """Reads one answer of any dialect.

    Once the dialect is chosen, `feed` and `close` are those of its parser.
    """

    def __init__(
        self,
        detector: Detector,
        open_as: Callable[[str, str], Parser[str]],
        read_as: Callable[[str, str, str], list[Event] | None] | None = None,
        find: Callable[[str, str], list[Notice]] | None = None,
    ) -> None:
        """Read with `detector`, then with the parser that `open_as` gives for the dialect's name and the masked text.

        Given a whole answer too, `read_as` returns its events if it is plain text and calls.
        `find` returns further events for the text of an answer of no dialect.
        """
        self._detector = detector
        self._open_as, self._read_as = open_as, read_as
        self._find = find
        self._prefix = ""

    @property
    def detection(self) -> Detection:
        """The choice so far."""
        return self._detector.found or Detection()

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        check_text(chunk)
        if not chunk:
            return []
        events = self._detector.read(chunk)
        return events if self._detector.found is None else events + self._begin()[1]

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return self.read("")

    def read(self, rest: str) -> list[Event]:
        """Read the last piece, which may be all of it: `feed` and `close` in one."""
        events = self._detector.read(rest, eof=True)
        if self._detector.found is not None:
            events += self._whole()
        elif (at := self._detector.broken.quoted) >= 0:
            raw = self._detector.passed.text()[at:]
            detail = f"quoted in a call of which the beginning is broken, at offset {at}"
            events.append(CallFailed(0, raw, "malformed", detail, (at, at + len(raw))))
        elif self._find is not None:
            text = self._detector.passed.text()
            events += self._find(text, text)
        self.feed, self.close = _closed, _closed_already
        return events

    def _begin(self) -> tuple[Parser[str], list[Event]]:
        """Pass the text to the chosen dialect's parser; returns what it emits beyond what was emitted before."""
        found, passed = self.detection, self._detector.passed
        whole = passed.text() + self._detector.rest()
        self._prefix = whole[: found.span[0]]
        parser = self._open_as(found.dialect, self._prefix)
        events = self._beyond(parser.feed(passed.masked(found.span[0])))
        events.append(_notice(found))
        self.feed, self.close = partial(self._on, parser), lambda: self._beyond(parser.close())
        return parser, events + self._on(parser, whole[found.span[0] :], *events)

    def _whole(self) -> list[Event]:
        """Read an answer that is all there: at once if it is plain text and calls."""
        found, passed = self.detection, self._detector.passed
        at, rest = found.span[0], passed.text() + self._detector.rest()
        self._prefix, answer = rest[:at], passed.masked(at) + rest[at:]
        events = None if self._read_as is None else self._read_as(found.dialect, self._prefix, answer)
        texts = [event for event in events or () if isinstance(event, TextDelta)]
        if events is None or any(event.start < at < event.start + len(event.text) for event in texts):
            parser, events = self._begin()
            return events + self._beyond(parser.close())
        before = [event for event in texts if event.start < at]
        return [*self._beyond([*before]), _notice(found), *events[len(before) :]]

    def _on(self, parser: Parser[str], chunk: str, *before: Event) -> list[Event]:
        """Feed the parser; once it is past what the detector emitted, callers use it directly."""
        events = self._beyond(parser.feed(chunk))
        if any(
            isinstance(event, CallStart | CallEnd | CallFailed)
            or (isinstance(event, TextDelta | ReasoningDelta) and event.start >= len(self._prefix))
            for event in (*before, *events)
        ):
            self.feed, self.close = parser.feed, parser.close
        return events

    def _beyond(self, events: list[Event]) -> list[Event]:
        """Drop what was emitted before, and restore the text that was masked."""
        emitted, prefix = self._detector.passed.emitted, self._prefix
        out: list[Event] = []
        for event in events:
            if isinstance(event, TextDelta | ReasoningDelta) and event.start < len(prefix):
                start, end = max(event.start, emitted), event.start + len(event.text)
                if start >= end:
                    continue
                out.append(type(event)(prefix[start:end] + event.text[max(len(prefix), start) - event.start :], start))
            else:
                out.append(event)
        return out


def _notice(found: Detection) -> Notice:
    return Notice(DETECTED, f"{found.dialect}: it {found.reason}", found.span)


def _closed(chunk: str) -> list[Event]:  # noqa: ARG001 - as `Parser.feed` has it
    raise ParseError("the parser is closed; open a new one for the next answer")


def _closed_already() -> list[Event]:
    raise ParseError("the parser is closed already")
