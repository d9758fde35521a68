"""Decides what is emitted for calls without a marker, and when.

    [{"name": "gone", "args": {}}, {"name": "search", "args": {}}]
     ^ fails, as soon as           ^ this is a call            ^ and here it ends

A call's end is emitted late, because the closers of its list, object or fence belong to
it. An element that is not a call fails only if another element is one. An object is a
call only if its whole shape fits and its name is that of an offered tool, or, if
no tools are given, if it contains nothing but a call's own keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from toolfmt.model import JsonObject
from toolfmt.parsers.bodies.json_calls import CallObject
from toolfmt.parsers.bodies.json_shapes import JsonNode
from toolfmt.parsers.scanning.cursor import Cursor
from toolfmt.parsers.scanning.sink import Draft, Sink


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a complete object, with the reason for which it fails beside calls."""

    kind: Literal["call", "failed", "text", "none"]
    reason: str = "malformed"
    detail: str = "an element of the list is not a call"


ODD = Verdict("none")
_CALL, _TEXT = Verdict("call"), Verdict("text")


def foreign(found: CallObject) -> bool:
    """Whether an object without a key of the format names a tool that is not offered."""
    return bool(found.offered) and found.draft.name not in found.offered and not _marked(found)


def cannot_be_call(found: CallObject, node: JsonNode) -> bool:
    """Whether an object cannot become a call any more, whatever follows."""
    draft = found.draft
    if draft.index >= 0 or found.text_value is not None or _marked(found):
        return False
    if found.escaped or found.mismatch or (found.json.closed and found.unknown):
        return True
    if draft.name:
        return draft.name not in found.offered if found.offered else bool(found.unknown)
    flat = bool(found.offered) or not found.unknown
    return not node.keyed and not any(key not in found.keys and (flat or deep) for key, deep in node.leads.items())


def judge(found: CallObject) -> Verdict:
    """Decide what a complete object is."""
    draft = found.draft
    if found.escaped and draft.index < 0:
        return ODD
    problem = found.problem()
    if problem and problem[0] == "missing_arguments" and not found.json.arguments_required:
        problem = None  # an object of another shape, not a call with misplaced arguments
    marked = _marked(found)
    given = found.arguments is not None or (marked and not found.unknown)
    fits = draft.name in found.offered if found.offered else found.wrapped or not found.unknown
    if problem is None and given and fits:
        return _CALL
    if found.text_value is not None and not draft.name:
        return _TEXT
    if draft.index < 0 and not (found.meant and (problem or (given and (marked or foreign(found))))):
        return ODD
    kind = "none" if draft.index < 0 and foreign(found) else "failed"
    return Verdict(kind, *(problem or ("unknown_tool", f"no tool is called {draft.name!r}")))


def _marked(found: CallObject) -> bool:
    """Whether a key of the format is around the call or in it."""
    return found.wrapped or found.json.meant_by in found.keys


class BareEnds:
    """The calls of one candidate; the cursor's mark is after the last of them."""

    def __init__(self, cur: Cursor, sink: Sink) -> None:
        """Emit the calls that `cur` reads to `sink`."""
        self._cur = cur
        self._sink = sink
        self._before = 0
        self._ends: Callable[[str], None] | None = None
        self._doubts: list[tuple[Draft, Verdict, int]] = []
        self.next = 0
        """The offset at which the next call's span begins."""

    def begin(self) -> None:
        """Begin a candidate at the mark."""
        self.end("")
        self._before, self.next = self._sink.calls, self._cur.mark_at

    @property
    def sure(self) -> bool:
        """Whether the candidate contained a call, or an object meant as one."""
        return self._sink.calls > self._before

    def call(self, draft: Draft, arguments: JsonObject) -> None:
        """Emit the draft as a call."""
        self._claim(draft)
        at = self._cur.at
        self._keep(lambda more: draft.end(arguments, at + len(more)))

    def fail(self, draft: Draft, reason: str, detail: str) -> None:
        """Fail the draft, which was meant as a call."""
        self._claim(draft)
        at, raw = self._cur.at, self._cur.since(draft.start)
        self._keep(lambda more: draft.fail(raw + more, reason, detail, at + len(more)))

    def end(self, more: str) -> None:
        """End the last call; `more`, read since, belongs to it."""
        ends, self._ends = self._ends, None
        if ends is not None:
            self._sink.ahead.clear()
            ends(more)

    def end_here(self) -> None:
        """End the last call with everything that was read."""
        self.end(self._cur.marked())
        self.end_candidate()

    def end_candidate(self) -> None:
        """End the candidate: what was read belongs to no further call."""
        self._cur.mark()
        self.next = self._cur.at

    def hold_non_call(self, draft: Draft, verdict: Verdict) -> bool:
        """Keep a non-call element, which fails if another element is a call; return False if too many are kept."""
        sink = self._sink
        if not self._doubts:
            sink.ahead.append(self._emit_doubts)
        self.next = self._cur.at
        self._doubts.append((draft, verdict, self.next))
        return sink.calls + len(self._doubts) < sink.options.limits.calls

    def slip(self, what: str) -> None:
        """Report a slip between a list's elements, once the list is known to be one of calls."""
        at = self._cur.at
        if self.sure:
            self._sink.note("repaired_json", what, (at, at))
        else:
            self._sink.ahead.append(lambda: self._sink.note("repaired_json", what, (at, at)))

    def forget(self) -> None:
        """The candidate is text."""
        self._sink.ahead.clear()
        self._doubts = []

    def _emit_doubts(self) -> None:
        text, base = self._cur.marked(), self._cur.mark_at
        doubts, self._doubts = self._doubts, []
        for draft, verdict, end in doubts:
            draft.fail(text[draft.start - base : end - base], verdict.reason, verdict.detail, end)

    def _claim(self, draft: Draft) -> None:
        draft.claim()
        draft.start = max(draft.start, self._cur.mark_at)  # what comes before belongs to a call of its list

    def _keep(self, ends: Callable[[str], None]) -> None:
        self._ends = ends
        self._sink.ahead.append(lambda: self.end(""))  # before the next call begins
        self.end_candidate()
