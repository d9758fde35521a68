"""The server: faces as routes, lists of models, errors in each API's own shape.

GET /health   the process lives        GET /ready   it accepts requests        GET /metrics   for Prometheus
GET /v1/models, /v1beta/models    the models, for OpenAI's, Anthropic's and Gemini's clients; /MODEL: one of them
GET /mistral/v1/models, /api/tags    the same for Mistral's and Ollama's; POST /api/show: one of Ollama's

The models are those that a route names, and those that a back lists itself if a route with a `*` leads to it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from toolfmt.gateway.access import Access, Caller
from toolfmt.gateway.apis import FACES, NAMED, Task, asked_format
from toolfmt.gateway.backs import Upstream
from toolfmt.gateway.compacting import Compacting
from toolfmt.gateway.config import CONFIG_VARIABLE, Config, using
from toolfmt.gateway.counting import Counting
from toolfmt.gateway.ending import ServerEnding
from toolfmt.gateway.exchange import Conversing
from toolfmt.gateway.failing import ExchangeError, refusal
from toolfmt.gateway.handling import Handler, named_model
from toolfmt.gateway.journal import Entry, RequestJournal, log_line, log_requests
from toolfmt.gateway.metrics import MEDIA, Metrics
from toolfmt.gateway.pools import Pools
from toolfmt.gateway.serving import FaceServer, json_response, read_body
from toolfmt.gateway.socket import SocketServer
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_info import Failure
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.convert_answer import error_status, write_error

if TYPE_CHECKING:
    import httpx2

    from toolfmt.gateway.keeping import Keeper  # which needs the extra `store`
    from toolfmt.gateway.tracing import Tracing

NOT_FOUND: Final = 404
_Answer: TypeAlias = Callable[[Request], Awaitable[Response]]
_CallersAnswer: TypeAlias = Callable[[Request, Caller], Awaitable[Response]]
HANDLERS: Final[Mapping[Task, type[Handler]]] = {"answer": Conversing, "count": Counting, "compact": Compacting}


def make_app(config: Config, *, transport: httpx2.AsyncBaseTransport | None = None) -> Starlette:
    """Make the server's application; raises `ParseError` for a key that is not in the environment.

    `transport` replaces the network, for tests.
    """
    transport = Pools() if transport is None else transport
    ending = ServerEnding(config)
    upstreams = {name: Upstream(name, config, transport=transport, ending=ending) for name in config.backs}
    access, metrics, models = Access(config), Metrics(), Models(config, upstreams)

    keeper, tracing = _keeper(config), _tracing(config)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with transport:
            app.state.ending = ending
            ending.listen()
            yield
        if keeper is not None:
            keeper.store.close()

    async def figures(_: Request, __: Caller) -> Response:
        return Response(metrics.text(), media_type=MEDIA)

    handlers = {face: HANDLERS[face.task](config, upstreams, face.format, keeper, tracing) for face in FACES}
    routes: list[BaseRoute] = [
        Route(face.path, FaceServer(face, handler, access, metrics).serve, methods=["POST"])
        for face, handler in handlers.items()
    ]
    routes += [
        Route(f"{face.path}/{{id}}", _checked(access, _stored(face.format, keeper)), methods=["GET", "DELETE"])
        for face in FACES
        if face.task == "answer" and face.format in NAMED
    ]
    responses = Conversing(config, upstreams, "openai-responses", keeper, tracing)
    routes.append(Route("/v1/responses/{id}/input_items", _checked(access, _input_items(keeper)), methods=["GET"]))
    routes.append(WebSocketRoute("/v1/responses", SocketServer(responses, access, metrics).serve))
    closed_paths: dict[str, _CallersAnswer] = {"/metrics": figures}
    closed_paths |= {path: _listed(models, write) for path, write in LISTS.items()}
    closed_paths |= {path: _described(models, write, _by_path) for path, write in ROWS.items()}
    named = _described(models, _ollama_row, partial(_by_body, config))
    routes.append(Route("/api/show", _checked(access, named), methods=["POST"]))
    routes += [Route("/health", _healthy), Route("/ready", _ready)]
    routes += [Route(path, _checked(access, answer), methods=["GET"]) for path, answer in closed_paths.items()]
    failing: dict[Any, Any] = {HTTPException: _refused, ExchangeError: _failed, Exception: _broken}
    journal = Middleware(RequestJournal, count=metrics.count)
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=failing, middleware=[journal])


def _keeper(config: Config) -> Keeper | None:
    if config.store is None:
        return None
    from toolfmt.gateway.keeping import Keeper
    from toolfmt.gateway.store import Store

    with using("store"):
        return Keeper(Store(config.store), record=config.record)


def _stored(format: str, keeper: Keeper | None) -> _CallersAnswer:  # noqa: A002 - the field's name
    async def stored(request: Request, caller: Caller) -> Response:
        kept = _present(keeper)
        if request.query_params.get("stream") == "true":
            raise refusal("invalid", "a stored answer is not streamed: leave `stream` out", param="stream")
        ident: str = request.path_params["id"]
        answer = kept.deleted if request.method == "DELETE" else kept.answer
        return json_response(await answer(ident, format, caller.name), 200, {})

    return stored


def _input_items(keeper: Keeper | None) -> _CallersAnswer:
    async def items(request: Request, caller: Caller) -> Response:
        ident: str = request.path_params["id"]
        page = await _present(keeper).items(ident, "openai-responses", caller.name, request.query_params)
        return json_response(page, 200, {})

    return items


def _present(keeper: Keeper | None) -> Keeper:
    if keeper is None:
        raise refusal("not_found", "the gateway stores no answers: set `store` in its configuration to a database")
    return keeper


def _tracing(config: Config) -> Tracing | None:
    if not config.traces:
        return None
    from toolfmt.gateway.tracing import Tracing

    with using("traces"):
        return Tracing()


def app_from_environment() -> Starlette:
    """Make the application of a worker process, which is given its configuration in the environment."""
    log_requests()
    return make_app(Config.model_validate_json(os.environ[CONFIG_VARIABLE]))


async def _healthy(_: Request) -> Response:
    return json_response({"status": "ok"}, 200, {})


async def _ready(request: Request) -> Response:
    """Report whether requests are accepted."""
    ready = not request.app.state.ending.begun
    return json_response({"status": "ready" if ready else "not ready"}, 200 if ready else 503, {})


def _checked(access: Access, answer: _CallersAnswer) -> _Answer:
    async def checked(request: Request) -> Response:
        caller, _ = access.check(request)
        return await answer(request, caller)

    return checked


def _listed(models: Models, write: Callable[[list[str]], JsonObject]) -> _CallersAnswer:
    async def listed(_: Request, caller: Caller) -> Response:
        return json_response(write([*filter(caller.may, await models.names())]), 200, {})

    return listed


async def _by_path(request: Request) -> str:
    return request.path_params["model"]


async def _by_body(config: Config, request: Request) -> str:
    body, _ = await read_body(request, config)
    return named_model(body)


def _described(
    models: Models, write: Callable[[str], JsonObject], named: Callable[[Request], Awaitable[str]]
) -> _CallersAnswer:
    async def described(request: Request, caller: Caller) -> Response:
        name = await named(request)
        caller.check(name)
        if not await models.serves(name):
            raise refusal("not_found", f"no route serves the model {name!r}")
        return json_response(write(name), 200, {})

    return described


async def _refused(request: Request, error: HTTPException) -> Response:
    """Answer an unknown path or method in the format of the client's API."""
    entry, path = Entry.of(request), request.url.path
    message = f"{error.detail}: {request.method} {path}"
    meant = _meant(request) if error.status_code == NOT_FOUND else ""
    if meant:
        message += f"; the path is {meant}: check the end of the base address that the client uses"
    entry.error = error.detail
    failure = read_error(message, status=error.status_code)
    return _written(request, failure, error.status_code, error.headers or {})


