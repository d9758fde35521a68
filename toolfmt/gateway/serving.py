"""One request of a face: its body, its answer, whole or streamed, its errors in the API's own words.

If the client disconnects, its request to the back is cancelled.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.gateway.access import Access, Caller
from toolfmt.gateway.apis import Face
from toolfmt.gateway.config import Config
from toolfmt.gateway.failing import ExchangeError, refusal
from toolfmt.gateway.handling import NOTICES, GatewayAnswer, Handler
from toolfmt.gateway.journal import DISCONNECTED, GONE, Entry
from toolfmt.gateway.metrics import Metrics
from toolfmt.gateway.threads import decode, encode, worked
from toolfmt.model import JsonObject
from toolfmt.transcripts.convert_answer import error_status, write_error
from toolfmt.transcripts.sse import end_text, event_text

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


LOSSES: Final = "x-toolfmt-losses"
"""The header that says what the request's conversion lost, as codes with their number."""
_JSON: Final = "application/json"
_EVENTS: Final = "text/event-stream"


class FaceServer:
    """Serves one path of a face."""

    def __init__(self, face: Face, handler: Handler, access: Access, metrics: Metrics) -> None:
        self._face = face
        self._handler = handler
        self._access = access
        self._metrics = metrics

    async def serve(self, request: Request) -> Response:
        """Answer one request."""
        face, entry = self._face, Entry.of(request)
        entry.face = face.format
        tracing = self._handler.tracing
        async with AsyncExitStack() as stack:
            note: Callable[[int], None] = tracing.received(request, stack) if tracing else lambda _: None
            try:
                caller = self._access.admit(request, stack)
                body, size = await read_body(request, self._handler.config)
                asking = partial(self._answered, request, body, size, stack, caller)
                answered, pieces, first = await unless_gone(request, asking)
            except Exception as error:
                failed, gone = _failure(error), isinstance(error, ClientDisconnect)
                status = GONE if gone else error_status(failed.failure, face.format)
                note(status)
                headers = {face.ident: entry.request, **failed.headers}
                entry.request, entry.error = headers[face.ident], failed.logged
                if not gone and failed is not error:
                    raise
                return json_response(write_error(failed.failure, face.format), status, headers)
            note(200)
            headers = {face.ident: entry.request, **answered.headers, **_lost(answered)}
            entry.request = headers[face.ident]
            if answered.notices:
                headers[NOTICES] = _noticed(answered)
            if pieces is None:
                entry.usage = answered.info and answered.info.usage
                return json_response(answered.value, 200, headers)
            entry.stream = True
            stack.enter_context(self._metrics.streams.track_inprogress())
            headers["cache-control"] = "no-cache"
            stream = AnswerStream(_noted(first, pieces, answered, entry), headers=headers, media_type=face.media)
            stream.held = stack.pop_all()
            return stream

    async def _answered(
        self, request: Request, body: JsonObject, size: int, stack: AsyncExitStack, caller: Caller
    ) -> tuple[GatewayAnswer, AsyncGenerator[str] | None, str]:
        """Get an answer, and the first piece of a stream: an error before it has an HTTP status."""
        face = self._face
        answered = await self._handler.answer(body, _given(face, request, body), stack, caller, size)
        if answered.events is None:
            return answered, None, ""
        listed = face.listed and request.query_params.get("alt") != "sse"
        wants = NOTICES in request.headers and face.media == _EVENTS and not listed
        pieces = _frames(face, answered, answered.events, whole=listed, noticed=wants)
        stack.push_async_callback(pieces.aclose)
        return answered, pieces, await anext(pieces, "")


def _failure(error: Exception) -> ExchangeError:
    if isinstance(error, ExchangeError):
        return error
    if isinstance(error, ClientDisconnect):
        return refusal("server", DISCONNECTED)
    return refusal("server", f"the gateway failed: {type(error).__name__}")


