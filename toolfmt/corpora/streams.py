"""Bytes of files, compressed with gzip, zstd or not at all.

Compressed output is a sequence of complete members (gzip) or frames (zstd), one for each batch. A file truncated
between two of them can be continued, and every reader of the format reads the sequence as one stream.
"""

from __future__ import annotations

import gzip
import io
import os
import select
import stat
import sys
import zlib
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

from toolfmt.corpora.sources import STDIN, TABLES
from toolfmt.errors import CorpusError, MissingExtraError, ParseError


def arrow(feature: str) -> Any:
    """Import pyarrow for a feature; raises MissingExtraError."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        raise MissingExtraError(feature, "corpora") from None


_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"
_LEVEL: Final = 6
_LOOK: Final = 0.2
"""The seconds between two polls of a silent pipe."""


class Reader(Protocol):
    """A stream of decompressed bytes."""

    def read1(self, size: int, /) -> bytes:
        """Return at most `size` bytes as soon as some are available; none at the end."""
        ...

    def seekable(self) -> bool:
        """Whether `seek` is supported."""
        ...

    def seek(self, offset: int, /) -> int:
        """Go to an offset."""
        ...


@contextmanager
def opened(path: str) -> Generator[tuple[Reader, io.BufferedReader]]:
    """Open a file or standard input: its decompressed bytes, and the file itself, whose position shows the progress.

    Raises ParseError for a damaged compressed file.
    """
    if path == STDIN and sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - closed by the shell
        raise CorpusError("stdin is closed: name a file, or give the text through a pipe")
    with cast("io.BufferedReader", sys.stdin.buffer) if path == STDIN else Path(path).open("rb") as file:
        magic = file.peek(4)[:4]
        try:
            if magic.startswith(_GZIP):
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked, file
            elif magic == _ZSTD:
                pyarrow = arrow("a .zst file")
                yield io.BufferedReader(pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")), file
            elif path == STDIN and sys.platform != "win32" and _is_pipe(file):
                yield _Pipe(file), file
            else:
                yield file, file
        except (EOFError, zlib.error, OSError) as error:
            raise _damage(path, error) from None


class _Pipe:
    """Standard input that Ctrl-C always ends: a blocking read would delay an interrupt that comes just before it."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._begun = False

    def read1(self, size: int, /) -> bytes:
        # What the first look at the file left in its buffer comes first; after that nothing is held there.
        while self._begun and not select.select([self._file], [], [], _LOOK)[0]:
            pass
        self._begun = True
        return self._file.read1(size)

    def seekable(self) -> bool:
        return False

    def seek(self, offset: int, /) -> int:
        return self._file.seek(offset)


def _is_pipe(file: io.BufferedReader) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(file.fileno()).st_mode)
    except io.UnsupportedOperation:  # no file of the system's
        return False


def is_packed(path: str) -> bool:
    """Whether a file is gzip or zstd, by its first bytes."""
    with Path(path).open("rb") as file:
        return file.read(4).startswith((_GZIP, _ZSTD))


def require(names: Iterable[str]) -> None:
    """Check for the packages that writing these files needs; raises MissingExtraError."""
    for name in names:
        if name.endswith((".zst", *TABLES)):
            arrow(f"writing {name}")


def packed(data: bytes, name: str) -> bytes:
    """Compress bytes as the name of the file requires, as a complete member or frame."""
    if not data:
        return data
    if name.endswith(".gz"):
        return gzip.compress(data, _LEVEL, mtime=0)
    if name.endswith(".zst"):
        return arrow("a .zst file").Codec("zstd").compress(data, asbytes=True)
    return data


def _damage(path: str, error: Exception) -> Exception:
    """Describe what is wrong with a compressed file; errors of the operating system stay as they are."""
    if isinstance(error, OSError) and error.errno is not None:
        return error
    return ParseError(f"{path}: damaged or cut off: {error}")
