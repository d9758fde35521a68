"""Answers in every dialect, written out with all that has to be read from them: `DIALECT/cases.txt`.

`golden_cases.py` shows the files' form. The source of a case is one that its dialect names, or the law that decides.
"""

from __future__ import annotations

import random
import re

import pytest

import toolfmt
from tests import sampling
from tests.golden.golden_cases import Case, all_cases
from toolfmt import jsontext
from toolfmt.events import coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.workshop.testing import laws

DIALECTS = {dialect.name: dialect for dialect in default_registry()}
CASES = all_cases()


def read(case: Case, chunks: list[str]) -> toolfmt.ParseResult:
    """Read a case's answer in these pieces."""
    events = toolfmt.parse_stream(chunks, dialect=case.dialect, tools=case.tools, **case.options)
    return toolfmt.ParseResult(tuple(coalesce(list(events))), case.dialect)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.dialect}-{case.id}")
def test_an_answer_is_read_however_it_is_cut(case: Case) -> None:
    result = read(case, [case.input])
    assert [failure.reason for failure in result.failures] == case.failures
    assert [call.name for call in result.calls] == [call["name"] for call in case.calls]
    for call, wanted in zip(result.calls, case.calls, strict=True):
        assert jsontext.equal(call.arguments, wanted["arguments"]), call.arguments
        assert (call.id, call.server, call.agent) == (wanted.get("id"), wanted.get("server"), wanted.get("agent"))
        assert call.provenance == wanted.get("provenance", "bare" if call.provenance == "bare" else "marker")
    assert result.text == case.text
    assert result.reasoning == case.reasoning
    assert [notice.kind for notice in result.notices] == case.notices
    cuts_change_nothing_and_nothing_is_lost(case, result)


def cuts_change_nothing_and_nothing_is_lost(case: Case, whole: toolfmt.ParseResult) -> None:
    turn = CASES.index(case)
    for size in (1, *sampling.share((2, 3, 7, 16), turn, 4)):
        places = range(size, len(case.input), size)
        assert read(case, laws.cut(case.input, places)).events == whole.events
    chance = random.Random(case.id)  # noqa: S311 - the same cuts every time
    for _ in sampling.share(range(20), turn, 4):
        pieces = laws.cut(case.input, chance.sample(range(len(case.input)), chance.randint(1, 8)))
        assert read(case, pieces).events == whole.events, pieces
    laws.ordered(whole.events)
    laws.lossless(DIALECTS[case.dialect], case.input, [toolfmt.tool(tool) for tool in case.tools])


def test_every_dialect_has_cases_with_a_source() -> None:
    assert {case.dialect for case in CASES} == set(DIALECTS)
    assert len({(case.dialect, case.id) for case in CASES}) == len(CASES)
    known = {source.reference for dialect in DIALECTS.values() for source in dialect.sources}
    for case in CASES:
        assert case.source in known or re.fullmatch(r"law ([1-9]|1[01])", case.source), case.source
