r"""Decides from the text around a marker whether the marker is quoted.

    ```                            inside a fence
    <tool_call>...
    ```
    > <tool_call>...               in a quoted or indented block
    Write `<tool_call>...`.        in code or quotation marks within a line

It follows the text, so that the result does not depend on chunking.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.parsers.scanning.pieces import Pieces

_FENCE = re.compile(r"(?:`{3,256}|~{3,256})(?=([^\n]*))")
_WORD: Final = re.compile(r"\w").search
_CODE_MARKS = re.compile("`+|\n").finditer
_FENCE_LINE = re.compile(r"[ \t]{0,12}(?:(?:[-*+>]|\d{1,3}[.)])[ \t]{1,4})*")
_INDENT: Final = 4
_OPENERS: Final = {
    marks[0]: marks[1:]
    for marks in (
        *('""', "''", "\uff02\uff02", "\uff07\uff07", "\u201c\u201d", "\u2018\u2019", "\u00ab\u00bb", "\u2039\u203a"),
        *("\u201e\u201c\u201d", "\u201a\u2018\u2019", "\u201f\u201d", "\u201b\u2019", "\u301d\u301e\u301f"),
        *("\u300c\u300d", "\u300e\u300f", "\uff62\uff63", "\u300a\u300b", "\u3008\u3009"),
        *("\ufe41\ufe42", "\ufe43\ufe44"),
    )
}
"""Marks that open a quotation, each with those that close it: Unicode's Quotation_Mark, and the marks of titles."""
_PAIRS: Final = _OPENERS | {"\u201d": "\u201d\u201c", "\u2019": "\u2019\u2018", "\u00bb": "\u00ab"}
"""The same, with marks that close a quotation in some languages and open one in others."""
_QUOTES: Final = "`\\" + "".join(_OPENERS)
QUOTATION_MARKS: Final = "".join(_PAIRS)
_SIGNS: Final = re.compile(rf"[`~>]|[{QUOTATION_MARKS}]\Z").search
"""Characters that begin a quotation or a fence; a text without them is not examined further."""
_INSIDE: Final = _QUOTES + "([{=,"
"""Characters after which a JSON value is part of code, quoted text or another value."""
_OPENING: Final = WHITE + "([{=,:*_"
"""Characters that may come before a mark that opens a quotation, as may the start of the text."""
_LASTING: Final = '">'
"""Quotations that do not end at their own mark: quoted lines, and quotes that a call inside may contain."""
_MARKS = re.compile(r"(?s:\\.)|[\"']|\\")
_CODE: Final = "=([{,:"
"""Characters after which a quotation mark opens a string that continues on its line."""
_LEAD: Final = 64
"""The number of characters kept of a line's beginning."""


