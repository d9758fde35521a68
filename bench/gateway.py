"""Measure what a gateway adds: time, processor time, memory; `toolfmt serve` and others in one run.

    python -m bench.gateway                                    # only toolfmt, and a proxy that passes bytes on
    python -m bench.gateway --beside litellm=VENV/bin/litellm --beside llm-rosetta=VENV/bin/llm-rosetta-gateway
    python -m bench.gateway ... --write && python docs/generate.py

One upstream in a separate process answers immediately with 20 events. Each request goes to it directly and through
every gateway in turn, so that other load on the machine affects all. Throughput is requests for each second of the
gateway's processor time, which one core would serve. Everything runs on loopback, and ends by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench.gateway_peers import FLOOR, PEERS

RESULT = Path(__file__).resolve().with_suffix(".json")
EVENTS = 20
WARM = 20
"""The number of first requests to a server that are not counted."""
STREAMS = (1, 16, 256)
FACES = {"chat": "/v1/chat/completions", "anthropic": "/v1/messages"}
"""The APIs that the client uses; the upstream speaks Chat Completions."""
TICKS = os.sysconf("SC_CLK_TCK")
END = b"\r\n0\r\n\r\n"


@dataclass
class Server:
    """A server to measure; `process` is None for the upstream itself."""

    name: str
    port: int
    process: subprocess.Popen[Any] | None = None

    def seconds(self) -> float:
        """Return the processor time that it has used."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory(self) -> float:
        """Return its memory in MB."""
        assert self.process is not None
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def _chunk(finish: str | None, **delta: str) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    made = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(made).encode() + b"\n\n"


FIRST = _chunk(None, role="assistant", content="It rains.")
REST = _chunk(None, content=" It rains.") * (EVENTS - 2) + _chunk("stop") + b"data: [DONE]\n\n"
MESSAGE = {"role": "assistant", "content": "It rains." * EVENTS}
USAGE = {"prompt_tokens": 9, "completion_tokens": 60, "total_tokens": 69}
CHOICE = {"index": 0, "message": MESSAGE, "finish_reason": "stop"}
WHOLE = json.dumps(
    {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE], "usage": USAGE}
).encode()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection as the upstream."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = next((int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"content-length:")), 0)
            body = await reader.readexactly(size)
            if b'"stream":true' not in body.replace(b" ", b""):
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
                writer.write(b"content-length: %d\r\n\r\n%b" % (len(WHOLE), WHOLE))
                continue
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
            writer.write(b"%x\r\n%b\r\n" % (len(FIRST), FIRST))
            if b"wait for me" in body:
                await reader.read()
                return
            writer.write(b"%x\r\n%b" % (len(REST), REST) + END)
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


async def _serve(port: int) -> None:
    async with await asyncio.start_server(_answer, "127.0.0.1", port, backlog=2048) as server:
        await server.serve_forever()