def _meant(request: Request) -> str:
    """Find the path that a request with too much or too little before it was meant for; "" if there is none."""
    path, served = request.url.path, [route.path_regex for route in request.app.routes if isinstance(route, Route)]
    tails = [path[at:] for at, letter in enumerate(path) if letter == "/" and at]
    tries = (*tails, f"/v1{path}", f"/v1beta{path}")
    return next((one for one in tries if one != "/" and any(regex.match(one) for regex in served)), "")


async def _failed(request: Request, error: ExchangeError) -> Response:
    """Answer a refused request to a path that is not a face's."""
    format_ = asked_format(request.url.path, request.headers)
    Entry.of(request).error = error.logged
    return _written(request, error.failure, error_status(error.failure, format_), error.headers)


async def _broken(request: Request, _: Exception) -> Response:
    """Answer when the server itself fails; the reason is only in the log."""
    return _written(request, Failure(kind="server", message="the gateway failed"), 500, {})


def _written(request: Request, failure: Failure, status: int, headers: Mapping[str, str]) -> Response:
    written = write_error(failure, asked_format(request.url.path, request.headers))
    return json_response(written, status, headers)


_NEVER: Final = "1970-01-01T00:00:00Z"


class Models:
    """The models that are served."""

    def __init__(self, config: Config, upstreams: Mapping[str, Upstream]) -> None:
        self._config = config
        self._upstreams = upstreams

    async def names(self) -> list[str]:
        """List all models; a back that cannot list its own is left out, with a line in the log.

        Raises `ExchangeError` if that leaves none.
        """
        found = {route.model for route in self._config.routes if not route.open}
        asked = dict.fromkeys(name for route in self._config.routes if route.open for name in route.backs)
        failed: ExchangeError | None = None
        for back in asked:
            try:
                found.update(name for name in await self._upstreams[back].models() if self._leads(name, back))
            except ExchangeError as error:
                failed = error
                log_line(logging.WARNING, {"back": back, "models_left_out": error.logged})
        if failed is not None and not found:
            raise failed
        return sorted(found)

    async def serves(self, name: str) -> bool:
        """Whether a model has a route, and where that is for any name, a back that does not deny to have it."""
        route = self._config.route(name)
        if route is None or not route.open or route.as_model is not None:
            return route is not None
        for back in route.backs:
            if await self._upstreams[back].has(name):
                return True
        return False

    def _leads(self, model: str, back: str) -> bool:
        route = self._config.route(model)
        return route is not None and back in route.backs and route.as_model is None


