"""Answers of model families, as the reference material beside the project records them.

Read whole, by single characters, in pieces of four and of seven, and cut at
random. A case of a format that is not a dialect yet is left out by its name.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import toolfmt
from toolfmt import jsontext
from toolfmt.events import Event, coalesce
from toolfmt.lookup.registry import default_registry

FILE = Path(__file__).parents[2].parent / "shared" / "wire" / "cases.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer, and what it says."""

    id: str
    format: str
    input: str
    expect: dict[str, Any]
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    initial: str = ""

    def read(self, chunks: list[str]) -> toolfmt.ParseResult:
        events = toolfmt.parse_stream(
            chunks, dialect=self.format, tools=self.tools, reasoning_open=self.initial == "reasoning"
        )
        return toolfmt.ParseResult(tuple(coalesce(list(events))), self.format)


def load() -> list[Case]:
    names = Case.__slots__
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.exists() else []
    return [Case(**{key: row[key] for key in names if row.get(key)}) for row in rows]


CASES = [case for case in load() if case.format in default_registry()]
pytestmark = pytest.mark.skipif(not CASES, reason="there is no ../shared")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_an_answer_is_read_as_recorded_however_it_is_cut(case: Case) -> None:
    result = case.read([case.input])
    wanted = case.expect["calls"]
    assert [call.name for call in result.calls] == [call["name"] for call in wanted]
    for call, one in zip(result.calls, wanted, strict=True):
        assert jsontext.equal(call.arguments, one["arguments"]), call.arguments
    if "text" in case.expect:
        assert result.text.strip() == case.expect["text"].strip()
    if "reasoning" in case.expect:
        assert result.reasoning.strip() == case.expect["reasoning"].strip()
    cuts_change_nothing(case, result.events)


def cuts_change_nothing(case: Case, whole: tuple[Event, ...]) -> None:
    text = case.input
    for size in (1, 4, 7):
        assert case.read([text[at : at + size] for at in range(0, len(text), size)]).events == whole
    chance = random.Random(case.id)  # noqa: S311 - to be repeated, not to be secret
    marks = sorted(chance.sample(range(len(text)), k=min(5, len(text))))
    assert case.read([text[a:b] for a, b in zip([0, *marks], [*marks, len(text)], strict=True)]).events == whole
