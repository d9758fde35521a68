"""Clients that go away, read slowly or stop reading: the upstream is not read for them, and slow ones get all."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from asking import ASKS, BEGUN, ENDED, ask, chunk, one
from gateways import gateway
from rawserver import head, raw
from websockets.sync.client import connect


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "in the answer"])
def test_a_client_that_goes_away_is_not_asked_for(begun: bool, stream: bool) -> None:  # noqa: FBT001 - a parameter of the test
    said = [head(), BEGUN] if begun else []
    path, body = ASKS["openai-chat"]
    with raw(lambda: iter(said), hang=True) as upstream, gateway(one(upstream)) as url:
        host, port = url.removeprefix("http://").split(":")
        content = json.dumps({**body, "stream": stream}).encode()
        client = socket.create_connection((host, int(port)))
        request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"
        client.sendall(request.encode() + content)
        assert upstream.asked.wait(10)
        if begun and stream:
            assert client.recv(1000)
        assert not upstream.left.is_set()
        client.close()
        assert upstream.left.wait(10)


def _much() -> Iterator[bytes]:
    yield head()
    piece = chunk(content="x" * 60_000)
    for _ in range(3000):
        yield piece


def test_a_slow_client_slows_the_upstream() -> None:
    path, body = ASKS["openai-chat"]
    with raw(_much) as upstream, gateway(one(upstream, max_answer=2**40)) as url:
        host, port = url.removeprefix("http://").split(":")
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        content = json.dumps({**body, "stream": True}).encode()
        request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"
        client.sendall(request.encode() + content)
        assert client.recv(10)
        before = -1
        while before != upstream.sent:  # until nothing moves any more
            before = upstream.sent
            time.sleep(0.5)
        assert before < 60_000_000  # of 180 MB; what the sockets of both legs hold
        assert not upstream.left.is_set()
        client.close()
        assert upstream.left.wait(10)


@pytest.mark.parametrize("way", ["stream", "whole", "socket"])
def test_a_client_that_stops_reading_is_cut_off(way: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "toolfmt.gateway")
    path, body = ASKS["openai-chat"]
    content = json.dumps({**body, "stream": way == "stream"}).encode()
    request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"

    def whole() -> Iterator[bytes]:
        yield head(b"200 OK", b"application/json")
        yield json.dumps({"choices": [{"index": 0, "message": {"content": "x" * 30_000_000}}]}).encode()

    with (
        raw(whole if way == "whole" else _much) as upstream,
        gateway(one(upstream, max_answer=2**40).model_copy(update={"body_timeout": 0.5})) as url,
        socket.socket() as client,
    ):
        host, port = url.removeprefix("http://").split(":")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((host, int(port)))
        if way == "socket":
            plain: Any = {"compression": None, "ping_interval": None, "close_timeout": 0}
            with connect(f"ws://{host}:{port}/v1/responses", sock=client, max_queue=1, **plain) as connection:
                connection.send(json.dumps({"type": "response.create", "model": "m", "input": "Hi"}))
                assert upstream.left.wait(30)
        else:
            client.sendall(request.encode() + content)
            assert client.recv(10)
            if way == "stream":
                assert upstream.left.wait(30)
            else:
                assert upstream.asked.wait(30)
                time.sleep(2)  # longer than `body_timeout`
        assert way == "socket" or _left(client) < 30_000_000
    assert way == "whole" or "stopped reading" in caplog.text


def _left(client: socket.socket) -> int:
    """Read what is left of a connection that was cut off; its size."""
    size = 0
    with suppress(ConnectionError):
        while piece := client.recv(2**20):
            size += len(piece)
    return size


def test_a_client_that_reads_slowly_gets_its_whole_answer() -> None:
    path, body = ASKS["openai-chat"]

    def answer() -> Iterator[bytes]:
        yield head()
        for _ in range(200):
            yield chunk(content="x" * 60_000)
        yield ENDED

    with (
        raw(answer) as upstream,
        gateway(one(upstream, max_answer=2**40).model_copy(update={"body_timeout": 0.5})) as url,
        socket.socket() as client,
    ):
        host, port = url.removeprefix("http://").split(":")
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.connect((host, int(port)))
        content = json.dumps({**body, "stream": True}).encode()
        request = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(content)}\r\n\r\n"
        client.sendall(request.encode() + content)
        found = bytearray()
        while not found.endswith(b"data: [DONE]\n\n\r\n0\r\n\r\n"):
            piece = client.recv(150_000)
            assert piece, "the connection was cut off"
            found += piece
            time.sleep(0.02)
    assert found.count(b"x" * 50_000) == 200


def test_an_endless_answer_is_bounded() -> None:
    with raw(_much) as upstream, gateway(one(upstream)) as url:
        response = ask("anthropic", url, stream=True)
        assert "more than 1000000 bytes" in response.text
        assert upstream.left.wait(10)
    assert len(response.content) < 4_000_000
