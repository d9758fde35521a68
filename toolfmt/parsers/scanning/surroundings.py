r"""Decides from what is around a marker whether it is a quotation.

    ```                            inside a fence
    <tool_call>...
    ```
    > <tool_call>...               in a quoted or indented block
    Write `<tool_call>...`.        in code or quotation marks within a line

It follows the text, so the result does not depend on how the text is cut.
"""

from __future__ import annotations

import re
from typing import Final

from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.parsers.scanning.pieces import Pieces

_FENCE = re.compile(r"(?:`{3,256}|~{3,256})(?=([^\n]*))")
_SIGNS: Final = re.compile("[`~>]|[\"'\u201c\u2018\u00ab]\\Z").search
"""What begins a quotation or a fence; a text without it is read no further."""
_WORD: Final = re.compile(r"\w").search
_FENCE_LINE = re.compile(r"[ \t]{0,12}(?:(?:[-*+>]|\d{1,3}[.)])[ \t]{1,4})*")
_INDENT: Final = 4
_QUOTES: Final = "\"'`\u201c\u2018\u00ab\\"
_PAIRS: Final = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
_INSIDE: Final = _QUOTES + "([{=,"
"""After one of these a JSON value is part of code, of text in quotes or of another value."""
_OPENING: Final = WHITE + "([{=,:*_"
"""One of these, or nothing, is before a mark that opens a quotation."""
_LASTING: Final = '">'
"""A quotation that its own mark does not end: of a quoted line, and one in which a call may have such marks."""
_MARKS = re.compile(r"(?s:\\.)|[\"']|\\")
_CODE: Final = "=([{,:"
"""After one of these a quotation mark opens a string that holds what follows on its line."""
_LEAD: Final = 64
"""Characters of a line's beginning that are kept."""


class Surroundings:
    """What is around the place that a scan has reached."""

    def __init__(self) -> None:
        self._escape = False  # a backslash is the last character so far
        self._fence = ""
        self._info = False
        self._lead = ""
        self._ticks = 0
        self._string: str = ""
        self._last = self._before = ""  # the last character, and the one before it
        self._word = ""
        self._held = ""  # what closes a quotation that holds a call
        self._marks = 0  # double quotes in it
        self._blank = False  # nothing is in the line, while that is so
        self.filled = False
        """Something is in the fence that is open."""
        self.has_text = False
        """Something was said, outside of fences' own lines."""
        self.worded = False
        """A word was said there."""

    def go(self, text: str) -> None:
        """Pass text that holds no fence."""
        start = text.rfind("\n") + 1
        after = self._follow(text) if self._held and not self._fence else 0
        if start:
            self._lead, self._ticks, self._string, self._escape = "", 0, "", False
        before = self._word[-1:] if self._lead.strip() else ""
        if len(self._lead) < _LEAD:
            self._lead += text[start : start + _LEAD]
        self._ticks = 0 if after else self._ticks
        self._ticks += text.count("`", max(start, after))
        self._quote(text, start, before)
        if text:
            self._before, self._last = (self._last + text)[-2:-1], text[-1]
        if self._info:  # the word after a fence
            _, newline, text = text.partition("\n")
            self._info = not newline
        if words := text.strip():
            self._word = words[-2:] if len(words) > 1 else self._word[-1:] + words
            self.has_text = True
            self.worded = self.worded or any(map(str.isalnum, words))
            self.filled = self.filled or bool(self._fence)

    def hold_open(self) -> None:
        """Let what is quoted here last up to its closing mark, a blank line or a fence: a call is in it."""
        mark = "`" if self._ticks % 2 else _PAIRS.get(self._last, "")
        self._held, self._blank, self._marks = self._fence or (">" if self.block else mark), False, 0

    @property
    def held(self) -> bool:
        """Whether what was held open is still open; double quotes close by an odd number, as a call holds pairs."""
        return bool(self._held) and not (self._held == '"' and self._marks % 2)

    @property
    def shows(self) -> bool:
        """Whether a quotation is open here: a fence, a quoted line, code, or a mark that no word comes before."""
        opens = self._last in _PAIRS and not self._before.strip(_OPENING)
        return self.fenced or self.block or bool(self._ticks % 2) or opens

    def _follow(self, text: str) -> int:
        """Look for the end of what is held open; where it is in the text, or 0."""
        if self._held == '"':
            self._marks += text.count('"')
        at = 0
        for line in text.split("\n"):
            if at and (self._blank or (self._held == ">" and not line.lstrip(" \t").startswith(">"))):
                self._held = ""
                return 0
            closed = line.find(self._held) if self._held not in _LASTING else -1
            if closed >= 0:
                self._held = ""
                return at + closed + 1
            self._blank = (self._blank or at > 0) and not line.strip()
            at += len(line) + 1
        return 0

    def read(self, text: str) -> None:
        """Pass text that may hold fences, which end within it."""
        at = 0
        for found in _FENCE.finditer(text):
            self.go(text[at : found.start()])
            self.fence(found.group(), found[1])
            at = found.end()
        self.go(text[at:])

    def _quote(self, text: str, start: int, earlier: str) -> None:
        """Follow the strings of code on the line: one opens after a sign of code, an apostrophe never does.

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
                at = found.start()
                while at > start and text[at - 1].isspace():
                    at -= 1
                sign = text[at - 1] if at > start else earlier
                if sign and sign in _CODE:
                    self._string = mark

    def fence(self, marks: str, rest: str) -> None:
        """Pass a run of fence marks; `rest` is what is known to follow on its line."""
        if not _FENCE_LINE.fullmatch(self._lead):
            self.go(marks)
            return
        self._held = ""
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

    @property
    def block(self) -> bool:
        """Whether this is a line of a quotation."""
        return self._lead.lstrip(" \t").startswith(">")

    @property
    def special(self) -> bool:
        """Whether a call here may be shown, not meant."""
        return bool(self._fence) or self.block or bool(self.closer)

    @property
    def closer(self) -> str:
        """What would close the code or the quotation marks that are open here after a word; code ends in its line."""
        if not self.worded:
            return ""
        return "`" if self._ticks % 2 else _PAIRS.get(self._last, "")

    def keep_open(self) -> None:
        """Count code as open, whatever is in the text that was passed last."""
        self._ticks = 1

    def quoted(self) -> bool:
        """Whether a marker here is quoted."""
        return self.fenced or self._shown() or bool(self.held or self._string or (self._last and self._last in _QUOTES))

    def inside(self) -> bool:
        """Whether a JSON value here is part of something larger."""
        if self._shown() or self._string or (self.fenced and self.filled):
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


def may_quote(text: str) -> bool:
    """Whether a call after this text may be quoted in it."""
    return _SIGNS(text) is not None


class Prose:
    """The text of an answer so far; most of it shows nothing, which one search finds out."""

    def __init__(self) -> None:
        self._pieces = Pieces()
        self.add = self._pieces.add
        """Add text."""
        self._around: Surroundings | None = None
        self._worded = False

    def around(self) -> Surroundings | None:
        """What is around the place that the text has reached; None if a call that begins here is meant."""
        text = self._pieces.take()
        around = self._around
        if around is None and not _SIGNS(text):
            self._worded = self._worded or _WORD(text) is not None
            self.add(text[text.rfind("\n") + 1 :][:_LEAD])
            return None
        if around is None:
            around = self._around = Surroundings()
            around.worded = self._worded
        around.read(text)
        return around if around.special else None

    def keep_open(self) -> None:
        """Count code as open, whatever is in the text that was added last."""
        self.around()
        if self._around is not None:
            self._around.keep_open()
