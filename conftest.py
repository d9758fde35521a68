"""The Python blocks of the README and of `docs/` are tests; blocks of one page share their names. CI skips nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE), SkipParser()],
    patterns=["README.md", "docs/*.md", "docs/**/*.md"],
).pytest()

if sys.dont_write_bytecode:  # as in many containers: each worker and each command would compile everything anew
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    del os.environ["PYTHONDONTWRITEBYTECODE"]

SHARED = Path(__file__).resolve().parents[1] / "shared"
"""Specification material beside the checkout; the tests pass without it."""


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where `TOOLFMT_REQUIRE_DATA=1` says that all data can be had."""
    if os.environ.get("TOOLFMT_REQUIRE_DATA") != "1" or not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if "../shared" in reason and not SHARED.is_dir():
        return
    report.outcome = "failed"
    report.longrepr = f"{reason}\nskipped, although TOOLFMT_REQUIRE_DATA=1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Look at each test's report."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Look at each file's report: a whole file can be skipped too."""
    report = yield
    _refuse_skip(report)
    return report
