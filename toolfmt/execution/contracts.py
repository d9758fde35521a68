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

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

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
