"""What `new-dialect` writes is a dialect that keeps the laws as it is."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import toolfmt
from tests.golden.golden_cases import cases_of
from toolfmt import Registry, ToolInvocation
from toolfmt.workshop.testing import laws


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "toolfmt" / "dialects").mkdir(parents=True)
    (tmp_path / "tests" / "golden").mkdir(parents=True)
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n- One.\n- Two.\n", "utf-8")
    return tmp_path


@pytest.mark.parametrize("body", [(), ("--body", "arguments"), ("--body", "elements"), ("--body", "literals")])
def test_what_is_written_reads_and_writes(body: tuple[str, ...], run: Any, checkout: Path) -> None:
    code, out, _ = run("new-dialect", "acme-json", *body, "--root", checkout)
    assert code == 0
    assert all(
        word in out
        for word in ("acme_json.py", "cases.txt", "CHANGELOG.md", "docs/generate.py", "pytest --dialect acme-json,")
    )
    dialect = runpy.run_path(str(checkout / "toolfmt" / "dialects" / "acme_json.py"))["DIALECT"]
    Registry(dialects=()).with_dialect(dialect)
    calls = [ToolInvocation(name="f", arguments={"a": "</acme_json_call>", "b": [1, None]}), ToolInvocation(name="g")]
    laws.round_trip(dialect, calls, [])
    text = dialect.calls(calls, {})
    laws.lossless(dialect, text)
    for at in range(1, len(text)):
        laws.chunking(dialect, text, [at])
    cases = cases_of(checkout / "tests" / "golden" / "acme-json" / "cases.txt")
    assert len(cases) == 2
    for case in cases:
        result = toolfmt.parse(case.input, dialect=dialect)
        assert [{"name": one.name, "arguments": one.arguments} for one in result.calls] == case.calls
        assert [one.reason for one in result.failures] == case.failures
        assert result.text == case.text
        laws.truncated(dialect, case.input, [len(case.input) - 5])
    assert (checkout / "CHANGELOG.md").read_text("utf-8").count("\n- ") == 3


@pytest.mark.parametrize(
    ("name", "why"), [("Acme", "small letters"), ("hermes", "already"), ("acme--json", "small letters")]
)
def test_a_name_that_cannot_be_is_refused(name: str, why: str, run: Any, checkout: Path) -> None:
    code, _, err = run("new-dialect", name, "--root", checkout)
    assert (code, why in err) == (2, True)


def test_nothing_is_written_over_or_elsewhere(run: Any, checkout: Path, tmp_path_factory: Any) -> None:
    assert run("new-dialect", "acme", "--root", checkout)[0] == 0
    assert "exists already" in run("new-dialect", "acme", "--root", checkout)[2]
    assert "is not a checkout" in run("new-dialect", "acme", "--root", tmp_path_factory.mktemp("other"))[2]
