"""What a driver works with: the tools, what runs their calls, what a model is shown, and who is notified.

Bound once for a run; a driver has no other way to run a call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from toolfmt.agents.compilers import all_sections
from toolfmt.agents.offering import Offer, offer
from toolfmt.execution.contracts import RunExecutor
from toolfmt.execution.hooks import ask
from toolfmt.execution.records import AgentStop, ToolCallError

if TYPE_CHECKING:
    from toolfmt.agents.compilers import Compiler
    from toolfmt.agents.state import AgentState
    from toolfmt.conversation import Message
    from toolfmt.execution.contracts import CallExecutor
    from toolfmt.execution.events import ExecutionEvent, Listener
    from toolfmt.execution.hooks import Guard
    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import ToolDefinition, ToolInvocation

Visible: TypeAlias = Callable[["ToolDefinition", "AgentState"], bool]
"""Whether a tool is offered to the model in a state."""


Checkpoint: TypeAlias = Callable[["AgentState"], "Awaitable[object] | object"]
"""Stores a state; what it raises ends the run before any call runs."""


def nobody(_: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a turn's calls."""

    executions: tuple[ToolExecution, ...] = ()
    errors: tuple[str, ...] = ()
    """Failures that the executor raised."""
    halt: str | None = None
    """Why a tool or a hook ends the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A run's tools and services."""

    offer: Offer
    executor: CallExecutor
    compiler: Compiler = all_sections
    emit: Listener = nobody
    visible: Visible | None = None
    checkpoint: Checkpoint | None = None

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools, under the names that the model knows."""
        return self.offer.tools

    def offered(self, state: AgentState) -> tuple[ToolDefinition, ...]:
        """Return the tools that the model may call in a state."""
        return tuple(tool for tool in self.tools if self._is_visible(tool, state))

    def _is_visible(self, tool: ToolDefinition, state: AgentState) -> bool:
        if isinstance(self.executor, RunExecutor) and not self.executor.is_visible(tool, state):
            return False
        return self.visible is None or bool(self.visible(tool, state))

    def shown(self, state: AgentState) -> tuple[Message, ...]:
        """Return the conversation that the model is shown."""
        return tuple(self.compiler(state))

    def tell(self, kind: Callable[..., ExecutionEvent], **what: Any) -> None:
        """Emit an event with the current time."""
        self.emit(kind(at=datetime.now(UTC), **what))

    async def save(self, state: AgentState) -> None:
        """Store a state, if there is a `checkpoint`."""
        if self.checkpoint is not None:
            await ask(self.checkpoint, state)

    async def execute(self, calls: Iterable[ToolInvocation], state: AgentState, *, routed: bool = False) -> Outcome:
        """Run the calls of one turn; returns a record for each, in order, and whether the run continues.

        `routed` calls use the executor's names of tools, others the model's.
        """
        wanted = list(calls) if routed else [self.offer.routed(call) for call in calls]
        if not wanted:
            return Outcome()
        try:
            return Outcome(tuple(await self.executor.execute(wanted, state=state, agent=state.agent or "")))
        except AgentStop as stop:
            return Outcome(stop.executions, halt=str(stop))
        except ToolCallError as error:
            return Outcome(error.executions, errors=(str(error),))


class Driver(Protocol):
    """Decides what happens next, one step at a time."""

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Return the state with one more step; if this raises, the run fails with the state unchanged."""
        ...


def bound(
    executor: CallExecutor, tools: Iterable[ToolDefinition] | None, guards: Sequence[Guard], emit: Listener
) -> tuple[CallExecutor, Offer]:
    """Give the executor of one run, which tells `emit` too, and the tools that it runs.

    An executor that is no `RunExecutor` does not list its tools, and cannot be guarded. Raises TypeError where
    the tools are not known, `DuplicateToolError` for two tools of one name.
    """
    if isinstance(executor, RunExecutor):
        return executor.for_run(guards, emit), offer(executor.list_tools() if tools is None else tools)
    if tools is None:
        raise TypeError(f"give the tools too: a {type(executor).__name__} does not list its tools")
    if guards:
        raise TypeError("guards need an Executor: other executors must count calls themselves")
    return executor, offer(tools)
