"""A call in a second format, after those in the one that was detected: it is text, and reported.

<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>
[TOOL_CALLS]send[ARGS]{"to": "c"}                                     a failure, at the end of the answer
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from toolfmt.detection.detector import Detector
from toolfmt.events import CallEnd, CallFailed, Event, ReasoningDelta, TextDelta, coalesce

_CALL: Final = 2
"""The score from which on a detection is of a call, not of a marker alone."""

_KEPT: Final = CallEnd | CallFailed | ReasoningDelta | TextDelta


def other_calls(events: list[Event], source: str, dialect: str, detector: Callable[[], Detector]) -> list[CallFailed]:
    """Find a call of another format than `dialect` in the text after the first call of an answer."""
    ended = [at for at, event in enumerate(events) if isinstance(event, CallEnd | CallFailed)]
    if not ended or not any(isinstance(event, TextDelta) for event in events[ended[0] :]):
        return []
    passed = coalesce([event for event in events[ended[0] :] if isinstance(event, _KEPT)])
    begun = {_before_space(source, event.span[0]) for event in passed if isinstance(event, CallEnd)}
    for some in ([event for event in passed if isinstance(event, TextDelta)], _with_markers(passed, source)):
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
            called = event.start + len(event.text.rstrip()) in begun
            return None if called or same else (event.text[at:].rstrip(), event.start + at, found.dialect)
        at -= len(event.text)
    return None


def _before_space(source: str, at: int) -> int:
    while at and source[at - 1].isspace():
        at -= 1
    return at


def _with_markers(passed: list[Event], source: str) -> list[TextDelta]:
    """Return the texts before which markers were left out, with these: another format's call may need them."""
    texts: list[TextDelta] = []
    for before, event in pairwise(passed):
        if isinstance(before, TextDelta) and isinstance(event, TextDelta):
            start = before.start + len(before.text)
            texts.append(TextDelta(source[start : event.start] + event.text, start))
    return texts
