"""The protocols between the parts of an agent (`Driver` is in `toolfmt.agents.runtime`).

    loop    -> Driver        takes one step: asks a model, runs its calls, adds what came of it to the state
    driver  -> ModelClient   an API that takes a provider's request and gives its answer, whole or streamed
    driver  -> TextModel     anything that takes a chat and gives text
    driver  -> CallExecutor  runs calls
    loop    -> RunExecutor   a CallExecutor that lists its tools, and makes a copy of itself for each run
    executor -> ToolServer   runs calls of tools on a server

Any object with these methods fits; no class has to be inherited.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from toolfmt import jsontext
from toolfmt.execution.events import Listener
from toolfmt.execution.hooks import Guard
from toolfmt.execution.records import ToolExecution
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult


class ModelClient(Protocol):
    """A provider's API, with its own credentials."""

    @property
    def format(self) -> str:
        """The transcript format of its requests: `openai-chat`, `anthropic`, ..."""
        ...

    def send(self, request: JsonObject, *, stream: bool) -> AsyncIterator[object]:
        """Send a request in that format and yield the answer's events, or the whole answer as the only one.

        Each is JSON or an object of the SDK, as `toolfmt.read_stream` reads them.
        """
        ...


class TextModel(Protocol):
    """Anything that continues a chat with text."""

    def write(self, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
        """Yield the answer to a chat, in chunks.

        A message is `{"role": "system" | "user" | "assistant", "content": str}`.
        """
        ...


class CallExecutor(Protocol):
    """Runs calls."""

    async def execute(
        self, calls: Iterable[ToolInvocation], *, state: object = None, agent: str | None = None
    ) -> list[ToolExecution]:
        """Run the calls of one turn and return a record for each, in order.

        `state` is passed to tools and hooks that declare it.
        `agent` names the caller, "" for an agent without a name; None leaves it to the calls.
        """
        ...


@runtime_checkable
class RunExecutor(CallExecutor, Protocol):
    """Runs calls and knows its tools, like an `Executor`."""

    def list_tools(self) -> Sequence[ToolDefinition]:
        """List its tools; the tool of a server has `server` set."""
        ...

    def is_visible(self, tool: ToolDefinition, state: object) -> bool:
        """Whether a tool is offered to the model in a state."""
        ...

    def for_run(self, guards: Sequence[Guard], listener: Listener) -> CallExecutor:
        """Make a copy for one run, with its guards and one more listener."""
        ...


class ToolServer(Protocol):
    """Runs the tools of one server; calls name it as `server`."""

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """What the server offers."""
        ...

    async def call(self, call: ToolInvocation, *, injected: Mapping[str, Any]) -> ToolResult:
        """Run one call; returns an error result or raises `ExecutionError` if it fails."""
        ...


@dataclass(frozen=True, slots=True)
class CallTurn:
    """What a loop and an executor share about the calls of one turn.

    A call that a person approved before is not asked about again. The loop stores a state when a call starts and when
    it ends. The value is in a context variable: it also passes executors that wrap another one, and a tool that runs
    calls of its own sees none of it.
    """

    approved: tuple[ToolInvocation, ...] = ()
    """The calls that were approved; each approval is for one call with the same tool and arguments."""
    report: Callable[[int, ToolInvocation | ToolExecution], Awaitable[None]] | None = None
    """Is given the position of a call: with the call when it is about to start, with its record when it has ended.

    If it raises `AgentStop`, the call does not start and the run ends.
    """

    def approvals(self, calls: Iterable[ToolInvocation]) -> list[ToolInvocation | None]:
        """Return the approval of each call, or None."""
        left = list(self.approved)
        found: list[ToolInvocation | None] = []
        for call in calls:
            at = next((at for at, one in enumerate(left) if same_call(call, one)), None)
            found.append(None if at is None else left.pop(at))
        return found


ALONE: Final = CallTurn()
current: ContextVar[CallTurn] = ContextVar("turn", default=ALONE)


def same_call(call: ToolInvocation, other: ToolInvocation) -> bool:
    """Whether two calls are of one tool with the same arguments."""
    return (call.server, call.name) == (other.server, other.name) and jsontext.equal(call.arguments, other.arguments)
