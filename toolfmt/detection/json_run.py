"""The JSON values from a place on, and whether anything but more of them follows.

Sure:
{"name": "search", "args": {"q": "x"}}
{"name": "now", "args": {}}
"""

from __future__ import annotations

import re

from toolfmt.detection.bare_json import JsonExtent

_BETWEEN = re.compile(r"[\s;,]{1,256}")
_FENCE_END = re.compile(r"(?:[`~]{1,16}\s{0,256})?")
_READINGS = 8


class Extents:
    """The values that were read, so that what is in them is not read again.

    A place in a string of one may be outside every string of another. A text with so many quotes and backslashes that
    more than a few readings differ is no JSON.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._read: list[JsonExtent] = []

    def at(self, offset: int, *, eof: bool) -> JsonExtent | None:
        """Give the reading that knows of the value at a place, or a new one; None where that is not worth it."""
        self._read = [one for one in self._read if one.end < 0 or one.end > offset]
        found = next((one for one in self._read if one.knows(offset, eof=eof)), None)
        if found is None and len(self._read) < _READINGS:
            found = JsonExtent(offset)
            self._read.append(found)
        return found


class JsonRun:
    """Reads a value and, in prose, those after it; nothing is read twice."""

    __slots__ = ("_alone", "_extent", "_extents", "_resume", "ends")

    def __init__(self, at: int, extents: Extents, *, alone: bool) -> None:
        """Begin at the absolute offset of a bracket; `alone` reads one value."""
        self._extents = extents
        self._resume = at
        self._alone = alone
        self._extent: JsonExtent | None = None
        self.ends: list[int] = []
        """The absolute offsets after the values."""

    def from_here(self, at: int) -> bool:
        """Leave out the values that end before `at`; whether one is left that begins there."""
        while self.ends and self.ends[0] <= at:
            self.ends.pop(0)
        return bool(self.ends)

    @property
    def open(self) -> bool:
        """Whether a value is not all there."""
        return self._extent is not None

    def more(self, chunk: str) -> bool:
        """Read on in the open value; whether it is still open."""
        end = None if self._extent is None else self._extent.read(chunk)
        self._ended(-1 if end is None else end)
        return end is None

    def _ended(self, end: int) -> None:
        if end >= 0:
            self._extent, self._resume = None, end
            self.ends.append(end)

    def go(self, buf: str, base: int, *, eof: bool) -> None:
        """Read the values in the buffer, which begins at the offset `base`."""
        while self._extent is None and not (self._alone and self.ends):
            start = self._resume - base
            between = _BETWEEN.match(buf, start) if self.ends else None
            if between is not None:
                self._resume = base + between.end()
            elif buf[start : start + 1] in {"[", "{"}:
                self._extent = extent = self._extents.at(self._resume, eof=eof)
                if extent is None:
                    return
                if extent.ends:
                    self._ended(extent.ends[self._resume])
                else:
                    self.more(buf[start:])
            else:
                return

    @property
    def stop(self) -> int:
        """The absolute offset up to which it has been read."""
        return self._resume

    def last(self, buf: str, base: int, *, fenced: bool) -> bool:
        """Whether the buffer ends after the values, or after the fence around them."""
        found = _FENCE_END.match(buf, self._resume - base) if fenced else None
        return (self._resume - base if found is None else found.end()) == len(buf)
