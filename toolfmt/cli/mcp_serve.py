"""`toolfmt mcp-serve`: Python functions as an MCP server."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

from toolfmt.cli.output import UsageError, stdout_to_stderr
from toolfmt.cli.toolboxes import RUNNERS

Transport: TypeAlias = Literal["stdio", "streamable-http"]


def mcp_serve(  # noqa: PLR0913 - one argument for each option
    *,
    tools: Annotated[str, Parameter(help=f"What runs the calls: {RUNNERS}.")],
    name: Annotated[str | None, Parameter(help="The server's name; by default that of the module or file.")] = None,
    instructions: Annotated[str | None, Parameter(help="Instructions for models that use the server.")] = None,
    transport: Annotated[Transport, Parameter(help="Serve over stdin and stdout, or over HTTP.")] = "stdio",
    host: Annotated[str, Parameter(help="The address to listen on; there is no access control.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="The port to listen on; 0 selects a free one.")] = 8000,
) -> None:
    """Serve tools over the Model Context Protocol until the client disconnects.

    Naming a module runs its code, from the current directory too. Over streamable-http the address
    is printed on stderr.
    """
    from contextlib import AsyncExitStack

    from anyio import run

    from toolfmt.cli.toolboxes import toolbox
    from toolfmt.mcp import aserve
    from toolfmt.mcp.serving import MAX_PORT

    if not 0 <= port <= MAX_PORT:
        raise UsageError(f"--port is from 0 to {MAX_PORT}, not {port}")
    title = name or Path(tools.partition(":")[0]).name.removesuffix(".json").removesuffix(".py")

    async def serve() -> None:
        async with AsyncExitStack() as stack:
            with stdout_to_stderr():
                executor = await stack.enter_async_context(toolbox(tools))
            await aserve(executor, name=title, instructions=instructions, transport=transport, host=host, port=port)

    run(serve)
