"""Whatever a tool does, its call has one record, its siblings have theirs, and nothing runs twice."""

from __future__ import annotations

import asyncio
import contextvars
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.execution import process_tools
from toolfmt import ToolInvocation, ToolRegistry, ToolResult
from toolfmt.agents import Breaker
from toolfmt.execution import Executor, ToolContext, ToolExecution
from toolfmt.execution.events import ToolCallBlocked, ToolCallCompleted, ToolCallStarted, ToolProgress
from toolfmt.execution.records import AgentStop


def call(name: str, /, **arguments: Any) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments)


class Unspeakable(Exception):  # noqa: N818 - a name for what it is
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Broken:
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.fixture
def hang() -> Iterator[threading.Event]:
    released = threading.Event()
    yield released
    released.set()


def one(function: Any, /, arguments: dict[str, Any] | None = None, **how: Any) -> ToolExecution:
    registry = ToolRegistry()
    registry.register(function, name="f")
    (execution,) = Executor(registry, **how).execute_sync([call("f", **(arguments or {}))])
    return ToolExecution.model_validate_json(execution.model_dump_json())


def raiser(error: BaseException) -> Any:
    def tool() -> None:
        raise error

    return tool


class Own(BaseException):
    """An error of somebody who wants nobody to catch it, as test tools have."""


class Wordless(Exception):  # noqa: N818 - a name for what it is
    def __str__(self) -> str:
        raise Own("no words")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ValueError("kaput"), "kaput"),
        (ValueError(), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
        (StopIteration(3), "StopIteration"),
        (SystemExit(3), "SystemExit: 3"),
        (SystemExit(), "SystemExit"),
        (RecursionError("deep"), "deep"),
        (Unspeakable(), "<Unspeakable without text>"),
        (ValueError("\ud800"), "?"),
        (ExceptionGroup("some", [ValueError("a"), ExceptionGroup("more", [TypeError("b")])]), "a; b"),
        (TimeoutError("its own"), "its own"),
        (asyncio.CancelledError(), "cancelled"),
        (Own("not even an Exception"), "not even an Exception"),
        (BaseExceptionGroup("some", [Own("a"), ValueError("b")]), "a; b"),
        (Wordless(), "<Wordless without text>"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("where", ["thread", "loop"])
def test_an_error_of_a_tool_is_a_result(error: BaseException, words: str, where: str) -> None:
    async def in_loop() -> None:
        raise error

    execution = one(in_loop if where == "loop" else raiser(error))
    assert (execution.failure, execution.has_error) == ("raised", True)
    assert words in execution.error or "StopIteration" in execution.error


@pytest.mark.parametrize("error", [Own("kaput"), GeneratorExit()])
def test_no_error_of_a_tool_disturbs_another(error: BaseException) -> None:
    registry = ToolRegistry()
    registry.register(raiser(error), name="odd")
    registry.register(lambda: 1, name="even")
    executions = Executor(registry).execute_sync([call("odd"), call("even")] * 3)
    assert [(one.failure, one.value) for one in executions] == [("raised", None), (None, 1)] * 3


@pytest.mark.parametrize("stop_on_block", [False, True])
@pytest.mark.parametrize("place", ["before", "policies"])
def test_a_cancellation_from_outside_is_no_failure_of_who_is_asked(place: str, *, stop_on_block: bool) -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="f")

    async def wait(*_: object) -> None:
        await anyio.sleep_forever()

    options: dict[str, Any] = {place: [wait]}
    executor = Executor(registry, stop_on_block=stop_on_block, **options)

    async def main() -> None:
        task = asyncio.ensure_future(executor.execute([call("f")]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_tool_that_cancels_itself_cancels_nobody_else() -> None:
    registry = ToolRegistry()

    @registry.register
    async def odd() -> None:
        task = asyncio.ensure_future(asyncio.sleep(30))
        await asyncio.sleep(0)
        task.cancel()
        await task

    @registry.register
    async def even() -> str:
        await asyncio.sleep(0.01)
        return "ok"

    executions = Executor(registry).execute_sync([call("odd"), call("even")])
    assert [(one.failure, one.value) for one in executions] == [("raised", None), (None, "ok")]


def test_a_stop_inside_a_tools_own_group_of_errors_passes_through() -> None:
    async def tool() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(stopping)

    async def stopping() -> None:
        await anyio.lowlevel.checkpoint()
        raise AgentStop("enough")

    with pytest.raises(AgentStop, match="enough") as stop:
        one(tool)
    assert [execution.failure for execution in stop.value.executions] == ["stopped"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, AgentStop])
def test_who_wants_to_end_the_run_ends_it(error: type[BaseException]) -> None:
    async def in_loop() -> None:
        raise error

    with pytest.raises(error):
        one(in_loop)


class Interrupting(Exception):  # noqa: N818 - a name for what it does
    def __str__(self) -> str:
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (KeyboardInterrupt("enough"), "enough"),
        (BaseExceptionGroup("some", [ValueError("a"), KeyboardInterrupt(), GeneratorExit()]), "a; KeyboardInterrupt"),
        (Interrupting(), "<Interrupting without text>"),
    ],
    ids=repr,
)
def test_an_interrupt_that_a_tool_raises_in_its_thread_is_its_error(error: BaseException, words: str) -> None:
    def shown(value: int) -> Any:
        yield value
        raise error

    registry = ToolRegistry()
    for name, function in {"raised": raiser(error), "read": shown, "fine": lambda: 1}.items():
        registry.register(function, name=name)
    executor = Executor(registry)
    calls = [call("raised"), call("read", value=1), call("fine")]
    raised, read, fine = executor.execute_sync(calls)
    assert [one.failure for one in (raised, read, fine)] == ["raised", "raised", None]
    assert words in raised.error
    assert words in read.error


