"""The loop: a driver takes steps until the turn is over, and events report each step.

    loop = AgentLoop(driver, registry)
    state = await loop.run("Weather in Paris?")                  # or loop.run_sync(...)
    state = await loop.run("And in Rome?", state=state)          # the conversation goes on
    async for state in loop.iterate("Weather in Paris?"): ...    # the state after each step
    loop.on_event(ToolCallCompleted, lambda event: print(event.execution.name))

A run always ends in a state: `completed`, `waiting` for decisions, `failed` with the reason, or `stopped` by a guard, a
tool or a hook. A run that is left early, by a cancellation or by leaving `iterate`, is `stopped`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import fields, replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, cast

from anyio.from_thread import start_blocking_portal

from toolfmt.agents.bus import Bus
from toolfmt.agents.compilers import Compiler, all_sections
from toolfmt.agents.guards import Budget
from toolfmt.agents.output import Output
from toolfmt.agents.runtime import Checkpoint, Driver, Offer, Runtime, Visible, bound
from toolfmt.agents.state import AgentState, MessageLike, Step, messages_of
from toolfmt.agents.waiting import Decision, Interrupted, check_decisions, decided, resumed
from toolfmt.arguments import Positive, checked
from toolfmt.conversation import Message, TextPart
from toolfmt.errors import DriverError, ExecutionError, some, warn
from toolfmt.execution.contracts import CallExecutor, RunExecutor
from toolfmt.execution.events import Listener, RunCompleted, RunStarted, StepCompleted, StepStarted, ValidationFailed
from toolfmt.execution.executor import Executor
from toolfmt.execution.hooks import Guard, takes
from toolfmt.execution.policies.policy import Policy
from toolfmt.execution.records import AgentStop, ToolExecution
from toolfmt.execution.resolving import LOCAL
from toolfmt.execution.values import text_of
from toolfmt.tools import ToolRegistry

EventT = TypeVar("EventT")
StopRule: TypeAlias = Callable[[AgentState], "str | None"]
"""Checks a state between two steps; returns the reason to stop the run, or None."""
Decisions: TypeAlias = "Mapping[str, Decision] | None"
Start: TypeAlias = "MessageLike | Sequence[MessageLike] | AgentState | None"
"""What a run begins with: the user's text, messages, or a state."""
MAX_STEPS: Final = 50
"""Default number of steps of a run."""
CUT: Final[Mapping[str, str]] = {
    "length": "the final answer was cut off at the limit of its tokens",
    "content_filter": "the provider's content filter ended the final answer",
}
"""Why a final answer is not whole, by its finish reason."""
_checked = checked(state="AgentState.from_json reads one that was stored")


