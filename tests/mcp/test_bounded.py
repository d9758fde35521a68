"""What strangers send over MCP is bounded: lines of a program, bodies of a client."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import anyio
import httpx2
import pytest

from toolfmt import ToolRegistry
from toolfmt.mcp import bounded, connect, mcp_server
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
