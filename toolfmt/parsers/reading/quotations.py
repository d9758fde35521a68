r"""Detects markers and calls that the prose only quotes, which are text.

    Use `<tool_call>` for a call.                          a marker in quotes
    You would write `<tool_call>{...}</tool_call>`.        a call in code or quotation marks within a line
    > <tool_call>{...}</tool_call>                         a call in a quoted line

A call in a fence may be meant, so it is read, with the provenance `fenced`. So is a quoted call without a word
before it.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from toolfmt.parsers.exact.text_before import TextBefore
from toolfmt.parsers.reading.recovering import Recovery
from toolfmt.parsers.scanning.cursor import Cursor, Reading
from toolfmt.parsers.scanning.patterns import match_next, search_on
from toolfmt.parsers.scanning.sink import Draft, Sink

QUOTES = frozenset({"`", '"', "'"})
_IN_CODE = regex.compile(r"[`\n]")


class Quotations:
    """Emits what is quoted in one answer as text."""

    def __init__(self, cur: Cursor, sink: Sink, passed: TextBefore, recovery: Recovery) -> None:
        """Read from `cur`; text and notices go to `sink`."""
        self._cur = cur
        self._sink = sink
        self._passed = passed
        self._recovery = recovery
        self._meant = 0  # calls up to here are known not to be quoted

    def mentioned(self, found: regex.Match[str]) -> bool | None:
        """Whether a marker is in quotes, and then emitted as text; None if undecided."""
        cur = self._cur
        before, after = cur.buf[cur.pos - 1 : cur.pos], cur.buf[found.end() : found.end() + 1]
        if before not in QUOTES or (after or before) != before or (cur.eof and not after):
            return False
        if not after:
            return None
        self._sink.text(found.group(), cur.at)
        cur.pos = found.end()
        self._recovery.mentions += 1
        return True

    def shown(self, found: regex.Match[str], read: Callable[[], Reading[None]]) -> Reading[bool]:
        """Emit a quoted call, which `read` would read, as text; return whether to search for the next marker.

        On a quoted line the marker is text. A call in code or quotation marks is first read as a call, because only
        its grammar determines where it ends.
        """
        cur, sink, start = self._cur, self._sink, self._cur.at
        around = sink.prose.around()
        if around is None:
            return False
        if around.block:
            cur.pos = max(found.end(), cur.pos + 1)
            sink.text(cur.buf[start - cur.base : cur.pos], start)
            sink.note("quoted_call", "a call in a quoted line is text", (start, cur.at))
            self._recovery.mentions += 1
            return True
        closer = around.closer
        if not closer or start < self._meant:
            return False
        end = yield from self._tried(read)
        closed = end and (yield from self._closes(closer))
        self._meant = max(self._meant, cur.at)
        text = cur.since(start)[: end - start]
        cur.rewind(end if closed else start)
        if not end and closer[0] == "`":
            closed = yield from self._closes(closer)
            end = cur.at if closed else start
            text = cur.since(start)
            cur.go(end)
        cur.unpin()
        if closed:
            sink.text(text, start)
            self._passed.add(text)
            sink.note("quoted_call", "a call in code or quotation marks is text", (start, end))
            if closer[0] == "`":
                sink.prose.keep_open(closer)
        return True

    def foreign(self, read: Callable[[], Reading[None]]) -> Reading[bool]:
        """Fail the calls at the cursor, which come right after another format's marker; like `shown` otherwise."""
        cur, start = self._cur, self._cur.at
        if start < self._meant:
            return False
        end = yield from self._tried(read)
        if end:
            self._passed.clear()
            detail = f"a call in markers that are not of this format, at offset {start}"
            Draft(self._sink, start).fail(cur.since(start), "malformed", detail, end)
        else:
            cur.rewind(start)
        cur.unpin()
        return True

    def _tried(self, read: Callable[[], Reading[None]]) -> Reading[int]:
        """Read calls without their events, pinned; return where they end, or 0 if there are no calls."""
        cur, start = self._cur, self._cur.at
        before, mentions = self._passed.state(), self._recovery.mentions
        cur.pin()
        self._sink.set_aside()
        yield from read()
        self._passed.restore(before)
        self._recovery.mentions = mentions
        self._meant = max(cur.at, start + 1)
        return cur.at if self._sink.put_back() else 0

    def _closes(self, closer: str) -> Reading[bool]:
        """Whether the cursor is at the end of a quotation; code is closed by as many marks on the same line."""
        cur = self._cur
        if closer[0] != "`":
            return (yield from match_next(cur, regex.compile(f"[{closer}]"))) is not None
        while (found := (yield from search_on(cur, _IN_CODE))) is not None and found.group() == "`":
            start = cur.at
            while cur.buf[cur.pos : cur.pos + 1] == "`":
                cur.pos += 1
                while cur.pos == len(cur.buf) and not cur.eof:
                    yield
            if cur.at - start == len(closer):
                cur.rewind(start)
                return True
        return False