@checked(
    driver="put a function that answers a chat into a TextDriver",
    guards="each makes a guard for a run, such as guards=[lambda: Budget(calls=9)]",
    **{
        one.name: f"it is an option of the executor: executor=Executor(tools, {one.name}=...)"
        for one in fields(Executor)
        if one.name not in {"policies", "guards", "on_event"}
    },
)
class AgentLoop:
    """Runs a driver with tools. It is immutable except for its listeners, so many runs may share one.

    `tools` take any form that `ToolRegistry` takes; the loop makes an `Executor` for them, with `policies` such as
    `Approval(ask)`. For other settings, such as injected values or servers, pass an `executor` instead; with an
    executor class of your own that does not list its tools, pass `tools` too. `system` is the system prompt of a new
    conversation, into which a text driver puts the tools. `output` is the type of the final answer: a pydantic model
    or any type that pydantic validates; the state's `output` is its value. `compiler` selects the part of the state
    that the model sees, and `visible` the tools. A run stops after `max_steps`, or when one of `stop_when` or a guard
    gives a reason. `guards` are functions that make a guard for each run, such as `lambda: Budget(tokens=200_000)` or
    `Breaker`. `name` is the agent's name in its calls. `checkpoint` stores a state before calls run,
    when one of several starts or ends, and after each step. `interrupted` says how to resume calls that had started
    when the program ended.
    """

    def __init__(  # noqa: PLR0913 - each is a choice of the caller's
        self,
        driver: Driver,
        tools: object = None,
        *,
        executor: CallExecutor | None = None,
        policies: Sequence[Policy | Callable[..., Any]] = (),
        system: str = "",
        output: Any = None,
        compiler: Compiler = all_sections,
        guards: Sequence[Callable[[], Guard]] = (),
        max_steps: Positive | None = MAX_STEPS,
        stop_when: Sequence[StopRule] = (),
        visible: Visible | None = None,
        name: str | None = None,
        checkpoint: Checkpoint | None = None,
        interrupted: Interrupted = "ask",
        on_event: Listener | None = None,
    ) -> None:
        """Check the parameters; raises TypeError or ValueError for invalid ones."""
        self._driver = driver
        if checkpoint is not None:
            takes(checkpoint, "checkpoint", "state")
        for rule in stop_when:
            takes(rule, "a rule of stop_when", "state")
        if hasattr(tools, "call"):  # a server, such as `toolfmt.mcp.connect` gives
            raise TypeError("tools= is a server: give executor=Executor([], servers={'NAME': server})")
        if isinstance(executor, RunExecutor) and tools is not None:
            raise TypeError("the tools are those of the executor: give them to it, or omit executor=")
        self._tools = None if tools is None else tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        if executor is not None and policies:
            raise TypeError("policies belong to the executor: give them to the Executor, or omit executor=")
        own = ToolRegistry() if self._tools is None else self._tools
        if executor is None and (idle := [tool.name for tool in own if own.function(tool.name) is None]):
            raise ValueError(f"nothing runs {some(idle)}: register a function for it, or give the executor its server")
        self._executor = Executor(own, policies=policies) if executor is None else executor
        self._system = system
        self._output = None if output is None else Output(output)
        self._compiler = compiler if self._output is None else self._output.compiled(compiler)
        self._guards = tuple(guards)
        self._max_steps = max_steps
        self._rules = tuple(stop_when)
        self._visible = visible
        self._name = name
        self._checkpoint = checkpoint
        self._interrupted: Interrupted = interrupted
        self._bus = Bus()
        self._warned = False
        if not getattr(self._executor, "servers", None):  # whose tools are known only once they are connected
            self._runtime(tuple(make() for make in self._guards))
        if on_event is not None:
            self.wiretap(on_event)

    def on_event(self, kind: type[EventT], callback: Callable[[EventT], object]) -> Callable[[], None]:
        """Call `callback` for every event of a kind, of all runs; returns a function that removes it."""
        return self._bus.on(kind, callback)

    def wiretap(self, callback: Listener) -> Callable[[], None]:
        """Call `callback` for every event of all runs; returns a function that removes it."""
        return self._bus.wiretap(callback)

    @_checked
    async def run(
        self, start: Start = None, *, state: AgentState | None = None, decisions: Decisions = None
    ) -> AgentState:
        """Run to the end, or until calls wait for decisions, and return the state.

        `start` is the user's text, or messages, added to `state` or to a new conversation; or a state to continue. A
        state that is `running`, or that has pending calls, is resumed; a completed one with nothing new to answer is
        returned as it is; any other begins a run. `decisions` map the ids of `state.pending` to `Approved`, `Denied`
        or `Answered`.
        """
        last = AgentState()
        async with aclosing(self.iterate(start, state=state, decisions=decisions)) as states:
            async for one in states:  # a list of them would hold the whole conversation once for each step
                last = one
        return last

    @_checked
    async def iterate(
        self, start: Start = None, *, state: AgentState | None = None, decisions: Decisions = None
    ) -> AsyncGenerator[AgentState]:
        """Run like `run`, and yield the state after each step."""
        current = self._begin(start, state)
        guards = tuple(make() for make in self._guards)
        runtime = self._runtime(guards)
        check_decisions(current, decisions, runtime.offer.meant.values())
        guards = (*getattr(self._executor, "guards", ()), *guards)
        runtime.report(RunStarted, state=current)
        if current.pending:
            current = await self._resumed(current, decisions or {}, runtime)
        current = self._limited(current, guards)
        try:
            while not current.ended:
                current = await self._stepped(current, runtime, guards)
                if not current.ended:
                    yield current
        finally:
            if not current.ended:
                current = current.with_status("stopped", "the caller left the run before its end")
            runtime.report(RunCompleted, state=current)
        yield current

    @_checked
    def run_sync(
        self, start: Start = None, *, state: AgentState | None = None, decisions: Decisions = None
    ) -> AgentState:
        """Run like `run`, from sync code; callbacks run in another thread."""
        with start_blocking_portal() as portal:
            return portal.call(partial(self.run, start, state=state, decisions=decisions))

    @_checked
    def iterate_sync(
        self, start: Start = None, *, state: AgentState | None = None, decisions: Decisions = None
    ) -> Generator[AgentState]:
        """Yield the state after each step, to sync code; callbacks run in another thread."""
        with start_blocking_portal() as portal:
            states = self.iterate(start, state=state, decisions=decisions)
            try:
                while (found := portal.call(_next, states)) is not None:
                    yield found
            finally:
                portal.call(states.aclose)

    def _begin(self, start: Start, state: AgentState | None) -> AgentState:
        if isinstance(start, AgentState):
            if state is not None:
                raise TypeError("give one state: as start, or as state= with the user's text as start")
            state, start = start, None
        added = _initial_messages(start)
        state = AgentState() if state is None else state
        if self._system and not state.messages and any(message.role == "system" for message in added):
            raise ValueError("the messages have a system prompt of their own: leave system= out, or the message")
        if self._system and not state.messages:
            state = state.with_messages(*AgentState.of(system=self._system).messages)
        if state.agent is None and self._name is not None:
            state = replace(state, agent=self._name)
        if state.pending and added:
            raise ValueError("calls wait for decisions: resume the state with decisions= first")
        if state.status == "completed" and not added and state.messages and state.messages[-1].role != "user":
            return state
        resumed = state.status in ("running", "waiting") or state.pending
        begun = (state if resumed else state.with_run()).with_messages(*added)
        talk = [message for section in begun.sections.values() for message in section if message.role != "system"]
        if not any(map(_has_content, talk)) or (added and not any(map(_has_content, added))):
            raise ValueError("there is nothing to answer: give what the user says, messages, or a state with some")
        return begun

    def _runtime(self, guards: Sequence[Guard]) -> Runtime:
        executor, offer = bound(self._executor, self._tools, guards, self._bus.emit)
        runtime = Runtime(
            offer=offer,
            executor=executor,
            compiler=self._compiler,
            emit=self._bus.emit,
            visible=self._visible,
            checkpoint=self._checkpoint,
            typed=self._output is not None,
        )
        if not self._warned:
            self._warn(runtime)
        self._warned = True
        return runtime

    def _warn(self, runtime: Runtime) -> None:
        check = getattr(self._driver, "check", None)
        refused = callable(check) and check(runtime) is True
        unguarded = self._executor.unguarded_tools() if isinstance(self._executor, Executor) else ()
        if unguarded and not refused:
            warn(
                f"{', '.join(unguarded)}: dangerous, but calls run without approval. Add Approval(ask) to the "
                "policies, or Approval(tools=[]) if no call needs approval"
            )

    async def _resumed(self, state: AgentState, decisions: Mapping[str, Decision], runtime: Runtime) -> AgentState:
        """Carry out the decisions on pending calls; the run continues if every call has one."""
        made = decided(state, decisions, self._interrupted)
        after = state.with_status("waiting")
        if made:
            after = _judged(await resumed(state.with_status("running"), made, runtime), runtime.offer)
        await runtime.save(after)
        return after

    async def _stepped(self, state: AgentState, runtime: Runtime, guards: Sequence[Guard]) -> AgentState:
        """Take one step; errors become part of the state."""
        number = len(state.steps)
        runtime.report(StepStarted, step=number)
        try:
            after = await self._driver.step(state, runtime)
            _check(after, number, self._driver)
        except AgentStop as stop:
            after = state.with_step(Step(halt=stop.reason))
        except Exception as error:  # noqa: BLE001 - anybody's driver, model and tools
            after = state.with_step(Step(errors=(_described(error),)))
        for guard in guards:
            if isinstance(guard, Budget):
                guard.spend(after.steps[-1].usage)
        after = _judged(after, runtime.offer)
        if self._output is not None and after.status == "completed":
            after = self._output.settled(after, partial(runtime.report, ValidationFailed))
        after = self._limited(after, guards)
        await runtime.save(after)
        runtime.report(StepCompleted, step=number, state=after)
        return after

    def _limited(self, state: AgentState, guards: Sequence[Guard]) -> AgentState:
        """Stop a run that may not take another step; called once before each step."""
        if state.ended:
            return state
        steps = len(state.steps)
        if self._max_steps is not None and steps >= self._max_steps:
            return state.with_status("stopped", f"the run has reached its limit of {steps} steps")
        if used_up := _used_up(state):
            return state.with_status("stopped", used_up)
        why = (guard.step() if isinstance(guard, Budget) else getattr(guard, "reason", "") for guard in guards)
        try:
            reason = next(filter(None, (*why, *(rule(state) for rule in self._rules))), None)
        except Exception as error:  # noqa: BLE001 - anybody's rule
            return state.with_status("failed", f"a rule of stop_when failed: {_described(error)}")
        return state if reason is None else state.with_status("stopped", reason)


