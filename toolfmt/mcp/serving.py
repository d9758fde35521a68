"""A registry's tools as an MCP server, for any program that speaks the protocol.

serve(registry, name="weather")                                         over stdin and stdout, until they close
serve(registry, name="weather", transport="streamable-http", port=8000) at http://127.0.0.1:8000/mcp
mcp_server(registry, name="weather")                                    the SDK's server object, to be run elsewhere

An `Executor` runs the calls, with its checks, policies and time-outs; a tool's progress is reported to the client. Over
stdin and stdout, what tools print goes to stderr.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import partial
from io import TextIOWrapper
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

import anyio
import uvicorn
from anyio.lowlevel import current_token
from mcp import MCPError, stdio_server, types
from mcp.server import Server

import toolfmt
from toolfmt.arguments import checked
from toolfmt.connections import RequestsInTime
from toolfmt.execution.events import ExecutionEvent, ToolProgress
from toolfmt.execution.executor import Executor
from toolfmt.execution.records import AgentStop, ToolExecution
from toolfmt.mcp.bounded import LONGEST
from toolfmt.mcp.content import write_result, write_tool
from toolfmt.mcp.streams import Receiving, Sending
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.tools import ToolRegistry

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

PATH: Final = "/mcp"
"""Where on a web server the protocol is spoken."""
MAX_PORT: Final = 65535
MAX_CALLS: Final = 1000
"""Maximum number of calls that run at once, and of answers that a client does not read before more is read."""
MAX_BODY: Final = 4 * 1024 * 1024
"""Maximum bytes of an HTTP request's body."""
REQUEST_SECONDS: Final = 60
"""Seconds in which the head of an HTTP request must arrive, and then its body."""
MAX_CONNECTIONS: Final = 2000
"""Maximum number of HTTP connections, and of sessions."""


@checked
def mcp_server(tools: ToolRegistry | Executor, *, name: str, instructions: str | None = None) -> Server[Any]:
    """Make a server object of the SDK that offers the tools of a registry or an executor.

    `instructions` describe for a model how to use the server. Tools that are registered later are offered too.
    """
    service = Service(tools if isinstance(tools, Executor) else Executor(tools))
    return Server(
        name,
        version=toolfmt.__version__,
        instructions=instructions,
        on_list_tools=service.list,
        on_call_tool=service.call,
    )


