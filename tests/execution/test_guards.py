"""The breaker and the budget."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from toolfmt import ToolInvocation, ToolRegistry, ToolResult
from toolfmt.agents import Breaker, Budget
from toolfmt.errors import Problem
from toolfmt.execution import Executor, FailureKind, ToolExecution
from toolfmt.transcripts.answering.answer_info import Usage

NOW = datetime.now(UTC)


def ended(
    error: str | None, failure: FailureKind | None = "raised", *, name: str = "f", problems: tuple[Problem, ...] = ()
) -> ToolExecution:
    failed = error is not None
    return ToolExecution(
        id="x",
        call=ToolInvocation(name=name),
        result=ToolResult(name=name, content=error, is_error=failed),
        started_at=NOW,
        completed_at=NOW,
        failure=failure if failed else None,
        problems=problems,
    )


def opens(*executions: ToolExecution) -> bool:
    breaker = Breaker(3)
    for execution in executions:
        breaker.record(execution)
    refused = breaker.refuse(ToolInvocation(name="other"))
    assert bool(refused) is bool(breaker.reason)
    return bool(breaker.reason)


def test_identical_failures_in_a_row_open_it() -> None:
    assert opens(*[ended("a")] * 3)
    assert not opens(*[ended("a")] * 2)
    assert not opens(ended("a"), ended("b"), ended("a"))
    assert not opens(ended("a"), ended("a"), ended(None), ended("a"))
    assert not opens(ended("a"), ended("a", name="g"), ended("a"))
    assert not opens(ended("a"), ended("a"), ended("a", "timeout"))
    assert opens(ended("a"), ended("a"), ended("x", "cancelled"), ended("a"))
    assert opens(ended("b"), *[ended("a")] * 3, ended(None))


def test_what_the_model_wrote_makes_no_other_failure() -> None:
    def wrong(value: str, pointer: str = "/x") -> ToolExecution:
        return ended(f"got {value}", "invalid_arguments", problems=(Problem(pointer, "type", f"got {value}"),))

    assert opens(wrong("1"), wrong("2"), wrong("3"))
    assert not opens(wrong("1"), wrong("2", "/y"), wrong("3"))
    assert opens(*[ended(f"unknown tool {name}", "unknown_tool", name=name) for name in "abc"])


def test_a_breaker_can_be_closed_again() -> None:
    breaker = Breaker(1)
    breaker.record(ended("a"))
    breaker.reset()
    assert breaker.refuse(ToolInvocation(name="f")) is None
    with pytest.raises(ValueError, match="at least 1"):
        Breaker(0)


@pytest.fixture
def registry() -> ToolRegistry:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="f")
    registry.register(lambda: 1, name="g")
    return registry


def failures(registry: ToolRegistry, budget: Budget, names: str) -> list[Any]:
    executions = Executor(registry, guards=[budget]).execute_sync([ToolInvocation(name=name) for name in names])
    return [one.failure for one in executions]


def test_a_budget_of_calls(registry: ToolRegistry) -> None:
    assert failures(registry, Budget(calls=2), "ffg") == [None, None, "budget"]
    assert failures(registry, Budget(per_tool={"f": 1}), "ffg") == [None, "budget", None]
    assert failures(registry, Budget(), "ffgg") == [None] * 4
    budget = Budget(calls=3)
    assert failures(registry, budget, "ff") + failures(registry, budget, "ff") == [None, None, None, "budget"]


def test_a_budget_of_steps_seconds_and_tokens(registry: ToolRegistry) -> None:
    steps = Budget(iterations=2)
    assert [steps.step(), steps.step(), steps.step()] == ["", "", "the budget of 2 steps is used up"]
    tokens = Budget(tokens=100)
    tokens.spend(Usage(input=60, output=39))
    assert not tokens.reason
    tokens.spend(Usage(output=1))
    assert failures(registry, tokens, "f") == ["budget"]
    assert tokens.step() == tokens.reason == "the budget of 100 tokens is used up"
    now = [100.0]
    seconds = Budget(seconds=5, clock=lambda: now[0])
    assert failures(registry, seconds, "f") == [None]
    now[0] = 105
    assert failures(registry, seconds, "f") == ["budget"]
    with pytest.raises(ValueError, match=r"per_tool\['f'\] must be an int of at least 0"):
        Budget(per_tool={"f": -1})


def test_a_budget_counts_the_tool_that_runs_whatever_the_model_called_it() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="search")
    hook = lambda call, _: call.model_copy(update={"name": call.name.lower()})  # noqa: E731 - a hook
    executor = Executor(registry, before=[hook], guards=[Budget(per_tool={"search": 1})])
    executions = executor.execute_sync([{"name": name} for name in ("search", "Search", "SEARCH")])
    assert [one.failure for one in executions] == [None, "budget", "budget"]
