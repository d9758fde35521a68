"""Files that are written: each by one option, none that is read, and none through a link."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from glob import has_magic
from io import UnsupportedOperation
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from toolfmt.corpora.sources import STDIN, is_known
from toolfmt.errors import CorpusError

Written: TypeAlias = tuple[str, Path | None]
"""An option and a file that it writes; None is stdout."""


def check_shared(written: Iterable[Written], read: Iterable[str]) -> None:
    """Raise `CorpusError` for a file that is read and written, or written twice: what it held would be lost.

    Links, other spellings of a path, and files that the shell redirects are seen through. Devices and pipes may be
    shared.
    """
    taken = {_identity(None if path == STDIN else Path(path), sys.stdin): "" for path in read}
    files: dict[str, str] = {}
    for option, path in written:
        key, shown = _identity(path, sys.stdout), path or "stdout"
        if key is None:
            continue
        first = taken.get(key)
        if first == "":
            raise CorpusError(f"{shown} is read and would be written over: choose another {option}")
        if first is not None:
            twice = f"by {first} and {option}" if first != option else "because two files that are read have that name"
            raise CorpusError(f"{shown} would be written twice, {twice}: choose another")
        taken[key] = option
        if path is not None:
            files[os.path.realpath(path)] = option
    for name, option in files.items():
        folder = next((str(one) for one in Path(name).parents if str(one) in files), None)
        if folder is not None:
            raise CorpusError(f"{folder} would be a file for {files[folder]} and a folder for {option}: choose another")


def _identity(path: Path | None, stream: IO[Any] | None) -> str | tuple[int, int] | None:
    """Return what the names of one file have in common; None for what is no file."""
    try:
        found = path.stat() if path is not None else None if stream is None else os.fstat(stream.fileno())
    except (FileNotFoundError, NotADirectoryError):
        return None if path is None else os.path.realpath(path)
    except UnsupportedOperation:  # a stream of this process
        return None
    return (found.st_dev, found.st_ino) if found is not None and stat.S_ISREG(found.st_mode) else None


def check_found(written: Iterable[Written], searched: Iterable[str]) -> None:
    """Raise `CorpusError` for a file to write in a folder or glob that is read: a later run would read it too."""
    places = [place for place in searched if place != STDIN]
    for option, path in written:
        if path is None or not is_known(path.name):
            continue
        for place in places:
            if _finds(place, Path(os.path.realpath(path))):
                raise CorpusError(
                    f"{path} is in {place}, which is read, so a later run would read it too: choose another {option}"
                )


def _finds(place: str, path: Path) -> bool:
    if Path(place).is_dir():
        return Path(os.path.realpath(place)) in path.parents
    return has_magic(place) and _matches(Path(os.path.realpath(place)).parts, path.parts)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a glob finds a path, or a folder around it."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[at:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])


def check_writable(paths: Iterable[Path]) -> None:
    """Raise OSError for a file that cannot be written or a folder that cannot be created."""
    for path in paths:
        own_file(path)
        place = path
        while not place.exists() and place != place.parent:
            place = place.parent
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if place != path and not place.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(place))
        if not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))


def own_file(path: Path) -> Path:
    """Return a path to write to; raises `CorpusError` for a link, which would redirect the output.

    A link to a device, such as `/dev/stdout`, is allowed.
    """
    if path.is_symlink() and (path.is_file() or path.is_dir() or not path.exists()):
        raise CorpusError(f"{path}: is a symbolic link, through which another file would be written; give that file")
    return path


def open_own(path: Path, mode: str) -> IO[bytes]:
    """Open a file for writing; raises like `own_file`, and OSError for a link that was put there since."""
    no_link = 0 if path.is_symlink() else getattr(os, "O_NOFOLLOW", 0)
    own_file(path)
    return cast("IO[bytes]", open(path, mode, opener=lambda name, flags: os.open(name, flags | no_link, 0o666)))


def write_own(path: Path, text: str) -> None:
    """Write a text to a file; raises like `open_own`."""
    with open_own(path, "wb") as file:
        file.write(text.encode())
