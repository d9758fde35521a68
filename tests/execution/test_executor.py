"""The executor: a record for every call, in order, whatever becomes of it."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Annotated, Any

import anyio
import pytest

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.errors import RenderError
from toolfmt.execution import Blocked, Executor, ToolContext
from toolfmt.execution.events import (
    ArgumentsNormalised,
    ExecutionEvent,
    ToolCallBlocked,
    ToolCallCompleted,
    ToolCallStarted,
)
from toolfmt.execution.records import AgentStop, ToolCallError
from toolfmt.tools import Injected


def call(name: str, /, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments)


@pytest.fixture
def registry() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.register
    def add(a: int, b: int = 2) -> int:
        return a + b

    @registry.register
    async def wait(seconds: float) -> str:
        await anyio.sleep(seconds)
        return "waited"

    @registry.register
    def boom(text: str) -> None:
        raise ValueError(text)

    @registry.register
    def leave() -> None:
        raise SystemExit(3)

    @registry.register
    def stop() -> None:
        raise AgentStop("enough")

    return registry


def outcomes(executions: Any) -> list[tuple[str, str | None]]:
    return [(one.name, one.failure) for one in executions]


def test_every_call_has_its_record_in_call_order(registry: ToolRegistry) -> None:
    calls = [call("wait", seconds=0.02), call("add", a=1), call("boom", text="kaput"), call("leave"), call("ad", a=1)]
    executions = Executor(registry).execute_sync(calls)
    assert outcomes(executions) == [
        ("wait", None),
        ("add", None),
        ("boom", "raised"),
        ("leave", "raised"),
        ("ad", "unknown_tool"),
    ]
    assert [one.value for one in executions] == ["waited", 3, None, None, None]
    assert executions[2].error == "kaput"
    assert "did you mean 'add'?" in executions[4].error
    assert len({one.id for one in executions}) == len(calls)


def test_all_that_is_wrong_with_arguments_is_said_at_once(registry: ToolRegistry) -> None:
    (execution,) = Executor(registry).execute_sync([call("add", a="1", c=3)])
    assert execution.failure == "invalid_arguments"
    assert {problem.pointer for problem in execution.problems} == {"/a", "/c"}
    assert all(problem.message in execution.error for problem in execution.problems)


def test_a_model_can_not_set_what_is_injected() -> None:
    registry = ToolRegistry()

    @registry.register
    def save(store: Annotated[str, Injected], context: ToolContext, **rest: str) -> list[object]:
        return [store, context.agent, rest]

    assert registry["save"].parameters == {"type": "object", "properties": {}}
    executor = Executor(registry, inject={"store": "mine"})
    good, bad = executor.execute_sync([call("save", x="y"), call("save", store="theirs", context="c")], agent="A")
    assert good.value == ["mine", "A", {"x": "y"}]
    assert [problem.message for problem in bad.problems] == ["unknown argument 'store'", "unknown argument 'context'"]
    with pytest.raises(ValueError, match=r"tool 'save' needs store: give it as inject=\{'store': ...\}"):
        Executor(registry)


def test_a_stop_passes_through_with_the_records_so_far(registry: ToolRegistry) -> None:
    with pytest.raises(AgentStop) as stop:
        Executor(registry).execute_sync([call("wait", seconds=30.0), call("stop"), call("add", a=1)])
    wait, stopped, add = stop.value.executions
    assert (wait.failure, stopped.failure) == ("cancelled", "stopped")
    assert add.failure in {None, "cancelled"}


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
        {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    ],
)
def test_an_apis_own_calls_are_read_first(registry: ToolRegistry, call: dict[str, Any]) -> None:
    with pytest.raises(RenderError, match=r"read first: toolfmt\.read_answer\(answer\)\.calls"):
        anyio.run(Executor(registry).execute, [call])


@pytest.mark.parametrize("answer", [{"choices": [{"message": {"tool_calls": []}}]}, {"tool_calls": []}, None, 1])
def test_an_apis_answer_is_read_first(registry: ToolRegistry, answer: Any) -> None:
    with pytest.raises(TypeError, match="read_answer"):
        Executor(registry).execute_sync(answer)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"servers": ["x"]}, "servers= must be a dict, not list"),
        ({"servers": {"files": "x"}}, r"servers\['files'\] must be a ToolServer"),
        ({"inject": ["x"]}, "inject= must be a dict"),
        ({"timeouts": [1]}, "timeouts= must be a dict"),
        ({"on_event": 3}, "on_event= must be a function"),
        ({"before": 3}, "before= must be a list, not 3"),
    ],
)
def test_an_option_of_the_wrong_type_is_refused_at_once(option: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        Executor(ToolRegistry(), **option)


def test_arguments_get_the_types_of_the_schema_when_asked(registry: ToolRegistry) -> None:
    events = list[ExecutionEvent]()
    seen = list[object]()

    def policy(given: ToolInvocation, context: ToolContext) -> None:
        seen.append((given.arguments, context.call.arguments))

    text = call("add", a="1", b="2")
    (refused,) = Executor(registry).execute_sync([text])
    (ran,) = Executor(registry, coerce=True, on_event=events.append, policies=[policy]).execute_sync([text])
    assert (refused.failure, ran.value) == ("invalid_arguments", 3)
    assert (ran.arguments, ran.call.certainty, text.arguments) == ({"a": 1, "b": 2}, "tolerated", {"a": "1", "b": "2"})
    assert seen == [({"a": 1, "b": 2}, {"a": 1, "b": 2})]
    (reported,) = [event for event in events if isinstance(event, ArgumentsNormalised)]
    assert reported.changes == ('/a: "1" counts as 1', '/b: "2" counts as 2')


def test_what_spells_no_value_of_the_type_is_refused_all_the_same(registry: ToolRegistry) -> None:
    (refused,) = Executor(registry, coerce=True).execute_sync([call("add", a="one")])
    assert (refused.failure, refused.arguments) == ("invalid_arguments", {"a": "one"})


def test_failures_are_raised_when_asked(registry: ToolRegistry) -> None:
    with pytest.raises(ToolCallError) as raised:
        Executor(registry, throw_on_failure=True).execute_sync([call("add", a=1), call("boom", text="kaput")])
    assert raised.value.execution.name == "boom"
    assert isinstance(raised.value.__cause__, ValueError)
    assert outcomes(raised.value.executions) == [("add", None), ("boom", "raised")]


def test_nothing_runs_behind_a_blocked_call_when_asked(registry: ToolRegistry) -> None:
    def no_boom(call: ToolInvocation, _: ToolContext) -> Blocked | None:
        return Blocked("not today") if call.name == "boom" else None

    calls = [call("add", a=1), call("boom", text="x"), call("add", a=2)]
    everything = Executor(registry, before=[no_boom]).execute_sync(calls)
    assert [one.blocked for one in everything] == [False, True, False]
    assert everything[1].error == "not today"
    so_far = Executor(registry, before=[no_boom], stop_on_block=True).execute_sync(calls)
    assert outcomes(so_far) == [("add", None), ("boom", "blocked")]


def test_a_stop_ends_calls_that_are_taken_one_after_the_other_too(registry: ToolRegistry) -> None:
    def stop(call: ToolInvocation, _: ToolContext) -> None:
        if call.name == "add":
            raise AgentStop("enough")

    executor = Executor(registry, stop_on_block=True)
    calls = [call("wait", seconds=30.0), call("stop"), call("add", a=1)]
    with pytest.raises(AgentStop) as of_tool:
        executor.execute_sync(calls)
    assert [one.failure for one in of_tool.value.executions[:2]] == ["cancelled", "stopped"]
    with pytest.raises(AgentStop) as of_hook:
        dataclasses.replace(executor, before=[stop]).execute_sync([calls[0], calls[2], calls[1]])
    assert [one.failure for one in of_hook.value.executions] == ["cancelled", "stopped", "cancelled"]


def test_a_cancellation_while_a_hook_decides_blocks_the_call(registry: ToolRegistry) -> None:
    events: list[ExecutionEvent] = []

    async def ponder(*_: object) -> None:
        await anyio.sleep_forever()

    async def main(**hooks: object) -> None:
        executor = dataclasses.replace(Executor(registry, on_event=events.append), **hooks)
        with anyio.move_on_after(0.01):
            await executor.execute([call("add", a=1)])

    anyio.run(lambda: main(before=[ponder]))
    (blocked,) = events
    assert isinstance(blocked, ToolCallBlocked)
    assert blocked.execution.failure == "cancelled"
    anyio.run(lambda: main(after=[ponder]))
    assert [type(event) for event in events[1:]] == [ToolCallStarted, ToolCallCompleted]


def test_it_runs_inside_a_running_loop_too(registry: ToolRegistry) -> None:
    async def main() -> object:
        with pytest.raises(AgentStop, match="enough"):
            Executor(registry).execute_sync([call("stop")])
        return Executor(registry).execute_sync([call("add", a=1)])[0].value

    assert asyncio.run(main()) == 3
