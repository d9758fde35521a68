"""`toolfmt mcp-serve`: Python functions as an MCP server."""

from typing import Annotated, Literal

from cyclopts import Parameter

from toolfmt.cli.errors import UsageError
from toolfmt.cli.loading import load


def mcp_serve(  # noqa: PLR0913 - each an option
    *,
    tools: Annotated[str, Parameter(help="A registry, an executor or functions, as module:name.")],
    name: Annotated[str | None, Parameter(help="What the server calls itself; else the module's name.")] = None,
    instructions: Annotated[str | None, Parameter(help="Tell models how to use the server.")] = None,
    transport: Annotated[
        Literal["stdio", "streamable-http"], Parameter(help="Speak over stdin and stdout, or at an address.")
    ] = "stdio",
    host: Annotated[str, Parameter(help="Listen here; there is no access control.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Listen at this port; 0 takes a free one.")] = 8000,
) -> None:
    """Serve tools to any program that speaks the Model Context Protocol, until it hangs up.

    Needs the extra `mcp`. Over streamable-http the address is printed on stderr.
    """
    from toolfmt.errors import SchemaError
    from toolfmt.execution.executor import Executor
    from toolfmt.mcp import serve
    from toolfmt.tools import ToolRegistry

    found = load(tools)
    if not isinstance(found, (ToolRegistry, Executor)):
        try:
            found = ToolRegistry(found if hasattr(found, "__iter__") else [found])
        except SchemaError as error:
            raise UsageError(f"{tools}: {error}") from None
    serve(
        found,
        name=name or tools.partition(":")[0],
        instructions=instructions,
        transport=transport,
        host=host,
        port=port,
    )