def _used_up(state: AgentState) -> str:
    """Return the refusal of the budget if it refused every call of the last two steps, or ""."""
    last = [one for step in state.steps[-2:] for one in step.executions or (None,)]
    refused = [one for one in last if one is not None and one.failure == "budget"]
    return refused[-1].error if len(state.steps) > 1 and len(refused) == len(last) else ""


def _initial_messages(start: MessageLike | Sequence[MessageLike] | None) -> tuple[Message, ...]:
    """Read the messages of a new run; raises TypeError or ParseError for any other value."""
    if isinstance(start, Mapping) and "role" not in start and "messages" in start:
        raise TypeError("a run begins with messages, and this is a request: give its 'messages'")
    if isinstance(start, Mapping) and "role" not in start and "version" in start:
        raise TypeError("this is a stored state: AgentState.from_json reads it")
    return messages_of((start,) if isinstance(start, (str, Message, Mapping)) else start or ())


def _has_content(message: Message) -> bool:
    return any(not isinstance(part, TextPart) or part.text.strip() for part in message.parts)


def _check(after: object, number: int, driver: object) -> None:
    if not isinstance(after, AgentState) or len(after.steps) != number + 1:
        raise DriverError(f"{type(driver).__name__}.step did not give the state with one more step")


def _described(error: BaseException) -> str:
    """Describe an exception by its type and text; of a group, all exceptions in it."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(_described, cast("tuple[BaseException, ...]", error.exceptions)))
    text = text_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _judged(state: AgentState, offer: Offer) -> AgentState:
    """Set a run's status after its last step, unless the driver did."""
    step = state.steps[-1]
    if state.ended:
        return state
    if step.errors:
        return state.with_status("failed", "\n".join(step.errors))
    if step.halt is not None:
        return state.with_status("stopped", step.halt)
    if step.pending:
        return state.with_status("waiting")
    breakers = {(tool.server, tool.name) for tool in offer.meant.values() if tool.metadata.get("loop_breaking") is True}
    breaking = [one for one in step.executions if not one.has_error and _tool(one) in breakers]
    if breaking:
        content = breaking[-1].result.content
        text = step.text if step.text.strip() or not isinstance(content, str) else content
        state = replace(state, steps=(*state.steps[:-1], replace(step, text=text)))
    if step.final and not breaking and step.stop in CUT:
        return state.with_status("stopped", CUT[step.stop])
    return state.with_status("completed") if breaking or step.final else state


def _tool(execution: ToolExecution) -> tuple[str | None, str]:
    server = execution.call.server
    return (None if server == LOCAL else server), execution.name


async def _next(states: AsyncGenerator[AgentState]) -> AgentState | None:
    return await anext(states, None)


@checked
def as_tool(loop: AgentLoop, name: str, description: str) -> Callable[[str], Awaitable[str]]:
    """Turn an agent into a tool for a `ToolRegistry`: an async function of `task`.

    Each call is a separate run with a new conversation. A run that does not complete is an error of the tool; its
    events go to the agent's own listeners.
    """

    async def ask(task: str) -> str:
        state = await loop.run(task)
        if state.status != "completed":
            raise ExecutionError(f"the agent {name!r} {state.status}: {state.reason}")
        return state.text

    function: Any = ask
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{description}\n\nArgs:\n    task: What the agent is to do, with all that it needs to know.\n"
    return ask
