"""Reads reasoning at the beginning of an answer: opened by the prompt, or in a format without reasoning markers.

    <think>I must not do <tool name="rm">...</tool>.</think>No.

Many models write such a block in any format, and a call drafted
in it is not a call. Only a closed block at the very beginning counts: elsewhere, and
if it is not closed, its marker is ordinary text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import regex

from toolfmt.dialect.frames import Frame
from toolfmt.dialect.syntax import Syntax
from toolfmt.parsers.scanning.cursor import Cursor, Reading
from toolfmt.parsers.scanning.patterns import GAP, literal, match_next
from toolfmt.parsers.scanning.sink import Sink


class Leading:
    """The blocks of a format, compiled."""

    def __init__(self, syntax: Syntax, calls: Callable[[], str], flags: int) -> None:
        """Compile the pairs that the format lacks; `calls` returns the pattern of a call's beginning."""
        own = {opener.strip() for opener, _ in syntax.reasoning}
        pairs = [(opener, closer) for opener, closer in syntax.leading if opener.strip() not in own]
        self._opener = regex.compile(GAP + f"(?:{'|'.join(literal(opener) for opener, _ in pairs) or '(?!)'})", flags)
        self._any = bool(pairs)
        self._closers = "|".join(literal(closer) for _, closer in pairs) or "(?!)"
        self._calls, self._flags = calls, flags

    @cached_property
    def _closer(self) -> regex.Pattern[str]:
        return regex.compile(self._closers, self._flags)

    @cached_property
    def _call(self) -> regex.Pattern[str]:
        return regex.compile(self._calls(), self._flags)

    def may_begin(self, text: str) -> bool:
        """Whether a text may be the beginning of a block."""
        return self._any and self._opener.match(text, partial=True) is not None

    def read(self, cur: Cursor, sink: Sink) -> Reading[bool]:
        """Read one block, whose text is held back until its closer; return whether there was one."""
        opened = (yield from match_next(cur, self._opener)) if self._any else None
        if opened is None:
            return False
        cur.mark()
        start = cur.at
        cur.pos = opened.end()
        body = cur.at
        while (found := self._closer.search(cur.buf, cur.pos, partial=not cur.eof)) is None or found.partial:
            cur.pos = len(cur.buf) if found is None else found.start()
            if cur.eof:
                cur.rewind(start)
                cur.release()
                sink.note("open_reasoning", "a block that begins the answer is not closed: it is text", (start, start))
                return False
            yield
        cur.pos = found.start()
        thought = cur.since(body)
        cur.pos = found.end()
        sink.reasoning = sink.layout = True
        if thought:
            sink.text(thought, body)
        if self._call.search(thought):
            sink.note("draft_in_reasoning", "a call in closed reasoning is not a call", (body, body + len(thought)))
        sink.drop()
        sink.reasoning = False
        sink.layout = True
        cur.release()
        return True


def reasoning_opener(syntax: Syntax, prompt: str) -> str:
    """Return the opener of the reasoning block in which the prompt ends, or ""."""
    found, at = "", -1
    for opener, closer in syntax.reasoning:
        opened = prompt.rfind(opener.strip())
        if opened > at and (not closer or prompt.rfind(closer.strip()) < opened):
            found, at = opener, opened
    thinks = syntax.frame is not None and _opens_thought(syntax.frame, prompt)
    return syntax.frame.start if thinks and syntax.frame is not None else found


def _opens_thought(frame: Frame, prompt: str) -> bool:
    """Whether the prompt ends in the header of a thought."""
    for found in re.finditer(re.escape(frame.start), prompt):
        header = regex.fullmatch(frame.header, prompt[found.start() :])
        if header is not None:
            header_fields = {key: value or "" for key, value in header.groupdict().items()}
            return frame.route(header_fields).to == "reasoning"
    return False
