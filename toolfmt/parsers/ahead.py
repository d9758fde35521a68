r"""The beginning of an answer, read before any grammar is at work: plain text, and calls as they are written.

    Let me look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nI have called `f<int>`.
    ^ all of this ------------------------------------------------------------------- ^ the grammar goes on here

Most answers hold nothing else, and most of what a grammar at work costs is to be able to wait.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolfmt.parsers.written import LATER, NotAtOnce, WrittenSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.parsers.grammar import CompiledSyntax
    from toolfmt.parsers.sections import Section
    from toolfmt.parsers.sink import Sink


class Ahead:
    """A grammar and what the beginnings of its texts are read with; shared by all its parsers."""

    def __init__(self, grammar: CompiledSyntax) -> None:
        """Take the patterns of `grammar`, which are compiled."""
        self.grammar = grammar
        self._texts = not (grammar.syntax.lines or grammar.syntax.starts_in_reasoning)
        self._first = grammar.first.search
        self._marker = grammar.marker.match
        goes_on = self._texts and not grammar.syntax.ends_after_calls
        self._sections = dict(_written(grammar)) if goes_on else {}

    def begins(self, text: str) -> bool:
        """Whether an answer that begins with this begins with its text, or a call, and not with reasoning."""
        return self._texts and not self.grammar.leading.may_begin(text)

    def read(self, chunk: str, base: int, sink: Sink, *, last: bool) -> tuple[int, Section | None, int, bool]:
        """Read the beginning of a chunk, which is at the offset `base`, into `sink`.

        How many characters were read, the section in which the reading goes on, if in any, where the text begins
        after the last section, and whether a call is left of which what follows decides; nothing follows the `last`.
        """
        at, here, said = 0, len(chunk), 0
        while at < here:
            first = self._first(chunk, at)
            start = here if first is None else first.start()
            if start > at:
                sink.text(chunk[at:start], base + at)
            at = start
            found = None if first is None else self._marker(chunk, start)
            group = "" if found is None else str(found.lastgroup)
            rival = self.grammar.earlier(group)
            if found is None or group not in self._sections or (rival and rival.match(chunk, start, partial=True)):
                break
            section, written = self._sections[group]
            if section.bare and inside_code(line_of(chunk[said:start])):
                break
            end = written.read(chunk, start, found.end() if section.opener else start, sink, base, last=last)
            if end < 0:
                return at, None, said, end == LATER
            at = end
            said = end if section.opener else said
            if written.open and any(following.match(chunk, at, partial=True) for following in section.next):
                return at, section, said, False
        return at, None, said, False


def _written(grammar: CompiledSyntax) -> Iterator[tuple[str, tuple[Section, WrittenSection]]]:
    """The sections whose calls are read at once, by the group of what opens them, and what reads them."""
    for number, section in enumerate(grammar.sections):
        compiled = section.forms[0]
        before = next(at for at, pattern in enumerate(section.next) if "f0" in pattern.groupindex)
        try:
            written = WrittenSection(compiled, section.next[:before])
        except NotAtOnce:
            continue
        yield f"s{number}" if section.opener else f"c{number}_0", (section, written)


_LONGEST = 4096
"""As much of a line as is looked at."""
_QUOTED = re.compile(r"""(?<=[=(\[{,:])(\s{0,8})(["'])(?:\\.|(?!\2).)*+(?P<end>\2)?""", re.DOTALL)
_BRACKETS = re.compile(r"[()\[\]{}]")
_WITHIN = re.compile(r"""[\w"'=(\[{\\]\Z""").search
"""What is right before something that is a part of a word, a text or an expression."""


def line_of(text: str) -> str:
    """The end of a text from its last line break on."""
    return text[text.rfind("\n") + 1 :][-_LONGEST:]


def inside_code(line: str) -> bool:
    """Whether what follows a line's beginning is quoted in it, or a part of an expression."""
    if _WITHIN(line) or any(found["end"] is None for found in _QUOTED.finditer(line)):
        return True
    depth = 0
    for bracket in _BRACKETS.findall(_QUOTED.sub("", line)):
        depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth > 0
