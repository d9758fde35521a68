"""A server with a tool for everything that can happen, written with the SDK.

`kitchen.py stdio`, or `kitchen.py http PORT`; with `handshake` as a further argument the web server
knows nothing of the newest protocol, as most do.
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio
from mcp import types
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

server = MCPServer("kitchen", log_level="CRITICAL")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Dish(TypedDict):
    name: str
    minutes: float
    vegan: bool
    big: int


@server.tool(title="Cook a dish", annotations=types.ToolAnnotations(read_only_hint=True))
def cook(name: str, minutes: Annotated[int, Field(description="How long.")] = 10) -> Dish:
    """Cook."""
    return {"name": name, "minutes": float(minutes), "vegan": True, "big": 12345678901234567890}


@server.tool(annotations=types.ToolAnnotations(destructive_hint=True), structured_output=False)
def burn() -> str:
    """Burn it all."""
    return "ash"


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Say it back."""
    return text


@server.tool()
def look() -> types.CallToolResult:
    """Give one of each kind of content."""
    return types.CallToolResult(
        content=[
            types.TextContent(text="two\nlines"),
            types.ImageContent(data=PIXEL, mime_type="image/png"),
            types.AudioContent(data="UklGRiQAAABXQVZF", mime_type="audio/wav"),
            types.EmbeddedResource(resource=types.TextResourceContents(uri="file:///a.txt", text="inside")),
            types.EmbeddedResource(
                resource=types.BlobResourceContents(uri="file:///a.pdf", mime_type="application/pdf", blob="JVBERi0=")
            ),
            types.ResourceLink(uri="https://a.example/b.png", name="b", mime_type="image/png"),
            types.ResourceLink(uri="file:///c.txt", name="c"),
        ]
    )


@server.tool(structured_output=False)
def fail(why: str) -> str:
    """Fail with a reason."""
    raise ToolError(why)


@server.tool(structured_output=False)
def crash() -> str:
    """Fail without one."""
    raise KeyError("secret")


@server.tool(structured_output=False)
async def wait(seconds: float, context: Context[Any, Any], note: str = "") -> str:
    """Take a while; note when it is given up."""
    try:
        await context.report_progress(1, 4, "a quarter")
        await anyio.sleep(seconds)
    except anyio.get_cancelled_exc_class():
        if note:
            Path(note).write_text("given up", encoding="utf-8")  # noqa: ASYNC240 - a few bytes
        raise
    return "waited"


@server.tool(structured_output=False)
def die(note: str) -> str:
    """Note the call and end the whole program."""
    with Path(note).open("a", encoding="utf-8") as file:
        file.write("called\n")
    sys.stderr.write("the kitchen is on fire")
    sys.stderr.flush()
    os._exit(7)


@server.tool(structured_output=False)
def pid() -> str:
    """Tell who runs this."""
    return str(os.getpid())


@server.tool(structured_output=False)
def mutter() -> str:
    """Print, where a message of the protocol could be torn."""
    print("not a message")  # noqa: T201 - that is what it is about
    return "muttered"


@server.tool(structured_output=False)
def fill(size: int) -> str:
    """Give a lot of text."""
    return "x" * size


@server.tool(structured_output=False)
async def learn(name: str, context: Context[Any, Any]) -> str:
    """Offer one more tool from now on."""
    server.add_tool(lambda: "new", name=name, description="New.", structured_output=False)
    await context.notify_tools_changed()
    await context.session.send_tool_list_changed()
    return "learnt"


@server.tool(structured_output=False)
def ask() -> types.InputRequiredResult:
    """Ask the user."""
    wanted = types.ElicitRequestFormParams(message="Sure?", requested_schema={"type": "object", "properties": {}})
    return types.InputRequiredResult(input_requests={"sure": types.ElicitRequest(params=wanted)})


def _knows_no_discovery(app: Any) -> Any:
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"mcp-method") == b"server/discover":
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    return answer


def serve_http(port: int, *, handshake: bool) -> None:
    import uvicorn

    app = server.streamable_http_app()
    uvicorn.run(_knows_no_discovery(app) if handshake else app, port=port, log_level="error")


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    if sys.argv[1] == "stdio":
        server.run("stdio")
    else:
        serve_http(int(sys.argv[2]), handshake="handshake" in sys.argv)
