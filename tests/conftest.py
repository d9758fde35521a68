"""What these tests share: Hypothesis profiles, the sample, `--all` and `--dialect`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests import sampling

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Specification material beside the checkout; the tests pass without it."""

OF_A_DIALECT = [f"tests/{folder}" for folder in ("laws", "golden", "grammars", "unit")]
"""The folders that `--dialect` looks at, if none is given: importing the others takes longer than they tell."""

# The same examples every time, so that a change is never blamed for what was there; `fuzz/` looks for more.
# No deadline: on a busy machine a slow example is no bug, and the laws bound time themselves.
_FIXED = settings(derandomize=True, deadline=None, print_blob=True)
settings.register_profile("sample", _FIXED, max_examples=6)
settings.register_profile("all", _FIXED, max_examples=50)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--all`; a folder's own conftest may be imported before the options are read, in each worker too."""
    if "--all" in sys.argv:
        os.environ[sampling.ALL] = "1"
        sampling.everything = True
    if named := _dialect(sys.argv):
        os.environ[sampling.ONLY] = sampling.only = named
    parser.addoption("--all", action="store_true", help="test every dialect and format, not the representatives alone")
    parser.addoption("--dialect", metavar="NAME", help="test one dialect alone, in half a minute")


def pytest_configure(config: pytest.Config) -> None:
    """Decide what is left out, before any test file is imported."""
    sampling.everything = config.getoption("--all")
    if sampling.only:
        sampling.check_only()
        if config.args_source is not pytest.Config.ArgsSource.ARGS:
            config.args = OF_A_DIALECT
    settings.load_profile("all" if sampling.everything else "sample")


def _dialect(arguments: list[str]) -> str:
    """Return the name that `--dialect` gives, if one does."""
    given = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    given.add_argument("--dialect", default="")
    return given.parse_known_args(arguments)[0].dialect


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that do not name the dialect of `--dialect`."""
    if sampling.only:
        config.hook.pytest_deselected(items=[item for item in items if sampling.only not in item.name])
        items[:] = [item for item in items if sampling.only in item.name]


@pytest.fixture(scope="session")
def shared() -> Path:
    """Give the folder of specification material, or skip the test."""
    if not SHARED.is_dir():
        pytest.skip("there is no ../shared")
    return SHARED


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Start no workers for one file: they would take longer to start than it takes to run."""
    paths = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    return 0 if len(paths) == 1 and paths[0].is_file() else None