def test_a_stop_beside_an_interrupt_ends_the_run() -> None:
    error = BaseExceptionGroup("some", [KeyboardInterrupt(), AgentStop("enough")])
    with pytest.raises(AgentStop, match="enough"):
        one(raiser(error))


def test_a_thread_out_of_time_is_abandoned_and_not_heard(hang: threading.Event) -> None:
    events: list[object] = []
    heard = threading.Event()

    def stuck(context: ToolContext) -> str:
        context.tell(1, 4, "a quarter")
        hang.wait(30)
        context.tell(2)
        heard.set()
        return "late"

    execution = one(stuck, timeout=0.05, on_event=events.append)
    assert (execution.failure, execution.error) == ("timeout", "timed out after 0.05 s")
    hang.set()
    assert heard.wait(10)
    started, told, completed = events
    assert isinstance(started, ToolCallStarted)
    assert isinstance(told, ToolProgress)
    assert isinstance(completed, ToolCallCompleted)
    assert (told.progress, told.total, told.message) == (1, 4, "a quarter")
    assert (told.call, told.execution) == (started.call, execution.id)


def test_abandoned_threads_keep_nobody_from_running(hang: threading.Event) -> None:
    registry = ToolRegistry()
    registry.register(lambda: hang.wait(30), name="stuck", timeout=0.01)
    registry.register(lambda: "ok", name="fine")
    executions = Executor(registry, limit=4).execute_sync([*[call("stuck")] * 50, call("fine")])
    assert Counter(one.failure for one in executions) == {"timeout": 50, None: 1}


