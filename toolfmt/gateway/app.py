"""The server: faces as routes, keys, limits, errors in each API's own shape, one log line a request.

GET /health   the process lives        GET /ready   it takes requests        GET /metrics   for Prometheus
"""

from __future__ import annotations

import hmac
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.gateway.backs import Upstream
from toolfmt.gateway.exchange import FaceHandler, GatewayAnswer
from toolfmt.gateway.faces import FACES, MODELS, Face, asked_format
from toolfmt.gateway.failing import ExchangeError
from toolfmt.gateway.metrics import MEDIA, Metrics
from toolfmt.transcripts.answer_info import Failure
from toolfmt.transcripts.failures import error_status, read_error, write_error
from toolfmt.transcripts.streams.sse import end_text, event_text

if TYPE_CHECKING:
    from starlette.requests import Request

    from toolfmt.gateway.config import Config
    from toolfmt.model import JsonObject

log: Final = logging.getLogger("toolfmt.gateway")
LOSSES: Final = "x-toolfmt-losses"
"""The header that says what the request's conversion lost, as codes with their number."""
_KEYS: Final = ("x-api-key", "x-goog-api-key")
"""Headers that may hold a client's key, beside `Authorization: Bearer`."""
_JSON: Final = "application/json"


def make_app(config: Config, *, transport: httpx2.AsyncBaseTransport | None = None) -> Starlette:
    """Make the server's application; raises `ParseError` for a key that is not in the environment.

    `transport` replaces the network, for tests.
    """
    client = httpx2.AsyncClient(transport=transport, limits=httpx2.Limits(max_connections=None), trust_env=False)
    upstreams = {
        name: Upstream(back, max_answer=config.max_answer, client=client) for name, back in config.backs.items()
    }
    key, metrics = config.key, Metrics()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with client:
            app.state.ready = True
            yield
            app.state.ready = False

    routes = [
        Route(
            face.path,
            partial(_serve, face, FaceHandler(config, upstreams, face.format), config, key, metrics),
            methods=["POST"],
        )
        for face in FACES
    ]
    names = sorted(route.model for route in config.routes if "*" not in route.model)
    routes += [Route(path, _constant(write(names), key), methods=["GET"]) for path, write in MODELS.items()]
    routes.append(Route("/health", _constant({"status": "ok"}, None), methods=["GET"]))
    routes.append(Route("/ready", _ready, methods=["GET"]))
    routes.append(Route("/metrics", partial(_measured, key, metrics), methods=["GET"]))
    handlers: dict[Any, Any] = {HTTPException: _refused, Exception: _broken}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def _refused(request: Request, error: HTTPException) -> Response:
    """Answer a path or method that is not there, or a missing key, in the words of the client's API."""
    message = error.detail if error.status_code == 401 else f"{error.detail}: {request.method} {request.url.path}"  # noqa: PLR2004 - HTTP's own
    return _failed(request, read_error(message, status=error.status_code), error.status_code, error.headers or {})


async def _broken(request: Request, _: Exception) -> Response:
    """Answer where the server itself fails; what happened is in the log alone."""
    return _failed(request, Failure(kind="server", message="the gateway failed"), 500, {})


def _failed(request: Request, failure: Failure, status: int, headers: Mapping[str, str]) -> Response:
    written = write_error(failure, asked_format(request.url.path, request.headers))
    return _json(written, status, headers)


async def _ready(request: Request) -> Response:
    """Say whether requests are taken: from the start on, until the server is asked to end."""
    ready = getattr(request.app.state, "ready", False)
    return _json({"status": "ready" if ready else "not ready"}, 200 if ready else 503, {})


async def _measured(key: str | None, metrics: Metrics, request: Request) -> Response:
    if not _may(request, key):
        raise HTTPException(401, "the key is missing or wrong")
    return Response(metrics.text(), media_type=MEDIA)


def _constant(value: JsonObject, key: str | None) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        if not _may(request, key):
            raise HTTPException(401, "the key is missing or wrong")
        return JSONResponse(value)

    return answer


