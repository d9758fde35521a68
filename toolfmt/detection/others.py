"""A call in a second format, after those in the one that was detected: it is text, and reported.

<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>
[TOOL_CALLS]send[ARGS]{"to": "c"}                                     a failure, at the end of the answer
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from toolfmt.events import CallEnd, CallFailed, ReasoningDelta, TextDelta, coalesce
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
        self._source: list[str] = []
        self._passed_events: list[Event] = []

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        self._source.append(chunk)
        return super().feed(chunk)

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        events = super().close()
        passed = coalesce(self._passed_events)
        texts = [event for event in passed if isinstance(event, TextDelta)]
        failure = self._second(texts) or self._second(self._with_markers(passed))
        return events if failure is None else [*events, failure]

    def _second(self, texts: list[TextDelta]) -> CallFailed | None:
        """Find a call of another format in these texts."""
        if not texts:
            return None
        detector = self._detector()
        detector.read("".join(event.text for event in texts), eof=True)
        found = detector.found
        if found is None or found.candidates[0].score < _CALL:
            return None
        at, begun = found.span[0], {event.span[0] for event in self._passed_events if isinstance(event, CallEnd)}
        for event in texts:
            if at < len(event.text):
                raw, start, end = event.text[at:].rstrip(), event.start + at, event.start + len(event.text)
                if end in begun or self._dialect in {one.dialect for one in found.candidates}:
                    return None
                detail = f"it looks like a call in another format, {found.dialect}: an answer has one"
                return CallFailed(self._calls, raw, "unread_call", detail, (start, start + len(raw)))
            at -= len(event.text)
        return None

    def _with_markers(self, passed: list[Event]) -> list[TextDelta]:
        """Return the texts before which markers were left out, with these: another format's call may need them."""
        source, texts = "".join(self._source), list[TextDelta]()
        for before, event in pairwise(passed):
            if isinstance(before, TextDelta) and isinstance(event, TextDelta):
                start = before.start + len(before.text)
                texts.append(TextDelta(source[start : event.start] + event.text, start))
        return texts

    def _passed(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, CallEnd | CallFailed):
                self._calls += 1
            if self._calls and isinstance(event, CallEnd | CallFailed | ReasoningDelta | TextDelta):
                self._passed_events.append(event)
        return events
