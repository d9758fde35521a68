"""Batches of JSON Lines, or of one JSON value.

A batch is about a megabyte of a file and ends with a line. Cutting only looks for
the end of a line, so it is cheap; the rows are parsed where the batch is
processed. A file has lines if its name says so or its first line is a JSON value.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final

from toolfmt import jsontext
from toolfmt.corpora.rows import TextRow, entries, sessions
from toolfmt.corpora.sources import LINES, STDIN, Position, Source, stem
from toolfmt.corpora.streams import Reader, opened
from toolfmt.errors import CorpusError, ParseError, is_utf16
from toolfmt.transcripts.formats import is_session

SIZE: Final = 1 << 20
"""The size of a batch in bytes, unless a line is longer."""
SESSION: Final = -1
_LOOK: Final = 1 << 16
"""The bytes at the beginning of a file that show whether it is a session."""
SHOWN: Final = 1000
"""The length of the excerpt of a row that is too long."""


@dataclass(frozen=True, slots=True)
class TextBatch:
    """Lines of a file, the whole file, or the beginning of a row that is too long."""

    source: Source
    end: Position
    read: int
    """The bytes read from the file so far, for the progress bar."""
    data: bytes
    first: int
    """The number of the first line; 0: the text is one value; `SESSION`: it is one session."""
    limit: int
    size: int = 0
    """The size of a row that is too long; `data` has only its beginning."""

    def rows(self) -> Iterator[TextRow]:
        """Return the rows; empty lines are skipped."""
        path = self.source.path
        if self.size:
            yield self._refused(max(self.first, 0), self.data, self.size)
        elif self.first == SESSION:
            yield from sessions(TextRow(path, 0, self.data, session=True))
        elif not self.first or (self.first == 1 and len(self.data) <= self.limit and b"\n" not in self.data.strip()):
            yield from entries(TextRow(path, self.first, self.data.strip() if self.first else self.data))
        else:
            for at, line in zip(count(self.first), self.data.split(b"\n")):
                if len(line) > self.limit:
                    yield self._refused(at, line, len(line))
                elif line.strip():
                    yield TextRow(path, at, line.rstrip(b"\r"))

    def _refused(self, line: int, data: bytes, size: int) -> TextRow:
        reason = f"a row of {size} bytes is longer than the limit of {self.limit} (--max-row)"
        return TextRow(self.source.path, line, data[:SHOWN], reason)


def text_batches(source: Source, start: Position, limit: int, formats: tuple[str, ...] = ()) -> Iterator[TextBatch]:
    """Cut a file into batches, starting between two of them; a row of more than `limit` bytes is an error.

    A session of one of the `formats` (of any, if there are none) is one row.
    """
    with opened(source.path) as (file, raw):
        text = _Text(file, pipe=source.path == STDIN)
        text.skip(start.offset, source.path)
        session = not start.offset and text.fill(_LOOK) > 0 and is_session(text.beginning(), formats)
        lines = bool(start.offset) or (
            not (session or is_utf16(text.held))  # whose lines end otherwise
            and (stem(source.path).endswith(LINES) or text.begins_with_json_line(limit))
        )
        offset, line = start.offset, start.line
        while text.fill(SIZE):
            data = text.lines(limit) if lines else text.whole(limit)
            if text.damage is not None and not data.endswith(b"\n"):
                raise text.damage
            whole = bool(data)
            if whole:
                size, ends = len(data), data.count(b"\n")
                text.drop(size)
            else:
                data = bytes(text.held[:SHOWN])
                size, ends = text.drop_row(to_the_end=not lines)
            first = line + 1 if lines else SESSION if session else 0
            offset, line = offset + size, line + ends
            read = raw.tell() if source.path != STDIN else 0
            if not whole or data.strip():
                yield TextBatch(source, Position(offset, line), read, data, first, limit, 0 if whole else size)
        if text.damage is not None:
            raise text.damage


class _Text:
    def __init__(self, file: Reader, *, pipe: bool) -> None:
        self.held = bytearray()
        self.damage: Exception | None = None
        """The error that ended the reading; the lines before it are still returned."""
        self._file = file
        self._pipe = pipe

    def _more(self) -> bytes:
        if self.damage is not None:
            return b""
        try:
            data = self._file.read1(SIZE)
        except (EOFError, zlib.error, OSError) as error:
            self.damage = error
            return b""
        self.held += data
        return data

    def fill(self, size: int) -> int:
        """Read until `size` bytes, or a line of a pipe, are buffered; return the number of bytes."""
        while len(self.held) < size and not (self._pipe and b"\n" in self.held) and self._more():
            pass
        return len(self.held)

    def lines(self, limit: int) -> bytes:
        """Return the lines that fit into a batch, or one longer line; None if it exceeds the limit."""
        end = self.held.rfind(b"\n", 0, SIZE) + 1
        if end:
            return bytes(self.held[:end])
        seen = SIZE
        while len(self.held) <= limit + 1:
            end = self.held.find(b"\n", seen) + 1
            if end:
                break
            seen = max(seen, len(self.held))
            if not self._more():
                end = len(self.held)
                break
        return bytes(self.held[:end]) if 0 < end <= limit + 1 else b""

    def whole(self, limit: int) -> bytes:
        """Return everything; None if it exceeds the limit."""
        while len(self.held) <= limit and self._more():
            pass
        return bytes(self.held) if len(self.held) <= limit else b""

    def beginning(self) -> str:
        """Return the complete lines in the buffer, or the beginning of the first one."""
        end = self.held.rfind(b"\n") + 1
        return bytes(self.held[: end or None]).decode("utf-8", "replace")

    def drop(self, size: int) -> None:
        """Drop returned bytes from the buffer."""
        del self.held[:size]

    def drop_row(self, *, to_the_end: bool) -> tuple[int, int]:
        """Skip a row; return its size in bytes and its line ends."""
        size = ends = 0
        while True:
            end = 0 if to_the_end else self.held.find(b"\n") + 1
            if end or not self.held:
                del self.held[:end]
                return size + end, ends + bool(end)
            size += len(self.held)
            ends += self.held.count(b"\n")
            self.held.clear()
            self._more()

    def skip(self, size: int, path: str) -> None:
        """Skip what an earlier run has read."""
        if size and self._file.seekable():
            self._file.seek(size)
            return
        while size > 0:
            data = self._file.read1(min(size, SIZE))
            if not data:
                raise CorpusError(f"{path}: ends before the place where the run was interrupted")
            size -= len(data)

    def begins_with_json_line(self, limit: int) -> bool:
        """Whether the first non-empty line is a JSON value."""
        while True:
            line, ended, _ = bytes(self.held).lstrip().partition(b"\n")
            if ended or not (len(self.held) <= limit and self._more()):
                break
        if not ended and len(self.held) > limit:
            return True  # what spreads a value over lines does not wait so long for the first of them
        try:
            jsontext.loads(line.decode("utf-8-sig", "replace"))  # a line that is not UTF-8 is refused alone
        except ParseError:
            return False
        return True
