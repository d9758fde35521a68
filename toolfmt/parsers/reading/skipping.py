"""Finds the end of a broken JSON object by its brackets alone.

    {"name": "f", "args": {"x": NaN}}, {"name": "g", ...
                                ^ broken here    ^ and reading goes on after its last brace

The search covers only a short distance and a limited number of objects, so that reading
stays linear: an object that does not end nearby is abandoned at its fault. JSON that is not a
call is text to its end, whatever it contains.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import regex

from toolfmt.dialect.record import Limits
from toolfmt.parsers.bodies.json_values import ignore, read_value
from toolfmt.parsers.scanning.cursor import Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.pieces import IGNORED
from toolfmt.parsers.scanning.sink import Sink, Spoken

NEAR = 1024
"""Characters that are examined after an object's fault."""
MOST_LOOKS = 64
"""The number of unsuccessful searches in one parse."""
_TOKEN = regex.compile(r'(?P<string>"(?:[^"\\\n]|\\[^\n])*+(?:"|(?P<unclosed>)))|[{}\[\],:]|[^\s"{}\[\],:]+').search
_BEFORE_STRINGS = tuple("{[,:")
_CLOSERS = {"{": "}", "[": "]"}


class Skipper:
    """Finds the ends of broken objects in one parse; a string must be closed on its line."""

    def __init__(self, cur: Cursor) -> None:
        self._cur = cur
        self._looks = MOST_LOOKS

    def skip(self, start: int, broken: int) -> Reading[bool]:
        """Read to the end of the object that opens at `start`; return False, back at `broken`, if no end is near."""
        cur = self._cur
        if self._looks:
            cur.rewind(start)
            if (yield from self._balance(broken)):
                return True
            self._looks -= 1
        cur.go(broken)
        return False

    def _balance(self, broken: int) -> Reading[bool]:  # noqa: C901 - one loop over tokens
        cur, limit = self._cur, broken + NEAR
        stack: list[str] = []
        before = last = ""
        comma = -1
        while True:
            here = len(cur.buf)
            end = min(limit - cur.base, here)
            found = _TOKEN(cur.buf, cur.pos, end)
            more = not cur.eof and end == here
            if found is None or (more and found["unclosed"] is not None and found.end() >= end - 1):
                cur.pos = end if found is None else found.start()
                if not more:
                    return False
                yield
                continue
            earlier, before, last = before, last, found.group()[-1]
            sibling = before == "," and last == "{" and earlier != '"' and stack[-1:] == ["}"]
            if sibling and cur.at > broken:  # an object has none where a key is expected, unless a quote was misplaced
                cur.go(comma)
                return True
            if found["string"] and (before not in _BEFORE_STRINGS or found["unclosed"] is not None):
                cur.pos = found.start() + 1  # an unescaped quote
                continue
            cur.pos = found.end()
            if not stack and last not in _CLOSERS:
                return False  # no brackets to decide it
            if last in _CLOSERS:
                stack.append(_CLOSERS[last])
            elif last == ",":
                comma = cur.at - 1
            elif last in "]}":
                if last not in stack:
                    cur.pos = found.start()  # the end of the list
                    stack.clear()
                while stack and stack.pop() != last:
                    pass  # an unclosed bracket
                if not stack:
                    return cur.at >= broken


def pass_on(cur: Cursor, sink: Sink, limits: Limits, *, lines: bool) -> Reading[None]:
    """Emit the value at the cursor as text, to its end or to where it stops being JSON.

    Without `lines` it also stops at a raw line break in a string, whose quote may not have opened one.
    """
    emitted = Spoken(sink, cur.at)
    reading = read_value(cur, IGNORED, ignore, replace(limits, depth=sys.maxsize), tolerant=True, lines=lines)
    while True:
        try:
            next(reading)
        except (StopIteration, Malformed, Truncated):
            emitted.add(cur.buf[emitted.at - cur.base : cur.pos])
            return
        emitted.add(cur.buf[emitted.at - cur.base : cur.pos])
        if cur.stop is not None:
            cur.wait(cur.stop, emitted)
        yield
