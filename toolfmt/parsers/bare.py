"""JSON calls that stand in prose or a code fence, without a marker.

    Sure: {"name": "search", "args": {"q": "x"}}

An object is a candidate if its first key is one that a call may have. It is a
call only if its whole shape fits and its name is that of an offered tool, or,
when no tools are given, if it holds nothing but a call's own keys. Any other
JSON is text, and what stands inside it is never looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from toolfmt.parsers.cursor import NEVER, Malformed, Truncated
from toolfmt.parsers.json_calls import CallObject, ReadOne, ignore
from toolfmt.parsers.json_values import read_value
from toolfmt.parsers.patterns import GAP, match_next
from toolfmt.parsers.sink import Draft

if TYPE_CHECKING:
    from toolfmt.model import Provenance
    from toolfmt.parsers.cursor import Cursor, Reading
    from toolfmt.parsers.grammar import FormGrammar, Grammar
    from toolfmt.parsers.json_shapes import Node
    from toolfmt.parsers.sink import Sink
    from toolfmt.parsers.skipping import Skipper

PROBE = regex.compile(r"\{\s{0,256}[\"'](?P<key>[^\"'\\\n]{1,64})[\"']\s{0,256}:")
_NEXT = regex.compile(rf"{GAP};{GAP}(?=\{{)")
_LINES = regex.compile(rf"{GAP};?{GAP}(?=\{{)")
_MORE = regex.compile(rf"{GAP}(?:(?P<close>\])|,{GAP}(?=\{{))")
_FRAME = " \t\r\n]},"
"""What may stand between and behind calls in a list."""
_FENCE = regex.compile(r"\s{0,256}```")


class BareReader:
    """Reads one candidate, or a list of them."""

    __slots__ = ("_before", "cur", "grammar", "sink", "skipper")

    def __init__(self, cur: Cursor, sink: Sink, grammar: Grammar, skipper: Skipper) -> None:
        """Read from `cur` into `sink`."""
        self.cur = cur
        self.sink = sink
        self.grammar = grammar
        self._before = 0
        self.skipper = skipper

    def read(self, found: regex.Match[str]) -> Reading[None]:
        """Read the candidate whose fence and bracket, if any, are `found` and whose brace comes next."""
        cur, sink = self.cur, self.sink
        prefix = found.group()
        start = cur.at
        if prefix:
            sink.hold(prefix, start)
            cur.pos = found.end()
        fenced, listed = prefix.startswith("`"), prefix.rstrip().endswith("[")
        called = yield from self._candidate(start, "fenced" if fenced else "bare")
        while called:
            more = yield from match_next(cur, _MORE if listed else _LINES if fenced else _NEXT)
            if more is None:
                break
            sink.hold(more.group(), cur.at)
            start, cur.pos = cur.at, more.end()
            if listed and more["close"]:
                sink.drop()
                break
            called = yield from self._candidate(start, "fenced" if fenced else "bare")
        if fenced and called:
            fence = yield from match_next(cur, _FENCE)
            if fence is not None:
                cur.pos = fence.end()

    def _candidate(self, start: int, provenance: Provenance) -> Reading[bool]:
        """Read the object at the cursor: as a call, or as text."""
        cur, sink = self.cur, self.sink
        probe = yield from match_next(cur, PROBE)
        if probe is None:
            sink.text(cur.buf[cur.pos], cur.at)
            cur.pos += 1
            return False
        form = self._form(probe["key"])
        if form is None:
            yield from self._plain()
            return False
        if sink.full:
            sink.refuse(start)
            return False
        cur.mark()
        cur.deadline = cur.at + sink.options.limits.call_chars
        begin, before = cur.at, sink.calls
        self._before = before
        draft = Draft(sink, start, provenance, confirmed=False)
        found = CallObject(form.json, draft, sink.options.limits, self._element(form, provenance))  # type: ignore[arg-type] - chosen for it
        try:
            yield from found.read(cur, form.shape)  # type: ignore[arg-type] - as above
        except (Malformed, Truncated) as problem:
            cur.deadline = NEVER
            if draft.index >= 0 or sink.calls == before:  # else an element has told of it
                yield from self._broken(found, problem, begin)
            cur.release()
            return False
        cur.deadline = NEVER
        if not found.listed or draft.index >= 0 or (draft.name and sink.calls == before):
            self._settle(found)
        elif sink.calls == before:
            sink.text(cur.marked(), cur.mark_at)
        elif cur.marked().strip(_FRAME):
            sink.note("beside_calls", cur.marked(), (cur.mark_at, cur.at))
        cur.release()
        return sink.calls > before

    def _form(self, key: str) -> FormGrammar | None:
        for section in self.grammar.sections:
            for form in section.forms:
                if form.shape is not None and (key in form.shape.keys or form.shape.keyed):
                    return form
        return None

    def _plain(self) -> Reading[None]:
        """Pass other JSON on as text, to its end or to where it stops being JSON."""
        cur, sink = self.cur, self.sink
        at = cur.at

        def write(text: str) -> None:
            nonlocal at
            sink.text(text, at)
            at += len(text)

        try:
            yield from read_value(cur, write, ignore, sink.options.limits, tolerant=False)
        except (Malformed, Truncated):
            sink.text(cur.buf[at - cur.base : cur.pos], at)

    def _element(self, form: FormGrammar, provenance: Provenance) -> ReadOne:
        """A function that reads one call of a list inside a candidate."""

        def read(cur: Cursor, node: Node) -> Reading[None]:
            start = cur.at
            draft = Draft(self.sink, cur.mark_at, provenance, confirmed=False)
            found = CallObject(form.json, draft, self.sink.options.limits, read)  # type: ignore[arg-type] - chosen for it
            found.wrapped = True
            try:
                yield from found.read(cur, node)
            except (Malformed, Truncated) as problem:
                ended = yield from self._broken(found, problem, start, sure=self.sink.calls > self._before)
                cur.mark()
                if not ended:
                    raise
                return
            if not found.listed:
                self._settle(found)
                cur.mark()

        return read

    def _settle(self, found: CallObject) -> None:
        """Decide what a complete object is: a call, a failed call or text."""
        cur, sink, draft = self.cur, self.sink, found.draft
        offered = sink.options.tools
        problem = found.problem()
        if problem and problem[0] == "missing_arguments" and not found.json.arguments_required:
            problem = None  # an object of some other shape, not a call whose arguments went astray
        fits = draft.name in offered if offered else found.wrapped or not found.unknown
        plain = found.wrapped or found.json.meant_by in found.keys
        given = found.arguments is not None or (plain and not found.unknown)
        if problem is None and given and fits:
            draft.end(found.settled(), cur.at)
        elif found.said is not None and not draft.name:
            draft.think()
            sink.text(*found.said)
        elif draft.index >= 0 or (found.meant and (problem or (given and plain))):
            reason, detail = problem or ("unknown_tool", f"no tool is called {draft.name!r}")
            draft.fail(cur.marked(), reason, detail, cur.at)
        else:
            sink.text(cur.marked(), cur.mark_at)

    def _broken(
        self, found: CallObject, problem: Malformed | Truncated, start: int, *, sure: bool = False
    ) -> Reading[bool]:
        """Tell what an object, begun at `start`, is that broke: a failed call or text; whether its end was found.

        It is `sure` to be a call if it stands in a list of which another was one.
        """
        cur, sink, draft = self.cur, self.sink, found.draft
        ended = False
        sure = sure or draft.index >= 0 or found.meant
        if isinstance(problem, Truncated):
            cur.pos = len(cur.buf)
        elif sure:
            ended = yield from self.skipper.skip(start, problem.at)
        if sure:
            reason, detail = (
                ("truncated", "the input ends inside the call")
                if isinstance(problem, Truncated)
                else (problem.reason, f"{problem.detail}, at offset {problem.at}")
            )
            draft.fail(cur.marked(), reason, detail, cur.at)
        else:
            sink.text(cur.marked(), cur.mark_at)
        return ended
