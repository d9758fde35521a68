"""Requests whose length is said twice: a proxy before the gateway may see another request where the first one ends."""

from __future__ import annotations

import json
import socket
from contextlib import suppress

import pytest
from asking import ASKS
from gateways import gateway
from rawserver import head, raw

from toolfmt.gateway.config import Back, Config, ModelRoute
from toolfmt.transcripts.answering.failures import read_error

AFTER = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.mark.parametrize("path", [*(path.format(verb="generateContent") for path, _ in ASKS.values()), "/health"])
def test_a_request_with_two_lengths_is_refused_and_nothing_after_it_is_read(path: str) -> None:
    lengths = b"content-length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (5 + len(AFTER))
    with raw(lambda: iter([head()])) as upstream:
        back = Back(url=upstream.url)
        config = Config(backs={"it": back}, routes=(ModelRoute(backs=("it",)),))
        with gateway(config) as url, socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
            client.settimeout(30)
            client.sendall(f"POST {path} HTTP/1.1\r\nhost: x\r\n".encode() + lengths + AFTER)
            found = b"".join(iter(lambda: client.recv(2**16), b""))
        assert not upstream.asked.is_set()
    assert (found[:13], found.count(b"HTTP/1.1")) == (b"HTTP/1.1 400 ", 1)
    assert b"connection: close" in found.lower()


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("/v1/messages", {"type", "error"}),
        ("/v1/responses", {"error"}),
        ("/mistral/v1/chat/completions", {"object", "message"}),
    ],
)
def test_a_broken_body_after_its_head_is_an_error_of_the_clients_api(path: str, keys: set[str]) -> None:
    config = Config(backs={"it": Back(url="http://127.0.0.1:9")}, routes=(ModelRoute(backs=("it",)),))
    with gateway(config) as url, socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
        client.settimeout(30)
        head = "host: x\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n"
        client.sendall(f"POST {path} HTTP/1.1\r\n{head}".encode())
        assert client.recv(2**16)
        client.sendall(b"no size\r\n\r\n")
        found = b"".join(iter(lambda: client.recv(2**16), b""))
    assert json.loads(found.rpartition(b"\r\n\r\n")[2]).keys() >= keys


@pytest.mark.parametrize(
    ("sent", "status", "keys"),
    [
        (b"hello\r\n\r\n", 400, {"error"}),
        (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", 400, {"error"}),  # TLS
        (b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n", 400, {"type", "error"}),
        (b"POST /api/chat?x=1 HTTP/1.1\r\nhost: x\r\na b: c\r\n\r\n", 400, {"error"}),
        (b"POST /v1beta/models/m:generateContent HTTP/1.1\r\n\r\n", 400, {"error"}),  # no host
        (b"GET /v1/models HTTP/1.1\r\nanthropic-version: 1\r\nhost: x\r\n: c\r\n\r\n", 400, {"type", "error"}),
        (b"POST /v1/responses HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n", 501, {"error"}),
        (b"POST /v1/responses HTTP/1.1\r\nhost: x\r\nlong: " + b"x" * 2**16, 431, {"error"}),
    ],
)
def test_what_is_not_http_is_an_error_of_the_clients_api(sent: bytes, status: int, keys: set[str]) -> None:
    config = Config(backs={"it": Back(url="http://127.0.0.1:9")}, routes=(ModelRoute(backs=("it",)),))
    with gateway(config) as url, socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as client:
        client.settimeout(30)
        client.sendall(AFTER)
        assert b"".join(iter(lambda: client.recv(1), b"}"))
        with suppress(ConnectionError):  # closed before all is sent
            for at in range(0, len(sent), 2**14):
                client.sendall(sent[at : at + 2**14])
        found = b""
        with suppress(ConnectionResetError):
            found = b"".join(iter(lambda: client.recv(2**16), b""))
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"application/json" in head
    assert json.loads(body).keys() == keys
    assert "is not HTTP" in read_error(json.loads(body)).message
