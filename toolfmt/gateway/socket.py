"""Responses over a WebSocket, as openai's `client.responses.connect()` speaks it: many answers on one connection.

client    {"type": "response.create", "model": "m", "input": "Weather?"}
server    {"type": "response.created", ...} ... {"type": "response.completed", ...}
          {"type": "error", "status": 404, "error": {"type": ..., "message": ...}}

One answer is given after the other. Words and shapes are those of openai 3.54, types/responses.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.gateway.access import Access
from toolfmt.gateway.connections import ENDING
from toolfmt.gateway.failing import ExchangeError, refusal
from toolfmt.gateway.handling import Handler
from toolfmt.gateway.journal import DISCONNECTED, Entry
from toolfmt.gateway.metrics import Metrics
from toolfmt.gateway.threads import decode, encode, worked
from toolfmt.model import JsonObject
from toolfmt.transcripts.convert_answer import error_status, write_error

if TYPE_CHECKING:
    from anyio import CancelScope
    from anyio.streams.memory import MemoryObjectSendStream


CREATE: Final = "response.create"
_WAITING: Final = 8
"""Requests that may wait on one connection while another is answered."""
_NO_TEXT, _BUSY, _FORBIDDEN = 1003, 1013, 1008
"""Codes that close a WebSocket."""


class SocketServer:
    """Serves the requests of one handler over WebSockets."""

    def __init__(self, handler: Handler, access: Access, metrics: Metrics) -> None:
        self._handler = handler
        self._access = access
        self._metrics = metrics

    async def serve(self, socket: WebSocket) -> None:
        """Answer the requests of one connection until the client or the server ends it."""
        try:
            self._access.check(socket)
        except ExchangeError:
            await socket.close(_FORBIDDEN)
            return
        await socket.accept()
        asked, texts = anyio.create_memory_object_stream[str](_WAITING)
        with asked, texts:
            async with anyio.create_task_group() as group:
                group.start_soon(self._listen, socket, asked, group.cancel_scope)
                with suppress(WebSocketDisconnect):
                    async for text in texts:
                        await self._answer(socket, text)
                    await socket.close(ENDING)
                group.cancel_scope.cancel()

    async def _listen(self, socket: WebSocket, asked: MemoryObjectSendStream[str], scope: CancelScope) -> None:
        """Receive the client's messages; if it disconnects, its request to the back is cancelled."""
        while (message := await socket.receive())["type"] == "websocket.receive":
            try:
                asked.send_nowait(message["text"])
            except (KeyError, anyio.WouldBlock) as error:
                await socket.close(_NO_TEXT if isinstance(error, KeyError) else _BUSY)
                break
        if message.get("code") == ENDING:
            asked.close()  # the answer that is being given is the last one
        else:
            scope.cancel()

    async def _answer(self, socket: WebSocket, text: str) -> None:
        face = self._handler.format
        entry = socket.scope["toolfmt.entry"] = Entry(face=face, stream=True)
        entry.begin(200)
        entry.error = DISCONNECTED  # unless the answer comes to its end
        try:
            async with AsyncExitStack() as stack:
                try:
                    body = await _request(text, self._handler.config.max_values)
                    caller = self._access.admit(socket, stack)
                    answered = await self._handler.answer(body, {"stream": True}, stack, caller, len(text))
                    assert answered.events is not None  # noqa: S101 - a stream was asked for
                    async for batch in answered.events:
                        for event in batch:
                            await socket.send_text(encode(event).decode())
                    entry.error, entry.usage = answered.error, answered.info and answered.info.usage
                except ExchangeError as error:
                    entry.status, entry.error = error_status(error.failure, face), error.logged
                    failed: JsonObject = {"type": "error", "status": entry.status, **write_error(error.failure, face)}
                    await socket.send_text(encode(failed).decode())
        finally:
            entry.end(self._metrics.count)


async def _request(text: str, most: int) -> JsonObject:
    try:
        value = await worked(len(text), partial(decode, text, most))
    except ParseError as error:
        raise refusal("invalid", "the message cannot be read as JSON", error) from None
    if not jsontext.is_object(value) or value.get("type") != CREATE:
        raise refusal("invalid", f"a message is an object of the type {CREATE}")
    return {key: one for key, one in value.items() if key != "type"}
