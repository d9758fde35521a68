"""A connected MCP server, which an executor takes as a `ToolServer`.

    async with connect(["python", "server.py"], name="files") as server:
        server.tools                                    # ToolDefinitions, up to date
        await server.call(ToolInvocation(name="read", arguments={"path": "a.txt"}))

A lost connection is opened again at the next call; a call that was sent is never sent again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.lowlevel import checkpoint, current_token
from mcp import MCPError, types
from pydantic import ValidationError

from toolfmt import jsontext
from toolfmt.errors import (
    ArgumentsError,
    Problem,
    ServerError,
    ToolTimeoutError,
    UnknownToolError,
    UnrepresentableError,
    warn,
)
from toolfmt.execution.hooks import ToolContext
from toolfmt.jsontext import encodable, is_array, is_object
from toolfmt.mcp.content import ServerTool, read_answer, read_tool
from toolfmt.mcp.session import REASON, Session
from toolfmt.mcp.transports import Endpoint
from toolfmt.model import JsonObject, ToolDefinition, ToolInvocation, ToolResult

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from anyio.from_thread import BlockingPortal
    from anyio.lowlevel import EventLoopToken
    from mcp.shared.dispatcher import ProgressFnT

_STANDSTILL: Final = 5.0
"""Seconds after which an event loop counts as blocked."""
_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Host:
    """The event loop of the connections, and the portal to it for other threads."""

    token: EventLoopToken
    portal: BlockingPortal
    tasks: TaskGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of `connect`."""

    prefix: bool
    timeout: float | None
    patience: float
    inject: Collection[str]


