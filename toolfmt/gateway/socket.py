"""Responses over a WebSocket, as openai's `client.responses.connect()` speaks it: many answers on one connection.

client    {"type": "response.create", "model": "m", "input": "Weather?"}
server    {"type": "response.created", ...} ... {"type": "response.completed", ...}
          {"type": "error", "status": 404, "error": {"type": ..., "message": ...}}

One answer is given after the other. Words and shapes are those of openai 3.54, types/responses.
"""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Final

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.gateway.access import Access
from toolfmt.gateway.failing import ExchangeError, refusal
from toolfmt.gateway.handling import Handler
from toolfmt.model import JsonObject
from toolfmt.transcripts.convert_answer import error_status, write_error

if TYPE_CHECKING:
    from anyio import CancelScope
    from anyio.streams.memory import MemoryObjectSendStream

log: Final = logging.getLogger("toolfmt.gateway")
CREATE: Final = "response.create"


class SocketServer:
    """Serves the requests of one handler over WebSockets."""

    def __init__(self, handler: Handler, access: Access) -> None:
        self._handler = handler
        self._access = access

    async def serve(self, socket: WebSocket) -> None:
        """Answer the requests of one connection until the client ends it."""
        try:
            self._access.check(socket)
        except ExchangeError:
            await socket.close(1008)
            return
        await socket.accept()
        asked, texts = anyio.create_memory_object_stream[str](1)
        with asked, texts:
            async with anyio.create_task_group() as group:
                group.start_soon(self._listen, socket, asked, group.cancel_scope)
                with suppress(WebSocketDisconnect):
                    async for text in texts:
                        await self._answer(socket, text)
                group.cancel_scope.cancel()

    async def _listen(self, socket: WebSocket, asked: MemoryObjectSendStream[str], scope: CancelScope) -> None:
        """Receive the client's messages one by one; when it disconnects, its request to the back is cancelled."""
        with suppress(WebSocketDisconnect, KeyError):  # KeyError: a message of bytes
            while True:
                await asked.send(await socket.receive_text())
        scope.cancel()

    async def _answer(self, socket: WebSocket, text: str) -> None:
        async with AsyncExitStack() as stack:
            try:
                body = self._request(text)
                caller = self._access.admit(socket, stack)
                answered = await self._handler.answer(body, {"stream": True}, stack, caller)
                assert answered.events is not None  # noqa: S101 - a stream was asked for
                async for batch in answered.events:
                    for event in batch:
                        await socket.send_text(jsontext.dumps(event, compact=True))
            except ExchangeError as error:
                status = error_status(error.failure, self._handler.format)
                failed: JsonObject = {"type": "error", "status": status}
                failed |= write_error(error.failure, self._handler.format)
                await socket.send_text(jsontext.dumps(failed, compact=True))
                log.info("%s", jsontext.dumps({"face": "websocket", "status": status, "error": error.logged}))
            else:
                line = {"face": "websocket", "status": 200, "model": answered.model, "back": answered.back}
                log.info("%s", jsontext.dumps(line | ({"error": answered.error} if answered.error else {})))

    def _request(self, text: str) -> JsonObject:
        most = self._handler.config.max_body
        if len(text) > most:
            raise refusal("too_large", f"the message has more than {most} bytes")
        try:
            value = jsontext.loads(text)
        except ParseError as error:
            raise refusal("invalid", "the message is not JSON", error) from None
        if not jsontext.is_object(value) or value.get("type") != CREATE:
            raise refusal("invalid", f"a message is an object of the type {CREATE}")
        return {key: one for key, one in value.items() if key != "type"}
