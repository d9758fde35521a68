r"""The formats in which nothing but an offered tool's name begins a call.

<get_weather>\n<city>Paris</city>      the name is the element's
get_weather\n{"city": "Paris"}         the name is on a line
"""

from __future__ import annotations

import re
from functools import lru_cache

from toolfmt.detection.words import any_of

_LONGEST = 256


class Offers:
    """Patterns for the names of some tools."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Compile them."""
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        self.names = names
        line = rf"(?:{words})[ \t]*(?=\n\s{{0,64}}\{{)"
        self.anywhere = re.compile(any_of((), [("<", rf"(?:{words})(?=[\s/>])"), ("\n", line), (">", line)]))
        self.first = re.compile(rf"\s{{0,64}}(?:{words})[ \t]*(?=\n\s{{0,64}}\{{)")
        self.tags = frozenset(f"<{name}"[:end] for name in names for end in range(2, len(name) + 2))

    def begun(self, tail: str) -> int:
        """Find in the last characters of a text what may become a call; its length if there is nothing."""
        at = tail.rfind("<")
        end = at if at >= 0 and tail[at:] in self.tags else len(tail)
        said = tail.rstrip()
        start = max(said.rfind("\n"), said.rfind(">"))  # what a name follows is kept with it
        line, blank = said[start + 1 :], tail[len(said) :]
        if tail[-1:] in {"\n", ">"} and (not line or len(line) > _LONGEST):
            return min(end, len(tail) - 1)
        if not line or len(line) > _LONGEST:
            return end
        if any(name == line if "\n" in blank else name.startswith(line) for name in self.names):
            return min(end, max(start, 0))
        return min(end, len(tail) - 1) if tail[-1:] == "\n" else end


@lru_cache(maxsize=64)
def offers(names: tuple[str, ...]) -> Offers:
    """Give the patterns for these tools."""
    return Offers(names)
