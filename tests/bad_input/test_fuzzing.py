"""The fuzz targets run: on the cases that broke something once, and on some that are made by chance."""

from __future__ import annotations

import inspect
import random
from typing import TYPE_CHECKING, Any

import pytest

import toolfmt.agents
import toolfmt.execution
import toolfmt.mcp
from fuzz.__main__ import broken, kept
from fuzz.covered import COMMANDS, FUNCTIONS, OWN_COMMANDS, OWN_FUNCTIONS
from fuzz.targets import TARGETS, attempt
from toolfmt.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = 12
"""Of each target; fuzzing tries more."""


def corpus() -> Iterator[Any]:
    for at, (name, case) in enumerate(kept()):
        yield pytest.param(name, case, id=f"{name}-{at}")


@pytest.mark.parametrize(("name", "case"), list(corpus()))
def test_what_broke_once_is_read_or_refused(name: str, case: Any) -> None:
    attempt(name, case)


@pytest.mark.parametrize("name", TARGETS)
def test_a_changed_case_is_read_or_refused(name: str) -> None:
    for number in range(CASES):
        attempt(name, TARGETS[name].make(random.Random(number)))  # noqa: S311 - to be repeated


def test_each_public_function_and_each_command_has_a_target() -> None:
    packages: tuple[Any, ...] = (toolfmt, toolfmt.execution, toolfmt.agents, toolfmt.mcp)
    functions = {name for one in packages for name in one.__all__ if inspect.isroutine(getattr(one, name))}
    commands = {name for name in app if not name.startswith("-")}
    assert functions == FUNCTIONS.keys() | OWN_FUNCTIONS
    assert commands == COMMANDS.keys() | OWN_COMMANDS
    assert {*FUNCTIONS.values(), *COMMANDS.values()} <= TARGETS.keys()


def test_what_is_not_documented_is_a_finding() -> None:
    kind, full = broken("check", {"value": {}})
    assert kind == "check: KeyError in targets.py:" + kind.rpartition(":")[2]
    assert "'target'" in full
