"""What cannot be read in a server's list or result costs only itself: the other tools stay usable."""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest
from mcp import types
from mcp.server import Server

from toolfmt import ToolInvocation
from toolfmt.errors import ServerError
from toolfmt.mcp import connect
from toolfmt.mcp.bounded import MARK, Marking
from toolfmt.mcp.transports import Target

SCHEMA: dict[str, Any] = {"type": "object"}
HALF = "\ud83d"
UNREAD: dict[str, Any] = {
    "name": {"name": f"a{HALF}", "inputSchema": SCHEMA},
    "description": {"name": "b", "description": HALF, "inputSchema": SCHEMA},
    "schema": {"name": "c", "inputSchema": {**SCHEMA, "properties": {"x": {"enum": ["\\", f"\\{HALF}\n"]}}}},
    "key": {"name": "d", "inputSchema": {**SCHEMA, "properties": {HALF: {}}}},
    "key of a schema's data": {"name": "j", "inputSchema": {**SCHEMA, "default": {f"x{HALF}": 1}}},
    "no number": {"name": "k", "inputSchema": {**SCHEMA, "properties": {"x": {"default": float("nan")}}}},
    "no number of output": {"name": "l", "inputSchema": SCHEMA, "outputSchema": {**SCHEMA, "default": -float("inf")}},
    "pattern": {"name": "m", "inputSchema": {**SCHEMA, "properties": {"x": {"pattern": "("}}}},
    "keys' pattern": {"name": "n", "inputSchema": {**SCHEMA, "patternProperties": {"[": {}}}},
    "large pattern": {
        "name": "o",
        "inputSchema": {**SCHEMA, "properties": {"x": {"pattern": "((a{1000}){1000}){1000}"}}},
    },
    "a number": {"name": 3, "inputSchema": SCHEMA},
    "no name": {"inputSchema": SCHEMA},
    "no schema": {"name": "e"},
    "schema of nothing": {"name": "f", "inputSchema": {}},
    "a list": {"name": "g", "inputSchema": []},
    "text": "h",
    "nothing": None,
    "number as description": {"name": "i", "description": 3, "inputSchema": SCHEMA},
}
GOOD = [
    {"name": "first", "inputSchema": SCHEMA},
    {"name": "last", "description": "\U0001f600 \\ud83d \ufffd", "inputSchema": SCHEMA},
]
LIST = {"tools": [GOOD[0], *UNREAD.values(), GOOD[1]]}