def json_response(value: object, status: int, headers: Mapping[str, str]) -> Response:
    """Make an answer of JSON."""
    return Response(encode(value), status, dict(headers), _JSON)


def _given(face: Face, request: Request, body: JsonObject) -> JsonObject:
    """Return the settings that a request's path says."""
    given: JsonObject = {} if face.streams is None else {"stream": face.streams}
    if face.streamed_by_default and "stream" not in body:
        given["stream"] = True
    return given | ({"model": name} if (name := request.path_params.get("model")) else {})


async def _noted(first: str, pieces: AsyncIterator[str], answered: GatewayAnswer, entry: Entry) -> AsyncGenerator[str]:
    """Yield the pieces of a stream, and note how it ended."""
    yield first
    async for piece in pieces:
        yield piece
    entry.error = answered.error
    entry.usage = answered.info and answered.info.usage


async def _frames(
    face: Face, answered: GatewayAnswer, batches: AsyncIterator[list[JsonObject]], *, whole: bool, noticed: bool
) -> AsyncGenerator[str]:
    """Write a stream's events as the face sends them; `whole` as one JSON list."""
    if whole:
        listed = [event async for batch in batches for event in batch]
        yield _text(listed)
        return
    async for batch in batches:
        yield "".join(event_text(event, face.format, write=_text) for event in batch)
    if noticed and answered.notices:
        yield f": {NOTICES}: {_noticed(answered)}\n\n"
    if end := end_text(face.format):
        yield end


async def read_body(request: Request, config: Config) -> tuple[JsonObject, int]:
    """Read the request's JSON object and its size in bytes, within the limits; raises `ExchangeError`."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise refusal("invalid", f"the body is sent as {encoding}: send it without Content-Encoding")
    found = bytearray()
    try:
        async with asyncio.timeout(config.body_timeout):
            async for piece in request.stream():
                found += piece
                if len(found) > config.max_body:
                    raise refusal("too_large", f"the body has more than {config.max_body} bytes")
    except TimeoutError:
        raise refusal("invalid", f"the body did not arrive within {config.body_timeout:g} seconds") from None
    try:
        size, data = len(found), bytes(found)
        found.clear()
        value = await worked(size, partial(decode, data, config.max_values))
    except ParseError as error:
        raise refusal("invalid", "the body cannot be read as JSON", error) from None
    if not jsontext.is_object(value):
        raise refusal("invalid", "the body is not a JSON object")
    return value, size


def _text(value: object) -> str:
    return encode(value).decode()


def _noticed(answered: GatewayAnswer) -> str:
    return ", ".join(f"{name}={value}" for name, value in answered.notices.items())


def _lost(answered: GatewayAnswer) -> dict[str, str]:
    counts = Counter(loss.code for loss in answered.losses)
    return {LOSSES: ", ".join(f"{code}={count}" for code, count in sorted(counts.items()))} if counts else {}


T = TypeVar("T")


async def unless_gone(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Work for a client until it disconnects; the request's body has been read.

    Raises `ClientDisconnect` if it does, and `ExchangeError` as `work` does.
    """
    gone = False
    working = asyncio.current_task()
    assert working is not None  # noqa: S101 - a request has its own

    async def watch() -> None:
        nonlocal gone
        while (await request.receive())["type"] != "http.disconnect":
            pass
        gone = True
        working.cancel()

    watching = asyncio.create_task(watch())  # a tenth of what a task group costs
    try:
        return await work()
    except asyncio.CancelledError:
        if gone and not working.uncancel():
            raise ClientDisconnect from None
        raise
    finally:
        watching.cancel()


class AnswerStream(StreamingResponse):
    """A streamed answer whose resources are released when it ends for any reason."""

    held: AsyncExitStack | None = None
    """What is open until the stream has ended."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it as fast as the client reads; the back is read no faster."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            if self.held is not None:
                with anyio.CancelScope(shield=True):
                    await self.held.aclose()
