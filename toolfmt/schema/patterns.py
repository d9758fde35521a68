r"""Estimates how long a pattern takes to be compiled.

    [a-z]{1,64}         64 sets of one range
    \p{L}{100}          100 sets of some hundred ranges, in bytes of UTF-8: 25 ms
    (\p{L}{5}|a){20}    as many: counts multiply

Patterns are compiled, and their time is estimated before. The engine refuses a single pattern that is too large, so
that each takes some 40 ms at most; but a schema may hold ten thousand of them.
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 40_000
"""Microseconds of the largest pattern that the engine takes."""
_CATEGORY: Final = 250
_NEGATED: Final = 8
_PART: Final = re.compile(
    r"(?P<set>\[(?:\\[\s\S]|[^\]\\]){0,200}+\])|\\[pP](?:\{[^{}]{0,64}\})?|\\[\s\S]"
    r"|\{(?P<least>\d{1,19})(?:,(?P<most>\d{0,19}))?\}|[\s\S]"
)
_CATEGORIES: Final = re.compile(r"\\[pP]")


def compile_time(pattern: str) -> int:
    """Estimate the microseconds that a pattern takes, `MOST` for what takes longer."""
    groups = [0]
    total = last = 0  # `last`: of the part before a count
    for found in _PART.finditer(pattern):
        text = found.group()
        if found["least"]:
            last *= max(int(found["most"] or found["least"]), 1) - 1
        elif text == "(":
            groups.append(total)
            last = 1
        elif text == ")" and len(groups) > 1:
            last = total - groups.pop()
            continue  # which is in the total
        else:
            last = _part(text, inside=found["set"] is not None)
        total += last
        if total > MOST:
            return MOST
    return total


def _part(text: str, *, inside: bool) -> int:
    if inside or text[:2] in {r"\p", r"\P"}:
        return _CATEGORY * len(_CATEGORIES.findall(text)) + (_NEGATED if text.startswith("[^") else 1)
    return _NEGATED if text in {".", r"\S", r"\W", r"\D"} else 1
