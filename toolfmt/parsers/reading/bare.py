"""Reads JSON calls without a marker, in prose or in a code fence.

    Sure: {"name": "search", "args": {"q": "x"}}

Every object and every list is a candidate. It is held back while it may still be a
call, or a list of calls, and becomes text as soon as it cannot be one; what is
inside text is never examined. If one element of a list is a call, the
others are calls too, or failures.
"""

from __future__ import annotations

from functools import cache, lru_cache

import regex

from toolfmt.dialect.syntax import JsonCall
from toolfmt.model import CallProvenance
from toolfmt.parsers.bodies.call_lists import MEMBERS_AFTER
from toolfmt.parsers.bodies.json_calls import CallObject
from toolfmt.parsers.bodies.json_shapes import JsonNode
from toolfmt.parsers.bodies.json_values import ignore, peek, read_value, skip_space, whole_value
from toolfmt.parsers.bodies.late_arguments import find_late
from toolfmt.parsers.reading.bare_ends import ODD, BareEnds, Verdict, cannot_be_call, foreign, judge
from toolfmt.parsers.reading.call_ends import goes_on, skip_surplus
from toolfmt.parsers.reading.skipping import NEAR, Skipper, pass_on
from toolfmt.parsers.scanning.cursor import NEVER, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import GAP, JSON_START, match_next
from toolfmt.parsers.scanning.pieces import IGNORED
from toolfmt.parsers.scanning.sink import Draft, Sink

_NEXT = rf"{GAP};{GAP}"
_NEXT_IN_FENCE = rf"{GAP}[;,]?{GAP}"
_SIBLING = regex.compile(r"\]|,\s{0,64}\{\s{0,64}[\"']")
_FRAME = " \t\r\n]},"
"""Characters that may follow the calls of a list, up to the end of the object around it."""
MOST_SECOND_LOOKS = 16
"""The number of broken candidates that are read again from a doubtful string; each may reach to the end."""


@cache
def _json_after(before: str) -> regex.Pattern[str]:
    """Return the pattern of a possible call after a separator; compiled when the first bare call is read."""
    return regex.compile(before + JSON_START)


@lru_cache(maxsize=32)
def _fence(ticks: int) -> regex.Pattern[str]:
    """Return the pattern of the end of a code fence of this many characters."""
    return regex.compile(rf"\s{{0,256}}`{{{ticks}}}")


class _NoCall(Exception):  # noqa: N818 - control flow, never seen by callers
    """The candidate is text."""


class _Full(Exception):  # noqa: N818 - as above
    """The limit of calls is reached."""


