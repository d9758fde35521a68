"""Counts why conversations are left out, with the place of the first one for each reason."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from toolfmt.model import JsonObject

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
