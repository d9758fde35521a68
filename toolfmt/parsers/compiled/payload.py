"""Reads raw text that is the last part of a call and ends only at the call's closing marker.

    <run_bash>grep '</run_bash>' a.md</run_bash> Done.
                    ^ text: another one follows  ^ the end: no other before the next call

The text after a closing marker is read ahead up to the next one, the next
call or the end of the input. A call inside the text, such as an example,
has its own closing marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import regex

from toolfmt.events import Span
from toolfmt.parsers.scanning.cursor import NEVER, WHITE, Cursor, Reading, Truncated
from toolfmt.parsers.scanning.patterns import GAP, match_next, plain_start, sieve
from toolfmt.parsers.scanning.pieces import Pieces, Taker


class PayloadEnds:
    """Compiled patterns of a call's closer and of the next call's beginning."""

    def __init__(self, closer: str, begins: Sequence[str], flags: int) -> None:
        begin = "|".join(begins) or r"(?!)"
        self.candidate = regex.compile(f"(?P<closer>{closer})|(?P<begin>{begin})", flags)
        starts = [plain_start(source) for source in (closer, *begins)]
        self.hint = re.compile(sieve(starts)).search
        self.next_call = regex.compile(f"{GAP}(?:{begin})", flags)
        self.empty = regex.compile(f"{GAP}(?:{closer})", flags)
        """Matches the closer of an empty text."""


def read_payload(cur: Cursor, ends: PayloadEnds, out: Taker) -> Reading[Span | None]:
    """Read the text, emitted to `out`, with its closer; return the span of a closer read as text, if any."""
    opened = 0
    while True:
        found = yield from _next(cur, ends, out)
        if found is None:
            raise Truncated
        cur.pos = found.end()
        if found.lastgroup == "begin":
            opened += 1
        elif not opened or (yield from followed_by_call(cur, ends)):
            break
        else:
            opened -= 1
        out.add(found.group())
    if opened:
        return None
    return (yield from _last(cur, ends, out, found.group()))


def read_prose(cur: Cursor, ends: PayloadEnds, out: Taker) -> Reading[bool]:
    """Read text for the user with the first closer; return False if a call or the input's end comes first."""
    found = yield from _next(cur, ends, out)
    if found is None or found.lastgroup == "begin":
        return False
    cur.pos = found.end()
    return True


def followed_by_call(cur: Cursor, ends: PayloadEnds) -> Reading[bool]:
    """Whether only the next call, or the end of the input, follows."""
    after = yield from match_next(cur, ends.next_call)
    return after is not None or (cur.eof and not cur.buf[cur.pos :].strip(WHITE))


def _last(cur: Cursor, ends: PayloadEnds, out: Taker, closer: str) -> Reading[Span | None]:
    """Find the last closer before the next call, starting after the first one."""
    cur.deadline = NEVER  # the call may have ended
    unsure: Span | None = None
    end = cur.at
    while True:
        ahead = Pieces()
        ahead.add(closer)
        found = yield from _next(cur, ends, ahead)
        if found is None or found.lastgroup == "begin":
            cur.go(end)
            return unsure
        unsure = unsure or (end - len(closer), end)
        out.add(ahead.text())
        cur.pos, closer = found.end(), found.group()
        end = cur.at


def _next(cur: Cursor, ends: PayloadEnds, out: Taker) -> Reading[regex.Match[str] | None]:
    """Emit text up to the next closer or beginning of a call; return None at the end of the input."""
    while True:
        buf, at = cur.buf, cur.pos
        found = None
        while found is None and (near := ends.hint(buf, at)) is not None:
            found = ends.candidate.match(buf, near.start(), partial=not cur.eof)
            at = near.end()
        end = len(buf) if found is None else found.start()
        text, cur.pos = buf[cur.pos : end], end
        if text:
            out.add(text)
        if found is not None and not found.partial:
            return found
        if cur.eof:
            return None
        if found is None:
            cur.wait(ends.hint, out)
        yield