def test_a_program_ends_although_a_tool_hangs() -> None:
    code = """
import time
from toolfmt import ToolRegistry
from toolfmt.execution import Executor
registry = ToolRegistry()
registry.register(lambda: time.sleep(600), name="f", timeout=0.01)
print(Executor(registry).execute_sync([{"name": "f"}])[0].failure)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert (ran.stdout, ran.stderr) == ("timeout\n", "")


def test_threads_are_used_again_and_keep_the_context() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
    registry = ToolRegistry()
    registry.register(
        lambda: [who.get(), threading.current_thread().ident, threading.current_thread().daemon], name="f"
    )
    executor = Executor(registry, limit=1)
    who.set("me")
    found = [one.value for one in executor.execute_sync([call("f")] * 50)]
    assert {(name, daemon) for name, _, daemon in found} == {("me", True)}
    assert len({ident for _, ident, _ in found}) < 25


def test_time_limits_are_of_the_call_the_tool_or_the_executor() -> None:
    registry = ToolRegistry()

    async def wait() -> None:
        await anyio.sleep_forever()

    registry.register(wait, name="general")
    registry.register(wait, name="told", timeout=0.02)
    registry.register(wait, name="overruled", timeout=60)
    executor = Executor(registry, timeout=0.01, timeouts={"overruled": 0.03})
    errors = [one.error for one in executor.execute_sync([call("general"), call("told"), call("overruled")])]
    assert errors == ["timed out after 0.01 s", "timed out after 0.02 s", "timed out after 0.03 s"]
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="a number"):
            Executor(registry, timeout=wrong)
    for odd in (True, "1"):
        with pytest.raises(TypeError, match="timeout= must be a number or None"):
            Executor(registry, timeout=odd)  # pyright: ignore[reportArgumentType]


def test_a_cancellation_from_outside_passes_and_is_reported() -> None:
    registry = ToolRegistry()
    events: list[object] = []

    @registry.register
    async def wait() -> None:
        await anyio.sleep_forever()

    async def main() -> None:
        executor = Executor(registry, limit=2, on_event=events.append)
        with anyio.move_on_after(0.02) as scope:
            await executor.execute([call("wait")] * 3)
        assert scope.cancelled_caught
        task = asyncio.ensure_future(executor.execute([call("wait")]))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    ended = [event.execution for event in events if isinstance(event, (ToolCallCompleted, ToolCallBlocked))]
    assert [(one.failure, one.blocked) for one in ended] == [
        ("cancelled", False),
        ("cancelled", False),
        ("cancelled", True),
        ("cancelled", False),
    ]


PROCESS = ("pid", "later", "die", "leave", "fail", "stop", "hang")


@pytest.fixture
def processes() -> ToolRegistry:
    registry = ToolRegistry()
    for name in PROCESS:
        registry.register(getattr(process_tools, name), run_in="process")
    return registry


def test_a_process_may_do_what_it_likes(processes: ToolRegistry) -> None:
    calls = [call("pid"), call("later", value="x"), call("die"), call("leave"), call("fail"), call("pid")]
    pid, later, die, leave, fail, again = Executor(processes).execute_sync(calls)
    assert pid.value != os.getpid()
    assert again.failure is None
    assert later.value["value"] == ["x"]
    assert (die.failure, die.error) == ("raised", "the process that ran the tool has died")
    assert leave.error == "SystemExit: 3"
    assert fail.error.startswith("KeyError: <class")
    with pytest.raises(AgentStop, match="enough"):
        Executor(processes).execute_sync([call("stop")])


def test_a_process_out_of_time_is_killed(processes: ToolRegistry) -> None:
    async def main() -> tuple[ToolExecution, ToolExecution]:
        executor = Executor(processes, timeouts={"hang": 0.1})
        (pid,) = await executor.execute([call("pid")])
        (hang,) = await executor.execute([call("hang")])  # in the same process, which waits for work
        return pid, hang

    pid, hang = anyio.run(main)
    assert hang.failure == "timeout"
    with pytest.raises(ProcessLookupError):
        os.kill(pid.value, 0)


def test_a_function_that_no_process_can_find_is_refused_at_once() -> None:
    registry = ToolRegistry()
    registry.register(lambda: 1, name="f", run_in="process")
    with pytest.raises(ValueError, match=r"tool 'f': .*top level of a module"):
        Executor(registry)


def test_generators_run_inside_the_call() -> None:
    def numbers() -> Iterator[int]:
        yield 1
        yield 2

    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("half way")

    async def letters() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    closed: list[str] = []

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append("endless")

    async def endless_too() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.append("endless_too")

    async def inner() -> str:
        return "awaited"

    assert one(numbers).value == [1, 2]
    assert one(letters).value == ["a", "b"]
    assert one(lambda: inner()).value == "awaited"  # noqa: PLW0108 - a function that is not async, and returns what is
    assert (one(broken).failure, one(broken).error) == ("raised", "half way")
    for tool in (endless, endless_too):
        found = one(tool, result_limit=100)
        assert found.failure is None
        assert "characters cut" in found.value
        assert closed == [tool.__name__]
        closed.clear()


def test_a_thousand_calls_side_by_side() -> None:
    """Mixed durations, errors, time-outs, unknown tools and wrong arguments: each has its record, in its place."""
    registry = ToolRegistry()
    ran: Counter[int] = Counter()
    lock = threading.Lock()

    def note(number: int) -> int:
        with lock:
            ran[number] += 1
        return number

    @registry.register
    async def quick(number: int, seconds: float) -> int:
        await anyio.sleep(seconds)
        return note(number)

    @registry.register
    def plain(number: int) -> int:
        return note(number)

    @registry.register
    def boom(number: int) -> None:
        note(number)
        raise ValueError(str(number))

    @registry.register(timeout=0.01)
    async def late(number: int) -> None:
        note(number)
        await anyio.sleep_forever()

    source = random.Random(5)  # noqa: S311 - the same in every run
    expected: list[str | None] = []
    calls: list[ToolInvocation] = []
    for number in range(1000):
        name, failure = source.choice(
            [("quick", None), ("plain", None), ("boom", "raised"), ("late", "timeout"), ("gone", "unknown_tool")]
        )
        wrong = source.random() < 0.1 and name != "gone"
        arguments: dict[str, Any] = {"number": str(number) if wrong else number}
        if name == "quick":
            arguments["seconds"] = source.random() / 50
        calls.append(call(name, **arguments))
        expected.append("invalid_arguments" if wrong else failure)
    executions = Executor(registry, limit=200).execute_sync(calls)
    assert [one.failure for one in executions] == expected
    assert [one.call.arguments for one in executions] == [call.arguments for call in calls]
    assert len({one.id for one in executions}) == 1000
    runs = {number for number, failure in enumerate(expected) if failure not in {"invalid_arguments", "unknown_tool"}}
    assert ran == dict.fromkeys(runs, 1)
    for number, execution in enumerate(executions):
        if execution.failure is None:
            assert execution.value == number


def test_five_identical_errors_trip_the_breaker() -> None:
    registry = ToolRegistry()
    ran: list[str] = []

    @registry.register
    def f(x: int) -> None:
        ran.append(str(x))
        raise ValueError("the same")

    executor = Executor(registry, guards=[Breaker(5)], limit=1)
    executions = executor.execute_sync([call("f", x=number) for number in range(8)])
    assert [one.failure for one in executions] == ["raised"] * 5 + ["circuit_open"] * 3
    assert len(ran) == 5
    assert executions[-1].error == "stopped after 5 identical failures in a row: the same"


def test_an_error_may_be_of_any_size_and_kind() -> None:
    found = one(raiser(ValueError("x" * 1000)), result_limit=10)
    assert found.error == "xxxxxxxxxx\n... 990 characters cut"
    own = one(lambda: ToolResult(name="f", content={"code": {3}}, is_error=True, extra={"set": {1}}))
    assert (own.error, own.failure, own.value, own.result.extra) == ('{"code": [3]}', None, None, {"set": [1]})


def test_what_a_tool_does_to_its_arguments_stays_with_it() -> None:
    def spoil(values: list[Any], table: dict[str, Any]) -> None:
        values.clear()
        table["x"]["y"] = 2

    given = {"values": [[1]], "table": {"x": {"y": 1}}}
    registry = ToolRegistry([spoil])
    mine = call("spoil", **given)
    (execution,) = Executor(registry).execute_sync([mine])
    assert execution.failure is None
    assert execution.arguments == mine.arguments == {"values": [[1]], "table": {"x": {"y": 1}}}
