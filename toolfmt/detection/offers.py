r"""The formats in which nothing but an offered tool's name begins a call.

    <get_weather>\n<city>Paris</city>      the name is the element's
    get_weather\n{"city": "Paris"}         the name stands on a line
"""

from __future__ import annotations

import re
from functools import lru_cache


class Offers:
    """Patterns for the names of some tools."""

    def __init__(self, names: tuple[str, ...]) -> None:
        """Compile them."""
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        self.names = names
        self.anywhere = re.compile(rf"<(?:{words})(?=[\s/>])|[\n>](?:{words})[ \t]*(?=\n\s{{0,64}}\{{)")
        self.first = re.compile(rf"\s{{0,64}}(?:{words})[ \t]*(?=\n\s{{0,64}}\{{)")
        self.tags = frozenset(f"<{name}"[:end] for name in names for end in range(2, len(name) + 2))
        self._line = re.compile(r"(?:\A|[\n>])([ \t]*([^\n>]{1,256}?)[ \t]*(?:\n\s{0,64})?)\Z")

    def begun(self, tail: str) -> int:
        """Where in the last characters of a text something stands that may become a call; the length if nowhere."""
        at = tail.rfind("<")
        end = at if at >= 0 and tail[at:] in self.tags else len(tail)
        line = self._line.search(tail)
        if line is not None:
            whole = "\n" in line[1].strip(" \t")
            if any(name == line[2] if whole else name.startswith(line[2]) for name in self.names):
                end = min(end, line.start(1))
        return end


@lru_cache(maxsize=64)
def offers(names: tuple[str, ...]) -> Offers:
    """Give the patterns for these tools."""
    return Offers(names)
