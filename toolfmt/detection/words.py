"""Many fixed strings as one pattern, in the shape of a tree: text that begins none of them is passed quickly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def any_of(words: Iterable[str], also: Iterable[tuple[str, str]] = ()) -> str:
    """Give a pattern that matches the longest of the words; `also` are first characters with what follows them.

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
    """Write what may follow, the longest first; "" among it makes it all optional."""
    branches: dict[str, set[str]] = {}
    for rest in rests - {""}:
        branches.setdefault(rest[0], set()).add(rest[1:])
    written = [re.escape(first) + _tree(more) for first, more in sorted(branches.items())]
    if not written:
        return ""
    whole = written[0] if len(written) == 1 else f"(?:{'|'.join(written)})"
    return f"(?:{whole})?" if "" in rests else whole
