"""Patterns of files that match a link out of the project, as `l*/x` does beside a link `link -> ../outside`.

Patterns are matched with the folders as they are, as far as `FOLDERS` and `ENTRIES`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from glob import escape, iglob
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

FOLDERS: Final = 200
"""Folders that are listed for the patterns of one text."""
ENTRIES: Final = 4000
"""Entries of one folder that are looked at."""
_SIGNS: Final = re.compile(r"[*?\[]")
_CLASS: Final = re.compile(r"\[[^\[\]/]*+(?:\[[:.=][^\[\]/]*+\][^\[\]/]*+)++\]")
"""Brackets with a class of characters in them, as `[[:alpha:]]`: any character here."""
_CHOICE: Final = re.compile(r"[@?*+!]\([^()\s]*\)")
"""A pattern of bash's `extglob`."""
_LETTERS: Final = re.compile(r"-\w{2,9}")
_NAME: Final = re.compile(r"(?:[\w.\-]+=)+")


def is_pattern(path: str) -> bool:
    """Whether a shell would look for files that match."""
    return _SIGNS.search(path) is not None


def without_choices(text: str) -> str:
    """Replace each pattern such as `@(a|b)` or `!(a)` by `*`, which matches as much and more."""
    for _ in range(4):  # they may be nested
        text = _CHOICE.sub("*", text)
    return text


def values(word: str) -> Iterator[str]:
    """Yield a word of a command, and what may be the value of an option in it, as in `-Clink` and `--dir=link`."""
    yield word
    if (name := _NAME.match(word)) is not None:
        yield word[name.end() :]
    if (letters := _LETTERS.match(word)) is not None:
        yield from (word[at:] for at in range(2, letters.end()))


class _Entry(NamedTuple):
    """A folder or a link in a folder."""

    path: Path
    name: str
    is_link: bool
    is_outside: bool


class Folders:
    """The folders of this machine, each listed at most once."""

    def __init__(self, base: Path, inside: Callable[[Path], bool]) -> None:
        self._base = base
        self._inside = inside
        self._listed: dict[Path, list[_Entry]] = {}

    def lead_out(self, pattern: str) -> bool:
        """Whether a pattern in the project matches a link that leads out of it, or what is beyond one."""
        names = [name for name in pattern.split("/") if name not in {"", "."}]
        first = next((at for at, name in enumerate(names) if is_pattern(name)), len(names))
        start = Path(os.sep if pattern[:1] == "/" else self._base, *names[:first])
        places = [start] if first < len(names) and self._inside(start) else []
        for at, name in enumerate(names[first:], first + 1):
            if not is_pattern(name):
                places = [path for place in places if os.path.lexists(path := place / name)]
                if not all(map(self._inside, places)):
                    return True
                continue
            reached = list(self._matching(places, name))
            if any(entry.is_outside and _goes_on(entry.path, name, names[at:]) for entry in reached):
                return True
            zero = places if name == "**" else []
            places = list(dict.fromkeys([*zero, *(entry.path for entry in reached if not entry.is_outside)]))
        return False

    def _matching(self, places: list[Path], pattern: str) -> Iterator[_Entry]:
        matches = re.compile(translate(_CLASS.sub("?", pattern).replace("[^", "[!"))).match
        pending, seen = list(places), set(places)  # each once, though `**/**` reaches it in many ways
        for place in pending:
            for entry in self._entries(place):
                if matches(entry.name) and (entry.name[0] != "." or pattern[0] == "."):
                    yield entry
                    if pattern == "**" and not entry.is_link and entry.path not in seen:
                        seen.add(entry.path)
                        pending.append(entry.path)

    def _entries(self, folder: Path) -> list[_Entry]:
        if folder not in self._listed:
            if len(self._listed) >= FOLDERS:
                return []
            try:
                with os.scandir(folder) as found:
                    entries = [one for one in islice(found, ENTRIES) if one.is_symlink() or one.is_dir()]
            except OSError:
                entries = []
            self._listed[folder] = [
                _Entry(
                    folder / one.name,
                    one.name,
                    one.is_symlink(),
                    one.is_symlink() and self._leads_out(folder / one.name),
                )
                for one in entries
            ]
        return self._listed[folder]

    def _leads_out(self, link: Path) -> bool:
        try:
            return not self._inside(link)
        except (OSError, RuntimeError):  # links in a circle, through which nothing is opened
            return False


def _goes_on(link: Path, name: str, names: list[str]) -> bool:
    """Whether a match leads on from a link: if only signs match it, as in `**/*.ts`, there must be what comes next."""
    following = next((at for at, one in enumerate(names, 1) if is_pattern(one)), None)
    if following is None or re.search(r"\w", name):
        return True
    return any(iglob(str(Path(escape(str(link)), *names[:following]))))  # noqa: PTH207 - the pattern is absolute
