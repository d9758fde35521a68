r"""What is around a marker, and whether that makes it a quotation.

    ```                            inside a fence
    <tool_call>...
    ```
    > <tool_call>...               in a quoted or indented block
    Write `<tool_call>...`.        in code or quotation marks within a line

Followed along the text, so that any cuts of it give the same answer.
"""

from __future__ import annotations

import re
from typing import Final

_FENCE_LINE = re.compile(r"[ \t]{0,12}(?:(?:[-*+>]|\d{1,3}[.)])[ \t]{1,4})*")
_INDENT: Final = 4
_QUOTES: Final = "\"'`\u201c\u2018\u00ab\\"
_INSIDE: Final = _QUOTES + "([{=,"
"""After one of these a JSON value is part of code, of text in quotes or of another value."""
_MARKS = re.compile(r"(?s:\\.)|[\"']|\\")
_CODE: Final = "=([{,:"
"""After one of these a quotation mark opens a string that holds what follows on its line."""
_LEAD: Final = 64
"""How much of a line's beginning is kept."""


class Surroundings:
    """The place that a scan has reached."""

    def __init__(self) -> None:
        """Begin before the first character."""
        self._escape = False  # a backslash is the last character so far
        self._fence = ""
        self._info = False
        self._lead = ""
        self._ticks = 0
        self._string: str = ""
        self._last = ""
        self._word = ""
        self.filled = False
        """Something is in the fence that is open."""
        self.spoken = False
        """Something was said, outside of fences' own lines."""

    def go(self, text: str) -> None:
        """Pass text that holds no fence."""
        start = text.rfind("\n") + 1
        if start:
            self._lead, self._ticks, self._string, self._escape = "", 0, "", False
        before = self._word[-1:] if self._lead.strip() else ""
        if len(self._lead) < _LEAD:
            self._lead += text[start : start + _LEAD]
        self._ticks += text.count("`", start)
        self._quote(text, start, before)
        self._last = text[-1:] or self._last
        if self._info:  # the word after a fence
            _, newline, text = text.partition("\n")
            self._info = not newline
        if words := text.strip():
            self._word = words[-2:] if len(words) > 1 else self._word[-1:] + words
            self.spoken = True
            self.filled = self.filled or bool(self._fence)

    def _quote(self, text: str, start: int, earlier: str) -> None:
        """Follow the strings of code on the line: one opens after a sign of code, and an apostrophe never does.

        `earlier` is the last character of the line before `text`, blanks aside.
        """
        begin = start + (self._escape and start < len(text))
        self._escape = self._escape and begin == start
        for found in _MARKS.finditer(text, begin):
            mark = found.group()
            if mark[0] == "\\":
                self._escape = len(mark) == 1
            elif self._string:
                self._string = "" if self._string == mark else self._string
            else:
                sign = text[start : found.start()].rstrip()[-1:] or earlier
                if sign and sign in _CODE:
                    self._string = mark

    def fence(self, marks: str, rest: str) -> None:
        """Pass a run of fence marks; `rest` is what follows on its line, as far as it tells."""
        if not _FENCE_LINE.fullmatch(self._lead):
            self.go(marks)
            return
        if not self._fence:
            self._fence, self._info, self.filled = marks, True, False
        elif marks.startswith(self._fence) and not rest.strip():
            self._fence = ""
        self._lead += marks
        self._last = marks[-1]

    @property
    def line_start(self) -> bool:
        """Whether nothing but white space comes before this place on its line."""
        return not self._lead.strip()

    @property
    def fenced(self) -> bool:
        """Whether a fence is open."""
        return bool(self._fence)

    @property
    def fresh(self) -> bool:
        """Whether a fence has just been opened, and nothing is in it yet."""
        return bool(self._fence) and not self.filled

    def quoted(self) -> bool:
        """Whether a marker here is shown, not meant."""
        return self.fenced or self._shown() or bool(self._string or (self._last and self._last in _QUOTES))

    def inside(self) -> bool:
        """Whether a JSON value here is part of something else."""
        if self._shown() or (self.fenced and self.filled):
            return True
        word = self._word[-1:]
        part = bool(word) and (word in _INSIDE or self._word in ('":', "':"))
        return part and not self.fresh

    def _shown(self) -> bool:
        """Whether this is an indented or quoted line, or code within a line."""
        lead = self._lead
        blank = len(lead) - len(lead.lstrip(" \t"))
        block = lead.startswith(("\t", " " * _INDENT)) or lead[blank : blank + 1] in tuple(">|#")
        return block or bool(self._ticks % 2 and not self.fresh)
