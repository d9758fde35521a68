"""An official SDK's client as a `ModelClient`; what each SDK is called with is data.

    client = SdkClient(OPENAI_CHAT, AsyncOpenAI(), {"model": "gpt-5.1", "temperature": 0})
    async for chunk in client.send({"messages": [...]}, stream=True): ...

    client.chat.completions.create(model="gpt-5.1", messages=[...], stream=True, extra_body={"top_k": 4})

A request is sent unchanged. Fields for which the SDK's method has no parameter go into its `extra_body`; a method
without `extra_body` rejects them.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Final

from toolfmt.agents.clients.calling import pieces, reraising
from toolfmt.arguments import checked
from toolfmt.errors import DriverError
from toolfmt.model import JsonObject


def _named(request: JsonObject, taken: frozenset[str]) -> dict[str, Any]:
    if "extra_body" not in taken:
        return request
    known = {key: value for key, value in request.items() if key in taken}
    further = {key: value for key, value in request.items() if key not in taken}
    return {**known, "extra_body": {**further, **known.get("extra_body", {})}} if further else known


def _google(request: JsonObject, _: frozenset[str]) -> dict[str, Any]:
    """Pass the request as the body, because the SDK's own types reject or rewrite some of what the API takes."""
    body = {key: value for key, value in request.items() if key != "model"}
    config = {"http_options": {"extra_body": body}, "automatic_function_calling": {"disable": True}}
    # The method requires contents; those of the body replace them.
    return {"model": request.get("model"), "contents": "-", "config": config}


def _ollama(request: JsonObject, _: frozenset[str]) -> dict[str, Any]:
    """Post the request itself, because `chat` drops parts of a tool's schema that its types lack, such as `anyOf`."""
    return {"cls": dict, "method": "POST", "url": "/api/chat", "json": request, "stream": request["stream"]}


_STREAM: Final[Mapping[str, Any]] = {"stream": True}


@dataclass(frozen=True, slots=True)
class SdkApi:
    """One API of an SDK: the paths of the client's methods, and fields of the requests."""

    format: str
    """The transcript format of its requests."""
    whole: str
    streamed: str
    whole_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    streamed_fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    streamed_defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Fields that only a streamed request has, and that its options may change."""
    arguments: Callable[[JsonObject, frozenset[str]], dict[str, Any]] = _named
    """Makes the method's arguments from a request and the names of the method's parameters."""


_CHAT: Final = "chat.completions.create"
_USAGE: Final[Mapping[str, Any]] = {"stream_options": {"include_usage": True}}
OPENAI_CHAT: Final = SdkApi("openai-chat", _CHAT, _CHAT, streamed_fields=_STREAM, streamed_defaults=_USAGE)
OPENAI_RESPONSES: Final = SdkApi("openai-responses", "responses.create", "responses.create", streamed_fields=_STREAM)
ANTHROPIC: Final = SdkApi("anthropic", "messages.create", "messages.create", streamed_fields=_STREAM)
GOOGLE: Final = SdkApi("gemini", "models.generate_content", "models.generate_content_stream", arguments=_google)
MISTRAL: Final = SdkApi("mistral", "chat.complete", "chat.stream")
OLLAMA: Final = SdkApi("ollama", "_request", "_request", {"stream": False}, _STREAM, arguments=_ollama)


@checked
class SdkClient:
    """Calls an API through the user's sync or async SDK client; stores no credentials."""

    def __init__(self, api: SdkApi, client: object, options: JsonObject) -> None:
        """Add `options` to each request; the request's own fields override them, and None removes a field.

        Raises TypeError for a client without the API's methods.
        """
        self._api = api
        self._options = options
        self._whole = self._method(client, api.whole)
        self._streamed = self._method(client, api.streamed)

    @property
    def format(self) -> str:
        """The transcript format of its requests."""
        return self._api.format

    @property
    def model(self) -> str | None:
        """The default model of requests."""
        return self._options.get("model")

    async def send(self, request: JsonObject, *, stream: bool) -> AsyncGenerator[object]:
        """Send a request and yield its events, or the whole answer as the only one.

        Closing early closes the HTTP response. Raises `DriverError` for errors of the provider or the network, and
        TypeError for a request that the SDK cannot send.
        """
        call = self._call(request, stream=stream)
        count = 0
        async with aclosing(reraising(pieces(call, single=lambda _: not stream), self.format)) as events:
            async for event in events:
                count += 1
                yield event
        if not count:
            raise DriverError(f"{self.format}: a stream was asked for, and no event of one came", retryable=True)

    def _method(self, client: object, path: str) -> Callable[..., Any]:
        try:
            return attrgetter(path)(client)
        except AttributeError:
            raise TypeError(f"{self.format} needs a client that has `{path}`, not {type(client).__name__}") from None

    def _call(self, request: JsonObject, *, stream: bool) -> partial[Any]:
        api, function = self._api, self._streamed if stream else self._whole
        removed = {key for key, value in self._options.items() if value is None and request.get(key) is None}
        removed |= set() if stream else api.streamed_defaults.keys()
        given = api.streamed_fields if stream else api.whole_fields
        fields = {**api.streamed_defaults, **self._options, **request, **given}
        signature = inspect.signature(function)
        arguments = api.arguments(
            {key: value for key, value in fields.items() if key not in removed}, frozenset(signature.parameters)
        )
        try:
            signature.bind(**arguments)
        except TypeError as error:
            raise TypeError(f"{self.format}: {error}; give it as an option of the client") from None
        return partial(function, **arguments)
