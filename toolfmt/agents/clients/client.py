"""An official SDK's client as a `ModelClient`.

client = SdkClient(OPENAI_CHAT, AsyncOpenAI(), {"model": "gpt-5.1", "temperature": 0})
async for chunk in client.send({"messages": [...]}, stream=True): ...
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any

from toolfmt.agents.clients.apis import Ask, SdkApi, method, taken
from toolfmt.agents.clients.failing import reraising
from toolfmt.agents.clients.pulling import pieces
from toolfmt.errors import DriverError

if TYPE_CHECKING:
    from toolfmt.model import JsonObject


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
        ask = self._api.streamed if stream else self._api.whole
        call = self._call(self._streamed if stream else self._whole, ask, request)
        count = 0
        async with aclosing(reraising(pieces(call, single=lambda _: not stream), self.format)) as events:
            async for event in events:
                count += 1
                yield event
        if not count:
            raise DriverError(f"{self.format}: a stream was asked for, and no event of one came", retryable=True)

    def _method(self, client: object, ask: Ask) -> Callable[..., Any]:
        try:
            return method(client, ask.path)
        except AttributeError:
            kind = type(client).__name__
            raise TypeError(f"{self.format} needs a client that has `{ask.path}`, not {kind}") from None

    def _call(self, function: Callable[..., Any], ask: Ask, request: JsonObject) -> partial[Any]:
        elsewhere = self._api.streamed.usually.keys() - ask.usually.keys()
        left_out = {key for key, value in self._options.items() if value is None and request.get(key) is None}
        fields = {**ask.usually, **self._options, **request, **ask.says}
        fields = {key: value for key, value in fields.items() if key not in elsewhere | left_out}
        arguments = self._api.arguments(fields, taken(function))
        try:
            inspect.signature(function).bind(**arguments)
        except TypeError as error:
            raise TypeError(f"{self.format}: {error}; give it as an option of the client") from None
        return partial(function, **arguments)