class Surroundings:
    """The surroundings of the place that a scan has reached."""

    def __init__(self) -> None:
        self._escape = False  # whether a backslash is the last character so far
        self._fence = ""
        self._info = False
        self._lead = ""
        self._code = ""  # the backticks of open code
        self._unworded = False  # whether no word preceded it; then it does not end with its line
        self._string: str = ""
        self._last = self._before = ""  # the last character, and the one before it
        self._word = ""
        self._held = ""  # the closing marks of a quotation with a call in it
        self._marks = 0  # the number of double quotes in it
        self._blank = False  # whether the line is blank so far
        self.filled = False
        """Whether the open fence has content."""
        self.has_text = False
        """Whether there was text other than the fences' own lines."""
        self.worded = False
        """Whether that text contained a word."""

    def go(self, text: str) -> None:
        """Scan text without a fence."""
        start = text.rfind("\n") + 1
        after = self._follow(text) if self._held and not self._fence else 0
        if start:
            self._lead, self._string, self._escape = "", "", False
        before = self._word[-1:] if self._lead.strip() else ""
        if len(self._lead) < _LEAD:
            self._lead += text[start : start + _LEAD]
        self._code = "" if after else self._code
        self._mark_code(text, after)
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
        """Extend the quotation here, which contains a call, to its closing mark, a blank line or a fence."""
        mark = self._code or _PAIRS.get(self._last, "")
        self._held, self._blank, self._marks = self._fence or (">" if self.block else mark), False, 0

    @property
    def held(self) -> bool:
        """Whether the extended quotation is open; an odd number of double quotes closes it, as calls have pairs."""
        return bool(self._held) and not (self._held == '"' and self._marks % 2)

    @property
    def shows(self) -> bool:
        """Whether a quotation is open here: a fence, a quoted line, code, or a mark without a word before it."""
        opens = self._last in _PAIRS and not self._before.strip(_OPENING)
        return self.fenced or self.block or bool(self._code) or opens

    def _follow(self, text: str) -> int:
        """Return where the extended quotation ends in the text, or 0."""
        if self._held == '"':
            self._marks += text.count('"')
        ends, at = None if self._held in _LASTING else closing(self._held), 0
        for line in text.split("\n"):
            if at and (self._blank or (self._held == ">" and not line.lstrip(" \t").startswith(">"))):
                self._held = ""
                return 0
            closed = ends.search(line) if ends is not None else None
            if closed is not None:
                self._held = ""
                return at + closed.start() + 1
            self._blank = (self._blank or at > 0) and not line.strip()
            at += len(line) + 1
        return 0

    def _mark_code(self, text: str, at: int) -> None:
        """Follow code from `at`: as many backticks as opened it close it, and its line's end if a word preceded it."""
        word = None if self.worded else _WORD(text)
        first = 0 if self.worded else len(text) if word is None else word.start()
        for found in _CODE_MARKS(text, at):
            marks = found.group()
            if marks == self._code or (marks == "\n" and not self._unworded):
                self._code = ""
            elif not self._code and marks != "\n":
                self._code, self._unworded = marks, found.start() < first

    def read(self, text: str) -> None:
        """Scan text with complete fences."""
        at = 0
        for found in _FENCE.finditer(text):
            self.go(text[at : found.start()])
            self.fence(found.group(), found[1])
            at = found.end()
        self.go(text[at:])

    def _quote(self, text: str, start: int, earlier: str) -> None:
        """Track strings of code on the line: they open after a sign of code; an apostrophe never opens one.

        `earlier` is the last character other than a blank before `text` on the line.
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
        """Scan a run of fence marks; `rest` is what is known to follow on its line."""
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
        """Whether a fence has just been opened and has no content yet."""
        return bool(self._fence) and not self.filled

    @property
    def block(self) -> bool:
        """Whether this is a quoted line."""
        return self._lead.lstrip(" \t").startswith(">")

    @property
    def special(self) -> bool:
        """Whether a call here may only be quoted."""
        return bool(self._fence) or self.block or bool(self.closer)

    @property
    def closer(self) -> str:
        """What closes the code or quotation marks that are open here after a word; code ends with its line."""
        if not self.worded:
            return ""
        return self._code or _PAIRS.get(self._last, "")

    @property
    def around_call(self) -> bool:
        """Whether a call read here is quoted: in a fence, in code, or in quotation marks without a word before them."""
        return self.fenced or bool(self._code) or (not self.worded and self._last in _PAIRS)

    def keep_open(self, code: str) -> None:
        """Count `code` as open, whatever the last text contained."""
        self._code = code

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
        return block or bool(self._code and not self.fresh)


@lru_cache(maxsize=64)
def closing(closer: str) -> re.Pattern[str]:
    """Return a pattern for what closes a quotation: as many marks of code, or any of the quotation marks."""
    return re.compile(re.escape(closer) if closer[0] in "`~" else f"[{closer}]")


def may_quote(text: str) -> bool:
    """Whether this text may quote a call after it."""
    return _SIGNS(text) is not None


class Prose:
    """The text of an answer so far. Most text quotes nothing, which one search decides."""

    def __init__(self) -> None:
        self._pieces = Pieces()
        self.add = self._pieces.add
        """Add text."""
        self._around: Surroundings | None = None
        self._worded = False

    def around(self) -> Surroundings | None:
        """Return the surroundings of the current place, or None if a call here is meant."""
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

    def quotes_call(self) -> bool:
        """Whether a call read here is quoted."""
        self.around()
        return self._around is not None and self._around.around_call

    def keep_open(self, code: str) -> None:
        """Count `code` as open, whatever the last text contained."""
        self.around()
        if self._around is not None:
            self._around.keep_open(code)