def _row(name: str) -> JsonObject:
    """Describe a model to OpenAI's, Anthropic's and Gemini's clients: each reads its own fields."""
    openai: JsonObject = {"object": "model", "created": 0, "owned_by": "toolfmt"}
    anthropic: JsonObject = {"type": "model", "display_name": name, "created_at": _NEVER}
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    gemini: JsonObject = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
    return {"id": name, **openai, **anthropic, **gemini}


def _list(names: Sequence[str]) -> JsonObject:
    rows = [_row(name) for name in names]
    ends: JsonObject = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
    return {"object": "list", "data": rows, "has_more": False, **ends, "models": rows}


def _mistral_row(name: str) -> JsonObject:
    able: JsonObject = {"completion_chat": True, "function_calling": True}
    return {"id": name, "object": "model", "created": 0, "owned_by": "toolfmt", "type": "base", "capabilities": able}


def _ollama_row(_: str) -> JsonObject:
    return {"modified_at": _NEVER, "details": {}, "model_info": {}, "capabilities": ["completion", "tools"]}


LISTS: Final[Mapping[str, Callable[[Sequence[str]], JsonObject]]] = {
    "/v1/models": _list,
    "/v1beta/models": _list,
    "/mistral/v1/models": lambda names: {"object": "list", "data": [*map(_mistral_row, names)]},
    "/api/tags": lambda names: {
        "models": [{"name": name, "model": name, "modified_at": _NEVER, "size": 0} for name in names]
    },
}
"""Writers of lists of models, by path."""
ROWS: Final[Mapping[str, Callable[[str], JsonObject]]] = {
    "/v1/models/{model:path}": _row,
    "/v1beta/models/{model:path}": _row,
    "/mistral/v1/models/{model:path}": _mistral_row,
}
"""Writers of a model's description, by path."""
