r"""Dialects in which only an offered tool's name begins a call.

<get_weather>\n<city>Paris</city>      the name is the element's
get_weather\n{"city": "Paris"}         the name is on a line
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_LONGEST = 256


class Offers:
    """Patterns for the names of some tools."""

    def __init__(self, names: tuple[str, ...]) -> None:
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        self.names = names
        line = rf"(?:{words})[ \t]*(?=\n\s{{0,64}}\{{)"
        self.anywhere = re.compile(any_of((), [("<", rf"(?:{words})(?=[\s/>])"), ("\n", line), (">", line)]))
        self.first = re.compile(rf"\s{{0,64}}(?:{words})[ \t]*(?=\n\s{{0,64}}\{{)")
        self.tags = frozenset(f"<{name}"[:end] for name in names for end in range(2, len(name) + 2))

    def begun(self, tail: str) -> int:
        """Find where a call may begin in the last characters of a text; returns their length if nowhere."""
        at = tail.rfind("<")
        end = at if at >= 0 and tail[at:] in self.tags else len(tail)
        stripped = tail.rstrip()
        start = max(stripped.rfind("\n"), stripped.rfind(">"))  # the character before a name is kept with it
        line, blank = stripped[start + 1 :], tail[len(stripped) :]
        if tail[-1:] in {"\n", ">"} and (not line or len(line) > _LONGEST):
            return min(end, len(tail) - 1)
        if not line or len(line) > _LONGEST:
            return end
        if any(name == line if blank else name.startswith(line) for name in self.names):
            return min(end, max(start, 0))
        return min(end, len(tail) - 1) if tail[-1:] == "\n" else end


@lru_cache(maxsize=64)
def offers(names: tuple[str, ...]) -> Offers:
    """Return the patterns for these tools."""
    return Offers(names)


def any_of(words: Iterable[str], also: Iterable[tuple[str, str]] = ()) -> str:
    """Return a pattern that matches the longest of the words; `also` are first characters with patterns after them.

    Each alternative begins with a plain character, by which `re` finds its places.
    """
    groups: dict[str, set[str]] = {}
    for word in words:
        groups.setdefault(word[0], set()).add(word[1:])
    further: dict[str, list[str]] = {}
    for first, pattern in also:
        further.setdefault(first, []).append(pattern)
    out: list[str] = []
    for first in sorted({*groups, *further}):
        rests = [_tree(groups[first])] if first in groups else []
        out.append(re.escape(first) + f"(?:{'|'.join([*rests, *further.get(first, [])])})")
    return "|".join(out) or r"(?!)"


def _tree(rests: set[str]) -> str:
    """Write what may follow, the longest first; all is optional if "" is among it."""
    branches: dict[str, set[str]] = {}
    for rest in rests - {""}:
        branches.setdefault(rest[0], set()).add(rest[1:])
    written = [re.escape(first) + _tree(more) for first, more in sorted(branches.items())]
    if not written:
        return ""
    whole = written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"
    return f"(?:{whole})?" if "" in rests else whole
