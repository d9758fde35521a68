"""How many values of a Parquet column the longest row has, before any of them is unpacked.

    levels of [[1, 2], [3, 4, 5]]:   0 1 0 1 1   ->   3

A value that begins a row has the level 0. Levels are stored as runs: of one level that is repeated, which may be for
millions of values in a few bytes, or of levels of some bits each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, BinaryIO, Final

from toolfmt.corpora.pages import Compact, Page, PageError, pages

_UNPACKED: Final = "UNCOMPRESSED"
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
    if column.compression != _UNPACKED:
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
    """Match bytes in which rows begin."""
    mask = (1 << width) - 1
    found = [byte for byte in range(256) if not all(byte >> shift & mask for shift in range(0, 8, width))]
    return re.compile(b"[" + b"".join(re.escape(bytes([byte])) for byte in found) + b"]+")
