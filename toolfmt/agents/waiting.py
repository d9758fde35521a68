"""Calls that wait for decisions in a stored state, and resuming the run with the decisions.

    state = await loop.run("Clean up /tmp")                  # status "waiting": a call needs approval
    store(state.to_json())
    ...                                                      # later, on another machine
    state = AgentState.from_json(load())
    (pending,) = state.pending                               # Pending(call=delete(path="/tmp/x"), why="approval")
    state = await loop.run(state=state, decisions={pending.id: Approved()})

A call waits because nobody has approved it yet (`Approval()` without a function), because its tool raised
`DeferredCall`, or because the program ended while it was running. No request to the model is repeated, and no call that
has a result. A call that had not started when the program ended runs once its policies let it pass, as if it were new.
So a state is stored whenever a call starts or ends: it says of each call whether it has started.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

import anyio

from toolfmt import jsontext
from toolfmt.agents.messages import after_text, result_part
from toolfmt.agents.runtime import GOES_ON, NotStored, Outcome, Runtime
from toolfmt.agents.state import AgentState, Pending, Step
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, Message, ResultPart
from toolfmt.errors import ArgumentsError
from toolfmt.execution.contracts import CallTurn, same_call
from toolfmt.execution.events import ToolCallBlocked, ToolCallCompleted
from toolfmt.execution.executor import Executor
from toolfmt.execution.records import FailureKind, ToolExecution
from toolfmt.execution.resolving import LOCAL
from toolfmt.execution.running import error_text
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.schema import problems


class Journal:
    """The calls of one turn, each pending or with its record; `state` makes a state of them."""

    def __init__(
        self,
        runtime: Runtime,
        calls: Sequence[Pending],
        state: Callable[[Sequence[ToolExecution | Pending]], AgentState],
    ) -> None:
        self._runtime = runtime
        self._reports = isinstance(runtime.executor, Executor)
        # Nothing is known of another executor's calls until all have ended.
        self._calls: list[ToolExecution | Pending] = [
            one if self._reports else _started(one, one.call) for one in calls
        ]
        self._ids = [one.id for one in calls]
        self._state = state
        self._changes = self._stored = 0
        self._one = anyio.Lock()

    async def begin(self, approved: Sequence[ToolInvocation] = ()) -> CallTurn:
        """Store the state before any call runs; returns what the executor needs to report the calls."""
        await self._runtime.save(self._state(self._calls))
        reports = self._reports and self._runtime.checkpoint is not None
        return CallTurn(tuple(approved), self._reported if reports else None)

    def kept(self, found: Sequence[ToolExecution | Pending]) -> list[ToolExecution | Pending]:
        """Make calls that wait pending under the ids that they have had from the start."""
        return [
            one if isinstance(one, Pending) or one.failure != "waiting" else replace(waiting(one, -1), id=name)
            for one, name in zip(found, self._ids, strict=False)
        ]

    async def _reported(self, at: int, what: ToolInvocation | ToolExecution) -> None:
        before = self._calls[at]
        if isinstance(what, ToolInvocation):
            assert isinstance(before, Pending)  # noqa: S101 - a call starts once
            self._calls[at] = _started(before, what)
        else:
            self._calls[at] = what
        self._changes += 1
        change = self._changes
        if not any(isinstance(one, Pending) for one in self._calls):
            return  # the state after the step is stored at once
        async with self._one:
            if self._stored >= change:
                return  # it was stored for another call meanwhile
            stored = self._changes
            try:
                await self._runtime.save(self._state(self.kept(self._calls)))
            except Exception as error:  # anybody's code
                raise NotStored(f"the state could not be stored: {error_text(error)}") from error
            self._stored = stored


Interrupted: TypeAlias = Literal["ask", "run", "fail"]
"""How to resume a call that had started when the program ended: it waits, is run again, or fails."""
LOST: Final = (
    "It is not known whether this call ran: it had started, and the program ended before its result was stored."
)
EDITED: Final = "A person changed the arguments of this call to {}. Its result:\n"
NOT_RUN: Final = "The call was not run, because an earlier call of the same turn was blocked."


@checked
@dataclass(frozen=True, slots=True)
class Approved:
    """The call may run, with these `arguments` if given; the model reads with the result that they were changed."""

    arguments: JsonObject | None = None


@checked
@dataclass(frozen=True, slots=True)
class Denied:
    """The call may not run; the model gets the reason."""

    reason: str = "it was not approved"


@checked
@dataclass(frozen=True, slots=True)
class Answered:
    """The call's result, from a person or another system."""

    content: JsonValue
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class RunAgain:
    """The call passes its policies like a new one: no earlier approval counts."""


