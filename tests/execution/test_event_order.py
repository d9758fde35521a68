"""The order of events as a state machine, over random turns."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Any

import anyio.lowlevel
from hypothesis import given, settings
from hypothesis import strategies as st

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.agents import Breaker, Budget
from toolfmt.execution import Blocked, Executor, ToolContext, ToolExecution
from toolfmt.execution.events import (
    ExecutionEvent,
    HookFailed,
    PolicyChecked,
    ToolCallBlocked,
    ToolCallCompleted,
    ToolCallStarted,
    ToolProgress,
)
from toolfmt.execution.records import AgentStop, ToolCallError

NAMES = ("fine", "boom", "late", "talk", "blocked", "changed", "broken_hook", "denied", "stop", "stop_hook", "gone")
FOLLOWS: dict[type | None, set[type | None]] = {
    None: {PolicyChecked, ToolCallStarted, ToolCallBlocked},
    PolicyChecked: {PolicyChecked, ToolCallStarted, ToolCallBlocked},
    ToolCallStarted: {ToolProgress, ToolCallCompleted},
    ToolProgress: {ToolProgress, ToolCallCompleted},
    ToolCallCompleted: {HookFailed},
    HookFailed: {HookFailed},
    ToolCallBlocked: set(),
}
"""Which event of a call may come after which."""
LAST = {ToolCallCompleted, ToolCallBlocked, HookFailed}


def registry() -> ToolRegistry:
    tools = ToolRegistry()

    async def fine(n: int) -> int:
        await anyio.lowlevel.checkpoint()
        return n

    def plain(n: int) -> int:
        return n

    async def boom(n: int) -> None:
        raise ValueError(n)

    async def late(n: int) -> None:
        await anyio.sleep(n + 30)

    async def talk(n: int, context: ToolContext) -> None:
        for step in range(n % 3):
            context.tell(step)

    async def stop(n: int) -> None:
        raise AgentStop(str(n))

    for name in NAMES:
        tools.register(
            {"fine": plain, "boom": boom, "late": late, "talk": talk, "stop": stop}.get(name, fine), name=name
        )
    return tools


def before(call: ToolInvocation, _: ToolContext) -> Any:
    if call.name == "blocked":
        return Blocked("no")
    if call.name == "broken_hook":
        raise RuntimeError("broken")
    if call.name == "stop_hook":
        raise AgentStop("hook")
    return call.model_copy(update={"name": "fine"}) if call.name == "changed" else None


def after(execution: ToolExecution, _: ToolContext) -> None:
    if execution.arguments.get("n") == 3:
        raise RuntimeError("broken")


class Denied:
    step = "permissions"

    def check(self, candidate: Any) -> Blocked | None:
        return Blocked("denied", "denied") if candidate.call.name == "denied" else None


def key(event: ExecutionEvent) -> object:
    """Which call an event is of: each has a number of its own as its id."""
    return event.execution.call.id if hasattr(event.execution, "call") else event.call.id  # type: ignore[union-attr]


def checked(events: list[ExecutionEvent]) -> dict[object, list[ExecutionEvent]]:
    by_call: dict[object, list[ExecutionEvent]] = defaultdict(list)
    for event in events:
        by_call[event.call.id if isinstance(event, PolicyChecked) else key(event)].append(event)
    for reported in by_call.values():
        last: type | None = None
        at: datetime | None = None
        for event in reported:
            assert type(event) in FOLLOWS[last], [type(one).__name__ for one in reported]
            assert at is None or at <= event.at
            last, at = type(event), event.at
        assert last in LAST
    return by_call


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(st.integers(0, 3), st.just("no number"))), max_size=8),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 5)),
)
def test_events_come_in_order(
    chosen: list[tuple[str, Any]],
    limit: int,
    throw: bool,  # noqa: FBT001 - drawn
    in_turn: bool,  # noqa: FBT001 - drawn
    budget: int | None,
) -> None:
    calls = [ToolInvocation(name=name, arguments={"n": n}, id=str(at)) for at, (name, n) in enumerate(chosen)]
    events: list[ExecutionEvent] = []
    executor = Executor(
        registry(),
        before=[before],
        after=[after],
        policies=[Denied()],
        guards=[Breaker(4), Budget(calls=budget)],
        limit=limit,
        timeouts={"late": 0.001},
        throw_on_failure=throw,
        stop_on_block=in_turn,
        on_event=events.append,
    )
    try:
        executions = executor.execute_sync(calls)
    except (AgentStop, ToolCallError) as error:
        executions = list(error.executions)
        assert throw or any(one.failure == "stopped" for one in executions)
    by_call = checked(events)
    assert [one.call.id for one in executions] == [call.id for call in calls[: len(executions)]]
    assert len(executions) == len(calls) or (in_turn and executions[-1].blocked)
    assert by_call.keys() == {one.call.id for one in executions}
    for one in executions:
        reported = by_call[one.call.id]
        (end,) = [event for event in reported if isinstance(event, (ToolCallCompleted, ToolCallBlocked))]
        assert (end.execution.id, end.execution.failure) == (one.id, one.failure)
        assert isinstance(end, ToolCallBlocked) is one.blocked
        assert one.has_error is (one.failure is not None)
        assert ToolExecution.model_validate_json(one.model_dump_json()) == one
