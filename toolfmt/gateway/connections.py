"""Connections of clients: heads of requests arrive in time, are HTTP and say one length, and answers are read.

Answers over WebSockets end before the server does.
"""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from math import inf
from typing import Any, Final
from urllib.parse import unquote

import h11
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from toolfmt.connections import HeadsInTime
from toolfmt.gateway.apis import asked_format
from toolfmt.gateway.config import Config
from toolfmt.gateway.journal import UNREAD_ANSWER, Entry
from toolfmt.gateway.threads import encode
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.convert_answer import write_error

ENDING: Final = 1012
"""The code with which a server that ends closes a WebSocket."""
_LONGEST_HEAD: Final = 2**16
"""Bytes of a request's head."""
_LENGTHS: Final = frozenset({b"content-length", b"transfer-encoding"})
_ERRORS: Final = 2
"""Seconds in which clients that are cut off get their errors."""
_SILENT: Final = 60
"""Seconds after which a worker that does not answer is replaced: on a busy machine one takes long to start."""


def server_options(config: Config) -> dict[str, Any]:
    """Return uvicorn's options for a server of a configuration."""
    return {
        "http": HttpConnection,
        "ws": SocketConnection,
        "h11_max_incomplete_event_size": _LONGEST_HEAD,
        "ws_max_size": config.max_body,
        "timeout_keep_alive": config.body_timeout,
        "timeout_graceful_shutdown": config.drain_timeout + _ERRORS,
        "timeout_worker_healthcheck": _SILENT,
        "access_log": False,
        "log_config": None,
    }


class _Read(asyncio.Protocol):
    """A connection that is cut off if its client takes nothing of an answer in time; a slow one has all it needs."""

    config: Any
    loop: asyncio.AbstractEventLoop
    scope: Any = None
    transport: Any
    _watching: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let what the system does not take at once count as unread."""
        super().connection_made(transport)
        self.transport.set_write_buffer_limits(0)

    def pause_writing(self) -> None:
        """Begin to wait for the client."""
        super().pause_writing()
        self._watch(inf)

    def resume_writing(self) -> None:
        """End the wait: it has read everything."""
        if self._watching is not None:
            self._watching.cancel()
        super().resume_writing()

    def _watch(self, before: float) -> None:
        size = self.transport.get_write_buffer_size()
        if 0 < size < before:
            self._watching = self.loop.call_later(self.config.timeout_keep_alive, self._watch, size)
            return
        if self.scope is not None and "toolfmt.entry" in self.scope:
            entry: Entry = self.scope["toolfmt.entry"]
            entry.error = UNREAD_ANSWER
        self.transport.abort()


class _Framing(h11.Connection):
    """Refuses a request that says its length twice: what is before the gateway may read another one (RFC 9112, 6.3)."""

    def next_event(self) -> Any:
        """Return what arrived next; raises `RemoteProtocolError`, after which the connection is closed."""
        event = super().next_event()
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= _LENGTHS:
            raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
        return event


class HttpConnection(_Read, HeadsInTime):
    """A connection that is closed if the head of a request is not complete in time."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = _Framing(h11.SERVER, self.config.h11_max_incomplete_event_size)
        self._head = b""

    def data_received(self, data: bytes) -> None:
        """Read bytes; those of a head are kept until it is complete."""
        if self.conn.their_state is h11.IDLE:
            self._head += data
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._head = b""

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP with an error of the API that its path, as far as there is one, belongs to."""
        error = sys.exception()
        said, hint = str(error).partition(":")[0] or msg, getattr(error, "error_status_hint", 400)
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:  # else an answer has begun
            failure = read_error(f"the request is not HTTP as RFC 9112 has it: {said}", status=hint)
            content = encode(write_error(failure, self._asked_format()))
            headers = [("content-type", "application/json"), ("content-length", f"{len(content)}")]
            answer = h11.Response(
                status_code=hint, reason=HTTPStatus(hint).phrase, headers=[*headers, ("connection", "close")]
            )
            for event in (answer, h11.Data(data=content), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
        self.transport.close()

    def _asked_format(self) -> str:
        if not self._head:  # it was read, so the request's body is broken
            return asked_format(self.scope["path"], {name.decode("latin-1") for name, _ in self.scope["headers"]})
        first, *lines = self._head.decode("latin-1").split("\n")
        path = unquote((*first.split(), "", "")[1]).partition("?")[0]
        return asked_format(path, {line.partition(":")[0].strip().lower() for line in lines})


class SocketConnection(_Read, WebSocketsSansIOProtocol):
    """A WebSocket whose application closes it when the server ends, after the answer that it is giving."""

    def shutdown(self) -> None:
        """Tell the application that the server ends."""
        if self.handshake_complete and not self.close_sent:
            self.queue.put_nowait({"type": "websocket.disconnect", "code": ENDING})
        else:
            super().shutdown()
