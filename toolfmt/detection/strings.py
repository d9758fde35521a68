r'''Whether a place stands inside a text that is quoted over several lines.

ANSWER = """Let me look.
<tool_call>...                          inside a string of code
{"answer": "one writes <tool_call>..."  inside a string of a JSON answer
'''

from __future__ import annotations

import re
from typing import Final

from toolfmt.detection.bare_json import JsonExtent

_QUOTES = re.compile("\"\"\"|'''")
_RUN: Final = "\"'"


class Strings:
    """Follows a text's quotation marks, in pieces, when it is asked to."""

    __slots__ = ("_begun", "_json", "_open", "_run")

    def __init__(self) -> None:
        """Begin before the first character."""
        self._open = ""
        self._run = ""
        self._begun = False
        self._json: JsonExtent | None = None

    def go(self, text: str) -> None:
        """Read on."""
        if not self._begun and (said := text.lstrip()):
            self._begun = True
            self._json = JsonExtent(0) if said[0] in "[{" else None
            text = said
        if self._json is not None and self._json.end(text) is not None:
            self._json = None
        text = self._run + text
        self._run = text[len(text.rstrip(_RUN)) :]
        if '"""' in text or "'''" in text:
            self._open = self._after(text[: len(text) - len(self._run)])

    def inside(self) -> bool:
        """Whether a string is open here."""
        return bool(self._after(self._run)) or (self._json is not None and self._json.in_text)

    def _after(self, text: str) -> str:
        """Which quotation marks are open behind this text."""
        still = self._open
        for found in _QUOTES.finditer(text):
            still = found.group() if not still else "" if still == found.group() else still
        return still
