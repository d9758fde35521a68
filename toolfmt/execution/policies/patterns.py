"""Patterns of names, as policies are given them: those of files, and every name as it is.

matcher(["data.*", "get_?"])      data.read, get_x
matcher(["bot[1]"])               bot1, and what is really called bot[1]
"""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Make one test of several patterns; of none, one that nothing passes. Case counts."""
    kept = tuple(patterns)
    names = frozenset(kept)
    match = re.compile("|".join(map(translate, kept)) or r"(?!)").match
    return lambda name: name in names or match(name) is not None
