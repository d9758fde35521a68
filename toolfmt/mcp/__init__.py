"""Use tools of MCP servers, and serve your own (Model Context Protocol).

    async with connect(["python", "server.py"], name="files") as server:       # tools of a server, to be called
        executor = Executor(registry, servers={"files": server})

    async with connect_all("mcp.json") as servers:                             # of all servers of a configuration
        executor = Executor(registry, servers=servers)
        text = manifest([*registry, *servers.tools], provider="anthropic")

    serve(registry, name="weather")                                            # serve your own tools

The first two also work with a plain `with` outside an event loop. Needs the extra `mcp`.
"""

from __future__ import annotations

from importlib.util import find_spec

from toolfmt.errors import MissingExtraError

if find_spec("mcp") is None:
    raise MissingExtraError("MCP", "mcp")

from toolfmt.mcp.config import from_config
from toolfmt.mcp.connecting import Servers, connect, connect_all
from toolfmt.mcp.server import McpServer
from toolfmt.mcp.serving import aserve, mcp_server, serve
from toolfmt.mcp.transports import Remote, Target

__all__ = [
    "McpServer",
    "Remote",
    "Servers",
    "Target",
    "aserve",
    "connect",
    "connect_all",
    "from_config",
    "mcp_server",
    "serve",
]
