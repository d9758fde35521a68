"""What detection says: the dialect it chose, and every other that would have read the place.

Detection(dialect="hermes", span=(13, 28), candidates=(
    Candidate("hermes", "writes `<tool_call>` and a JSON object so", 6),
    Candidate("qwen3-coder", "also reads `<tool_call>` and a JSON object", 2), ...))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolfmt.events import Span


@dataclass(frozen=True, slots=True)
class DialectMatch:
    """A dialect that reads what is at the place, and why; the higher the `score`, the surer.

    6: its own form, to the letter; 5: its own form, with other white space or
    order; 3 and 2: another form that it reads, to the letter or not; 1: only a
    marker of it.
    """

    dialect: str
    reason: str
    score: int


@dataclass(frozen=True, slots=True)
class Detection:
    """Which dialect a text is in. `dialect` is "" where nothing tells; then no call is in the text.

    `candidates` are ranked, the chosen one first. `span` is the place that
    decided: from the marker to the end of what was looked at.
    """

    dialect: str = ""
    candidates: tuple[DialectMatch, ...] = ()
    span: Span = (0, 0)

    @property
    def reason(self) -> str:
        """Why the dialect was chosen; "" if none was."""
        return self.candidates[0].reason if self.candidates else ""


WRITTEN = 4
"""From this score on, a form is one that the dialect writes."""


def verb(score: int) -> str:
    """Say what a dialect does with a form of this score."""
    return "writes" if score >= WRITTEN else "reads"
