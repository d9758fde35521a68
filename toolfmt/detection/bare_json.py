"""Follows JSON that may be a call without a marker to its end.

    {"name": "get_weather", "arguments": {"city": "Paris"}}

It is a call of each dialect whose shape it has, with no other keys.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import cast

from jiter import from_json

from toolfmt import jsontext
from toolfmt.detection.table import Bare
from toolfmt.errors import ParseError
from toolfmt.parsers.bodies.json_shapes import JsonNode

_OUTSIDE = re.compile(r'["\[\]{}]')
_INSIDE = re.compile(r'"|\\')
OWN, READ = 5, 2


class JsonExtent:
    """Finds the end of a JSON value and of each value in it; the text may come in pieces."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._open: list[int] = []
        self.in_text = False
        """Whether a string is open."""
        self._escaped: bool = False
        self.ends: dict[int, int] = {}
        """The absolute offsets of opening brackets, with the offset after each value; -1 while it is open."""

    @property
    def end(self) -> int:
        """The absolute offset after the value; -1 while it is incomplete."""
        return next(iter(self.ends.values()), -1)

    def knows(self, offset: int, *, eof: bool) -> bool:
        """Whether the end of the value at a place is known, or will not be read."""
        return offset in self.ends and (eof or self.ends[offset] >= 0 or offset == next(iter(self.ends)))

    def read(self, chunk: str) -> int | None:
        """Read a piece; returns the absolute offset after the value, None while it is incomplete."""
        pos = int(self._escaped and bool(chunk))
        self._escaped = bool(self._escaped and not chunk)
        while found := (_INSIDE if self.in_text else _OUTSIDE).search(chunk, pos):
            mark = found.group()
            pos = found.end()
            if mark == "\\":
                self._escaped = pos == len(chunk)
                pos += 1
            elif mark == '"':
                self.in_text = not self.in_text
            elif mark in "[{":
                self._open.append(self._offset + pos - 1)
                self.ends[self._open[-1]] = -1
            else:
                self.ends[self._open.pop()] = self._offset + pos
                if not self._open:
                    return self._offset + pos
        self._offset += len(chunk)
        return None


def fitting(text: str, dialects: Sequence[Bare]) -> tuple[list[tuple[str, int]], set[str]]:
    """Return the dialects that read this JSON as calls, with their scores, and the names of the tools."""
    try:
        value = jsontext.loads(text)
    except ParseError:
        return [], set()
    found: list[tuple[str, int]] = []
    names: set[str] = set()
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    for one in dialects if items else ():
        if all(_fits(one.own, item) for item in items):
            found.append((one.dialect, OWN + (isinstance(value, list) == one.listed)))
        elif all(_fits(one.shape, item) for item in items):
            found.append((one.dialect, READ))
        else:
            continue
        for item in items:
            names.update(name for name in _values(one.shape, item, "name") if isinstance(name, str))
    return found, names


def beginnings(text: str, dialects: Sequence[Bare], tools: Container[str]) -> list[tuple[str, int]]:
    """Return the dialects for which a text may be the beginning of JSON that calls one of these tools."""
    try:
        value: object = from_json(text.encode(errors="replace"), partial_mode="on", catch_duplicate_keys=True)
    except (ValueError, RecursionError):
        return []
    found: list[tuple[str, int]] = []
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    for one in dialects if items else ():
        for node, score in ((one.own, OWN + (isinstance(value, list) == one.listed)), (one.shape, READ)):
            names = [name for item in items for name in _values(node, item, "name") if isinstance(name, str)]
            if names and all(name in tools for name in names) and all(_known(node, item) for item in items):
                found.append((one.dialect, score))
                break
    return found


def _fits(node: JsonNode, value: object) -> bool:
    """Whether each key is one of the shape's, and it has a name and arguments."""
    if not _known(node, value) or not any(isinstance(name, str) for name in _values(node, value, "name")):
        return False
    arguments = [*_values(node, value, "arguments")]
    return bool(arguments) and all(isinstance(one, dict) or _is_object(one) for one in arguments)


