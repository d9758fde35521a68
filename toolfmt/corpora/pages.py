"""What a Parquet column takes before any of it is unpacked: the sizes of its pages, the values of its longest row.

    type: DICTIONARY_PAGE   uncompressed_page_size: 8388617   compressed_page_size: 808
    levels of [[1, 2], [3, 4, 5]]:   0 1 0 1 1   ->   3

A reader unpacks a page whole, into as much memory as its header names. What the file says of a whole column is said
once more at its end, where nobody is held to it. Headers are structs in Thrift's compact protocol, which pyarrow reads
and does not show. A value that begins a row has the level 0. Levels are stored as runs: of one level that is repeated,
which may be for millions of values in a few bytes, or of levels of some bits each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO, Final, NamedTuple, cast

_HEADER: Final = 1 << 10
"""Bytes that are read for a header at first; twice as many where they are not enough."""
_LONGEST: Final = 16 << 20
"""Bytes of the longest header that pyarrow reads."""
_DEEPEST: Final = 16
_BITS: Final = 63
_KIND, _UNPACKED, _PACKED = 1, 2, 3
_OF_DATA: Final = {0: (5, 2, 4), 3: (8, 4, 6)}
"""For each kind of page with data, its field in a header and, in that, the fields of the encoding and of the levels.

The first field is the number of values.
"""
PREFIXED: Final = 7
"""The encoding of values that leave out the beginning that they share with the one before."""


class PageError(ValueError):
    """A header that cannot be read."""


class Page(NamedTuple):
    """The sizes of a page, in bytes."""

    packed: int
    unpacked: int
    values: int
    """How many values it holds; 0 for a dictionary."""
    encoding: int
    at: int
    """Where its data begins."""
    levels: int
    """How its lists' levels are encoded; of a page of the kind 3, their bytes, which are before its data."""
    kind: int


def pages(file: BinaryIO, column: Any) -> Iterator[Page]:
    """Read the headers of a column's pages (a `pyarrow.parquet.ColumnChunkMetaData`); raises `PageError`."""
    at = column.data_page_offset
    if 0 < (column.dictionary_page_offset or 0) < at:
        at = column.dictionary_page_offset
    end = at + column.total_compressed_size
    left = column.num_values
    while at < end and left > 0:
        header, size = _header(file, at)
        kind = header.get(_KIND)
        field, encoding, levels = _OF_DATA.get(kind, (0, 0, 0)) if isinstance(kind, int) else (0, 0, 0)
        of_data: Any = header.get(field) if field else {1: 0, encoding: 0}
        fields = cast("dict[int, Any]", of_data) if isinstance(of_data, dict) else {}
        of_page = (header.get(_PACKED), header.get(_UNPACKED), fields.get(1), fields.get(encoding))
        sizes: list[Any] = [*of_page, at + size, fields.get(levels, 0), kind]
        if not all(isinstance(one, int) and one >= 0 for one in sizes):
            raise PageError("a page without a size")
        page = Page(*sizes)
        yield page
        at = page.at + page.packed
        left -= page.values


def _header(file: BinaryIO, at: int) -> tuple[dict[int, Any], int]:
    """Read the header at an offset, and how long it is."""
    size = _HEADER
    while True:
        file.seek(at)
        data = file.read(size)
        try:
            compact = Compact(data)
            return compact.struct(), compact.at
        except IndexError:
            if len(data) < size or size >= _LONGEST:
                raise PageError("a page without a header") from None
            size *= 2


