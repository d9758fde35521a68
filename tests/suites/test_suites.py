"""Cases of other systems' own test suites, as the reference material beside the project records them.

A suite's expectation is evidence and no law: `differences.toml` lists by pattern what is read otherwise, with the
reason, and with what shows that the reason is true. Calls are compared type-exactly; the streamed reading must be the
whole one's, event by event.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import toolfmt
from toolfmt import jsontext
from toolfmt.errors import SchemaError
from toolfmt.events import coalesce

if TYPE_CHECKING:
    from toolfmt.parsing import ParseOptions

FILE = Path(__file__).parents[2].parent / "shared" / "suites" / "cases.jsonl"
LIST = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One answer, and the calls that its suite expects."""

    id: str
    dialect: str
    text: str
    options: ParseOptions
    calls: list[dict[str, Any]]

    @staticmethod
    def of(row: dict[str, Any]) -> Case:
        """Take a recorded row."""
        options: ParseOptions = {"dialect": row["dialect"], "reasoning_open": bool(row.get("reasoning_open"))}
        if row["tools"] is not None:
            options["tools"] = row["tools"]
        if row["suite"] == "minpeter" and row["tools"]:
            options["coerce"] = True  # as that system does with every call
        if row.get("generation_prompt"):
            options["generation_prompt"] = row["generation_prompt"]
        return Case(
            id=row["id"], dialect=row["dialect"], text=row["text"], options=options, calls=row["expect"]["calls"]
        )

    def agrees(self, more: ParseOptions | None = None) -> bool:
        """Whether the calls are those that the suite expects, in order; the tools may be refused as a whole."""
        try:
            read = toolfmt.parse(self.text, **{**self.options, **(more or {})}).calls
        except SchemaError:
            return False
        return len(read) == len(self.calls) and all(
            call.name == wanted["name"] and jsontext.equal(call.arguments, wanted["arguments"])
            for call, wanted in zip(read, self.calls, strict=True)
        )


@cache
def cases() -> tuple[Case, ...]:
    """Every recorded case whose calls are asserted."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines() if line] if FILE.exists() else []
    return tuple(Case.of(row) for row in rows if row["expect"]["calls"] is not None)


def by_dialect() -> dict[str, list[Case]]:
    """The cases of each dialect: one test for each of two thousand would take longer than they do."""
    found: dict[str, list[Case]] = {}
    for case in cases():
        found.setdefault(case.dialect, []).append(case)
    return found


DIFFERENCES: list[dict[str, Any]] = tomllib.loads(LIST.read_text("utf-8"))["difference"]
LISTED = frozenset(case for entry in DIFFERENCES for case in entry["cases"])

pytestmark = pytest.mark.skipif(not cases(), reason="there is no ../shared")


@pytest.mark.parametrize("dialect", by_dialect())
def test_calls_are_those_that_the_suite_expects_or_are_listed(dialect: str) -> None:
    found = by_dialect()[dialect]
    differing = {case.id for case in found if not case.agrees()}
    listed = {case.id for case in found} & LISTED
    assert sorted(differing - listed) == [], "read otherwise than the suite expects"
    assert sorted(listed - differing) == [], f"read as the suite expects: remove them from {LIST.name}"


@pytest.mark.parametrize("dialect", by_dialect())
def test_cuts_change_nothing(dialect: str) -> None:
    for case in {f"{case.text}{case.options}": case for case in by_dialect()[dialect]}.values():
        try:
            whole = toolfmt.parse(case.text, **case.options).events
        except SchemaError:
            continue
        assert tuple(coalesce(list(toolfmt.parse_stream(case.text, **case.options)))) == whole, case.id


@pytest.mark.parametrize("entry", DIFFERENCES, ids=lambda entry: entry["reason"][:60])
def test_what_shows_a_reason_is_so(entry: dict[str, Any]) -> None:
    known = {case.id: case for case in cases()}
    more: ParseOptions = entry.get("options", {})
    for case in (known[name] for name in entry["cases"] if entry.keys() & {"fails", "notice", "options"}):
        result = toolfmt.parse(case.text, **{**case.options, **more})
        assert entry.get("fails") in {None, *(failure.reason for failure in result.failures)}, case.id
        assert entry.get("notice") in {None, *(notice.kind for notice in result.notices)}, case.id
        assert case.agrees(more) is (bool(more) and "fails" not in entry), case.id


def test_each_listed_case_exists_and_is_listed_once() -> None:
    counted = Counter(case for entry in DIFFERENCES for case in entry["cases"])
    assert set(counted) <= {case.id for case in cases()}
    assert [case for case, times in counted.items() if times > 1] == []
    assert all(entry.keys() <= {"reason", "fails", "notice", "options", "cases"} for entry in DIFFERENCES)
