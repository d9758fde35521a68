"""A server that sends bytes as a script says, whatever HTTP says of them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread

HEAD = b"HTTP/1.1 %b\r\ncontent-type: %b\r\nconnection: close\r\n%b\r\n"


def head(status: bytes = b"200 OK", media: bytes = b"text/event-stream", *headers: bytes) -> bytes:
    """Write the head of an answer that ends with its connection."""
    return HEAD % (status, media, b"".join(one + b"\r\n" for one in headers))


@dataclass
class Raw:
    """What the server has seen."""

    url: str
    sent: int = 0
    """Bytes that were taken from it."""
    left: Event = field(default_factory=Event)
    """Set when a client hung up."""
    asked: Event = field(default_factory=Event)


@contextmanager
def raw(script: Callable[[], Iterator[bytes]], *, hang: bool = False) -> Iterator[Raw]:
    """Answer each connection with what a script gives, then close it; `hang`: wait instead until the client does."""
    listener = socket.create_server(("127.0.0.1", 0))
    seen = Raw(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                _read(connection)
                seen.asked.set()
                for piece in script():
                    connection.sendall(piece)
                    seen.sent += len(piece)
                if hang and not connection.recv(1):
                    seen.left.set()
            except OSError:
                seen.left.set()

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            Thread(target=answer, args=(connection,), daemon=True).start()

    Thread(target=serve, daemon=True).start()
    try:
        yield seen
    finally:
        listener.close()


def _read(connection: socket.socket) -> None:
    """Read a whole request: what is closed with bytes unread is reset.

    Raises ConnectionError if its client hangs up before.
    """
    found = b""
    while b"\r\n\r\n" not in found:
        found += _piece(connection)
    headers, _, body = found.partition(b"\r\n\r\n")
    size = next(
        (int(line.split(b":")[1]) for line in headers.split(b"\r\n") if line.lower()[:15] == b"content-length:"), 0
    )
    while len(body) < size:
        body += _piece(connection)


def _piece(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ConnectionError
    return piece
