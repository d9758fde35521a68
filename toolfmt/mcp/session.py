"""One connection to a server, in a task of its own.

The SDK's client must be opened and closed in the same task, but may be called from any. So one task holds it, keeps the
list of tools up to date, and reports when and why the connection has ended.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
from anyio import TASK_STATUS_IGNORED, CancelScope, create_task_group, current_time
from mcp import Client, MCPError, types
from mcp.client.subscriptions import SubscriptionLost
from mcp.types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import RootModel, ValidationError

import toolfmt
from toolfmt.errors import ServerError, warn
from toolfmt.jsontext import is_array, is_object
from toolfmt.mcp.transports import Endpoint, Trace
from toolfmt.model import JsonObject

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from mcp.client import IncomingMessage
    from mcp.shared.dispatcher import ProgressFnT

    Listed = Callable[[Sequence[types.Tool]], Awaitable[None]]

MAX_PAGES: Final = 1000
"""Maximum pages of a list of tools."""
MAX_TOOLS: Final = 10_000
"""Maximum number of tools in a list."""
MAX_LIST: Final = 4 * 1024 * 1024
"""Maximum length of all definitions in a list of tools, as JSON."""
REASON: Final = 1000
"""Maximum characters of an error that a server wrote."""
_FAREWELL: Final = 2.0
"""Seconds to wait for the end of a broken connection, or for the answer to a ping."""
_PAUSE: Final = 1.0
"""Seconds before the next subscription to changes."""
_ANSWERS: Final = frozenset({"result", "error"})


class _Raw(RootModel[dict[str, Any]]):
    """A result without validation."""


class Session:
    """A connection that can send until `ended`; `closed` is set once everything is closed."""

    def __init__(self, name: str, endpoint: Endpoint, listed: Listed) -> None:
        """Store how to connect; `run` connects."""
        self.name = name
        self.closed = anyio.Event()
        self._endpoint = endpoint
        self._listed = listed
        self._trace = Trace()
        self._changed = anyio.Event()
        self._failure: BaseException | None = None
        self._client: Client | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing more can be sent."""
        return self._trace.ended.is_set() or self.closed.is_set()

    async def run(self, patience: float, *, task_status: TaskStatus[Session] = TASK_STATUS_IGNORED) -> None:
        """Connect, list the tools, and stay until the other side hangs up or `end` is called.

        Raises `ServerError` without a connection within `patience` seconds.
        """
        self._trace.start = scope = CancelScope(deadline=current_time() + patience)
        try:
            with scope:
                made = Client(
                    self._endpoint.open(self._trace),
                    client_info=types.Implementation(name="toolfmt", version=toolfmt.__version__),
                    message_handler=self._receive,
                    cache=None,
                )
                async with made as client:
                    if client.server_capabilities.tools is not None:
                        await self._list(client)
                    self._client = client
                    self._trace.start = None
                    scope.deadline = float("inf")
                    task_status.started(self)
                    await self._stay(client, patience)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, and groups of it
            self._failure = error
        finally:
            self.closed.set()
            self._trace.ended.set()
        if self._client is None:
            late = f"no answer within {patience:g} s" if current_time() >= scope.deadline else ""
            raise self._error(late)

    def end(self) -> None:
        """Hang up."""
        self._trace.ended.set()

    async def request(self, name: str, arguments: JsonObject, progress: ProgressFnT | None) -> JsonObject:
        """Call a tool and give the `result` of the answer; raises `MCPError`, and `ServerError` if it breaks off."""
        client = cast("Client", self._client)
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
        try:
            # The SDK's `call_tool` would check the result with the server's regular expressions, which may never end.
            return (await client.session.send_request(request, _Raw, progress_callback=progress)).root
        except MCPError as error:
            if not self.ended:
                raise
            with anyio.move_on_after(_FAREWELL):
                await self.closed.wait()
            raise self._error("the connection broke off during the call") from error

    async def check(self) -> None:
        """After an error, list the tools again, and end the connection if the server has dropped its session."""
        client = cast("Client", self._client)
        self._changed.set()
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return  # there are no sessions
        try:
            with anyio.fail_after(_FAREWELL):
                await client.session.send_request(types.PingRequest(), types.EmptyResult)
        except (MCPError, TimeoutError):
            self.end()

    async def _stay(self, client: Client, patience: float) -> None:
        async with create_task_group() as tasks:
            tasks.start_soon(self._renew, client, patience)
            tools = client.server_capabilities.tools
            if client.protocol_version in MODERN_PROTOCOL_VERSIONS and tools is not None and tools.list_changed:
                tasks.start_soon(self._listen, client)
            await self._trace.ended.wait()
            tasks.cancel_scope.cancel()

    async def _receive(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._changed.set()
        elif isinstance(message, Exception):
            if isinstance(message, ValidationError) and _was_message(message):
                self._trace.broke(str(message)[:REASON])
            else:
                self._trace.noise = str(message)[:REASON]

    async def _listen(self, client: Client) -> None:
        """Subscribe to changes, which newer servers require."""
        while True:
            with suppress(SubscriptionLost, MCPError):
                async with client.listen(tools_list_changed=True) as events:
                    self._changed.set()  # earlier changes were not reported
                    async for _ in events:
                        self._changed.set()
            await anyio.sleep(_PAUSE)

    async def _renew(self, client: Client, patience: float) -> None:
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            try:
                with anyio.fail_after(patience):
                    await self._list(client)
            except Exception as error:  # noqa: BLE001 - whatever the server sent; the tools that are known stay
                self._trace.noise = f"the changed tools cannot be listed: {error}"[:REASON]

    async def _list(self, client: Client) -> None:
        found: list[types.Tool] = []
        size = 0
        cursors: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            while self._trace.unread:
                warn(f"MCP server {self.name!r}: a tool is left out: {self._trace.unread.pop(0)}")
            size += sum(map(_length, page.tools))
            if len(found) > MAX_TOOLS or size > MAX_LIST:
                raise ServerError(self.name, f"it lists more than {MAX_TOOLS} tools or {MAX_LIST} bytes of them")
            cursor = page.next_cursor
            if cursor is None:
                await self._listed(found)
                return
            if cursor in cursors:
                break
            cursors.add(cursor)
        raise ServerError(self.name, "its list of tools has no end")

    def _error(self, what: str) -> ServerError:
        reasons = [*_leaves(self._failure)] if self._failure is not None else []
        if len(reasons) == 1 and isinstance(reasons[0], ServerError):
            return reasons[0]
        causes = [text for text in map(_described, reasons) if text]
        noise = f"it sent an invalid message: {self._trace.noise}" if self._trace.noise else ""
        output = f"it said: {self._trace.output}" if self._trace.output else ""
        where = f"at {self._endpoint.where}"
        error = ServerError(self.name, "; ".join(filter(None, (what, *causes, noise, where, output))))
        error.__cause__ = reasons[0] if reasons else None
        return error


def _length(tool: types.Tool) -> int:
    try:
        return len(tool.model_dump_json(exclude_none=True))
    except ValueError:  # a lone surrogate, for one; the tool will be left out
        return 0


def _was_message(error: ValidationError) -> bool:
    """Whether what cannot be read was meant as a message of the protocol, and is no line that a program logs."""
    given = [one["input"] for one in error.errors()]
    inputs = [inner for one in given for inner in (one if is_array(one) else [one])]
    return any("jsonrpc" in one or ("id" in one and _ANSWERS & one.keys()) for one in inputs if is_object(one)) or any(
        isinstance(one, str) and one.lstrip().startswith("{") and '"jsonrpc"' in one for one in inputs
    )


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in cast("tuple[BaseException, ...]", error.exceptions):
            yield from _leaves(one)
    else:
        yield error


def _described(error: BaseException) -> str:
    text = str(error)[:REASON]
    return text if isinstance(error, MCPError) or not text else f"{type(error).__name__}: {text}"