class Compact:
    """Reads values of Thrift's compact protocol; raises IndexError if the data ends."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, level: int = 0) -> dict[int, Any]:
        """Read the fields up to the mark of the end, by their numbers."""
        if level > _DEEPEST:
            raise PageError("a header that is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            kind = head & 15
            fields[number] = kind == 1 if kind in {1, 2} else self._value(kind, level)
        return fields

    def _value(self, kind: int, level: int) -> Any:
        if kind in {1, 2, 3}:
            return self._byte()
        if kind in {4, 5, 6}:
            return self._signed()
        if kind == 7:  # noqa: PLR2004 - a number of eight bytes
            return self._skip(8)
        if kind == 8:  # noqa: PLR2004 - bytes
            return self._skip(self.number())
        if kind in {9, 10}:
            head = self._byte()
            return [self._value(head & 15, level + 1) for _ in range(self.number() if head >> 4 == 15 else head >> 4)]  # noqa: PLR2004
        if kind == 12:  # noqa: PLR2004 - a struct
            return self.struct(level + 1)
        raise PageError(f"a header with a value of kind {kind}")

    def _byte(self) -> int:
        self.at += 1
        return self._data[self.at - 1]

    def _skip(self, size: int) -> None:
        self.at += size
        if self.at > len(self._data):
            raise IndexError

    def number(self) -> int:
        """Read a number, seven bits of it in each byte, the lowest first."""
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:  # noqa: PLR2004 - the last byte has no mark
                return value
            if shift > _BITS:
                raise PageError("a header with a number of more than 64 bits")

    def _signed(self) -> int:
        value = self.number()
        return (value >> 1) ^ -(value & 1)


_PLAIN: Final = "UNCOMPRESSED"
_CODECS: Final = {"LZ4": "lz4_raw"}
_NEWER: Final = 3
"""The kind of a page whose levels are not packed."""
_RUNS: Final = 3
"""The encoding of levels as runs."""
_WIDEST: Final = 2
"""Bits of levels that are read; lists in lists in lists in lists take more."""


def longest_row(pyarrow: Any, stored: BinaryIO, column: Any, deepest: int) -> int:
    """Return the number of values, or a few more, in the longest row; raises `PageError`.

    `column` is a `pyarrow.parquet.ColumnChunkMetaData`, `deepest` how many lists are around a value.
    """
    width = deepest.bit_length()
    if width > _WIDEST:
        return int(column.num_values)
    longest = held = 0
    for page in pages(stored, column):
        if page.values:
            for joined, count in _runs(_levels(pyarrow, stored, column, page), page.values, width):
                held = held + count if joined else count
                longest = max(longest, held)
    return longest


def _levels(pyarrow: Any, stored: BinaryIO, column: Any, page: Page) -> bytes:
    stored.seek(page.at)
    if page.kind == _NEWER:
        return stored.read(min(page.levels, page.packed))
    if page.levels != _RUNS:
        raise PageError("levels that are not stored as runs")
    data = stored.read(page.packed)
    if column.compression != _PLAIN:
        codec = _CODECS.get(column.compression, column.compression.lower())
        data = pyarrow.decompress(data, page.unpacked, codec, asbytes=True)
    return data[4 : 4 + int.from_bytes(data[:4], "little")]


def _runs(data: bytes, values: int, width: int) -> Iterator[tuple[bool, int]]:
    """Cut levels into pieces: whether each goes on with the row before, and for how many values."""
    reader = Compact(data)
    while values > 0:
        try:
            head, at = reader.number(), reader.at
        except IndexError:
            head = at = 0
        if not head:
            raise PageError("levels that end too early")
        if head & 1:  # groups of eight levels
            count = min((head >> 1) * 8, values)
            yield from _packed(data[at : at + -(-count * width // 8)], count, width)
            reader.at += (head >> 1) * width
        else:
            count = min(head >> 1, values)
            # A run of zeros is as many rows of one value.
            yield (True, count) if at < len(data) and data[at] else (False, 1)
            reader.at += 1
        values -= count


def _packed(data: bytes, count: int, width: int) -> Iterator[tuple[bool, int]]:
    """Cut packed levels where a byte begins a row; the pieces are up to a byte too long on both sides."""
    unused = len(data) * 8 - count * width
    if unused > 0:  # are no levels, so they begin no row
        data = data[:-1] + bytes([data[-1] | (0xFF << (8 - unused)) & 0xFF])
    each = 8 // width
    joined, end = True, 0
    for found in _begins(width).finditer(data):
        yield joined, (found.start() - end + 2 - joined) * each
        joined, end = False, found.end()
    yield joined, (len(data) - end + 1 - joined) * each


@lru_cache
def _begins(width: int) -> re.Pattern[bytes]:
    mask = (1 << width) - 1
    found = [byte for byte in range(256) if not all(byte >> shift & mask for shift in range(0, 8, width))]
    return re.compile(b"[" + b"".join(re.escape(bytes([byte])) for byte in found) + b"]+")
