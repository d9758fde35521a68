"""The result of detection: the chosen dialect, and every other one that reads the place.

Detection(dialect="hermes", span=(13, 28), candidates=(
    Candidate("hermes", "writes `<tool_call>` and a JSON object so", 6),
    Candidate("qwen3-coder", "also reads `<tool_call>` and a JSON object", 2), ...))
"""

from __future__ import annotations

from dataclasses import dataclass

from toolfmt.events import Span


@dataclass(frozen=True, slots=True)
class DialectMatch:
    """A dialect that reads the place, and why; a higher `score` is more certain.

    6: its own form, exactly; 5: its own form with other white space or order; 3 and 2: another form that it reads,
    exactly or not; 1: only one of its markers.
    """

    dialect: str
    reason: str
    score: int


@dataclass(frozen=True, slots=True)
class Detection:
    """The dialect of a text; `dialect` is "" if it has no call.

    `candidates` are ranked, the chosen one first. `span` is the place that decided.
    """

    dialect: str = ""
    candidates: tuple[DialectMatch, ...] = ()
    span: Span = (0, 0)

    @property
    def reason(self) -> str:
        """Why the dialect was chosen; "" if none was."""
        return self.candidates[0].reason if self.candidates else ""


WRITTEN = 4
"""The score from which on a form is one that the dialect writes."""


def verb(score: int) -> str:
    """Return what a dialect does with a form of this score."""
    return "writes" if score >= WRITTEN else "reads"