def answered(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


class Web(BaseHTTPRequestHandler):
    """A web server that lists `LIST`; a call is answered by its arguments."""

    protocol_version = "HTTP/1.1"
    events = False

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result: Any = {}
        if message["method"] == "initialize":
            version = message["params"]["protocolVersion"]
            about = {"name": "web", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        elif message["method"] == "tools/list":
            result = LIST
        elif message["method"] == "tools/call":
            result = json.loads(message["params"]["arguments"]["result"])
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if self.events else "application/json")
        body = b"data: " + body + b"\n\n" if self.events else body
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(405)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


class Events(Web):
    events = True


PROGRAM = """if True:
    import json, sys
    given = json.loads(sys.argv[1])
    for line in sys.stdin:
        message = json.loads(line)
        about = {"name": "program", "version": "1"}
        known = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
        if message.get("id") is None:
            continue
        result = {"initialize": known, "tools/list": given}.get(message["method"])
        if message["method"] == "tools/call":
            result = json.loads(message["params"]["arguments"]["result"])
        elif result is None:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}))
            sys.stdout.flush()
            continue
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, ensure_ascii=ASCII)
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\\n")
        sys.stdout.flush()
"""


@contextmanager
def served(handler: type[Web]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{web.server_address[1]}/mcp"
        finally:
            web.shutdown()
            thread.join()


@pytest.fixture(params=["escapes", "bytes", "web", "events"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A server that is met over each transport; `bytes` writes surrogates as if they were characters."""
    match request.param:
        case "web" | "events":
            with served(Events if request.param == "events" else Web) as url:
                yield url
        case kind:
            code = PROGRAM.replace("ASCII", str(kind == "escapes"))
            yield [sys.executable, "-c", code, json.dumps(LIST)]


@pytest.mark.filterwarnings("default")
def test_one_tool_or_result_that_cannot_be_read_costs_only_itself(target: Target) -> None:
    async def run() -> None:
        opening = connect(target, name="odd", timeout=20)
        with pytest.warns(UserWarning, match="a tool is left out") as warned:
            server = await opening.__aenter__()
        try:
            assert [(one.name, one.description) for one in server.tools] == [
                (one["name"], one.get("description", "")) for one in GOOD
            ]
            said = [str(one.message) for one in warned if "left out" in str(one.message)]
            assert len(said) == len(UNREAD)
            assert all("'odd': a tool is left out: " in one for one in said)
            assert not any("codec" in one for one in said)
            assert sum("the text holds a lone surrogate" in one for one in said) == 5
            assert sum("is not a JSON number" in one for one in said) == 2
            assert sum("must be a valid regex" in one for one in said) == 2
            assert sum("is too large: shorten its repetitions" in one for one in said) == 1
            names = [one.get("name") for one in UNREAD.values() if isinstance(one, dict)]
            for name in (one for one in names if isinstance(one, str)):
                assert any(repr(name.replace(HALF, "\ud800")) in one for one in said)

            async def call(result: Any) -> Any:
                return await server.call(ToolInvocation(name="last", arguments={"result": json.dumps(result)}))

            with pytest.warns(UserWarning, match="'last' of MCP server 'odd': a lone surrogate"):
                assert (await call(answered(f"x{HALF}y"))).content in ("x\ufffdy", "x\ufffd\ufffd\ufffdy")
            with pytest.raises(ServerError, match="invalid result: /structuredContent/a: the text holds a lone"):
                await call(answered("x", structuredContent={"a": HALF}))
            assert server.connected
            assert (await call(answered("\U0001f600 \\ud83d"))).content == "\U0001f600 \\ud83d"
        finally:
            await opening.__aexit__(None, None, None)

    anyio.run(run)


DEEP = f'{{"type": "object", "default": {"[" * 5_000}{"]" * 5_000}}}'
LONG = f'{{"type": "object", "maximum": {"9" * 5_000}}}'
TOOLS = '{"jsonrpc": "2.0", "id": IDENT, "result": {"tools": [{"name": "a", "inputSchema": SCHEMA}]}}'


@pytest.mark.parametrize(
    "line",
    [
        TOOLS.replace("SCHEMA", DEEP),
        TOOLS.replace("SCHEMA", LONG),
        TOOLS[:40],
        TOOLS.replace("2.0", "1.0"),
        TOOLS.replace("IDENT", "9999"),
        '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}}',
    ],
    ids=range(6),
)
@pytest.mark.anyio
async def test_a_list_that_cannot_be_read_ends_the_start_before_its_time(raw: Any, line: str) -> None:
    opening = connect(raw(json.dumps({"lists": [], "listed": [line]})), name="raw", patience=600)
    with anyio.fail_after(60), pytest.raises(ServerError, match="'raw': it sent an invalid message: "):
        await opening.__aenter__()


HELD_BY_OBJECTS = {"description": "/description", "pattern": "/properties/x/pattern"}
"""The place of what is wrong with tools that objects of the SDK can hold."""


def test_of_a_server_in_this_process_too() -> None:
    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        tools = [GOOD[0], *(UNREAD[one] for one in HELD_BY_OBJECTS), GOOD[1]]
        return types.ListToolsResult(tools=[types.Tool.model_validate(one) for one in tools])

    async def called(_: Any, __: Any) -> types.CallToolResult:
        return types.CallToolResult.model_validate(answered(f"x{HALF}y"))

    async def run() -> None:
        async with connect(Server("here", on_list_tools=listed, on_call_tool=called), name="odd") as server:
            assert [one.name for one in server.tools] == ["first", "last"]
            with pytest.warns(UserWarning, match="a lone surrogate"):
                assert (await server.call(ToolInvocation(name="last"))).content == "x\ufffdy"

    with pytest.warns(UserWarning, match="'odd': a tool is left out: ") as warned:
        anyio.run(run)
    said = [text for one in warned if "left out" in (text := str(one.message))]
    assert len(said) == len(HELD_BY_OBJECTS)
    for text, (at, place) in zip(said, HELD_BY_OBJECTS.items(), strict=True):
        assert f"{UNREAD[at]['name']!r}" in text
        assert f" at {place}: " in text


PARTS = [r"\\", r"\ud83d", r"\uDE00", r"\uD800", r"\n", "u", "d83d", "a", r"\u0041", r"\"", "é", "\U0001f600"]


@pytest.mark.parametrize("seed", range(50))
def test_what_is_marked_is_what_python_reads_as_a_surrogate(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - to be repeated
    text = f'"{"".join(chance.choices(PARTS, k=40))}"'
    read = "".join(MARK if "\ud800" <= one <= "\udfff" else one for one in json.loads(text))
    data, marking, written = text.encode(), Marking(), b""
    while data:
        size = chance.randint(1, 5)
        written += marking.feed(data[:size])
        data = data[size:]
    written += marking.feed(b"", last=True)
    assert json.loads(written) == read
    assert Marking().feed(text.encode(), last=True) == written
