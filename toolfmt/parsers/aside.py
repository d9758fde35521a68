"""JSON that is no call: text to its end, whatever is inside it.

    The log says {"name": "Alice", "last": {"name": "search", "args": {}}}.
                  ^ known to be no call    ^ so this is none either

It is passed on as it comes; what must be kept is only which brackets are open.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from toolfmt.parsers.cursor import Malformed, Truncated
from toolfmt.parsers.json_values import ignore, read_value
from toolfmt.parsers.pieces import IGNORED
from toolfmt.parsers.sink import Spoken

if TYPE_CHECKING:
    from toolfmt.dialect.record import Limits
    from toolfmt.parsers.cursor import Cursor, Reading
    from toolfmt.parsers.sink import Sink


def pass_on(cur: Cursor, sink: Sink, limits: Limits, *, lines: bool) -> Reading[None]:
    """Pass the value at the cursor on as text, to its end or to where it stops being JSON.

    Without `lines` it stops at a raw line break in a string too: the quote before may have opened none.
    """
    said = Spoken(sink, cur.at)
    reading = read_value(cur, IGNORED, ignore, replace(limits, depth=sys.maxsize), tolerant=True, lines=lines)
    while True:
        try:
            next(reading)
        except (StopIteration, Malformed, Truncated):
            said.add(cur.buf[said.at - cur.base : cur.pos])
            return
        said.add(cur.buf[said.at - cur.base : cur.pos])
        if cur.stop is not None:
            cur.wait(cur.stop, said)
        yield