def _request(path: str, *, stream: bool, text: str = "Weather?") -> bytes:
    body = json.dumps(
        {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": 99, "stream": stream}
    ).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nauthorization: Bearer none\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


class Client:
    """One connection."""

    def __init__(self, server: Server) -> None:
        """Ask a server."""
        self._server, self._ended = server, False

    async def open(self) -> Client:
        """Open it."""
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._server.port, limit=2**20)
        return self

    async def ask(self, request: bytes) -> tuple[float, float]:
        """Send one request; return the milliseconds until the first data and until the end."""
        began = time.perf_counter()
        if self._ended:
            self.close()
            await self.open()
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], (self._server.name, head)
        self._ended = b"connection: close" in head.lower()
        sizes = [line[15:] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if sizes:
            await self._reader.readexactly(int(sizes[0]))
            first = time.perf_counter()
        else:
            await self._reader.readuntil(b"data: ")
            first = time.perf_counter()
            await self._reader.readuntil(END)
        return 1000 * (first - began), 1000 * (time.perf_counter() - began)

    async def begin(self, request: bytes) -> None:
        """Request a stream and wait only for its beginning."""
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head[:20], (self._server.name, head, await self._reader.read(1000))
        await self._reader.readuntil(b"data: ")

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


async def latencies(servers: list[Server], count: int, *, stream: bool, face: str) -> dict[str, list[Any]]:
    """Send requests to the servers in turn, one at a time."""
    asked = {one.name: _request(FACES["chat" if one.process is None else face], stream=stream) for one in servers}
    found: dict[str, list[Any]] = {one.name: [] for one in servers}
    for at in range(count + WARM):
        for one in servers:
            client = await Client(one).open()
            taken = await client.ask(asked[one.name])
            client.close()
            if at >= WARM:
                found[one.name].append(taken)
    return found


async def throughput(server: Server, streams: int, count: int, face: str) -> tuple[float, float]:
    """Request many streams at once; return requests for each second of wall time and of processor time."""
    request, clients = _request(FACES[face], stream=True), [await Client(server).open() for _ in range(streams)]

    async def many(client: Client) -> None:
        for _ in range(max(1, count // streams)):
            await client.ask(request)

    done, began, used = max(1, count // streams) * streams, time.perf_counter(), server.seconds()
    await asyncio.gather(*map(many, clients))
    wall, spent = time.perf_counter() - began, server.seconds() - used
    for client in clients:
        client.close()
    return done / wall, done / max(spent, 1 / TICKS)


async def held(server: Server, count: int) -> float:
    """Hold idle streams open; return the KB of memory for each."""
    before, request = server.memory(), _request(FACES["chat"], stream=True, text="wait for me")
    clients: list[Client] = []
    for start in range(0, count, STREAMS[1]):
        batch = [await Client(server).open() for _ in range(min(STREAMS[1], count - start))]
        await asyncio.gather(*(client.begin(request) for client in batch))
        clients += batch
    used = server.memory() - before
    for client in clients:
        client.close()
    await asyncio.sleep(1)
    return 1024 * used / count


async def grown(server: Server, count: int) -> float:
    """Return the MB that many requests add, after a tenth of them as a warm-up."""
    await throughput(server, 16, count // 10, "chat")
    before = server.memory()
    await throughput(server, 16, count, "chat")
    return server.memory() - before


async def measured(servers: list[Server], count: int, slow: int, long: int) -> dict[str, Any]:
    """Measure every gateway."""
    upstream, *gateways = servers
    found: dict[str, Any] = {one.name: {} for one in gateways}
    for one in gateways:
        await throughput(one, 16, 64, "chat")  # so that everything is loaded
        found[one.name]["held"] = await held(one, slow)
    for face in FACES:
        speaking = [one for one in servers if face == "chat" or one.name != FLOOR]
        for stream in (False, True):
            taken = await latencies(speaking, count, stream=stream, face=face)
            for one in speaking[1:]:
                for at, what in _kinds(stream):
                    mine, bare = (sorted(row[at] for row in taken[name]) for name in (one.name, upstream.name))
                    found[one.name][f"{face}, {what}"] = {
                        "p50": median(mine) - median(bare),
                        "p99": quantiles(mine, n=100)[98] - quantiles(bare, n=100)[98],
                    }
        for one in speaking[1:]:
            for streams in STREAMS:
                wall, core = await throughput(one, streams, max(count, streams), face)
                found[one.name][f"{face}, {streams} streams"] = {"a second": wall, "a core": core}
    found[gateways[0].name]["grown"] = await grown(gateways[0], long)
    for one in gateways:
        found[one.name]["memory"] = one.memory()
    return found


def _kinds(stream: bool) -> list[tuple[int, str]]:  # noqa: FBT001 - one of two
    return [(0, "first byte"), (1, "whole stream")] if stream else [(1, "whole answer")]


def _free() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


@contextmanager
def running(name: str, path: str, *command: str, **environment: str) -> Iterator[Server]:
    """Run a server while the context is open; its port is added to the command."""
    port = _free()
    done = [part.replace("PORT", str(port)) for part in command]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(done, env={**os.environ, **environment}, **quiet) as process:  # noqa: S603 - a server of this run
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5).close()
                    break
                except urllib.error.HTTPError:
                    break
                except OSError:
                    assert process.poll() is None, f"{name} ended at once: {done}"
                    time.sleep(0.2)
            yield Server(name, port, process)
        finally:
            process.terminate()


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=PROGRAM", help=f"one of {[*PEERS]}")
    parser.add_argument("--requests", type=int, default=200, help="requests of each measurement")
    parser.add_argument("--slow", type=int, default=1000, help="streams that are held open")
    parser.add_argument("--long", type=int, default=2000, help="requests over which the memory of ours may not grow")
    parser.add_argument("--write", action="store_true", help="keep the figures for the documentation")
    parser.add_argument("--upstream", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.upstream:
        asyncio.run(_serve(given.upstream))
        return
    with ExitStack() as stack:
        itself = running("upstream", "/", sys.executable, "-m", "bench.gateway", "--upstream", "PORT")
        upstream = stack.enter_context(itself)
        url, upstream.process = f"http://127.0.0.1:{upstream.port}/v1", None
        ours = [sys.executable, "-m", "toolfmt", "serve", "--upstream", url, "--port", "PORT"]
        floor = [sys.executable, "-m", "bench.gateway_peers", "PORT", url]
        servers = [upstream, stack.enter_context(running("toolfmt", "/health", *ours))]
        servers.append(stack.enter_context(running(FLOOR, "/", *floor)))
        for name, _, program in (one.partition("=") for one in given.beside):
            start, path = PEERS[name]
            command, variables = start(program, url, Path(stack.enter_context(tempfile.TemporaryDirectory())))
            servers.append(stack.enter_context(running(name, path, *command, **variables)))
        found = asyncio.run(measured(servers, given.requests, given.slow, given.long))
    found = {"python": platform.python_version(), "slow": given.slow, "long": given.long, "gateways": found}
    print(json.dumps(found, indent=2))
    if given.write:
        RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