class BareReader:
    """Reads one candidate, and those that directly follow it."""

    def __init__(self, cur: Cursor, sink: Sink, call: tuple[JsonCall, JsonNode], skipper: Skipper) -> None:
        """Read calls of the shape `call` from `cur` into `sink`."""
        self._cur = cur
        self._sink = sink
        self._skipper = skipper
        self._json, self._shape = call
        self._provenance: CallProvenance = "bare"
        self._ends = BareEnds(cur, sink)
        self._second_looks = MOST_SECOND_LOOKS

    def read(self, found: regex.Match[str]) -> Reading[None]:
        """Read the candidate at the next bracket; `found` is its fence, if any."""
        cur = self._cur
        cur.mark()
        cur.pos = found.end()
        if (yield from match_next(cur, _json_after(""))) is None:
            cur.pos += 1
            self._sink.text(cur.marked(), cur.mark_at)
            cur.release()
            return
        fenced = len(found.group()) - len(found.group().lstrip("`"))
        self._provenance = "fenced" if fenced or self._sink.prose.quotes_call() else "bare"
        while (yield from self._candidate()):
            if not fenced:
                self._ends.end_here()
                yield from skip_surplus(cur, self._sink)
                self._ends.end_candidate()
            more = yield from match_next(cur, _json_after(_NEXT_IN_FENCE if fenced else _NEXT))
            if more is not None:
                cur.pos = more.end()
                continue
            fence = (yield from match_next(cur, _fence(fenced))) if fenced else None
            if fence is not None:
                cur.pos = fence.end()
            self._ends.end_here()
            break
        cur.release()

    def _candidate(self) -> Reading[bool]:
        """Read the object or list at the cursor; return whether it contained a call, or was meant as one."""
        cur, ends = self._cur, self._ends
        begin = cur.at
        ends.begin()
        cur.deadline = begin + self._sink.options.limits.call_chars
        try:
            yield from (self._list() if cur.buf[cur.pos] == "[" else self._object())
        except _Full:
            cur.rewind(ends.next)
            self._sink.refuse(cur.at)
            return False
        except (Malformed, Truncated, _NoCall) as problem:
            cur.deadline = NEVER
            if ends.sure:
                cur.go(ends.next)
            else:
                yield from self._text(begin, broken=not isinstance(problem, _NoCall))
        finally:
            cur.deadline = NEVER
        return ends.sure

    def _object(self) -> Reading[None]:
        """Read a single object: a call, or the object around a list of calls."""
        cur = self._cur
        begin, before = cur.at, self._sink.calls
        found = self._open()
        found.watch = _watch
        try:
            yield from found.read(cur, self._shape)
        except (Malformed, Truncated) as problem:
            if self._ends.sure and found.draft.index < 0:  # an element has already reported it
                raise
            yield from self._fail_broken(found.draft, problem, begin, meant=found.meant and not foreign(found))
            return
        if self._held_calls(found, before):
            return
        verdict = judge(found)
        if verdict.kind == "text" and found.text_value is not None:
            self._sink.text(cur.since(cur.mark_at)[: begin - cur.mark_at], cur.mark_at)
            found.draft.think()
            self._sink.text(*found.text_value)
        else:
            yield from self._emit_verdict(found, verdict)

    def _list(self) -> Reading[None]:
        """Read a list that may be a list of calls."""
        cur, sink = self._cur, self._sink
        cur.pos += 1
        note = self._slip if self._json.tolerant else None
        due, began = False, False  # whether a comma is expected; whether an element was read
        while True:
            char = peek(cur) or (yield from skip_space(cur, note))
            if char == ",":
                if not due:
                    self._slip("surplus comma")
                cur.pos += 1
                due = False
            elif char == "]":
                if began and not due:
                    self._slip("trailing comma")
                if not self._ends.sure:
                    raise _NoCall
                cur.pos += 1
                return
            elif not char or (due and char != "{"):
                if not self._ends.sure:
                    raise _NoCall
                cur.go(self._ends.next)
                sink.note("missing_close", "the list of calls is not closed", (cur.at, cur.at))
                return
            else:
                if due:
                    self._slip("missing comma")
                yield from self._item(cur, self._shape)
                due = began = True

    def _element(self, cur: Cursor, node: JsonNode) -> Reading[None]:
        """Read an element of a list under one of the format's keys."""
        yield from self._item(cur, node, wrapped=True)

    def _item(self, cur: Cursor, node: JsonNode, *, wrapped: bool = False) -> Reading[None]:
        self._ends.end("")
        begin, before, sure = cur.at, self._sink.calls, self._ends.sure
        found = self._open()
        if sure:
            cur.deadline = begin + self._sink.options.limits.call_chars
        found.wrapped = wrapped
        verdict = ODD
        try:
            if cur.buf[cur.pos] == "{":
                yield from found.read(cur, node)
                verdict = judge(found)
            else:
                yield from read_value(cur, IGNORED, ignore, found.limits, tolerant=self._json.tolerant)
        except (Malformed, Truncated) as problem:
            if self._sink.calls > before and found.draft.index < 0:  # an element of its list has already reported it
                raise
            if isinstance(problem, Truncated) or not found.ends_before(cur, problem):
                meant = found.meant and not foreign(found)
                yield from self._fail_broken(found.draft, problem, begin, meant=meant, listed=True)
                return
            verdict = judge(found)
        if self._held_calls(found, before):
            return
        if sure or verdict.kind in {"call", "failed"}:
            yield from self._emit_verdict(found, verdict, listed=True)
        elif not self._ends.hold_non_call(found.draft, verdict):
            raise _NoCall

    def _open(self) -> CallObject:
        """Start reading an object as a call."""
        sink = self._sink
        if sink.full:
            raise _Full
        draft = Draft(sink, self._ends.next, self._provenance, confirmed=False)
        return CallObject(self._json, draft, sink.options.limits, self._element)

    def _held_calls(self, found: CallObject, before: int) -> bool:
        """Whether the object only wraps its list of calls."""
        if not found.listed or found.draft.index >= 0 or self._sink.calls == before:
            return False
        cur = self._cur
        beside = cur.marked()
        if beside.strip(_FRAME):
            self._ends.end("")
            self._sink.note("beside_calls", beside, (cur.mark_at, cur.at))
            self._ends.end_candidate()
        return True

    def _emit_verdict(self, found: CallObject, verdict: Verdict, *, listed: bool = False) -> Reading[None]:
        """Decide what a complete object is."""
        self._cur.deadline = NEVER  # what follows is not part of the call
        call, given = verdict.kind == "call", found.arguments or found.rest or ()
        more = call and (yield from find_late(self._cur, found.draft, given)) is not None
        if more or (call and (yield from goes_on(self._cur, listed=listed))):
            self._ends.fail(found.draft, "malformed", MEMBERS_AFTER)
        elif call:
            self._ends.call(found.draft, found.settled())
        elif verdict.kind == "failed" or self._ends.sure:
            self._ends.fail(found.draft, verdict.reason, verdict.detail)
        else:
            raise _NoCall

    def _slip(self, what: str) -> None:
        if not self._json.tolerant:
            raise Malformed("malformed", what, self._cur.at) if self._ends.sure else _NoCall
        self._ends.slip(what)

    def _fail_broken(
        self, draft: Draft, problem: Malformed | Truncated, begin: int, *, meant: bool, listed: bool = False
    ) -> Reading[None]:
        """Fail a broken object or element that began at `begin`; raises if it is not a call or has no end."""
        cur = self._cur
        cur.deadline = NEVER
        if not (meant or self._ends.sure):
            raise problem
        if isinstance(problem, Truncated):
            cur.pos = len(cur.buf)
            self._ends.fail(draft, "truncated", "the input ends inside the call")
            raise problem
        ended = False
        if begin >= cur.mark_at:
            ended = yield from self._skipper.skip(begin, problem.at)
        if not ended and listed:
            ended = yield from self._sibling()
        self._ends.fail(draft, problem.reason, problem.placed)
        if not ended:
            raise problem

    def _sibling(self) -> Reading[bool]:
        """Move to the next likely element or the end of the list; return False, without moving, if none is near."""
        cur = self._cur
        limit = cur.at + NEAR
        while True:
            end = min(limit - cur.base, len(cur.buf))
            found = _SIBLING.search(cur.buf, cur.pos, end)
            if found is not None:
                cur.pos = found.start()
                return True
            if cur.eof or limit <= cur.end:
                return False
            yield

    def _text(self, begin: int, *, broken: bool) -> Reading[None]:
        """Emit a candidate as text."""
        cur, sink = self._cur, self._sink
        self._ends.forget()
        lines = True
        if broken:
            lines = self._second_looks <= 0
            self._second_looks -= 1
        cur.rewind(begin)
        sink.text(cur.marked(), cur.mark_at)
        cur.release()
        whole = whole_value(cur, sink.options.limits)
        if whole is not None:
            sink.text(whole[1], begin)
        else:
            yield from pass_on(cur, sink, sink.options.limits, lines=lines)


def _watch(found: CallObject, node: JsonNode) -> None:
    if cannot_be_call(found, node):
        raise _NoCall
