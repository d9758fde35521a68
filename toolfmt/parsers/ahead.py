r"""The beginning of an answer, read before any grammar is at work: plain text, and calls as they are written.

    Let me look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\nI have called `f<int>`.
    ^ all of this ------------------------------------------------------------------- ^ the grammar goes on here

Most answers hold nothing else, and most of what a grammar at work costs is to be able to wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.parsers.written import LATER, NotAtOnce, WrittenSection

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.parsers.grammar import CompiledSyntax
    from toolfmt.parsers.sections import Section
    from toolfmt.parsers.sink import Sink
    from toolfmt.parsers.text_before import TextBefore


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

    def read(
        self, chunk: str, base: int, sink: Sink, passed: TextBefore, *, last: bool
    ) -> tuple[int, Section | None, bool]:
        """Read the beginning of a chunk, which is at the offset `base`, into `sink`, and its text into `passed` too.

        How many characters were read, the section in which the reading goes on, if in any, and whether a call is
        left of which what follows decides; nothing follows the `last`.
        """
        at, here = 0, len(chunk)
        while at < here:
            first = self._first(chunk, at)
            start = here if first is None else first.start()
            if start > at:
                sink.text(chunk[at:start], base + at)
                passed.add(chunk[at:start])
            at = start
            found = None if first is None else self._marker(chunk, start)
            group = "" if found is None else str(found.lastgroup)
            rival = self.grammar.earlier(group)
            if found is None or group not in self._sections or (rival and rival.match(chunk, start, partial=True)):
                break
            section, written = self._sections[group]
            if sink.prose.around() is not None or passed.in_value() or (section.bare and passed.in_code()):
                break
            end = written.read(chunk, start, found.end() if section.opener else start, sink, base, last=last)
            if end < 0:
                return at, None, end == LATER
            at = end
            passed.clear()
            over = last and at == here
            if written.open and not over and any(one.match(chunk, at, partial=True) for one in section.next):
                return at, section, False
        return at, None, False


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