@checked
def serve(  # noqa: PLR0913 - where and how
    tools: ToolRegistry | Executor,
    *,
    name: str,
    instructions: str | None = None,
    transport: Literal["stdio", "streamable-http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve tools until the client disconnects or the program is stopped.

    Over HTTP, the address is written to stderr; `port` 0 selects a free port. There is no access control: anyone who
    reaches the port can call the tools.
    """
    arguments = {"name": name, "instructions": instructions, "transport": transport, "host": host, "port": port}
    anyio.run(partial(aserve, tools, **arguments))


@checked
async def aserve(  # noqa: PLR0913 - as `serve`
    tools: ToolRegistry | Executor,
    *,
    name: str,
    instructions: str | None = None,
    transport: Literal["stdio", "streamable-http"] = "stdio",
    host: str = "127.0.0.1",
    port: int = 8000,
) -> None:
    """Serve tools like `serve`, in the running event loop."""
    if transport not in _TRANSPORTS:
        raise ValueError(f"transport is 'stdio' or 'streamable-http', not {transport!r}")
    if not 0 <= port <= MAX_PORT:
        raise ValueError(f"port is from 0 to {MAX_PORT}, not {port}")
    await _TRANSPORTS[transport](mcp_server(tools, name=name, instructions=instructions), host, port)


class Service:
    """Answers the requests of MCP clients with an executor."""

    def __init__(self, executor: Executor) -> None:
        self._listener = executor.on_event
        self._executor = replace(executor, on_event=self._forward, throw_on_failure=False)
        self._ids = map(str, count(1))
        self._progress: dict[str | None, Callable[[ToolProgress], None]] = {}

    async def list(self, _context: object, _params: object) -> types.ListToolsResult:
        """Answer `tools/list`: the registry's tools, then those of the executor's servers."""
        served = (tool for server in self._executor.servers.values() for tool in server.tools)
        tools: dict[str, ToolDefinition] = {}
        for tool in (*self._executor.registry.visible(), *served):
            tools.setdefault(tool.name, tool)
        return types.ListToolsResult(tools=[*map(write_tool, tools.values())])

    async def call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call`; a tool that does not exist is an error of the protocol, all others are results."""
        if len(self._progress) >= MAX_CALLS:
            raise MCPError(types.INTERNAL_ERROR, f"{MAX_CALLS} calls are running, which is the most at once")
        arguments = {} if params.arguments is None else params.arguments
        call = ToolInvocation(name=params.name, arguments=arguments, id=next(self._ids))
        executions: list[ToolExecution] = []
        async with anyio.create_task_group() as reports:
            loop = current_token()

            def report(event: ToolProgress) -> None:
                if call.id in self._progress and event.progress is not None:
                    reported = (event.progress, event.total, event.message or None)
                    reports.start_soon(context.session.report_progress, *reported)

            def send(event: ToolProgress) -> None:
                # Called from any thread. It does not wait for the loop, which may be about to report something itself.
                loop.backend_class.run_sync_soon(report, (event,), loop.native_token)

            self._progress[call.id] = send
            try:
                executions = await self._executor.execute([call])
            except AgentStop as stop:
                executions = [*stop.executions]
            finally:
                del self._progress[call.id]
        execution = executions[0]
        if execution.failure == "unknown_tool":
            raise MCPError(types.INVALID_PARAMS, execution.error)
        return write_result(execution.result)

    def _forward(self, event: ExecutionEvent) -> None:
        if isinstance(event, ToolProgress) and (report := self._progress.get(event.call.id)) is not None:
            report(event)
        if self._listener is not None:
            self._listener(event)


class _Lines(TextIOWrapper):
    """Text whose lines are bounded; a longer one ends it, with a message on stderr."""

    def readline(self, _size: int = -1, /) -> str:
        """Read a line."""
        line = super().readline(LONGEST + 1)
        if len(line) <= LONGEST:
            return line
        sys.stderr.write(f"the client wrote a message of more than {LONGEST} characters\n")
        return ""

    def close(self) -> None:
        """Leave the buffer open, in which a thread may still wait."""
        with suppress(ValueError):
            self.detach()


@contextmanager
def _own_stdin() -> Generator[anyio.AsyncFile[str]]:
    """Read stdin alone: meanwhile its descriptor leads to the null device, for tools and what they start."""
    own = os.dup(0)
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    try:
        yield anyio.wrap_file(_Lines(os.fdopen(own, "rb", closefd=False), encoding="utf-8", errors="replace"))
    finally:
        os.dup2(own, 0)


async def _over_pipes(server: Server[Any], _host: str, _port: int) -> None:
    printed = sys.stdout
    with _own_stdin() as lines:
        async with stdio_server(lines) as (read, write):  # while it is open, the descriptor of stdout leads to stderr
            writer = Sending(write, MAX_CALLS)
            try:
                with redirect_stdout(sys.stderr):
                    await server.run(
                        cast("Any", Receiving(read, writer)),
                        cast("Any", writer),
                        server.create_initialization_options(),
                    )
            finally:
                printed.flush()  # what waits there would be sent to the client later


def web_server(server: Server[Any], host: str) -> uvicorn.Config:
    """Configure a web server for a server object, with bounds on what clients send."""
    app = server.streamable_http_app(
        streamable_http_path=PATH, host=host, max_request_body_size=MAX_BODY, max_sessions=MAX_CONNECTIONS
    )
    return uvicorn.Config(
        app,
        http=RequestsInTime,
        log_level="warning",
        limit_concurrency=MAX_CONNECTIONS,
        timeout_keep_alive=REQUEST_SECONDS,
    )


async def _over_http(server: Server[Any], host: str, port: int) -> None:
    with socket.create_server((host, port)) as listening:
        sys.stderr.write(f"{server.name}: http://{host}:{listening.getsockname()[1]}{PATH}\n")
        sys.stderr.flush()
        await uvicorn.Server(web_server(server, host)).serve(sockets=[listening])


_TRANSPORTS: Final = {"stdio": _over_pipes, "streamable-http": _over_http}
