r"""Finds where reading resumes after a broken JSON call: at a marker of the format, outside every open quote.

    {"name": "write", "arguments": {"text": "a <tool_call>{"name": "rm", ...}}</tool_call> b"}}</tool_call>
                                     ^ sound up to here --- ^                              the end ^

Strings before the fault are never examined. If the fault comes right after a string, a quote in
that string's text may have ended it too early, and what follows may still be its text. Then an opener
is only quoted, and the call ends at a closer where fewer brackets are open than at the fault.
Where quotes decide nothing, `Nesting` counts the closers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import regex

from toolfmt.parsers.scanning.cursor import NEVER, WHITE, Cursor, Reading
from toolfmt.parsers.scanning.patterns import first_characters, match_first, match_next, search_on

_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\]++|\\[\s\S])*+"|(?<=[\s{\[,:])'(?:[^'\\\n]++|\\.)*+')|(?P<open>"(?:[^"\\]++|\\[\s\S])*+(?P<escape>\\?))|[{}\[\]]|[^\s{}\[\]"]"""
).finditer
_IN_STRING = re.compile(r'(?:[^"\\]++|\\[\s\S])*+').match
_CLOSERS = {"{": "}", "[": "]"}


class Fault:
    """The state of a JSON text at its fault."""

    def __init__(self, text: str) -> None:
        """Scan `text`, which ends at the fault."""
        self._open: list[str] = []
        self._counts = {"}": 0, "]": 0}
        self._least = 0
        self.quoted = self.after_string = self.escaped = False
        """Whether the fault is in a string, right after one, or in a string right after a backslash."""
        for token in _TOKEN(text):
            self.after_string = token["string"] is not None
            self.read('"' if token["open"] else token.group())
            self.escaped = bool(token["escape"])
        self._least = self.depth

    @property
    def depth(self) -> int:
        """The number of open brackets."""
        return len(self._open)

    @property
    def fewer(self) -> bool:
        """Whether fewer brackets are open than at the fault."""
        return self.depth < self._least

    def read(self, char: str) -> None:
        """Process a quote, bracket or other character outside strings."""
        self.quoted = char == '"'
        if char in _CLOSERS:
            self._open.append(_CLOSERS[char])
            self._counts[_CLOSERS[char]] += 1
        while self._counts.get(char):  # an unclosed bracket ends with the one around it
            self._counts[last := self._open.pop()] -= 1
            if last == char:
                break


