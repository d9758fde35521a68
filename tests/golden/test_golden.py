"""Answers in every dialect, written out with all that has to be read from them.

A line of `DIALECT/cases.jsonl`:

    {"id", "note", "source", "input", "tools"?, "options"?, "expect"}

`expect` names everything: `calls`, `text`, `reasoning`, and the reasons of
`failures` and the kinds of `notices` in order; what it leaves out is not there.
`source` is one that a dialect names, or the law that decides.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import toolfmt
from toolfmt import jsontext
from toolfmt.dialect.record import Dialect
from toolfmt.events import coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop.testing import laws

HERE = Path(__file__).parent
DIALECTS = {dialect.name: dialect for dialect in default_registry()}
EXPECTED = {"calls": [], "text": "", "reasoning": "", "failures": [], "notices": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer; see the file's head."""

    dialect: Dialect[str]
    id: str
    note: str
    source: str
    input: str
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    expect: dict[str, Any]

    def read(self, chunks: list[str]) -> toolfmt.ParseResult:
        """Read the answer in these pieces."""
        events = toolfmt.parse_stream(chunks, dialect=self.dialect, tools=self.tools, **self.options)
        return toolfmt.ParseResult(tuple(coalesce(list(events))), self.dialect.name)


CASES = [
    Case(dialect=DIALECTS[path.parent.name], **json.loads(line))
    for path in sorted(HERE.glob("*/cases.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dialect.name}-{case.id}")
def test_an_answer_is_read_however_it_is_cut(case: Case) -> None:
    assert case.expect.keys() <= EXPECTED.keys()
    expect = EXPECTED | case.expect
    result = case.read([case.input])
    assert [failure.reason for failure in result.failures] == expect["failures"]
    assert [call.name for call in result.calls] == [call["name"] for call in expect["calls"]]
    for call, wanted in zip(result.calls, expect["calls"], strict=True):
        assert jsontext.equal(call.arguments, wanted["arguments"]), call.arguments
        assert (call.id, call.server, call.agent) == (wanted.get("id"), wanted.get("server"), wanted.get("agent"))
        assert call.provenance == wanted.get("provenance", "bare" if call.provenance == "bare" else "marker")
    assert result.text == expect["text"]
    assert result.reasoning == expect["reasoning"]
    assert [notice.kind for notice in result.notices] == expect["notices"]
    cuts_change_nothing_and_nothing_is_lost(case, result)


def cuts_change_nothing_and_nothing_is_lost(case: Case, whole: toolfmt.ParseResult) -> None:
    for size in (1, 2, 3, 7, 16):
        places = range(size, len(case.input), size)
        assert case.read(laws.cut(case.input, places)).events == whole.events
    chance = random.Random(case.id)  # noqa: S311 - the same cuts every time
    for _ in range(20):
        pieces = laws.cut(case.input, chance.sample(range(len(case.input)), chance.randint(1, 8)))
        assert case.read(pieces).events == whole.events, pieces
    laws.ordered(whole.events)
    laws.lossless(case.dialect, case.input, [toolfmt.tool(tool) for tool in case.tools])


def test_every_dialect_has_cases_with_a_source() -> None:
    assert {case.dialect.name for case in CASES} == set(DIALECTS)
    assert len({(case.dialect.name, case.id) for case in CASES}) == len(CASES)
    known = {source.reference for dialect in DIALECTS.values() for source in dialect.sources}
    for case in CASES:
        assert case.source in known or re.fullmatch(r"law ([1-9]|1[01])", case.source), case.source
