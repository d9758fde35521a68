"""What comes right after the object of a JSON call: a brace too many, or members that one has shut out.

f[ARGS]{"a": {"b": 1}}}              the last brace is too many: a notice
f[ARGS]{"a": {"b": 1}}, "c": 2}      the object ended too early: no call
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from toolfmt.parsers.cursor import NEVER, WHITE, Malformed
from toolfmt.parsers.patterns import cut_off, match_next

if TYPE_CHECKING:
    from toolfmt.parsers.cursor import Cursor, Reading
    from toolfmt.parsers.sink import Draft

_GOES_ON = regex.compile(r'[ \t]{0,64}(?:,\s{0,64}"|"[^"\n]{1,64}"\s{0,8}:)')
_SURPLUS = regex.compile(r"\s{0,8}[}\]]")
_MOST_SURPLUS = 8


def close_object(cur: Cursor, draft: Draft) -> Reading[None]:
    """Read closers too many after an object that no marker ends; raises `Malformed` where its members go on."""
    at, count, cur.deadline = cur.at, 0, NEVER  # the call may be over
    while count < _MOST_SURPLUS and (found := (yield from match_next(cur, _SURPLUS))) is not None:
        cur.pos = found.end()
        count += 1
    yield from refuse_members(cur)
    if count:
        draft.note("repaired_json", "surplus closing brackets", at, cur.at)


def refuse_members(cur: Cursor) -> Reading[None]:
    """Raise `Malformed` where an object that was read to its end goes on with a member."""
    more = yield from match_next(cur, _GOES_ON)
    if more is not None or (cur.buf[cur.pos :].strip(WHITE) and cut_off(cur, _GOES_ON)):
        raise Malformed("malformed", "members after the brace that ends the call", cur.at)
