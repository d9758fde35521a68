"""An executor runs calls of several servers and of its own registry, from any event loop or none."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from toolfmt import ToolInvocation, ToolRegistry, parse
from toolfmt.errors import ServerError
from toolfmt.execution.events import ExecutionEvent, ToolProgress
from toolfmt.execution.executor import Executor
from toolfmt.jsontext import equal
from toolfmt.mcp import connect, connect_all


def _registry() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.register
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    return registry


def _call(name: str, server: str | None = None, /, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments, server=server)


def test_calls_go_where_their_server_says_and_stay_in_order(kitchen: Any, raw: Any) -> None:
    reported = (
        '{"lists": [{"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}], "result": {"content": []}}'
    )
    calls = [
        _call("add", a=1, b=2),
        _call("add", "local", a=3, b=4),
        _call("echo", "kitchen", text="hi"),
        _call("echo", "raw"),
        _call("echo", text="which?"),
        _call("cook", name="soup"),
        _call("cook", "raw", name="soup"),
        _call("cook", "kitchin", name="soup"),
        _call("cook", "kitchen", name=3),
    ]
    with connect_all({"kitchen": kitchen, "raw": raw(reported)}) as servers:
        executions = Executor(_registry(), servers=servers).execute_sync(calls)
    contents = [one.value for one in executions]
    assert equal(contents[:4], [3, 7, "hi", None])
    assert equal(contents[5], {"name": "soup", "minutes": 10.0, "vegan": True, "big": 12345678901234567890})
    assert [one.failure for one in executions] == [
        *[None] * 4,
        "unknown_tool",
        None,
        "unknown_tool",
        "unknown_server",
        "invalid_arguments",
    ]
    assert "name one of kitchen, raw" in executions[4].error
    assert "did you mean 'kitchen'" in executions[7].error
    assert [one.result.server for one in executions] == [call.server for call in calls]


def test_a_call_that_a_model_wrote_reaches_the_server_that_it_names(kitchen: Any) -> None:
    text = '<tool>{"server_name": "kitchen", "tool_name": "echo", "arguments": {"text": "hi"}}</tool>'
    with connect(kitchen, name="kitchen") as server:
        found = parse(text, dialect="tool-json", tools=server.tools)
        (execution,) = Executor(_registry(), servers={"kitchen": server}).execute_sync(found.calls)
    assert (execution.value, execution.call.server) == ("hi", "kitchen")


def test_a_server_that_dies_leaves_the_others_alone(raw: Any, kitchen: Any) -> None:
    reported = '{"lists": [{"tools": [{"name": "roll", "inputSchema": {"type": "object"}}]}], "dies": 2}'
    calls = [_call("wait", "two", seconds=0.05), _call("roll", "one"), _call("roll", "one"), _call("add", a=1, b=2)]
    with connect_all({"one": raw(reported), "two": kitchen}) as servers:
        executions = Executor(_registry(), servers=servers).execute_sync(calls)
    assert [one.failure for one in executions] == [None, "server_failed", "server_failed", None]
    assert [executions[0].value, executions[3].value] == ["waited", 3]
    assert "'one'" in executions[1].error
    assert "the last words" in executions[2].error


def test_progress_is_an_event_and_a_time_out_is_reported_to_the_server(kitchen: Any, tmp_path: Path) -> None:
    events: list[ExecutionEvent] = []
    note = tmp_path / "note"
    with connect(kitchen, name="kitchen") as server:
        executor = Executor(_registry(), servers={"kitchen": server}, timeout=0.5, on_event=events.append)
        (execution,) = executor.execute_sync([_call("wait", seconds=60, note=str(note))])
        assert note.exists()
    assert execution.failure == "timeout"
    (reported,) = [event for event in events if isinstance(event, ToolProgress)]
    assert (reported.progress, reported.total, reported.message) == (1, 4, "a quarter")


def test_large_results_of_servers_are_cut_as_those_of_functions(kitchen: Any) -> None:
    with connect(kitchen, name="kitchen") as server:
        executor = Executor(_registry(), servers={"kitchen": server}, result_limit=100)
        (execution,) = executor.execute_sync([_call("fill", size=1000)])
    assert execution.value == "x" * 100 + "\n... 900 characters cut"


@pytest.mark.anyio
async def test_an_event_loop_that_waits_for_its_own_call_is_reported_so(
    kitchen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolfmt.mcp.server._STANDSTILL", 0.05)
    async with connect(kitchen, name="kitchen") as server:
        executor = Executor(_registry(), servers={"kitchen": server})
        (execution,) = executor.execute_sync([_call("echo", text="hi")])
        assert (execution.failure, "its event loop is blocked" in execution.error) == ("server_failed", True)
        (execution,) = await executor.execute([_call("echo", text="hi")])
        assert execution.value == "hi"


def test_threads_share_a_server(kitchen: Any) -> None:
    found: list[Any] = []
    with connect(kitchen, name="kitchen") as server:
        executor = Executor(_registry(), servers={"kitchen": server})

        def work(number: int) -> None:
            found.extend(one.value for one in executor.execute_sync([_call("echo", text=str(number))] * 3))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == sorted([str(number) for number in range(5)] * 3)


def test_without_an_event_loop_a_server_that_is_not_there_is_reported_as_well() -> None:
    with pytest.raises(ServerError, match="no-such-program"), connect(["no-such-program"], name="x"):
        pass
    with pytest.raises(KeyError, match="mine"), connect_all({}):
        raise KeyError("mine")


@pytest.mark.anyio
async def test_several_servers_that_fail_are_all_named(kitchen: Any) -> None:
    with pytest.raises(ServerError, match="'b'"):
        async with connect_all({"a": kitchen, "b": ["no-such-program"]}):
            pass
    assert anyio.get_current_task()  # nothing was cancelled on the way
