"""Which known dialect a chat template names by its markers, where it writes no calls of its own.

    "... respond only with <|tool_call|> followed by a JSON list ..."     granite3

Some templates only tell the model how to call tools, or write the tools and
results alone. All markers of a dialect's calls must stand in the template, or all
of those around its tools or results; how rare they are decides.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING, Final

from toolfmt.workshop.marking import call_markers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.dialect.record import AnyDialect, Dialect
    from toolfmt.dialect.syntax import Syntax

_SPECIAL: Final = re.compile(r"<[|｜/]?[\w:.|｜▁\-]{3,}[|｜]?>|\[/?[A-Z_]{4,}\]")
"""What is no plain word, nor markup that anybody writes."""
_WORD: Final = re.compile("[a-z]{8,}")
_TELLS: Final = re.compile("tool|call|func|action|invoke", re.IGNORECASE)
"""What a marker says that is there for calls; a turn's marker may be anybody's."""
LEAST: Final = 4.0
"""The weight from which on markers say enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """A dialect whose markers the template has."""

    dialect: Dialect[str]
    markers: tuple[str, ...]
    weight: float
    """The sum of how rare each of them is among all dialects."""


def marked(source: str, dialects: Iterable[AnyDialect]) -> list[Marked]:
    """Give the dialects that a template's markers name, the likeliest first."""
    own = [(dialect, _groups(dialect.syntax)) for dialect in dialects if dialect.syntax is not None]
    spread = Counter(marker for _, groups in own for marker in frozenset[str]().union(*groups))
    found: list[Marked] = []
    for dialect, groups in own:
        if not any(all(marker in source for marker in group) for group in groups):
            continue
        present = tuple(dict.fromkeys(marker for group in groups for marker in group if marker in source))
        weight = sum(log(1 + len(own) / spread[marker]) for marker in present)
        if weight >= LEAST:
            found.append(Marked(dialect=dialect, markers=present, weight=weight))
    return sorted(found, key=lambda one: one.weight, reverse=True)


def _groups(syntax: Syntax) -> tuple[frozenset[str], ...]:
    """The markers of the calls that are written, those around tools and those around results, where they tell that."""
    written = call_markers(syntax)
    calls = frozenset(marker for marker in written if _SPECIAL.fullmatch(marker) or _WORD.fullmatch(marker))
    shown = [frozenset(_SPECIAL.findall(text)) for text in (syntax.tools, syntax.result + syntax.results)]
    return tuple(group for group in (calls, *shown) if any(_TELLS.search(marker) for marker in group))
