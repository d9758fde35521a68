"""Recorded answers with the dialect that is known to read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from canitoolcall.fixtures import load_fixtures

import toolfmt
from toolfmt import jsontext
from toolfmt.lookup.registry import default_registry

CASES = Path(__file__).parents[2].parent / "shared" / "wire" / "cases.jsonl"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, and how it is to be read."""

    id: str
    dialect: str
    text: str
    options: dict[str, Any]

    def read(self, dialect: str = "") -> toolfmt.ParseResult:
        return toolfmt.parse(self.text, dialect=dialect or self.dialect, **self.options)

    def same_calls(self) -> bool:
        return calls(self.read()) == calls(self.read("auto"))


def calls(result: toolfmt.ParseResult) -> list[tuple[str, str]]:
    """Give the calls for a comparison in which 1, 1.0 and true differ."""
    return [(call.name, jsontext.canonical(call.arguments)) for call in result.calls]


def cases(*, offered: bool = True) -> Iterator[Answer]:
    """Give the reference material's answers; without the tools where they are not `offered`."""
    lines = CASES.read_text("utf-8").splitlines() if CASES.exists() else []
    for row in map(json.loads, lines):
        if row["format"] in default_registry():
            dialect = default_registry().dialect(row["format"]).name
            tools = {"tools": row.get("tools") or None} if offered else {}
            options = {**tools, "reasoning_open": row.get("initial") == "reasoning"}
            yield Answer(row["id"] if offered else f"{row['id']}, no tools", dialect, row["input"], options)


def suite() -> Iterator[Answer]:
    """Give the conformance suite's answers."""
    for one in load_fixtures():
        options: dict[str, Any] = {
            "tools": list(one.tools),
            "generation_prompt": one.generation_prompt or "",
            "reasoning_open": one.generation_prompt is None and bool(one.thinking),
        }
        yield Answer(one.id, toolfmt.parse("", model=one.reference_model).dialect, one.raw_output, options)
