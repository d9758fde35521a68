"""Counts the losses of conversions by code and action, and why conversations are left out, with a few examples."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from toolfmt.model import JsonObject
from toolfmt.transcripts.comparing.loss import CODES, SEVERITIES, Loss

EXAMPLES: Final = 3
"""The number of examples kept for each loss."""
_COUNTED: Final = ("converted", "failed", "without_loss", "filtered", "outside", "duplicates", "placed", "nulls")
"""The counts of conversations."""


_MOST: Final = 20
"""The number of reasons that are counted separately."""


@dataclass(slots=True)
class Reasons:
    """The reasons, by their text without numbers; after the first twenty, further reasons share one count."""

    found: dict[str, JsonObject] = field(default_factory=dict[str, "JsonObject"])

    def add(self, file: str, line: int, reason: str) -> None:
        """Count a reason; reasons that differ only in numbers are counted together."""
        self._count({"times": 1, "first": {"file": file, "line": line or None, "reason": reason}})

    def merge(self, report: list[JsonObject]) -> None:
        """Add the reasons of a report."""
        for one in report:
            self._count(one)

    def report(self) -> list[JsonObject]:
        """Return the reasons as JSON, the most frequent first."""
        return sorted(self.found.values(), key=lambda one: -one["times"])

    def _count(self, one: JsonObject) -> None:
        key = re.sub(r"\d+", "N", one["first"]["reason"])
        key = key if key in self.found or len(self.found) < _MOST else ""
        before = self.found.get(key, {**one, "times": 0})
        self.found[key] = {**before, "times": before["times"] + one["times"]}


@dataclass(slots=True)
class Count:
    """The number of losses of one kind, of conversations with it, and the first places."""

    times: int = 0
    conversations: int = 0
    examples: list[JsonObject] = field(default_factory=list["JsonObject"])


@dataclass(slots=True)
class Tally:
    """The outcome for many conversations; its size depends on the kinds of losses, not on the conversations."""

    converted: int = 0
    failed: int = 0
    without_loss: int = 0
    filtered: int = 0
    """Conversations that a filter leaves out."""
    outside: int = 0
    """Conversations outside of the share."""
    placed: int = 0
    """Rows that have the place that was named."""
    nulls: int = 0
    """Conversations whose tools have a property without a schema."""
    duplicates: int = 0
    reasons: Reasons = field(default_factory=Reasons)
    """Why conversations were left out."""
    counts: defaultdict[tuple[str, str], Count] = field(
        default_factory=lambda: defaultdict[tuple[str, str], Count](Count)
    )

    names: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    """The names in all conversations, by the field of a filter."""

    def add_names(self, names: Mapping[str, Iterable[str]]) -> None:
        """Add names, by the field of a filter."""
        for one, found in names.items():
            self.names.setdefault(one, set()).update(found)

    def add(self, file: str, line: int, losses: Iterable[Loss]) -> None:
        """Count a converted conversation and its losses."""
        self.converted += 1
        seen: set[tuple[str, str]] = set()
        exact = True
        for loss in losses:
            key = (loss.code, loss.action)
            exact = exact and loss.severity == "bookkeeping"
            count = self.counts[key]
            count.times += 1
            count.conversations += key not in seen
            seen.add(key)
            if len(count.examples) < EXAMPLES:
                where: JsonObject = {"file": file, "line": line or None}
                count.examples.append({**where, "path": loss.path, "detail": loss.detail})
        self.without_loss += exact

    def refuse(self, file: str, line: int, reason: str) -> None:
        """Count a conversation that is left out."""
        self.failed += 1
        self.reasons.add(file, line, reason)

    def merge(self, later: Tally) -> None:
        """Add the counts of further conversations."""
        self.reasons.merge(later.reasons.report())
        self.add_names(later.names)
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for key, more in later.counts.items():
            count = self.counts[key]
            count.times += more.times
            count.conversations += more.conversations
            count.examples = (count.examples + more.examples)[:EXAMPLES]

    def report(self) -> JsonObject:
        """Return the counts as JSON."""
        return {
            **{name: getattr(self, name) for name in _COUNTED},
            "names": {name: sorted(found) for name, found in self.names.items()},
            "failed_because": self.reasons.report(),
            "losses": [
                {
                    "code": code,
                    "action": action,
                    "severity": SEVERITIES[code],
                    "what": CODES[code],
                    "times": count.times,
                    "conversations": count.conversations,
                    "examples": count.examples,
                }
                for (code, action), count in sorted(self.counts.items())
            ],
        }

    @classmethod
    def of(cls, report: JsonObject) -> Tally:
        """Restore a tally from its report."""
        made = cls(**{name: report[name] for name in _COUNTED})
        made.reasons.merge(report["failed_because"])
        made.add_names(report["names"])
        for loss in cast("list[JsonObject]", report["losses"]):
            made.counts[loss["code"], loss["action"]] = Count(loss["times"], loss["conversations"], loss["examples"])
        return made

    def table(self) -> Sequence[tuple[str, ...]]:
        """Return the losses without bookkeeping as rows: code, action, times, conversations, what it is."""
        return [
            (code, action, str(count.times), str(count.conversations), CODES[code])
            for (code, action), count in sorted(self.counts.items())
            if SEVERITIES[code] != "bookkeeping"
        ]

    @property
    def bookkeeping(self) -> int:
        """The number of bookkeeping losses."""
        return sum(count.times for (code, _), count in self.counts.items() if SEVERITIES[code] == "bookkeeping")
