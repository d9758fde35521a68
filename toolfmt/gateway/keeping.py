"""Stored answers: a request continues from an earlier one, and a client reads or deletes one by its id.

{"previous_response_id": "resp_1", "input": "And tomorrow?"}  ->  {"input": [the earlier messages, "And tomorrow?"]}

GET, DELETE /v1/responses/ID         as openai 3.54's `responses.retrieve` and `delete` ask
GET, DELETE /v1beta/interactions/ID  as google-genai 3.4's `interactions.get` and `delete` ask
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from toolfmt.errors import ToolFmtError
from toolfmt.gateway.apis import NAMED
from toolfmt.gateway.echoing import completing
from toolfmt.gateway.failing import refusal
from toolfmt.gateway.store import KeptExchange, Store, StoreError, whole_request
from toolfmt.jsontext import is_array
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolfmt.model import JsonObject

_DELETED: Final[Mapping[str, Callable[[str], JsonObject]]] = {
    "openai-responses": lambda ident: {"id": ident, "object": "response", "deleted": True},
    "gemini-interactions": lambda _: {},
}
"""How each API says that an answer was deleted."""


class Keeper:
    """Stores exchanges, and finds what requests refer to."""

    def __init__(self, store: Store, *, record: bool) -> None:
        """Take the store; `record`: store exchanges of all faces, including those that clients do not want stored."""
        self.store = store
        self.record = record

    async def continued(self, body: JsonObject, format: str, owner: str, ident: str) -> tuple[JsonObject, int]:  # noqa: A002 - the field's name
        """Put the messages of an earlier exchange before those of a request that continues from it; how many those are.

        Raises `ExchangeError` for an unknown one.
        """
        field = NAMED[format]
        chain = await self.found(ident, format, owner, field)
        rest = {name: value for name, value in body.items() if name != field}
        last = KeptExchange(id="", face=format, request=rest, answer={})
        try:
            whole = await to_thread.run_sync(whole_request, [*chain, last])
        except ToolFmtError as error:
            raise refusal("server", f"{ident!r} cannot be read", error) from None
        name = find(format).messages
        own, messages = body.get(name), whole.get(name)
        ours = len(own) if is_array(own) else 1 if own else 0
        return whole, len(messages) - ours if is_array(messages) else 0

    async def found(self, ident: str, format: str, owner: str, field: str = "id") -> list[KeptExchange]:  # noqa: A002 - as above
        """Find an exchange and those before it; raises `ExchangeError` where there is none for this client."""
        try:
            chain = await to_thread.run_sync(self.store.find, ident, owner)
        except StoreError as error:
            raise refusal("server", str(error)) from None
        if not chain or chain[-1].face != format:
            raise refusal("not_found", f"{field}: there is no {ident!r}", param=field)
        return chain

    async def answer(self, ident: str, format: str, owner: str) -> JsonObject:  # noqa: A002 - as above
        """Give a stored answer as its client got it; raises `ExchangeError` where there is none."""
        *_, found = await self.found(ident, format, owner)
        asked = {**found.request, NAMED[format]: found.earlier}
        complete = completing(format, asked, kept=True, ended=found.created)
        return found.answer if complete is None else complete(found.answer)

    async def deleted(self, ident: str, format: str, owner: str) -> JsonObject:  # noqa: A002 - as above
        """Delete a stored answer, and say so as its API does; raises `ExchangeError` where there is none."""
        await self.found(ident, format, owner)
        try:
            await to_thread.run_sync(partial(self.store.delete, ident, owner, recorded=self.record))
        except StoreError as error:
            raise refusal("server", str(error)) from None
        return _DELETED[format](ident)

    def wants(self, body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
        """Whether an exchange is stored."""
        return self.record or _kept(body, format)

    async def keep(self, exchange: KeptExchange) -> None:
        """Store an exchange; raises `ExchangeError` where that fails."""
        kept = _kept(exchange.request, exchange.face)
        try:
            await to_thread.run_sync(self.store.save, replace(exchange, kept=kept))
        except StoreError as error:
            raise refusal("server", str(error)) from None


def _kept(body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
    return format in NAMED and body.get("store") is not False
