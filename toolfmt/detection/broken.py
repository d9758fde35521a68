r"""What is in a call of which no format reads the beginning: a call in it is only quoted.

<tool_call>\n<function=write>\nparameter=text>I call [TOOL_CALLS]rm[ARGS]{}
^ a marker, and markup                        ^ words: the call is in a broken one
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolfmt.detection.passed import Passed
    from toolfmt.detection.records import Detection
    from toolfmt.detection.table import DetectionTable

_TAG = re.compile(r"<[^<>]{0,256}>")
_WORD = re.compile(r"\w").search
_BLANK: Final = 64
"""Characters after a marker in which a call begins."""
_NEAR: Final = 1024
"""Characters after it in which words are looked for."""


class BrokenCalls:
    """Follows the broken calls of one text."""

    def __init__(self, table: DetectionTable, passed: Passed) -> None:
        """Follow the text in `passed`."""
        self._table = table
        self._passed = passed
        self._begun: tuple[str, int] | None = None  # what one begins with, and how many pieces of text come before
        self._owners = frozenset[str]()
        """The dialects that have all markers of it."""
        self.quoted = -1
        """Where the first call is that is quoted in one; -1 for nowhere."""

    def see(self, mark: str, buf: str, end: int) -> bool:
        """Note a marker that begins no call and ends at `end`; False if more text is needed."""
        table = self._table
        shared = self._owners.intersection(table.owners.get(mark, ()))
        if self._begun and shared:
            self._owners = shared
            if mark in table.marks and mark not in table.matches:
                self._begun = None
        after = buf[end : end + _BLANK].strip()
        if mark in table.matches and self._begun is None and after[:1] in tuple("<[{("):
            self.begin(mark)
        return bool(after) or mark not in table.matches or len(buf) - end >= _BLANK

    def begin(self, mark: str = "") -> None:
        """Note that a broken call begins here, with a marker or with a header."""
        self._begun = mark, self._passed.count
        self._owners = frozenset(self._table.owners.get(mark, ()))

    def holds(self, found: Detection) -> bool:
        """Whether a call is in a broken one, or in a value of one whose marker is misspelt."""
        if not (self._passed.in_value() or self._is_inside(found)):
            return False
        self.quoted = self._passed.offset if self.quoted < 0 else self.quoted
        return True

    def _is_inside(self, found: Detection) -> bool:
        if self._begun is None:
            return False
        mark, count = self._begun
        other = {one.dialect for one in found.candidates}.isdisjoint(self._owners)
        said = self._passed.after(count, _NEAR)[len(mark) :]
        return other and _WORD(_TAG.sub("", said)) is not None
