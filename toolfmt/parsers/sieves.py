r"""A fast look for the places where one of several patterns may begin.

    ["</b", "<i"]    ->    <(?=(?:/(?:[bB]|\Z)|[iI]|\Z))

The `regex` module's partial matching costs ten times as much as a search of `re`,
so the real pattern is asked only where the sieve lets something through.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def plain_start(source: str) -> str:
    """The first characters, at most five, that a pattern's text begins with; at least one."""
    found = re.match(r"(?:\\[^\w\s]|[^\\()\[\]{}|?*+.^$]){1,5}(?![?*{])", source)
    return re.sub(r"\\(.)", r"\1", found.group()) if found else source[0]


def sieve(starts: Sequence[str]) -> str:
    """A pattern for the places where one of the texts may begin: a fast look before the real pattern."""
    firsts = sorted({start[0] for start in starts})
    return "|".join(f"{re.escape(first)}(?={_rest(starts, first)})" for first in firsts)


def _rest(starts: Sequence[str], begun: str) -> str:
    """What may follow the beginning of some of the texts, or the end of what is here."""
    going_on = [start for start in starts if start.lower().startswith(begun.lower())]
    if any(len(start) == len(begun) for start in going_on):
        return ""
    nexts = sorted({start[len(begun)].lower() for start in going_on})
    return "(?:" + "|".join(_any_case(char) + _rest(going_on, begun + char) for char in nexts) + r"|\Z)"


def _any_case(char: str) -> str:
    return re.escape(char) if char.upper() == char else f"[{char}{char.upper()}]"


def first_characters(sources: list[str], *, bare: bool, ignore_case: bool) -> str:
    """The characters with which any marker may begin, for a character class: text without them is passed on."""
    firsts = {source[1] if source.startswith("\\") else source[0] for source in sources if source}
    if ignore_case:
        firsts |= {char.swapcase() for char in firsts}
    if bare:
        firsts |= set("`[{")
    if "(" in firsts:  # a pattern that begins with an optional part may begin with anything
        return r"\s\S"
    return "".join(map(re.escape, sorted(firsts)))
