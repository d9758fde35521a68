"""The runtime of one run: the only way in which a driver sees tools, runs calls and emits events.

A model distinguishes tools by their names alone, so each tool of a run has a name of its own:

    add                  of the registry
    search               of the server `books`
    files_read           `read` of the server `files`, as another server has a `read` too
    mail_read            `read` of the server `mail`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Protocol, TypeAlias

from toolfmt.agents.compilers import Compiler, all_sections
from toolfmt.agents.state import AgentState
from toolfmt.conversation import Message
from toolfmt.errors import DuplicateToolError
from toolfmt.execution.contracts import ALONE, CallExecutor, CallTurn, RunExecutor, current
from toolfmt.execution.events import ExecutionEvent, Listener
from toolfmt.execution.hooks import Guard, ask
from toolfmt.execution.records import AgentStop, ToolCallError, ToolExecution
from toolfmt.model import ToolDefinition, ToolInvocation

Visible: TypeAlias = Callable[["ToolDefinition", "AgentState"], bool]
"""Whether a tool is offered to the model in a state."""


Checkpoint: TypeAlias = Callable[["AgentState"], "Awaitable[object] | object"]
"""Stores a state; what it raises ends the run before any call runs."""


def nobody(_: object) -> None:
    """Ignore an event."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools as a model is shown them."""

    tools: tuple[ToolDefinition, ...] = ()
    meant: Mapping[str, ToolDefinition] = field(default_factory=dict[str, "ToolDefinition"])
    """The tools as the executor knows them, by the names that the model knows."""

    def routed(self, call: ToolInvocation) -> ToolInvocation:
        """Give a call the executor's name of its tool; a call that names a server goes there."""
        tool = self.meant.get(call.name)
        if tool is None:
            return call
        changes: dict[str, str] = {}
        if tool.name != call.name:
            changes["name"] = tool.name
        if tool.server is not None and (changes or call.server is None):
            changes["server"] = tool.server
        return call.model_copy(update=changes) if changes else call


def offer(tools: Iterable[ToolDefinition]) -> Offer:
    """Give each tool a name of its own: several with one name get their server's name too.

    Raises `DuplicateToolError` if the names are still not unique.
    """
    found = list({(tool.server, tool.name): tool for tool in tools}.values())
    counts = Counter(tool.name for tool in found)
    offered: dict[str, ToolDefinition] = {}
    meant: dict[str, ToolDefinition] = {}
    for tool in found:
        name = f"{tool.server}_{tool.name}" if counts[tool.name] > 1 and tool.server is not None else tool.name
        if name in offered:
            raise DuplicateToolError(f"two tools are named {name!r}: names must be unique")
        offered[name] = tool if name == tool.name else tool.model_copy(update={"name": name})
        meant[name] = tool
    return Offer(tuple(offered.values()), meant)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a turn's calls."""

    executions: tuple[ToolExecution, ...] = ()
    errors: tuple[str, ...] = ()
    """Failures that the executor raised."""
    halt: str | None = None
    """Why a tool or a hook ends the run."""


GOES_ON: Final = Outcome()
"""Nothing ends the run."""


class NotStored(AgentStop):
    """The `checkpoint` failed while calls ran: no other call may start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A run's tools and services."""

    offer: Offer
    executor: CallExecutor
    compiler: Compiler = all_sections
    emit: Listener = nobody
    visible: Visible | None = None
    checkpoint: Checkpoint | None = None
    typed: bool = False
    """Whether the final answer is a value of a type, written as JSON."""

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

    def report(self, kind: Callable[..., ExecutionEvent], **what: Any) -> None:
        """Report an event with the current time."""
        self.emit(kind(at=datetime.now(UTC), **what))

    async def save(self, state: AgentState) -> None:
        """Store a state, if there is a `checkpoint`."""
        if self.checkpoint is not None:
            await ask(self.checkpoint, state)

    async def execute(
        self, calls: Iterable[ToolInvocation], state: AgentState, *, routed: bool = False, turn: CallTurn = ALONE
    ) -> Outcome:
        """Run the calls of one turn; returns a record for each, in order, and whether the run continues.

        `routed` calls use the executor's names of tools, others the model's.
        """
        wanted = list(calls) if routed else [self.offer.routed(call) for call in calls]
        if not wanted:
            return Outcome()
        outer = current.set(turn)
        try:
            return Outcome(tuple(await self.executor.execute(wanted, state=state, agent=state.agent or "")))
        except NotStored as stop:
            return Outcome(stop.executions, errors=(stop.reason,))
        except AgentStop as stop:
            return Outcome(stop.executions, halt=stop.reason)
        except ToolCallError as error:
            return Outcome(error.executions, errors=(str(error),))
        finally:
            current.reset(outer)


class Driver(Protocol):
    """Decides what happens next, one step at a time."""

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        """Return the state with one more step; if this raises, the run fails with the state unchanged."""
        ...


def bound(
    executor: CallExecutor, tools: Iterable[ToolDefinition] | None, guards: Sequence[Guard], emit: Listener
) -> tuple[CallExecutor, Offer]:
    """Return the executor of one run, which also calls `emit`, and its tools.

    Any other executor than a `RunExecutor` has neither a list of tools nor guards: raises TypeError without `tools`, or
    with guards. Raises `DuplicateToolError` for two tools of one name.
    """
    if isinstance(executor, RunExecutor):
        return executor.for_run(guards, emit), offer(executor.list_tools() if tools is None else tools)
    if tools is None:
        raise TypeError(f"give the tools too: a {type(executor).__name__} does not list its tools")
    if guards:
        raise TypeError("guards need an Executor: other executors must count calls themselves")
    return executor, offer(tools)
