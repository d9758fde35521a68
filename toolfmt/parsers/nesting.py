r"""Where a broken call ends that others may be quoted in: at its own closer, not at one of theirs.

    <|tool_call_start|>[write(text=oops <|tool_call_start|>[rm(p='/')]<|tool_call_end|> ")]<|tool_call_end|>
                                   ^ the fault              theirs ^                      its own ^

Each marker that opens something has its closer counted. Where a bracket is all of a closer, brackets are counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import regex

from toolfmt.parsers.patterns import match_first, search_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.parsers.cursor import Cursor, Reading

_PUNCTUATION = re.compile(r"(?:\\?[()\[\]{}])+").fullmatch
_OPENERS = {")": r"\(", "]": r"\[", "}": r"\{"}


class Nesting:
    """What opens and closes a call, or the section around it."""

    __slots__ = ("_closers", "_marker")

    def __init__(self, openers: Sequence[str], closers: Sequence[str], flags: int) -> None:
        """Compile the markers; of two closers that begin alike the longer comes first."""
        marked = [closer for closer in closers if closer and not _PUNCTUATION(closer)]
        if not marked and closers:
            last = closers[0][-1:]
            openers, marked = [_OPENERS[last]] if last in _OPENERS else [], [re.escape(last)]
        self._closers = tuple(regex.compile(f"(?P<close>{source})", flags) for source in marked)
        opening = "|".join(f"(?:{source})" for source in openers if source) or r"(?!)"
        closing = "|".join(f"(?:{source})" for source in marked) or r"(?!)"
        self._marker = regex.compile(f"(?P<close>{closing})|(?P<open>{opening})", flags)

    def leave(self, cur: Cursor) -> Reading[bool]:
        """Read on past the closer of what the cursor is in; False, at the input's end, where there is none."""
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
