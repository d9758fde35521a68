r'''Whether a place is inside a text that is quoted over several lines.

ANSWER = """Let me look.
<tool_call>...                          inside a string of code
{"answer": "one writes <tool_call>..."  inside a string of a JSON answer
'''

from __future__ import annotations

import re
from typing import Final

from toolfmt.detection.bare_json import JsonExtent

_QUOTES = re.compile("\"\"\"|'''|`+")
_RUN: Final = "\"'`"
_CODE = re.compile(r"(?:[=(\[{,+]|\breturn|(?<!\w)[rRbBfFuU]{1,2})[ \t]{0,8}\Z")
"""What comes before a string of code on its line; marks that are merely spoken of have a word there."""
_LINE: Final = 64
"""How much of a line before quotation marks is kept."""


class Strings:
    """Follows a text's quotation marks, in pieces, when it is asked to."""

    __slots__ = ("_before", "_begun", "_json", "_open", "_run")

    def __init__(self) -> None:
        """Begin before the first character."""
        self._open = ""
        self._before = ""
        self._run = ""
        self._begun = False
        self._json: JsonExtent | None = None

    def go(self, text: str) -> None:
        """Read on."""
        if not self._begun and (said := text.lstrip()):
            self._begun = True
            self._json = JsonExtent(0) if said[0] in "[{" else None
            text = said
        if self._json is not None and self._json.read(text) is not None:
            self._json = None
        text = self._run + text
        self._run = text[len(text.rstrip(_RUN)) :]
        text = text[: len(text) - len(self._run)]
        self._open = self._after(text)
        self._before = (self._before + text)[-_LINE:]

    def inside(self) -> bool:
        """Whether a string is open here."""
        return bool(self._after(self._run)) or (self._json is not None and self._json.in_text)

    def _after(self, text: str) -> str:
        """Which quotation marks are open after this text."""
        still = self._open
        if not ("`" in text or '"""' in text or "'''" in text):  # several times as fast as the pattern
            return still
        for found in _QUOTES.finditer(text):
            marks = found.group()
            if still:
                still = "" if still == marks else still
            elif self._opens(marks, self._before + text[max(0, found.start() - _LINE) : found.start()]):
                still = marks
        return still

    @staticmethod
    def _opens(marks: str, before: str) -> bool:
        """Whether quotation marks begin a string of code; a string of backticks has a single one on each side."""
        line = before[before.rfind("\n") + 1 :]
        if marks[0] == "`" and (len(marks) > 1 or not line.strip()):
            return False
        return not line.strip() or _CODE.search(line) is not None
