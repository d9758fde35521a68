"""What strangers send over MCP is bounded: lines of a program, bodies of a client."""

from __future__ import annotations

import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zlib import compressobj

import anyio
import anyio.lowlevel
import httpx2
import pytest
import uvicorn
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, JSONRPCResponse

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.errors import ServerError, ToolFmtError, ToolTimeoutError
from toolfmt.mcp import bounded, connect, mcp_server, serving, transports
from toolfmt.mcp.serving import PATH
from toolfmt.mcp.streams import Receiving, Sending

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


def test_of_stderr_a_file_keeps_the_end(tmp_path: Path) -> None:
    script = "import sys; [sys.stderr.write(f'{n:99}' + chr(10)) for n in range(50_000)]"
    with (tmp_path / "log").open("w+b") as log:
        subprocess.run([sys.executable, bounded.__file__, "9", sys.executable, "-c", script], check=True, stderr=log)
        log.seek(0)
        written = log.read()
    assert len(written) < 2_000_000
    assert written.endswith(b" 49999\n")
    assert b"\0" not in written


def test_a_server_that_reads_no_answer_is_not_read() -> None:
    async def run() -> tuple[int, int]:
        send, unread = anyio.create_memory_object_stream[Any](0)
        flood, read = anyio.create_memory_object_stream[Any](math.inf)
        async with flood, read, send, unread, anyio.create_task_group() as tasks:
            writer = Sending(send, 3)
            reader = Receiving(read, writer)
            for ident in range(10):
                flood.send_nowait(ident)
            seen: list[int] = []

            async def answer() -> None:
                async for ident in reader:
                    seen.append(ident)
                    answered = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=ident, result={}))
                    tasks.start_soon(writer.send, answered)
                    await anyio.lowlevel.checkpoint()  # until it waits

            tasks.start_soon(writer.send, SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")))
            tasks.start_soon(answer)
            await anyio.wait_all_tasks_blocked()
            before = len(seen)
            for _ in range(3):
                await unread.receive()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
            assert seen == [*range(len(seen))]
            assert writer.sent == {"1"}
            return before, len(seen)
        raise AssertionError

    assert anyio.run(run) == (3, 5)  # one of the messages that were read was a request, not an answer


def test_a_flood_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "LONGEST", 1000)

    async def run() -> None:
        async with connect([sys.executable, "-c", FLOOD], name="flood"):
            pass

    with pytest.raises(Exception, match="more than 1000 bytes"):
        anyio.run(run)


SERVED = """
import os
from toolfmt import ToolRegistry
from toolfmt.mcp import serve, serving
serving.LONGEST = 1000
def peek() -> str:
    return repr(os.read(0, 9))
serve(ToolRegistry([peek]), name="x")
"""


def test_a_line_of_a_client_is_bounded_and_no_tool_reads_it() -> None:
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "peek", "arguments": {}}}
    with subprocess.Popen(
        [sys.executable, "-c", SERVED], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        for message in (first, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call):
            process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        assert answers[1]["result"]["content"][0]["text"] == "b''"
        _, errors = process.communicate("x" * 5000, timeout=60)
    assert (process.returncode, errors) == (0, "the client wrote a message of more than 1000 characters\n")


def test_calls_of_clients_past_their_number_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_CALLS", 2)

    async def run() -> None:
        begun, free = [anyio.Event(), anyio.Event()], anyio.Event()

        async def hold(number: int) -> str:
            begun[number].set()
            await free.wait()
            return "done"

        async with connect(mcp_server(ToolRegistry([hold]), name="x"), name="x") as server:
            contents: list[object] = []

            async def call(number: int) -> None:
                contents.append((await server.call(ToolInvocation(name="hold", arguments={"number": number}))).content)

            async with anyio.create_task_group() as tasks:
                for number in range(2):
                    tasks.start_soon(call, number)
                    await begun[number].wait()
                with pytest.raises(ServerError, match="2 calls are running, which is the most at once"):
                    await call(0)
                free.set()
            await call(0)
            assert contents == ["done"] * 3

    anyio.run(run)


def test_a_body_of_a_client_is_bounded() -> None:
    registry = ToolRegistry()

    @registry.register
    def ping() -> str:
        return "pong"

    config = serving.web_server(mcp_server(registry, name="ping"), "127.0.0.1")
    assert config.limit_concurrency == serving.MAX_CONNECTIONS
    app: Any = config.app

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
                await post(client, b'{"x": "' + b"x" * serving.MAX_BODY + b'"}'),
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
                self.server.listed.set()  # pyright: ignore[reportAttributeAccessIssue]
            case {"method": "tools/call", "params": {"name": name}}:
                answer["result"] = {"content": [{"type": "text", "text": "fine"}]}
                if name != "good":
                    with suppress(OSError):
                        self._misbehave(name, json.dumps(answer).encode())
                    return
            case {"result": {}}:  # the answer to a ping
                self.server.shut.wait()  # pyright: ignore[reportAttributeAccessIssue]
            case _:
                answer["result"] = {}
        self._send(json.dumps(answer).encode())

    def do_GET(self) -> None:
        """Ask for much, over a session's stream, once the client knows the tools."""
        self.server.listed.wait()  # pyright: ignore[reportAttributeAccessIssue]
        self._send(b"", content_type="text/event-stream", content_length="100000000")
        for ident in range(1000):
            ping = {"jsonrpc": "2.0", "id": f"p{ident}", "method": "ping"}
            self.wfile.write(f"data: {json.dumps(ping)}\n\n".encode())
        self.server.shut.wait()  # pyright: ignore[reportAttributeAccessIssue]

    def do_DELETE(self) -> None:
        self._send(b"")

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
        if self.path == "/session":
            given["mcp_session_id"] = "s"
        for key, value in given.items():
            self.send_header({"encoding": "content-encoding"}.get(key, key.replace("_", "-")), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        pass


@contextmanager
def _hostile() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hostile) as web:
        web.daemon_threads = True
        web.block_on_close = False
        shut, listed = threading.Event(), threading.Event()
        vars(web).update(shut=shut, listed=listed)
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{web.server_address[1]}"
        finally:
            shut.set()
            listed.set()
            web.shutdown()
            thread.join()


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

    with _hostile() as url:
        anyio.run(run, f"{url}/mcp")


def test_a_call_is_out_of_time_where_the_server_takes_no_message() -> None:
    async def run(url: str) -> None:
        async with connect(url, name="deaf", timeout=1) as server:
            with (
                anyio.fail_after(30),
                pytest.raises(ToolTimeoutError, match="'slow' of MCP server 'deaf' took over 1 s"),
            ):
                await server.call(ToolInvocation(name="slow"))

    with _hostile() as url:
        anyio.run(run, f"{url}/session")


@pytest.mark.parametrize(
    "sent", ["POST /mcp HTTP/1.1\r\nhost: a\r\n", "POST /mcp HTTP/1.1\r\nhost: a\r\ncontent-length: 99\r\n\r\n{"]
)
def test_a_request_that_does_not_arrive_whole_is_cut_off(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "REQUEST_SECONDS", 1)
    web = uvicorn.Server(serving.web_server(mcp_server(ToolRegistry(), name="none"), "127.0.0.1"))

    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(web.serve, [listening])
                async with await anyio.connect_tcp(*listening.getsockname()) as stream:

                    async def drip() -> None:
                        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                            while True:
                                await stream.send(b"x")
                                await anyio.sleep(0.1)

                    await stream.send(sent.encode())
                    tasks.start_soon(drip)
                    with anyio.fail_after(30), suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                        while True:
                            await stream.receive()
                web.should_exit = True

    anyio.run(run)
