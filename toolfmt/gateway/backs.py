"""Asking a back: one request, and its answer, whole or as a stream's events."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from copy import copy
from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeVar
from urllib.parse import quote

import anyio
import httpx2

from toolfmt import jsontext
from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.corpora.tokens import load
from toolfmt.detection.detecting import is_error
from toolfmt.errors import ParseError
from toolfmt.gateway.access import HOPS, hops
from toolfmt.gateway.amazon import Signer
from toolfmt.gateway.apis import APIS
from toolfmt.gateway.concealing import MARK, Concealer, concealable
from toolfmt.gateway.config import HEADER, Config, secret, using
from toolfmt.gateway.ending import ServerEnding
from toolfmt.gateway.failing import BAD_GATEWAY, UnreachedError, UpstreamError, bad_answer
from toolfmt.gateway.journal import log_line
from toolfmt.gateway.threads import decode, encode, worked
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.transcripts.answering.answer_info import Failure
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.workshop.chat_templates.prompt import Prompt, render_prompt
from toolfmt.workshop.doctor.diagnosis import diagnose

T = TypeVar("T")
_HEADERS: Final = {"accept": "*/*", "accept-encoding": "identity", "user-agent": "toolfmt"}
"""Headers of all requests."""
_UNAUTHORIZED: Final = 401
_NO_PATH: Final = frozenset({404, 405})
_FINDS: Final = 256
"""What is remembered of a back's models: a client may name any."""
_BASE: Final = "`url` is the base address, which usually ends in /v1"
_SECRET: Final = 6
"""Characters of the shortest value of a header that may be a secret."""
PASSED: Final = ("retry-after", "x-request-id", "request-id")
"""Headers of a back's answer that are passed to the client."""


class Whole(NamedTuple):
    """A whole answer, the headers that are passed to the client, and the answer's size in bytes."""

    value: JsonValue
    headers: Mapping[str, str]
    size: int