class Resync:
    """The markers at which reading may resume: closers and beginnings of calls."""

    def __init__(self, closers: Sequence[str], openers: Sequence[str], flags: int) -> None:
        """Set the markers; `flags` are those of the format's other patterns.

        Of two closers with the same beginning, the longer one comes first.
        """
        self._closers = [source for source in closers if source]
        self._openers, self._flags = openers, flags

    # Compiled at the first broken call, as most answers have none.
    @cached_property
    def _ends(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(regex.compile(f"(?P<end>{source})", self._flags) for source in self._closers)

    @cached_property
    def markers(self) -> regex.Pattern[str]:
        """The pattern of all markers; a closer is the group `end`."""
        ends = f"(?P<end>{'|'.join(self._closers)})|" if self._closers else ""
        return regex.compile(f"{ends}(?:{'|'.join(self._openers) or '(?!)'})", self._flags)

    @cached_property
    def _steps(self) -> Callable[[str, int], re.Match[str] | None]:
        parts = [part for source in (*self._closers, *self._openers) for part in source.split("|") if part]
        firsts = first_characters(parts, bare=False, ignore_case=bool(self._flags & regex.IGNORECASE))
        return re.compile(rf"""[{firsts}"{{}}\[\]]""").search

    def search(self, cur: Cursor) -> Reading[regex.Match[str] | None]:
        """Read up to the next marker and return its match; return None at the end of the input."""
        found = yield from search_on(cur, self.markers)
        return found if found is None else (yield from self._whole(cur, found))

    def _whole(self, cur: Cursor, found: regex.Match[str]) -> Reading[regex.Match[str]]:
        """Wait for the rest of a closer that may be longer than the available text."""
        longer = (yield from match_first(cur, self._ends)) if found.lastgroup == "end" else None
        return longer or found

    def after(
        self, cur: Cursor, fault: Fault, further: regex.Pattern[str] | None = None
    ) -> Reading[regex.Match[str] | None]:
        """Read from the fault in a JSON text up to the marker at which reading resumes.

        Without such a marker, return None, with the cursor where all brackets are closed or at the input's end. Once
        they are closed, `further` counts as a marker too.
        """
        at_fault, nested, closed = cur.at, 0, -1
        cur.pos -= fault.escaped  # a backslash is read together with what it escapes
        while True:
            char = yield from self._step(cur, fault)
            if not char:
                cur.go(cur.end if closed < 0 else closed)
                return None
            found = yield from match_next(cur, self.markers)
            if found is None or found.end() == cur.pos:
                cur.pos += 1
                fault.read(char)
                if closed < 0 and char in "}]" and not fault.depth:
                    closed = cur.at
                    more = None if further is None else (yield from match_next(cur, further))
                    if more is not None:
                        return more
                continue
            found = yield from self._whole(cur, found)
            if not fault.after_string or fault.fewer or (found.lastgroup == "end" and cur.at == at_fault):
                return found
            nested = max(nested + (-1 if found.lastgroup == "end" else 1), 0)
            cur.pos = found.end()

    def _step(self, cur: Cursor, fault: Fault) -> Reading[str]:
        """Advance to the next relevant character outside quotes; return "" at the end of the input."""
        while True:
            if fault.quoted:
                cur.pos = _IN_STRING(cur.buf, cur.pos).end()  # type: ignore[union-attr] - matches everywhere
                fault.quoted = cur.buf[cur.pos : cur.pos + 1] != '"'
                cur.pos += not fault.quoted
            if not fault.quoted:
                step = self._steps(cur.buf, cur.pos)
                cur.pos = len(cur.buf) if step is None else step.start()
                if step is not None:
                    return step.group()
            if cur.eof:
                return ""
            yield


_PUNCTUATION = re.compile(r"(?:\\?[()\[\]{}])+").fullmatch
_OPENERS = {")": r"\(", "]": r"\[", "}": r"\{"}


_MARKUP = re.compile(r"[<>\[\]{}\"'=|]").search
_CLOSER = 256
"""The largest number of characters of a text's last closer."""


class Nesting:
    """Counts the markers that open and close a call or its section."""

    def __init__(self, openers: Sequence[str], closers: Sequence[str], flags: int) -> None:
        """Set the markers; of two closers with the same beginning, the longer one comes first."""
        marked = [closer for closer in closers if closer and not _PUNCTUATION(closer)]
        if not marked and closers:
            last = closers[0][-1:]
            openers, marked = ([_OPENERS[last]], [re.escape(last)]) if last in _OPENERS else (openers, [*closers])
        self._sources, self._openers, self._flags = marked, openers, flags

    @cached_property
    def _closers(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(regex.compile(f"(?P<close>{source})", self._flags) for source in self._sources)

    @cached_property
    def _ends(self) -> tuple[regex.Pattern[str], ...]:
        return tuple(regex.compile(rf"(?:{source})\s*\Z", self._flags) for source in self._sources)

    @cached_property
    def _marker(self) -> regex.Pattern[str]:
        opening = "|".join(f"(?:{source})" for source in self._openers if source) or r"(?!)"
        closing = "|".join(f"(?:{source})" for source in self._sources) or r"(?!)"
        return regex.compile(f"(?P<close>{closing})|(?P<open>{opening})", self._flags)

    def follows(self, text: str) -> bool:
        """Whether a call follows plain words and ends the text, so that it is not in a value of the call before it."""
        found = self._marker.search(text)
        words = "" if found is None or found.lastgroup == "close" else text[: found.start()]
        closed = any(closer.search(text.rstrip()[-_CLOSER:] + "\n") for closer in self._ends)
        return bool(words) and _MARKUP(words) is None and closed

    def leave(self, cur: Cursor) -> Reading[bool]:
        """Read past the closer of the enclosing call; return False, at the input's end, if there is none."""
        depth = 1
        while True:
            found = yield from search_on(cur, self._marker)
            if found is None:
                return False
            if found.lastgroup == "close":
                depth -= 1
                found = (yield from match_first(cur, self._closers)) or found
            elif not found.group().endswith("/>"):
                depth += 1
            cur.pos = max(found.end(), cur.pos + 1)
            if not depth:
                return True


def repeats(cur: Cursor, start: int, end: int | None = None) -> Reading[bool]:
    """Whether the text from the offset `start` to `end`, or to the cursor, follows again; nothing is read."""
    deadline, cur.deadline = cur.deadline, NEVER  # what is ahead is no part of the call
    text = cur.since(start)[: None if end is None else end - start].strip(WHITE)
    ahead, read, size = cur.end - len(cur.buf[cur.pos :].lstrip(WHITE)), 0, len(text)
    while read < size:
        after = cur.buf[ahead + read - cur.base : ahead + size - cur.base]
        if not text.startswith(after, read) or (cur.eof and not after):
            break
        read += len(after)
        if read < size and not cur.eof:
            yield
    cur.deadline = deadline
    return 0 < read == size
