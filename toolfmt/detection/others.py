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
        self._source: list[str] = []
        self._events: list[Event] = []

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        self._source.append(chunk)
        return super().feed(chunk)

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        events = super().close()
        return events + other_calls(self._events, "".join(self._source), self._dialect, self._detector)

    def _passed(self, events: list[Event]) -> list[Event]:
        self._events += [
            event for event in events if isinstance(event, CallEnd | CallFailed | ReasoningDelta | TextDelta)
        ]
        return events


def other_calls(events: list[Event], source: str, dialect: str, detector: Callable[[], Detector]) -> list[CallFailed]:
    """Find a call of another format than `dialect` in the text after the first call of an answer."""
    ended = [at for at, event in enumerate(events) if isinstance(event, CallEnd | CallFailed)]
    if not ended or not any(isinstance(event, TextDelta) for event in events[ended[0] :]):
        return []
    passed = coalesce(events[ended[0] :])
    begun = {event.span[0] for event in passed if isinstance(event, CallEnd)}
    texts = [event for event in passed if isinstance(event, TextDelta)]
    for some in (texts, _with_markers(passed, source)):
        if found := _found(some, begun, dialect, detector):
            raw, at, name = found
            detail = f"it looks like a call in another format, {name}: an answer has one"
            return [CallFailed(len(ended), raw, "unread_call", detail, (at, at + len(raw)))]
    return []


def _found(
    texts: list[TextDelta], begun: set[int], dialect: str, detector: Callable[[], Detector]
) -> tuple[str, int, str] | None:
    """Find a call of another format in these texts: what it is, where, and its dialect."""
    reader = detector()
    reader.read("".join(event.text for event in texts), eof=True)
    found = reader.found
    if found is None or found.candidates[0].score < _CALL:
        return None
    at = found.span[0]
    for event in texts:
        if at < len(event.text):
            same = dialect in {one.dialect for one in found.candidates}
            called = event.start + len(event.text) in begun
            return None if called or same else (event.text[at:].rstrip(), event.start + at, found.dialect)
        at -= len(event.text)
    return None


def _with_markers(passed: list[Event], source: str) -> list[TextDelta]:
    """Return the texts before which markers were left out, with these: another format's call may need them."""
    texts: list[TextDelta] = []
    for before, event in pairwise(passed):
        if isinstance(before, TextDelta) and isinstance(event, TextDelta):
            start = before.start + len(before.text)
            texts.append(TextDelta(source[start : event.start] + event.text, start))
    return texts
