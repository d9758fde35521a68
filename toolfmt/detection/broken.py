r"""What is in a call of which no format reads the beginning: a call in it is only quoted.

<tool_call>\n<function=write>\nparameter=text>I call [TOOL_CALLS]rm[ARGS]{}
^ a marker, and markup                        ^ words: the call is in a broken one
"""

from __future__ import annotations

import re
from typing import Final

from toolfmt.detection.passed import Passed
from toolfmt.detection.records import Detection
from toolfmt.detection.table import DetectionTable

_TAG = re.compile(r"<[^<>]{0,256}>")
_WORD = re.compile(r"\w").search
_HEAD = re.compile(r"(?:\w[\w.:=\"'/ \-]{0,64})?\s{0,64}[<\[{(]")
_TAG_HEAD = re.compile(r"[^<>\n]{0,64}>\s{0,64}[<\[{(]")
"""What is between a marker, or one that leaves its tag open, and the first part of a call; prose has a blank."""
_NEAR: Final = 1024
"""Characters after it in which words are looked for."""


class BrokenCalls:
    """Follows the broken calls of one text."""

    def __init__(self, table: DetectionTable, passed: Passed) -> None:
        """Follow the text in `passed`."""
        self._table = table
        self._passed = passed
        self._begun: str | None = None  # what one begins with
        self._owners = frozenset[str]()
        """The dialects that have all markers of it."""
        self.quoted = -1
        """Where the first call is that is quoted in one; -1 for nowhere."""

    def see(self, mark: str) -> None:
        """Note a marker that begins no call."""
        table = self._table
        begins = mark in table.matches or mark in table.openers or mark not in table.marks
        shared = self._owners.intersection(table.owners.get(mark, ()))
        if self._begun is not None and shared:
            self._owners = shared
            self._begun = self._begun if begins else None
        if begins and not (self._begun is not None and self._begins_call(mark)):
            self.begin(mark)

    def begin(self, mark: str = "") -> None:
        """Note that a broken call begins here, with a marker or with a header."""
        self._begun = mark
        self._passed.keep_near(_NEAR)
        self._owners = frozenset(self._table.owners.get(mark, ()))

    def holds(self, found: Detection) -> bool:
        """Whether a call is in a broken one, or in a value of one whose marker is misspelt."""
        if not (self._passed.in_value() or self._is_inside(found)):
            return False
        self.quoted = self._passed.offset if self.quoted < 0 else self.quoted
        return True

    def _is_inside(self, found: Detection) -> bool:
        other = found.dialect not in self._owners
        return other and self._begins_call("<") and _WORD(_TAG.sub("", self._said())) is not None

    def _begins_call(self, following: str) -> bool:
        """Whether a call begins with the marker, and not a sentence; `following` is after what was passed."""
        mark = self._begun
        if not mark:
            return mark is not None
        head = _TAG_HEAD if mark[0] == "<" and ">" not in mark else _HEAD
        return head.match(self._said() + following) is not None

    def _said(self) -> str:
        return "" if self._begun is None else self._passed.near()[len(self._begun) :]