Decision: TypeAlias = Approved | Denied | Answered
"""What a person or another system decided about a pending call."""


def check_decisions(
    state: AgentState, decisions: Mapping[str, Decision] | None, tools: Iterable[ToolDefinition]
) -> None:
    """Raise ValueError for decisions on calls that do not wait, or with arguments that do not fit the call's tool."""
    waiting = {pending.id: pending.call for pending in state.pending}
    for name, decision in (decisions or {}).items():
        call = waiting.get(name)
        if isinstance(name, Pending):
            raise TypeError("a decision is given under the id of its call: decisions={pending.id: ...}")
        if call is None:
            raise ValueError(f"no call waits under the id {name!r}; waiting: {', '.join(sorted(waiting)) or 'none'}")
        arguments = decision.arguments if isinstance(decision, Approved) else None
        meant = (tool for tool in tools if tool.name == call.name and call.server in {None, LOCAL, tool.server})
        for tool in meant if arguments is not None else ():
            if wrong := problems(tool, arguments or {}):
                raise ArgumentsError(call.name, wrong)


def decided(
    state: AgentState, decisions: Mapping[str, Decision], interrupted: Interrupted
) -> dict[str, Decision | RunAgain]:
    """Return the decisions, with those for calls that the end of the program interrupted.

    A call that had not started runs whatever `interrupted` is, once its policies let it pass.
    """
    rules: dict[Interrupted, Decision | RunAgain] = {"run": RunAgain(), "fail": Denied(LOST)}
    made = {one.id: rules[interrupted] for one in state.pending if one.why == "started" and interrupted in rules}
    unstarted = {one.id: RunAgain() for one in state.pending if one.why == "unstarted"}
    return {**unstarted, **made, **decisions}


async def resumed(state: AgentState, decisions: Mapping[str, Decision | RunAgain], runtime: Runtime) -> AgentState:
    """Carry out decisions on the pending calls of the last step; the other calls keep waiting."""
    step = state.steps[-1]
    if state.messages[len(state.messages) - len(step.messages) :] != step.messages:
        raise ValueError("messages were added after calls that wait: decide on the calls first")
    results: dict[int, ToolResult] = {}
    settled: list[ToolExecution] = []
    running: list[Pending] = []
    approved: list[ToolInvocation] = []
    edited: dict[int, ToolInvocation] = {}
    for pending in step.pending:
        match decisions.get(pending.id):
            case Approved(arguments):
                running.append(pending if arguments is None else _edited(pending, arguments))
                approved.append(running[-1].call)
            case RunAgain():
                running.append(pending)
            case Denied(reason):
                text = reason if reason == LOST else f"{pending.call.name!r} was rejected: {reason}"
                results[pending.at] = ToolResult(name=pending.call.name, content=text, is_error=True)
                failure = "cancelled" if reason == LOST else "rejected"
                settled.append(_settled(pending, results[pending.at], failure))
                runtime.report(ToolCallBlocked, execution=settled[-1])
            case Answered(content, is_error):
                results[pending.at] = ToolResult(name=pending.call.name, content=content, is_error=is_error)
                edited |= {pending.at: pending.call} if pending.edited else {}
                settled.append(_settled(pending, results[pending.at]))
                runtime.report(ToolCallCompleted, execution=settled[-1])
            case None:
                pass
    edited |= {pending.at: pending.call for pending in running if pending.edited}
    kept = tuple(pending for pending in step.pending if pending.id not in decisions)
    step = replace(step, executions=(*step.executions, *settled))

    def after(found: Sequence[ToolExecution | Pending], outcome: Outcome = GOES_ON) -> AgentState:
        """Make the state with what is known of the calls that run."""
        ended, again = _sorted(running, found)
        ran = tuple(one for one in found if isinstance(one, ToolExecution))
        done = replace(
            step,
            messages=_answered(step, {**results, **ended}, edited),
            executions=(*step.executions, *ran),
            errors=(*step.errors, *outcome.errors),
            halt=outcome.halt or step.halt,
            pending=(*kept, *again),
        )
        return _with(state, done)

    journal = Journal(runtime, running, after)
    turn = await journal.begin(approved)
    outcome = await runtime.execute([one.call for one in running], state, routed=True, turn=turn)
    return after(journal.kept(outcome.executions), outcome)


