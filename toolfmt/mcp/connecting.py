"""Connect to one server, or to all servers of a configuration.

async with connect(["python", "server.py"], name="files") as server: ...
with connect_all("mcp.json") as servers: ...          # without an event loop: one runs in a thread of its own
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, ExitStack, asynccontextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, NoReturn, TypeVar

import anyio
from anyio import create_task_group
from anyio.from_thread import BlockingPortal, start_blocking_portal
from anyio.lowlevel import current_token

from toolfmt.arguments import checked
from toolfmt.mcp.config import from_config
from toolfmt.mcp.server import Host, McpServer, Options
from toolfmt.mcp.transports import Endpoint, Target, endpoint
from toolfmt.model import ToolDefinition

if TYPE_CHECKING:
    import os

_OpenT = TypeVar("_OpenT")

PATIENCE: Final = 30.0
"""Time-out in seconds for the start of a server and its list of tools."""
CALL_SECONDS: Final = 300.0
"""Default time-out of a call in seconds; a server that only logs never answers."""
_GOODBYE: Final = 5.0
"""Time-out in seconds for the end of all servers."""


class Servers(Mapping[str, McpServer]):
    """Connected servers by name, for the `servers` of an `Executor`."""

    def __init__(self, servers: Mapping[str, McpServer]) -> None:
        self._servers = dict(servers)

    @property
    def tools(self) -> tuple[ToolDefinition, ...]:
        """The tools of all servers, for a manifest; names may collide unless `prefix` is set."""
        return tuple(tool for server in self._servers.values() for tool in server.tools)

    def __getitem__(self, name: str) -> McpServer:
        """Look a server up."""
        return self._servers[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._servers)

    def __len__(self) -> int:
        """Return the number of servers."""
        return len(self._servers)


class OpenedOnEntry(Generic[_OpenT]):
    """A context for `async with`, and for `with` where no event loop runs."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[_OpenT]]) -> None:
        self._make = make
        self._entered: list[AsyncExitStack | ExitStack] = []

    def __getattr__(self, name: str) -> NoReturn:
        """Say how to open it."""
        raise AttributeError(f"there is no {name!r} before it is open: `with connect(...) as server:`, or `async with`")

    async def __aenter__(self) -> _OpenT:
        """Open it in the event loop that runs."""
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(self._make())
            self._entered.append(stack.pop_all())
            return opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it."""
        stack = self._entered.pop()
        return await stack.__aexit__(kind, error, trace) if isinstance(stack, AsyncExitStack) else None

    def __enter__(self) -> _OpenT:
        """Open it in a thread."""
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            opened = stack.enter_context(portal.wrap_async_context_manager(self._make()))
            self._entered.append(stack.pop_all())
            return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it and end the thread."""
        stack = self._entered.pop()
        return stack.__exit__(kind, error, trace) if isinstance(stack, ExitStack) else None


@checked
def connect(  # noqa: PLR0913 - all but the first two are options
    target: Target,
    *,
    name: str,
    headers: Mapping[str, str] | None = None,
    prefix: bool = False,
    timeout: float | None = CALL_SECONDS,
    patience: float = PATIENCE,
    inject: Collection[str] = (),
) -> OpenedOnEntry[McpServer]:
    """Connect to an MCP server until the context exits, with `async with` or `with`.

    `target` is a command as a list, an address, a server object of the SDK, or a function that returns one of the
    SDK's transports; `headers` are sent to an address. Calls use `name` for the server; with `prefix`, its tools are
    named `name__tool`. `timeout` is in seconds per call, None for no limit; `patience` is the time-out of the start in
    seconds. `inject` names the injected values to send; the model does not see these arguments and cannot set them.
    Raises TypeError or ValueError for anything else; entering the context raises `ServerError` for a server that
    cannot be reached.
    """
    options = Options(prefix=prefix, timeout=timeout, patience=patience, inject=inject)
    return OpenedOnEntry(partial(_one, _named(name), endpoint(target, headers), options))


@checked
def connect_all(
    config: str | os.PathLike[str] | Mapping[str, Any],
    *,
    prefix: bool = False,
    timeout: float | None = CALL_SECONDS,
    patience: float = PATIENCE,
    inject: Collection[str] = (),
) -> OpenedOnEntry[Servers]:
    """Connect to all servers of a configuration, like `connect`; they start concurrently.

    `config` is any input of `from_config`. Entering the context raises `ServerError` if a server cannot be reached.
    """
    options = Options(prefix=prefix, timeout=timeout, patience=patience, inject=inject)
    endpoints = {_named(name): endpoint(target) for name, target in from_config(config).items()}
    return OpenedOnEntry(partial(_all, endpoints, options))


def _named(name: str) -> str:
    if not name.strip():
        raise ValueError(f"the name of an MCP server must not be blank, as {name!r} is")
    return name


@asynccontextmanager
async def _one(name: str, place: Endpoint, options: Options) -> AsyncGenerator[McpServer, None]:
    async with _all({name: place}, options) as servers:
        yield servers[name]


@asynccontextmanager
async def _all(places: Mapping[str, Endpoint], options: Options) -> AsyncGenerator[Servers, None]:
    servers = Servers({name: McpServer(name, place, options) for name, place in places.items()})
    async with _flat(BlockingPortal()) as portal, _flat(create_task_group()) as tasks:
        host = Host(current_token(), portal, tasks)
        try:
            async with _flat(create_task_group()) as starting:
                for server in servers.values():
                    starting.start_soon(server.open, host)
            yield servers
        finally:
            with anyio.move_on_after(_GOODBYE):
                async with create_task_group() as ending:
                    for server in servers.values():
                        ending.start_soon(server.close)
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def _flat(context: AbstractAsyncContextManager[_OpenT]) -> AsyncGenerator[_OpenT, None]:
    """Unwrap an exception, such as the caller's own, that a task group has put into a group."""
    try:
        async with context as opened:
            yield opened
    except BaseExceptionGroup as group:
        first, *others = group.exceptions
        for other in others:
            first.add_note(str(other))
        raise first from first.__cause__
