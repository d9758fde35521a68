"""Requests whose length is said twice: a proxy before the gateway may see another request where the first one ends."""

from __future__ import annotations

import socket

import pytest
from asking import ASKS
from gateways import gateway
from rawserver import head, raw

from toolfmt.gateway.config import Back, Config, ModelRoute

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