def _sorted(
    running: Sequence[Pending], found: Sequence[ToolExecution | Pending]
) -> tuple[dict[int, ToolResult], list[Pending]]:
    """Return the results of the calls that have one, by their positions, and the calls that wait."""
    ended: dict[int, ToolResult] = {}
    again: list[Pending] = []
    for pending, one in zip_longest(running, found):
        if isinstance(one, Pending):
            again.append(replace(one, at=pending.at, edited=pending.edited))
        elif one is None:
            ended[pending.at] = ToolResult(name=pending.call.name, content=NOT_RUN, is_error=True)
        else:
            ended[pending.at] = one.result
    return ended, again


def _settled(pending: Pending, result: ToolResult, failure: FailureKind | None = None) -> ToolExecution:
    """Make the record of a call whose result a decision gives."""
    now = datetime.now(UTC)
    return ToolExecution(
        id=pending.id,
        call=pending.call,
        result=result,
        started_at=now,
        completed_at=now,
        blocked=failure is not None,
        failure=failure,
    )


def _edited(pending: Pending, arguments: JsonObject) -> Pending:
    call = pending.call.model_copy(update={"arguments": arguments, "raw_arguments": None})
    return replace(pending, call=call, edited=pending.edited or not same_call(call, pending.call))


def _started(pending: Pending, call: ToolInvocation) -> Pending:
    detail = f"{call.name!r} started, and the program ended before its result was stored: it may have run"
    return replace(pending, call=call, why="started", detail=detail)


def waiting(execution: ToolExecution, at: int) -> Pending:
    """Make the pending call from the record of a call that waits."""
    why = "approval" if execution.blocked else "result"
    return Pending(id=execution.id, call=execution.call, why=why, at=at, detail=execution.error)


def _answered(
    step: Step, results: Mapping[int, ToolResult], edited: Mapping[int, ToolInvocation]
) -> tuple[Message, ...]:
    """Insert results among those that the step already has, in the order of the calls; they say what was edited."""
    calls = [part for message in step.messages for part in message.parts if isinstance(part, CallPart)]
    pending = {one.at for one in step.pending}
    given = iter([part for message in step.messages for part in message.parts if isinstance(part, ResultPart)])
    parts: list[ResultPart] = []
    for at, call in enumerate(calls):
        if at not in pending:
            parts.append(next(given))
        elif at in results:
            part = result_part(results[at])
            part.id, part.name, part.custom = call.id, call.name, call.custom
            said = EDITED.format(jsontext.dumps(edited[at].arguments)) if at in edited else ""
            parts.append(after_text(said, part) if said else part)
    before = [message for message in step.messages if message.role == "assistant"]
    after = [message for message in step.messages if message.role not in {"assistant", "tool"}]
    return (*before, *((Message("tool", tuple(parts)),) if parts else ()), *after)


def _with(state: AgentState, step: Step) -> AgentState:
    """Replace the last step and its messages."""
    talk = state.messages[: len(state.messages) - len(state.steps[-1].messages)]
    return replace(state, sections={**state.sections, "messages": talk}, steps=state.steps[:-1]).with_step(step)
