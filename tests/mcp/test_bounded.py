"""What strangers send over MCP is bounded: lines of a program, bodies of a client."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from zlib import compressobj

import anyio
import httpx2
import pytest

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.errors import ServerError, ToolFmtError, ToolTimeoutError
from toolfmt.mcp import bounded, connect, mcp_server, transports
from toolfmt.mcp.serving import PATH

FLOOD = "import sys; print('a'); sys.stdout.write('x' * 5000); sys.stdout.flush(); sys.stdin.read()"


def test_a_line_that_is_too_long_ends_the_server() -> None:
    done = subprocess.run(
        [sys.executable, bounded.__file__, "1000", sys.executable, "-c", FLOOD],
        capture_output=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"a\n")
    assert done.stderr == b"the server wrote a message of more than 1000 bytes\n"


@pytest.mark.parametrize("code", [0, 3])
def test_all_else_is_passed_on(code: int) -> None:
    script = f"import sys; sys.stdout.write(sys.stdin.read() + 'x' * 999 + chr(10) + 'end'); sys.exit({code})"
    done = subprocess.run(
        [sys.executable, bounded.__file__, "1000", sys.executable, "-c", script],
        capture_output=True, check=False, timeout=60, input=b"in\n",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (code, b"in\n" + b"x" * 999 + b"\nend", b"")


def test_a_flood_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LONGEST", 1000)

    async def run() -> None:
        async with connect([sys.executable, "-c", FLOOD], name="flood"):
            pass

    with pytest.raises(Exception, match="more than 1000 bytes"):
        anyio.run(run)


def test_a_body_of_a_client_is_bounded() -> None:
    registry = ToolRegistry()

    @registry.register
    def ping() -> str:
        return "pong"

    app: Any = mcp_server(registry, name="ping").streamable_http_app(streamable_http_path=PATH, host="127.0.0.1")

    async def post(client: httpx2.AsyncClient, body: bytes) -> int:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        return (await client.post(PATH, content=body, headers=headers)).status_code

    async def run() -> tuple[int, int, int]:
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            return (
                await post(client, b'{"x": "' + b"x" * 20_000_000 + b'"}'),
                await post(client, b'{"jsonrpc": "2.0", "id": 1, "method": "nonsense", "params": ' + b"[" * 2000),
                await post(client, b"[]"),
            )

    large, deep, empty = anyio.run(run)
    assert large == 413
    assert 400 <= deep < 500
    assert 400 <= empty < 500


class _Hostile(BaseHTTPRequestHandler):
    """A web server whose tool `good` answers, and whose other tools do what their names say."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = {"jsonrpc": "2.0", "id": message.get("id")}
        match message:
            case {"method": "initialize", "params": {"protocolVersion": version}}:
                server = {"name": "hostile", "version": "1"}
                answer["result"] = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
            case {"method": "tools/list"}:
                names = ["good", "large", "packed", "slow", "endless", "elsewhere"]
                answer["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
            case {"method": "tools/call", "params": {"name": name}}:
                answer["result"] = {"content": [{"type": "text", "text": "fine"}]}
                if name != "good":
                    with suppress(OSError):
                        self._misbehave(name, json.dumps(answer).encode())
                    return
            case _:
                answer["result"] = {}
        self._send(json.dumps(answer).encode())

    def _misbehave(self, name: str, answer: bytes) -> None:
        if name == "large":
            self._send(answer + b" " * 1_000_000)
        elif name == "packed":
            packing = compressobj(wbits=31)
            self._send(packing.compress(answer + b" " * 1_000_000) + packing.flush(), encoding="gzip")
        elif name == "elsewhere":
            self._send(b"", 307, location="https://example.com/steal")
        else:
            kind = "text/event-stream" if name == "endless" else "application/json"
            self._send(b"", content_type=kind, content_length="100000")
            for _ in range(1000):
                self.wfile.write(b": ping\n\n" if name == "endless" else b" ")
                time.sleep(0.02)

    def _send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        given = {"content_type": "application/json", "content_length": str(len(body)), **headers}
        for key, value in given.items():
            self.send_header({"encoding": "content-encoding"}.get(key, key.replace("_", "-")), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


FAULTS: dict[str, tuple[type[ToolFmtError], str]] = {
    "large": (ServerError, "more than 10000 bytes"),
    "packed": (ServerError, "more than 10000 bytes"),
    "slow": (ToolTimeoutError, "took over 3 s"),
    "endless": (ToolTimeoutError, "took over 3 s"),
    "elsewhere": (ServerError, "not followed"),
}


def test_a_hostile_web_server_ends_its_own_calls_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transports, "MAX_EVENT", 10_000)
    good = ToolInvocation(name="good")

    async def fault(server: Any, name: str) -> None:
        error, says = FAULTS[name]
        with pytest.raises(error, match=says):
            await server.call(ToolInvocation(name=name))

    async def run(url: str) -> None:
        async with connect(url, name="hostile", timeout=3) as server:
            async with anyio.create_task_group() as tasks:
                for name in FAULTS:
                    tasks.start_soon(fault, server, name)
                assert (await server.call(good)).content == "fine"
            assert (await server.call(good)).content == "fine"

    with ThreadingHTTPServer(("127.0.0.1", 0), _Hostile) as web:
        web.daemon_threads = True
        web.block_on_close = False
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            anyio.run(run, f"http://127.0.0.1:{web.server_address[1]}/mcp")
        finally:
            web.shutdown()
            thread.join()
