"""A JSON list of calls; an element that is not a call fails alone.

[{"name": "a", "arguments": {}}, 5, {"name": "b", "arguments": {}}]
 ^ call                          ^ failure ^ call
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import regex

from toolfmt.parsers.bodies.claims import no_call_follows
from toolfmt.parsers.bodies.json_calls import CallObject
from toolfmt.parsers.bodies.json_values import ignore, peek, read_value, skip_space
from toolfmt.parsers.bodies.late_arguments import find_late
from toolfmt.parsers.scanning.cursor import Malformed, Truncated
from toolfmt.parsers.scanning.patterns import match_next
from toolfmt.parsers.scanning.pieces import IGNORED
from toolfmt.parsers.scanning.sink import Draft

if TYPE_CHECKING:
    from toolfmt.dialect.record import Limits
    from toolfmt.parsers.bodies.json_shapes import JsonNode
    from toolfmt.parsers.compiled.sections import FormGrammar
    from toolfmt.parsers.reading.skipping import Skipper
    from toolfmt.parsers.scanning.cursor import Cursor, Reading
    from toolfmt.parsers.scanning.sink import Sink

MEMBERS_AFTER = "members after the brace that ends the call"
"""What is wrong with a call whose members continue after its end."""
_AFTER = frozenset({",", "]", "}", "{", "<", "[", ";", "", "/", "#"})
"""Characters before the next element, after the last one, or in a marker."""
_MEMBER_NEXT = regex.compile(r"""\s{0,64},\s{0,64}["'][^"'\n]{1,64}["']?\s{0,8}:""")
_IN_TEXT = regex.compile(r'[\s,]{0,64}\][ \t]{0,64}[^\s"<\[{}][^\n"<\[{]{0,256}"')
"""A bracket inside a string, with the string's rest and its quote."""


class ListReader(Protocol):
    """What a list needs from the reader of the surrounding calls."""

    cur: Cursor
    sink: Sink
    skipper: Skipper
    limits: Limits
    draft: Draft

    def measure(self, start: int) -> None:
        """Raise `Malformed` for a call over the limit."""
        ...


class CallList:
    """Reads the elements of one list of calls, each into a draft of `reader`."""

    def __init__(self, reader: ListReader, form: FormGrammar) -> None:
        """Read calls of `form` at the place of `reader`."""
        self._reader = reader
        self._form = form

    def read(self) -> Reading[None]:
        """Read the list at the cursor."""
        reader, form = self._reader, self._form
        cur, sink = reader.cur, reader.sink
        bracket = cur.at
        cur.pos += 1
        note = self._slip if form.json is not None and form.json.tolerant else None
        empty, comma = True, -1
        while True:
            char = peek(cur) or (yield from skip_space(cur, note))
            if char == "]" and comma >= 0:
                sink.note("repaired_json", "surplus comma" if empty else "trailing comma", (comma, cur.at + 1))
            if comma < 0 and cur.at >= cur.deadline:  # no element begins, as with text in pieces
                raise Malformed("limit", f"a call of more than {reader.limits.call_chars} characters", cur.deadline)
            empty = empty and char in ",]"  # "" too: the input ends
            if char and char not in ",]" and form.shape is not None:
                self._note_list(bracket)
                yield from self.element(cur, form.shape)
                char = peek(cur) or (yield from skip_space(cur, note))
            if char == "]":
                cur.pos += 1
                if empty:
                    sink.note("empty_calls", "the list of calls is empty", (bracket, cur.at))
                return
            if not char and empty:
                raise Truncated
            if not char:
                sink.note("missing_close", "the list of calls is not closed", (reader.draft.start, cur.at))
                return
            if char != ",":
                raise Malformed("malformed", f"expected a comma or the end of the list, found {char!r}", cur.at)
            comma = bracket if empty else cur.at
            cur.pos += 1

    def element(self, cur: Cursor, node: JsonNode) -> Reading[None]:
        """Read one element of a list and end or fail it; the next element's span begins after it."""
        reader, form = self._reader, self._form
        assert form.json is not None  # noqa: S101 - lists are made of JSON calls
        if reader.sink.full:
            raise Malformed("limit", f"more than {reader.limits.calls} calls", cur.at)
        draft, opened = reader.draft, cur.at
        draft.server = form.form.defaults.get("server")
        cur.deadline = opened + reader.limits.call_chars
        found = CallObject(form.json, draft, reader.limits, self.element)
        try:
            if cur.buf[cur.pos] == "{":
                yield from found.read(cur, node)
                problem = found.problem()
                yield from _refuse_rest(cur, node)
                if (yield from find_late(cur, draft, found.arguments or found.rest or ())) is not None:
                    problem = problem or ("malformed", MEMBERS_AFTER)
            else:
                yield from read_value(cur, IGNORED, ignore, reader.limits, tolerant=form.json.tolerant)
                problem = "malformed", "an element of the list is not a call"
            reader.measure(opened)
        except Malformed as broken:
            problem = broken.reason, broken.placed
            if found.ends_before(cur, broken) and (yield from match_next(cur, _IN_TEXT)) is None:
                problem = None
            elif not (yield from reader.skipper.skip(opened, broken.at)):
                raise
        if found.listed and draft.index < 0:
            return
        if problem is None:
            draft.end(found.settled(), cur.at)
        else:
            draft.fail(cur.since(draft.start), *problem, cur.at)
        reader.draft = Draft(reader.sink, cur.at)

    def _note_list(self, bracket: int) -> None:
        if not self._form.form.array:
            self._reader.draft.note("loose_form", "a list, where the format writes one object", bracket)

    def _slip(self, what: str) -> None:
        cur = self._reader.cur
        self._reader.sink.note("repaired_json", what, (cur.at, cur.at))


def _refuse_rest(cur: Cursor, node: JsonNode) -> Reading[None]:
    """Raise `Malformed` if anything but the next element or the list's end follows an object."""
    end = cur.at
    if (yield from match_next(cur, _MEMBER_NEXT)) is not None or (yield from no_call_follows(cur, node)):
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)
    if (peek(cur) or (yield from skip_space(cur))) not in _AFTER:
        raise Malformed("malformed", MEMBERS_AFTER, cur.at)
    cur.go(end)
