"""Input files, given by names, folders and globs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Final

from toolfmt.arguments import path_of
from toolfmt.errors import CorpusError

STDIN: Final = "<stdin>"
"""The path that stands for standard input."""
LINES: Final = (".jsonl", ".ndjson")
TABLES: Final = (".parquet",)
PACKED: Final = (".gz", ".zst")
_KNOWN: Final = (*LINES, ".json", *TABLES)


@dataclass(frozen=True, slots=True)
class Position:
    """A place between two rows of a file.

    `offset` counts the bytes before it, unpacked, or the rows of a table; `line` counts the lines before it.
    """

    offset: int = 0
    line: int = 0


START: Final = Position()


@dataclass(frozen=True, slots=True)
class Source:
    """A file of conversations; `name` is what its output is called in a folder."""

    path: str
    name: str

    @property
    def size(self) -> int | None:
        """The size in bytes; None for a pipe."""
        return None if self.path == STDIN else Path(self.path).stat().st_size

    @property
    def is_table(self) -> bool:
        """Whether the file is Parquet."""
        return self.path.endswith(TABLES)


def sources(paths: Iterable[str], left: list[str] | None = None) -> list[Source]:
    """Find the files given by names, folders and globs, each once; raises CorpusError if there are none.

    The files and hidden folders that are left out of folders are added to `left`.
    """
    found: dict[str, Source] = {}
    for path in paths:
        inside = [Source(path, "stdin.jsonl")] if path == STDIN else list(_files(path, [] if left is None else left))
        if not inside:
            raise CorpusError(f"{path}: no files of conversations (.json, .jsonl, .ndjson, also .gz or .zst; .parquet)")
        for source in inside:
            found.setdefault(source.path, source)
    return list(found.values())


def stem(name: str) -> str:
    """Return a file's name without the suffix of its compression."""
    for ending in PACKED:
        name = name.removesuffix(ending)
    return name


def is_known(name: str) -> bool:
    """Whether a file of this name is read where it is in a folder."""
    return stem(name).endswith(_KNOWN)


def _files(path: str, left: list[str]) -> Iterator[Source]:
    folder = path_of(path)
    if has_magic(path) and not folder.exists():
        for name in sorted(glob(path, recursive=True)):  # noqa: PTH207 - a pattern may be absolute
            yield from _files(name, left)
        return
    if not folder.is_dir():
        yield Source(path, folder.name)
        return
    files: list[Path] = []
    for inside, folders, names in os.walk(folder):
        hidden = [name for name in folders if name.startswith(".")]
        folders[:] = [name for name in folders if name not in hidden]
        taken = [name for name in names if is_known(name) and not name.startswith(".")]
        files += [file for name in taken if (file := Path(inside, name)).is_file()]
        left += [str(Path(inside, name)) for name in sorted({*hidden, *names}.difference(taken))]
    for file in sorted(files):
        yield Source(str(file), file.relative_to(folder).as_posix())
