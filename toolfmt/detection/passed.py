"""The text that a detector has passed: how much is emitted, and what is masked for the chosen parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from toolfmt.detection.bare_json import JsonExtent
from toolfmt.detection.values import OpenValues
from toolfmt.events import Event, ReasoningDelta, TextDelta
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsers.scanning.surroundings import Surroundings


class Passed:
    """The text up to the place that a scan has reached."""

    def __init__(self, values: Callable[[], OpenValues]) -> None:
        """Begin before the first character; `values` follows those that are open."""
        self.around = Surroundings()
        self.offset = 0
        """How much was passed."""
        self.emitted = 0
        """Up to here the text was emitted, or belongs to a marker of reasoning."""
        self.held = -1
        """Where the first marker is whose meaning depends on the dialect; -1 if there is none."""
        self._pieces = Pieces()
        self._pending: list[str] = []
        self._new = False
        """More than white space is pending."""
        self._events: list[Event] = []
        self._fresh = False
        """A marker of reasoning is right before what is pending: white space after it belongs to it."""
        self._thought = -1
        """Where the current reasoning began; -1 outside."""
        self._drafted = False
        self._masks: list[tuple[int, int]] = []
        self._strings = Strings()
        self._unfollowed = Pieces()
        """What `_strings` has not read yet."""
        self._new_values = values
        self._values: OpenValues | None = None
        self._uncounted = Pieces()
        """What `_values` have not read yet."""
        self._near = Pieces()
        self._room = 0

    def shown(self) -> bool:
        """Whether a marker here is part of a quotation of any length."""
        return self.around.quoted() or self.in_string()

    def in_string(self) -> bool:
        """Whether a string of code, or of a JSON answer, is open here."""
        self._strings.go(self._unfollowed.take())
        return self._strings.inside()

    def in_value(self) -> bool:
        """Whether a value is open here, of a call whose beginning no format knows."""
        text = self._uncounted.take()
        if self._values is None and "<" in text:
            self._values = self._new_values()
        if self._values is None:
            return False
        self._values.go(text)
        return self._values.open > 0

    def go(self, text: str) -> None:
        """Pass text."""
        self.around.go(text)
        self._keep(text)

    def fence(self, marks: str, rest: str) -> None:
        """Pass a run of fence marks; text before it is emitted, the marks may still belong to a call."""
        self._emit(whole=False)
        self.around.fence(marks, rest)
        self._keep(marks)

    def _keep(self, text: str) -> None:
        self._add(text)
        self._pending.append(text)
        self._new = self._new or not text.isspace()

    def _add(self, text: str) -> None:
        self._pieces.add(text)
        self._unfollowed.add(text)
        self._uncounted.add(text)
        self.offset += len(text)
        if self._room > 0:
            self._near.add(text[: self._room])
            self._room -= len(text)

    def mask(self) -> None:
        """Mask the next character, so that the chosen parser does not read a call here."""
        self._masks.append((self.offset, self.offset + 1))

    def hold(self) -> None:
        """Hold back what follows: only a dialect decides what is text."""
        if self.held < 0:
            self._emit(whole=False)
            self.held = self.offset

    def release(self) -> None:
        """Emit what was held back: it is text."""
        self.held = -1

    @property
    def fresh(self) -> bool:
        """Whether only white space follows a marker of reasoning."""
        return self._fresh and not self._new

    @property
    def thinking(self) -> bool:
        """Whether the text is in reasoning."""
        return self._thought >= 0

    def think(self, marker: str) -> None:
        """Pass the marker that opens reasoning."""
        self._skip(marker)
        self._thought = self.offset

    def draft(self) -> None:
        """Note a call in reasoning: it counts if the reasoning is never closed."""
        self._emit(whole=False)
        self._drafted = True

    def answer(self, marker: str) -> None:
        """Pass the marker that closes reasoning."""
        self._drafted = False
        self._emit(whole=False)
        self._masks.append((self._thought, self.offset))
        self._thought = -1
        self._skip(marker)
        self.around = Surroundings()
        self._strings, self._unfollowed = Strings(), Pieces()  # no string continues after reasoning
        self._values, self._uncounted = None, Pieces()

    def _skip(self, marker: str) -> None:
        self._add(marker)
        self._pending, self._new, self._fresh = [], False, True
        self.emitted = self.offset

    def emit(self, *, whole: bool) -> list[Event]:
        """Return what can be emitted: all but what may belong to a marker, or all if `whole`."""
        if whole or not (self._drafted or self.around.fresh):
            self._emit(whole=whole)
        events, self._events = self._events, []
        return events

    def _emit(self, *, whole: bool) -> None:
        if self.held >= 0 or self._drafted or not (self._new or (whole and self._pending)):
            return
        text = "".join(self._pending)
        start = self.offset - len(text)
        if self._fresh:
            text = text.lstrip()
            start = self.offset - len(text)
        body = text if whole else text.rstrip()
        if body:
            self._events.append(ReasoningDelta(body, start) if self.thinking else TextDelta(body, start))
            self._fresh = False
            self.emitted = start + len(body)
        self._pending, self._new = [text[len(body) :]], False

    def keep_near(self, most: int) -> None:
        """Keep the first `most` characters of what follows for `near`."""
        self._near, self._room = Pieces(), most

    def near(self) -> str:
        """Return the text after the last `keep_near`, as far as it is looked at."""
        return self._near.text()

    def text(self) -> str:
        """Return the whole text."""
        return self._pieces.text()

    def emitted_text(self) -> str:
        """Return the text without reasoning."""
        return self._replaced([(start, end) for start, end in self._masks if end - start > 1], "")

    def masked(self, end: int) -> str:
        """Return the text up to `end` for the chosen parser, with masked parts made illegible."""
        return self._replaced(self._masks, "x")[:end]

    def _replaced(self, masks: list[tuple[int, int]], letter: str) -> str:
        text, at = self.text(), 0
        out: list[str] = []
        for start, end in sorted(masks):
            if start >= at:
                out += [text[at:start], letter * (end - start)]
                at = end
        return "".join([*out, text[at:]])


_QUOTES = re.compile("\"\"\"|'''|`+")
_RUN: Final = "\"'`"
_CODE = re.compile(r"(?:[=(\[{,+]|\breturn|(?<!\w)[rRbBfFuU]{1,2})[ \t]{0,8}\Z")
"""What precedes a string of code on its line; quotation marks in prose follow a word."""
_LINE: Final = 64
"""Characters of a line before quotation marks that are kept."""


class Strings:
    """Follows the quotation marks of a text that comes in pieces."""

    def __init__(self) -> None:
        self._open = ""
        self._before = ""
        self._run = ""
        self._begun = False
        self._json: JsonExtent | None = None

    def go(self, text: str) -> None:
        """Read on."""
        if not self._begun and (stripped := text.lstrip()):
            self._begun = True
            self._json = JsonExtent(0) if stripped[0] in "[{" else None
            text = stripped
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
        """Return the quotation marks that are open after this text."""
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
