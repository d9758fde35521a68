"""What the parts of an agent ask of one another: five small protocols (`Driver` is beside `Runtime`).

    loop    -> Driver        takes one step: asks a model, runs its calls, adds what came of it to the state
    driver  -> ModelClient   an API that takes a provider's request and gives its answer, whole or streamed
    driver  -> TextModel     anything that takes a chat and gives text
    driver  -> CallExecutor  runs calls
    executor -> ToolServer   runs calls of tools that live elsewhere

Whatever has these methods fits: nothing has to be inherited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult


class ModelClient(Protocol):
    """A provider's API, with its own credentials."""

    @property
    def format(self) -> str:
        """The transcript format of its requests: `openai-chat`, `anthropic`, ..."""
        ...

    def send(self, request: JsonObject, *, stream: bool) -> AsyncIterator[object]:
        """Send a request of that format; the answer's events, or the whole answer as the only one.

        Each is JSON or an object of the SDK, as `toolfmt.read_stream` reads them.
        """
        ...


class TextModel(Protocol):
    """Anything that continues a chat with text."""

    def write(self, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
        """Give the answer to a chat, in pieces.

        A message is `{"role": "system" | "user" | "assistant", "content": str}`.
        """
        ...


class CallExecutor(Protocol):
    """Runs calls."""

    async def execute(
        self, calls: Iterable[ToolInvocation], *, state: object = None, agent: str | None = None
    ) -> list[ToolExecution]:
        """Run the calls of one turn; a record for each, in their order.

        `state` is handed to tools and hooks that ask for it; `agent` is who calls, "" for one without a name,
        where a call does not say so itself.
        """
        ...


class ToolServer(Protocol):
    """Runs the tools of one server, which calls name by `server`."""

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """What the server offers."""
        ...

    async def call(self, call: ToolInvocation, *, injected: Mapping[str, Any]) -> ToolResult:
        """Run one call; what goes wrong is an error result, or raises `ExecutionError`."""
        ...
