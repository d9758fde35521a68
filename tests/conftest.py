"""What all tests share: Hypothesis profiles, and the rule that CI leaves nothing out."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Specification material beside the checkout; the tests pass without it."""

# No deadline: on a busy machine a slow example is no bug, and the laws bound time themselves.
settings.register_profile("default", deadline=None)
# In CI the same examples every time, so that a change is never blamed for what was there; fuzzing looks for more.
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=50)
settings.load_profile("ci" if os.environ.get("CI") else "default")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of specification material, or skip the test."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared")
    return SHARED


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