def _is_object(value: object) -> bool:
    try:
        return isinstance(value, str) and isinstance(jsontext.loads(value), dict)
    except ParseError:
        return False


def _known(node: JsonNode, value: object) -> bool:
    if node.slot:
        return not node.keys or isinstance(value, str)
    if isinstance(value, list):
        items = cast("list[object]", value)
        return node.items is not None and bool(items) and all(_known(node.items, item) for item in items)
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        known = bool(node.keys) and members.keys() <= node.keys.keys()
        return known and all(_known(node.keys[key], one) for key, one in members.items())
    return value in node.constants


def _values(node: JsonNode, value: object, slot: str) -> Iterator[object]:
    """Yield the values of a slot, at any depth."""
    if node.slot == slot and not isinstance(value, list) and not (node.keys and isinstance(value, dict)):
        yield value
    elif isinstance(value, list) and node.items is not None:
        for item in cast("list[object]", value):
            yield from _values(node.items, item, slot)
    elif isinstance(value, dict):
        for key, one in cast("dict[str, object]", value).items():
            if key in node.keys:
                yield from _values(node.keys[key], one, slot)


_BETWEEN = re.compile(r"[\s;,]{1,256}")
_FENCE_END = re.compile(r"(?:[`~]{1,16}\s{0,256})?")
_READINGS = 8


class Extents:
    """The values that were read, so that none is read twice.

    A place in a string of one may be outside every string of another. A text with so many quotes and backslashes that
    more than a few readings differ is not JSON.
    """

    def __init__(self) -> None:
        self._read: list[JsonExtent] = []

    def at(self, offset: int, *, eof: bool) -> JsonExtent | None:
        """Return the reading that knows the value at a place, or a new one; None if there are too many."""
        self._read = [one for one in self._read if one.end < 0 or one.end > offset]
        found = next((one for one in self._read if one.knows(offset, eof=eof)), None)
        if found is None and len(self._read) < _READINGS:
            found = JsonExtent(offset)
            self._read.append(found)
        return found


class JsonRun:
    """Reads a value and, in prose, those after it; nothing is read twice."""

    def __init__(self, at: int, extents: Extents, *, alone: bool) -> None:
        """Begin at the absolute offset of a bracket; `alone` reads one value."""
        self._extents = extents
        self.stop = at
        """The absolute offset up to which it has been read."""
        self._alone = alone
        self._extent: JsonExtent | None = None
        self.ends: list[int] = []
        """The absolute offsets after the values."""

    def from_here(self, at: int) -> bool:
        """Drop the values that end before `at`; returns whether one is left."""
        while self.ends and self.ends[0] <= at:
            self.ends.pop(0)
        return bool(self.ends)

    @property
    def open(self) -> bool:
        """Whether a value is incomplete."""
        return self._extent is not None

    def more(self, chunk: str) -> bool:
        """Read a piece of the open value; returns whether it is still open."""
        end = None if self._extent is None else self._extent.read(chunk)
        self._ended(-1 if end is None else end)
        return end is None

    def _ended(self, end: int) -> None:
        if end >= 0:
            self._extent, self.stop = None, end
            self.ends.append(end)

    def go(self, buf: str, base: int, *, eof: bool) -> None:
        """Read the values in the buffer, which begins at the offset `base`."""
        while self._extent is None and not (self._alone and self.ends):
            start = self.stop - base
            between = _BETWEEN.match(buf, start) if self.ends else None
            if between is not None:
                self.stop = base + between.end()
            elif buf[start : start + 1] in {"[", "{"}:
                self._extent = extent = self._extents.at(self.stop, eof=eof)
                if extent is None:
                    return
                if extent.ends:
                    self._ended(extent.ends[self.stop])
                else:
                    self.more(buf[start:])
            else:
                return

    def last(self, buf: str, base: int, *, fenced: bool) -> bool:
        """Whether the buffer ends after the values, or after the fence around them."""
        found = _FENCE_END.match(buf, self.stop - base) if fenced else None
        return (self.stop - base if found is None else found.end()) == len(buf)