class Upstream:
    """One back, with the connections to it."""

    def __init__(
        self, name: str, config: Config, *, transport: httpx2.AsyncBaseTransport, ending: ServerEnding
    ) -> None:
        """Take a back by its name in the configuration; its key is read once."""
        back = config.backs[name]
        self.name = name
        self.back = back
        self.api = APIS[back.api]
        self.format = self.api.format
        self.found: set[tuple[str, str]] = set()
        """What was found of which models, and logged."""
        self._max, self._max_values = config.max_answer, config.max_values
        self._traced = config.traces
        self._transport = transport
        self._ending = ending
        place = ("backs", name)
        with using(*place, "aws_region"):
            self._signer = Signer(back.aws_region) if back.aws_region is not None else None
        with using(*place, "model_dir"):
            self.folder = ModelFolder(back.model_dir) if back.model_dir is not None else None
        if back.tokenizer is not None:
            with using(*place, "tokenizer"):
                load(back.tokenizer)
        key = secret(back, *place)
        if key and not concealable(key):
            said = "the key is too short: it may be a word of an answer, so it is not replaced if the back quotes it"
            log_line(logging.WARNING, {"message": said, "back": name})
        self._key = key or ""
        self.concealer = Concealer(self._key)
        """Replaces the key in what the back answers."""
        self._headers = {
            **self.api.headers,
            **(self.api.key(key) if key else {}),
            **{name.lower(): value for name, value in back.headers.items()},
        }
        # reading has no limit of its own here: `ServerEnding.within` bounds each wait
        timeout = httpx2.Timeout(back.idle_timeout, connect=back.connect_timeout, read=None, pool=None)
        self._extensions = {"timeout": timeout.as_dict()}

    def find(self, what: str, model: str, value: JsonValue, advice: str) -> None:
        """Log what was found of a model, the first time."""
        if (what, model) not in self.found and len(self.found) < _FINDS:
            self.found.add((what, model))
            log_line(logging.WARNING, {"back": self.name, "model": model, what: value, "advice": advice})

    def sent_by(self, key: str | None) -> Upstream:
        """Return the back for a client; with `pass_key` it is sent the client's own key."""
        if not self.back.pass_key or not key:
            return self
        made = copy(self)
        made._key = key  # noqa: SLF001 - its own
        made.concealer = Concealer(key)
        made._headers = {**self._headers, **self.api.key(key)}  # noqa: SLF001 - its own
        return made

    async def whole(self, request: JsonObject, model: str) -> Whole:
        """Ask for a whole answer; raises `UpstreamError`."""
        found = await self.post(self.api.whole, request, model)
        return found._replace(value=self._read(found.value, "message")) if jsontext.is_object(found.value) else found

    async def post(self, path: str, request: JsonObject, model: str) -> Whole:
        """Ask at a path of the API; as `whole`."""
        return await self._value("POST", path, model, request)

    async def models(self) -> list[str]:
        """List the models that the back says it has. Raises `UpstreamError`."""
        if not self.api.models:
            return []
        value, _, _ = await self._value("GET", self.api.models, "")
        rows = (value.get("data") or value.get("models")) if jsontext.is_object(value) else None
        found = [row.get("id") or row.get("name") for row in rows if jsontext.is_object(row)] if is_array(rows) else []
        return [name.removeprefix("models/") for name in found if isinstance(name, str)]

    async def has(self, model: str) -> bool:
        """Whether the back has a model, listed or under another of its names; one that lists none may have any."""
        try:
            listed = await self.models()
        except UpstreamError:
            return True
        if not listed or not {model, f"{model}:latest"}.isdisjoint(listed):  # as Ollama lists what has no tag
            return True
        try:
            await self._value("GET", f"{self.api.models}/{{model}}", model)
        except UpstreamError as error:
            return error.failure.status not in _NO_PATH
        return True

    async def _value(self, method: str, path: str, model: str, request: JsonObject | None = None) -> Whole:
        async with self._sent(method, path, model, request) as response:
            body = await self._body(response)
            try:
                work = partial(decode, body, self._max_values, self.concealer.json)
                value = await worked(len(body), work)
            except ParseError as error:
                begins = self.concealer.json(body[:4096]).decode(errors="replace")[:80]
                raise bad_answer("the upstream's answer is not JSON", f"{error}: {begins!r}") from None
            return Whole(value, _passed(response), len(body))

    @asynccontextmanager
    async def streamed(
        self, request: JsonObject, model: str
    ) -> AsyncGenerator[tuple[AsyncIterator[list[JsonObject]], Mapping[str, str]]]:
        """Ask for a stream; its events, in the batches in which they arrive, and its headers.

        Raises `UpstreamError`, while it is read too.
        """
        async with (
            self._sent("POST", self.api.stream, model, request) as response,
            aclosing(self._events(response)) as events,  # an abandoned generator is closed by any thread's collector
        ):
            yield events, _passed(response)

    @asynccontextmanager
    async def _sent(
        self, method: str, path: str, model: str, request: JsonObject | None
    ) -> AsyncGenerator[httpx2.Response]:
        address = _address(self.back.url, path, model)
        content = b"" if request is None else encode(self._written(request))
        headers = {**self._headers, **({} if request is None else {"content-type": "application/json"})}
        if self._traced:
            from opentelemetry import propagate

            propagate.inject(headers)
        if self._signer is not None:
            headers = self._signer.headers(method, str(address), content, headers)
        headers = {**_HEADERS, **headers, HOPS: str(hops.get() + 1)}  # which a signature does not cover
        sent = httpx2.Request(method, address, content=content, headers=headers, extensions=self._extensions)
        response: httpx2.Response | None = None
        try:
            # the transport alone: no cookies, no redirects
            response = await self._ending.within(
                self.back.first_byte_timeout, self._transport.handle_async_request(sent)
            )
            page = response.headers.get("content-type", "").startswith("text/html")
            if response.is_success and not page:
                yield response
                return
            logged = f"the upstream answered {response.status_code}{' with a web page' if page else ''}"
            failure, by_api = await self._failure(response, page=page)
            if page or response.status_code in _NO_PATH:
                logged += f" to {method} {address}{'' if by_api else f': {_BASE}'}"
            failed = UpstreamError(failure, logged=logged, headers=_passed(response))
        except httpx2.ConnectTimeout:
            failure = Failure(kind="timeout", message="no connection to the upstream in time")
            raise UnreachedError(failure, logged=f"{failure.message}: {self.back.url}") from None
        except httpx2.ConnectError as error:
            failure = Failure(kind="server", message="the upstream cannot be reached", status=BAD_GATEWAY)
            plain = "WRONG_VERSION_NUMBER" in str(error)
            reason = "; the server there speaks no TLS: write http://" if plain else f": {error}"  # it may quote names
            raise UnreachedError(failure, logged=f"{failure.message}: {self.back.url}{reason}") from None
        except (httpx2.TimeoutException, TimeoutError):
            raise UpstreamError(Failure(kind="timeout", message="the upstream did not answer in time")) from None
        except httpx2.HTTPError as error:
            problem = str(error).partition(":")[0]  # what follows may quote the answer, or its headers
            raise bad_answer(f"the connection to the upstream broke{problem and f': {problem}'}") from None
        finally:
            if response is not None:
                with anyio.CancelScope(shield=True):
                    await response.aclose()
        raise failed

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[list[JsonObject]]:
        text = self.api.frames(self._max)
        batch: list[JsonObject] = []
        try:
            async with aclosing(self._pieces(response)) as pieces:
                async for piece in pieces:
                    batch.extend(map(self._event, text.feed(piece)))
                    if batch:
                        yield batch
                        batch = []
            batch.extend(map(self._event, text.close()))
            if batch:
                yield batch
        except TimeoutError:
            raise UpstreamError(Failure(kind="timeout", message="the upstream went silent in its answer")) from None
        except (httpx2.HTTPError, ParseError) as error:
            if batch:  # what came before the fault
                yield batch
            raise bad_answer("the upstream's answer broke off", error) from None

    async def _pieces(self, response: httpx2.Response) -> AsyncGenerator[bytes]:
        """Yield an answer's bytes within the limits of time and size; raises TimeoutError and `UpstreamError`."""
        size, wait = 0, self.back.first_byte_timeout
        async with aclosing(response.aiter_bytes()) as pieces:
            while piece := await self._ending.within(wait, anext(pieces, b"")):
                size, wait = size + len(piece), self.back.idle_timeout
                if size > self._max:
                    raise bad_answer(f"the upstream's answer has more than {self._max} bytes")
                yield piece

    def _written(self, request: JsonObject) -> JsonObject:
        kept = {key: value for key, value in request.items() if key not in self.api.beside}
        return {self.api.spelled.get(key, key): value for key, value in kept.items()} | self.back.extra

    def _event(self, text: str) -> JsonObject:
        value = decode(text, self._max_values, self.concealer.json)
        if not jsontext.is_object(value):
            raise ParseError("an event is not an object")
        return self._read(value, "delta")

    def _read(self, value: JsonObject, place: str) -> JsonObject:
        return value if self.api.read is None else self.api.read(value, place)

    async def _failure(self, response: httpx2.Response, *, page: bool) -> tuple[Failure, bool]:
        """Read what went wrong; also returns whether an API wrote it, so that the address is right."""
        status = response.status_code if response.is_error else BAD_GATEWAY  # neither a redirect nor a page is read
        if status == _UNAUTHORIZED and not self.back.pass_key:  # the client can do nothing about it
            problem = "refused the gateway's key" if self._key else "requires a key, and the gateway has none for it"
            return Failure(kind="server", message=f"the back {self.name!r} {problem}", status=BAD_GATEWAY), True
        if page:
            return read_error(f"the upstream answered {response.status_code} with a web page", status=status), False
        body = (await self._body(response)).decode(errors="replace")
        for sent in (self._key, *(one for one in self.back.headers.values() if len(one) >= _SECRET)):
            body = body.replace(sent, MARK) if sent else body  # a server may quote what it refuses
        try:
            value = decode(body, self._max_values)
            return read_error(value, status=status), is_object(value) and is_error(value)
        except ParseError:
            reason = " ".join(body[:200].split()) or "no reason given"
            return read_error(f"the upstream answered {response.status_code}: {reason}", status=status), False

    async def _body(self, response: httpx2.Response) -> bytes:
        found = bytearray()
        async with aclosing(self._pieces(response)) as pieces:
            async for piece in pieces:
                found += piece
        return bytes(found)


