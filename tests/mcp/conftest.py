"""Servers as they are met: in this process, as a program, on the web, and on the web as most still are."""

from __future__ import annotations

import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from toolfmt.mcp import McpServer, connect

SERVERS = Path(__file__).parent / "servers"
KITCHEN = str(SERVERS / "kitchen.py")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def program() -> list[str]:
    """The command of a server over stdin and stdout."""
    return [sys.executable, KITCHEN, "stdio"]


@pytest.fixture(scope="session")
def raw() -> Callable[[str], list[str]]:
    """Give the command of a server that says what it is told, as JSON."""
    return lambda reported: [sys.executable, str(SERVERS / "raw.py"), reported]


@contextmanager
def _web(port: int, *words: str) -> Iterator[str]:
    process = subprocess.Popen([sys.executable, KITCHEN, "http", str(port), *words])
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)  # until it listens
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    def find() -> int:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return int(one.getsockname()[1])

    return find


@pytest.fixture(scope="session")
def start_web() -> Any:
    """Start a web server for as long as a context lasts."""
    return _web


@pytest.fixture(scope="session")
def web(free_port: Callable[[], int]) -> Iterator[str]:
    with _web(free_port()) as url:
        yield url


@pytest.fixture(scope="session")
def older_web(free_port: Callable[[], int]) -> Iterator[str]:
    with _web(free_port(), "handshake") as url:
        yield url


@pytest.fixture(scope="session")
def kitchen() -> Any:
    """The same server as an object of the SDK."""
    return runpy.run_path(KITCHEN, run_name="kitchen")["server"]


@pytest.fixture(scope="session", params=["kitchen", "program", "web", "older_web"])
def server(request: pytest.FixtureRequest) -> Iterator[McpServer]:
    """The same server, connected to in each way that there is; tests call it from their own event loops."""
    with connect(request.getfixturevalue(request.param), name="kitchen") as opened:
        yield opened
