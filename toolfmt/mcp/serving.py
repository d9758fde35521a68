"""A registry's tools as an MCP server, for any program that speaks the protocol.

serve(registry, name="weather")                                         over stdin and stdout, until they close
serve(registry, name="weather", transport="streamable-http", port=8000) at http://127.0.0.1:8000/mcp
mcp_server(registry, name="weather")                                    the SDK's server object, to be run elsewhere

Calls go through an `Executor`: arguments are checked, policies hold, tools run out of time. Over stdin and stdout,
what tools print goes to stderr.
"""

from __future__ import annotations

import socket
import sys
from contextlib import redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import anyio
import uvicorn
from mcp import stdio_server
from mcp.server import Server

import toolfmt
from toolfmt.execution.executor import Executor
from toolfmt.mcp.service import Service

if TYPE_CHECKING:
    from toolfmt.tools import ToolRegistry

PATH: Final = "/mcp"
"""Where on a web server the protocol is spoken."""
MAX_PORT: Final = 65535


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


async def _over_pipes(server: Server[Any], _host: str, _port: int) -> None:
    printed = sys.stdout
    async with stdio_server() as (read, write):  # while it is open, the descriptor of stdout leads to stderr
        try:
            with redirect_stdout(sys.stderr):
                await server.run(read, write, server.create_initialization_options())
        finally:
            printed.flush()  # what waits there would be sent to the client later


async def _over_http(server: Server[Any], host: str, port: int) -> None:
    config = uvicorn.Config(server.streamable_http_app(streamable_http_path=PATH, host=host), log_level="warning")
    with socket.create_server((host, port)) as listening:
        sys.stderr.write(f"{server.name}: http://{host}:{listening.getsockname()[1]}{PATH}\n")
        sys.stderr.flush()
        await uvicorn.Server(config).serve(sockets=[listening])


_TRANSPORTS: Final = {"stdio": _over_pipes, "streamable-http": _over_http}