@lru_cache(maxsize=128)
def _address(base: str, path: str, model: str) -> httpx2.URL:
    return httpx2.URL(base.rstrip("/") + path.format(model=quote(model, safe="")))


def _passed(response: httpx2.Response) -> Mapping[str, str]:
    given = {name: response.headers.get(name, "") for name in PASSED}
    return {name: value for name, value in given.items() if HEADER.fullmatch(value)}


class ModelFolder:
    """A model's folder: its dialect and its chat template."""

    def __init__(self, path: str) -> None:
        """Examine the folder; raises `TemplateError` if it has no template."""
        found = diagnose(path)
        self.path = path
        self.dialect = found.dialect
        """The dialect that reads what the template writes; "" where it shows no tools."""

    def prompt(
        self,
        transcript: Transcript,
        chat: Iterable[JsonObject],
        tools: Sequence[ToolDefinition],
        further: Sequence[tuple[str, str]],
    ) -> Prompt:
        """Render a prompt: of the conversation and its tools, or of a `chat` of texts where the template has no tools.

        `further` are messages after it, by role and text. Raises `TemplateError`.
        """
        if self.dialect:
            added = [Message("user" if role == "user" else "assistant", (TextPart(text),)) for role, text in further]
            whole = Transcript((*transcript.messages, *added))
            return render_prompt(whole, list(tools) or None, path=self.path)
        texts = [*chat, *({"role": role, "content": text} for role, text in further)]
        return render_prompt(texts, path=self.path, source="openai-chat")