class McpServer:
    """A connected server, made by `connect`. It can be called from any thread and event loop."""

    def __init__(self, name: str, endpoint: Endpoint, options: Options) -> None:
        """Store how to connect; `open` connects."""
        self.name: Final = name
        self._endpoint = endpoint
        self._options = options
        self._prefix = f"{name}__" if options.prefix else ""
        self._offers: Mapping[str, ServerTool] = {}
        self._session: Session | None = None
        self._starting = anyio.Lock()
        self._attempts = 0
        self._failure: ServerError | None = None
        self._closed = False
        self._host: Host

    @property
    def tools(self) -> Sequence[ToolDefinition]:
        """The server's tools, each with `server` set to its name; the server may change them while it runs."""
        return tuple(offer.definition for offer in self._offers.values())

    @property
    def connected(self) -> bool:
        """Whether a connection is open; if not, the next call opens one."""
        return self._session is not None and not self._session.ended

    async def call(self, call: ToolInvocation, *, injected: Mapping[str, Any] = _NOTHING) -> ToolResult:
        """Run one call on the server; an error that the tool reports is an error result.

        The server is sent only those `injected` values that `connect` named and the tool takes. A `ToolContext` among
        them gets the tool's progress. Raises `UnknownToolError` for a tool that is not offered, `ArgumentsError` if
        the model sets an injected argument, `ToolTimeoutError`, and `ServerError` if the server fails; the tool may
        have run then. A cancellation notifies the server.
        """
        if self._closed:
            raise ServerError(self.name, "it has been closed")
        if current_token() == self._host.token:
            return await self._call(call, injected)
        await self._reach()
        return await self._host.portal.call_async(self._call, call, injected)

    async def _reach(self) -> None:
        """Check that the connection's event loop is running; it may be blocked by this very call."""
        with anyio.move_on_after(_STANDSTILL) as scope:
            await self._host.portal.call_async(bool, abandon_on_cancel=True)
        if scope.cancelled_caught:
            raise ServerError(self.name, "its event loop is blocked: connect with `with`, or do not block the loop")

    async def open(self, host: Host) -> None:
        """Connect; raises `ServerError`."""
        self._host = host
        await self._connected()

    async def close(self) -> None:
        """Close the connection and wait until it has ended."""
        self._closed = True
        if self._session is not None:
            self._session.end()
            await self._session.closed.wait()

    async def _connected(self) -> Session:
        attempts = self._attempts
        async with self._starting:
            session = self._session
            if session is not None and not session.ended:
                return session
            if self._failure is not None and self._attempts > attempts:
                # Another task failed while this one waited; trying again for each waiting task is useless.
                raise ServerError(self.name, self._failure.reason) from self._failure
            self._attempts += 1
            self._failure = None
            session = Session(self.name, self._endpoint, self._listed)
            try:
                await self._host.tasks.start(session.run, self._options.patience)
            except ServerError as error:
                self._failure = error
                raise
            self._session = session
            return session

    async def _listed(self, tools: Sequence[types.Tool]) -> None:
        found: dict[str, ServerTool] = {}
        for item in tools:
            await checkpoint()  # schemas may take long to read: the time-out ends this between two of them
            read_tool(found, self.name, item, self._prefix, self._options.inject)
        self._offers = found

    async def _call(self, call: ToolInvocation, injected: Mapping[str, Any]) -> ToolResult:
        session = await self._connected()
        offer = self._offers.get(call.name)
        if offer is None:
            raise UnknownToolError(call.name, self._offers)
        taken = [
            Problem(f"/{name}", "inject", "is not yours to set") for name in offer.hidden if name in call.arguments
        ]
        if taken:
            raise ArgumentsError(call.name, taken)
        arguments = call.arguments | {name: injected[name] for name in offer.hidden if name in injected}
        try:
            jsontext.dumps(arguments)
        except UnrepresentableError as wrong:
            # If this failed while it is sent, it would break the connection for all calls.
            raise ArgumentsError(call.name, (Problem(wrong.pointer, "json", wrong.reason),)) from None
        seconds = math.inf if self._options.timeout is None else self._options.timeout
        answer: JsonObject = {}
        try:
            # The SDK's own time-out begins when the request is sent, which a server that reads nothing prevents.
            with anyio.move_on_after(seconds) as scope:
                answer = await session.request(offer.name, arguments, _progress(injected))
        except ValidationError as error:
            raise ServerError(self.name, f"it sent an invalid result: {error}"[:REASON]) from error
        except MCPError as error:
            if error.code != types.INVALID_PARAMS:
                await session.check()
                raise ServerError(self.name, str(error)[:REASON]) from error
            return ToolResult(
                name=call.name, content=str(error), is_error=True, id=call.id, server=self.name, agent=call.agent
            )
        if scope.cancelled_caught:
            raise ToolTimeoutError(f"{call.name!r} of MCP server {self.name!r} took over {seconds:g} s")
        _mend_text(answer, f"{call.name!r} of MCP server {self.name!r}")
        try:
            jsontext.dumps(answer)
        except UnrepresentableError as wrong:
            raise ServerError(self.name, f"it sent an invalid result: {wrong.pointer}: {wrong.reason}") from None
        if answer.get("resultType", "complete") != "complete":
            raise ServerError(self.name, f"the tool {call.name!r} asks for input, which nobody can give here")
        return read_answer(call, offer, answer)


def _mend_text(answer: JsonObject, where: str) -> None:
    """Write the replacement character, with a warning, for lone surrogates in a result's text; not in its data."""
    for block in answer["content"] if is_array(answer.get("content")) else ():
        if is_object(block) and isinstance(text := block.get("text"), str) and not encodable(text):
            block["text"] = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            warn(f"{where}: a lone surrogate in the result's text was replaced")


def _progress(injected: Mapping[str, Any]) -> ProgressFnT | None:
    """Return the function that reports the tool's progress, if there is a `ToolContext`."""
    context = injected.get(ToolContext.injected_as)
    if not isinstance(context, ToolContext):
        return None

    async def report(progress: float, total: float | None, message: str | None) -> None:
        context.tell(progress, total, message or "")

    return report
