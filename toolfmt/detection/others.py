"""A call in a second format, after those in the one that was detected: it is text, and reported.

<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>
[TOOL_CALLS]send[ARGS]{"to": "c"}                                     a failure, at the end of the answer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.events import CallEnd, CallFailed, TextDelta, coalesce
from toolfmt.parsers.driving import PassingParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.detection.detector import Detector
    from toolfmt.dialect.record import Parser
    from toolfmt.events import Event

_CALL: Final = 2
"""The score from which on a detection is of a call, not of a marker alone."""


class OtherFormats(PassingParser):
    """Passes a parser's events on, and looks for a call of another format in the text after the first call."""

    def __init__(self, parser: Parser[str], dialect: str, detector: Callable[[], Detector]) -> None:
        """Read with `parser`, which is of `dialect`; a `detector` reads the text after the first call."""
        super().__init__(parser)
        self._dialect = dialect
        self._detector = detector
        self._calls = 0
        self._passed_events: list[Event] = []

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        events = super().close()
        texts = [event for event in coalesce(self._passed_events) if isinstance(event, TextDelta)]
        if not texts:
            return events
        detector = self._detector()
        detector.read("".join(event.text for event in texts), eof=True)
        found = detector.found
        if found is None or found.candidates[0].score < _CALL:
            return events
        at, begun = found.span[0], {event.span[0] for event in self._passed_events if isinstance(event, CallEnd)}
        for event in texts:
            if at < len(event.text):
                raw, start, end = event.text[at:].rstrip(), event.start + at, event.start + len(event.text)
                known = end in begun or self._dialect in {one.dialect for one in found.candidates}
                detail = f"it looks like a call in another format, {found.dialect}: an answer has one"
                failure = CallFailed(self._calls, raw, "unread_call", detail, (start, start + len(raw)))
                return events if known else [*events, failure]
            at -= len(event.text)
        return events

    def _passed(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, CallEnd | CallFailed):
                self._calls += 1
            if self._calls and isinstance(event, CallEnd | TextDelta):
                self._passed_events.append(event)
        return events