async def _serve(  # noqa: PLR0913, PLR0917 - what the server has
    face: Face, exchange: FaceHandler, config: Config, key: str | None, metrics: Metrics, request: Request
) -> Response:
    """Answer one request of a face."""
    began = time.perf_counter()
    stack = AsyncExitStack()
    try:
        body = await _body(request, config.max_body, key)
        given: JsonObject = {} if face.streams is None else {"stream": face.streams}
        if face.streamed_by_default and "stream" not in body:
            given["stream"] = True
        given |= {"model": name} if (name := request.path_params.get("model")) else {}
        answered = await exchange.answer(body, given, stack)
        response = await _response(face, request, answered, stack, metrics)
    except ExchangeError as error:
        await stack.aclose()
        status = error_status(error.failure, face.format)
        response = _json(write_error(error.failure, face.format), status, error.headers)
        metrics.count(face.format, "", status, time.perf_counter() - began)
        _note(face, status, began, error=error.failure.message)
    except BaseException:
        await stack.aclose()
        raise
    else:
        metrics.count(face.format, answered.back, 200, time.perf_counter() - began, answered.losses)
        _note(face, 200, began, answered=answered)
    return response


async def _response(
    face: Face, request: Request, answered: GatewayAnswer, stack: AsyncExitStack, metrics: Metrics
) -> Response:
    headers = {**answered.headers, **_lost(answered)}
    if answered.events is None:
        await stack.aclose()
        return _json(answered.value, 200, headers)
    pieces = _frames(face, answered.events, whole=face.listed and request.query_params.get("alt") != "sse")
    try:  # an error before the first event is an answer with a status of its own
        first = await anext(pieces, "")
    except ExchangeError:
        await pieces.aclose()
        raise

    async def text() -> AsyncIterator[str]:
        async with stack:
            stack.enter_context(metrics.streams.track_inprogress())
            yield first
            try:
                async for piece in pieces:
                    yield piece
            except ExchangeError as error:
                log.warning("%s", jsontext.dumps({"face": face.format, "error": error.failure.message}))
                yield event_text({"type": "error", **write_error(error.failure, face.format)}, face.format)

    return StreamingResponse(text(), headers={**headers, "cache-control": "no-cache"}, media_type=face.media)


async def _frames(face: Face, events: AsyncIterator[JsonObject], *, whole: bool) -> AsyncGenerator[str]:
    """Write a stream's events as the face sends them; `whole` as one JSON list."""
    if whole:
        yield jsontext.dumps([event async for event in events])
        return
    async for event in events:
        yield event_text(event, face.format)
    if end := end_text(face.format):
        yield end


async def _body(request: Request, most: int, key: str | None) -> JsonObject:
    """Read the request's JSON object, no more of it than may be, of a client that has the key."""
    if not _may(request, key):
        raise ExchangeError(Failure(kind="authentication", message="the key is missing or wrong"))
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise ExchangeError(Failure(kind="too_large", message=f"the body has more than {most} bytes"))
    try:
        value = jsontext.loads(found.decode())
    except (ParseError, UnicodeDecodeError) as error:
        raise ExchangeError(Failure(kind="invalid", message=f"the body is not JSON: {error}")) from None
    if not jsontext.is_object(value):
        raise ExchangeError(Failure(kind="invalid", message="the body is not a JSON object"))
    return value


def _may(request: Request, key: str | None) -> bool:
    """Whether the client has the key, where one is needed."""
    if key is None:
        return True
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = [bearer] if scheme.lower() == "bearer" else []
    given += [request.headers.get(name, "") for name in _KEYS] + [request.query_params.get("key", "")]
    return any(hmac.compare_digest(one.encode(), key.encode()) for one in given)


def _lost(answered: GatewayAnswer) -> dict[str, str]:
    counts: dict[str, int] = {}
    for loss in answered.losses:
        counts[loss.code] = counts.get(loss.code, 0) + 1
    return {LOSSES: ", ".join(f"{code}={count}" for code, count in sorted(counts.items()))} if counts else {}


def _json(value: object, status: int, headers: Mapping[str, str]) -> Response:
    return Response(jsontext.dumps(value), status, dict(headers), _JSON)


def _note(face: Face, status: int, began: float, *, answered: GatewayAnswer | None = None, error: str = "") -> None:
    """Log one request as JSON: never its content, never a key."""
    line: JsonObject = {"face": face.format, "status": status, "ms": round((time.perf_counter() - began) * 1000, 1)}
    if answered is not None:
        line |= {"model": answered.model, "back": answered.back, "stream": answered.events is not None}
        line |= {"losses": len(answered.losses)} if answered.losses else {}
    log.info("%s", jsontext.dumps({**line, **({"error": error} if error else {})}))
