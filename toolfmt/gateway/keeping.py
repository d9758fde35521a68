"""Stored answers: a request continues from an earlier one, and a client reads or deletes one by its id.

{"previous_response_id": "resp_1", "input": "And tomorrow?"}  ->  {"input": [the earlier messages, "And tomorrow?"]}

GET, DELETE /v1/responses/ID            as openai 3.54's `responses.retrieve` and `delete` ask
GET /v1/responses/ID/input_items        as its `responses.input_items.list` asks
GET, DELETE /v1beta/interactions/ID     as google-genai 3.4's `interactions.get` and `delete` ask
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from anyio import to_thread
from pydantic_core import to_json

from toolfmt.gateway.apis import NAMED
from toolfmt.gateway.echoing import completing, full_item
from toolfmt.gateway.failing import refusal
from toolfmt.gateway.store import KeptExchange, Store, StoreError, after, messages_of
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject

T = TypeVar("T")
_LONGEST_PAGE: Final = 100
_OK: Final = 200
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

    async def continued(self, body: JsonObject, format: str, owner: str, ident: str) -> tuple[JsonObject, int, int]:  # noqa: A002 - the field's name
        """Put the messages of an earlier exchange before those of a request that continues from it.

        Also returns how many those are, and their size in bytes. Raises `ExchangeError` for an unknown one.
        """
        chain = await self.found(ident, format, owner, NAMED[format])
        rest = {name: value for name, value in body.items() if name != NAMED[format]}

        def joined() -> tuple[JsonObject, int, int]:
            before = messages_of(chain)
            return after(before, rest, format), len(before), len(to_json(before))

        return await to_thread.run_sync(joined)

    async def found(self, ident: str, format: str, owner: str, field: str = "id") -> list[KeptExchange]:  # noqa: A002 - as above
        """Find an exchange and those before it; raises `ExchangeError` if there is none for this client."""
        chain = await _stored(partial(self.store.find, ident, owner)) if ident.isprintable() else []
        if not chain or chain[-1].face != format:
            raise refusal("not_found", f"{field}: there is no such answer", repr(ident), param=field)
        return chain

    async def answer(self, ident: str, format: str, owner: str) -> JsonObject:  # noqa: A002 - as above
        """Return a stored answer as its client got it; raises `ExchangeError` if there is none."""
        *_, found = await self.found(ident, format, owner)
        asked = {**found.request, NAMED[format]: found.earlier}
        complete = completing(format, asked, kept=True, ended=found.created)
        return found.answer if complete is None else complete(found.answer)

    async def items(self, ident: str, format: str, owner: str, query: Mapping[str, str]) -> JsonObject:  # noqa: A002 - as above
        """List a page of the input of a stored answer, earlier exchanges included.

        `query` has the parameters of the page: `order`, `limit`, `after`. Raises `ExchangeError`.
        """
        return await to_thread.run_sync(_page, await self.found(ident, format, owner), query)

    async def deleted(self, ident: str, format: str, owner: str) -> JsonObject:  # noqa: A002 - as above
        """Delete a stored answer, and say so as its API does; raises `ExchangeError` if there is none."""
        await self.found(ident, format, owner)
        await _stored(partial(self.store.delete, ident, owner, recorded=self.record))
        return _DELETED[format](ident)

    def wants(self, body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
        """Whether an exchange is stored."""
        return self.record or _kept(body, format)

    async def keep(self, exchange: KeptExchange) -> None:
        """Store an exchange; raises `ExchangeError` if that fails. No client continues from one that failed."""
        kept = exchange.status == _OK and _kept(exchange.request, exchange.face)
        await _stored(partial(self.store.save, replace(exchange, kept=kept)))


def _page(chain: list[KeptExchange], query: Mapping[str, str]) -> JsonObject:
    *before, last = chain
    rows = [
        full_item(item) | {"id": item.get("id") or f"{one.id}_{number}"}
        for one in (*before, replace(last, answer={}))
        for number, item in enumerate(filter(is_object, messages_of([one])))
    ]
    if query.get("order", "desc") == "desc":
        rows.reverse()
    begin = 0
    if (after := query.get("after")) is not None:
        begin = next((at for at, row in enumerate(rows, 1) if row["id"] == after), 0)
        if not begin:
            raise refusal("not_found", f"after: the input has no item {after!r}", param="after")
    limit = query.get("limit", "20")
    if not limit.isdecimal() or not 1 <= int(limit) <= _LONGEST_PAGE:
        raise refusal("invalid", f"limit: a number from 1 to {_LONGEST_PAGE}, not {limit!r}", param="limit")
    page = rows[begin : begin + int(limit)]
    first, final = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    more = begin + len(page) < len(rows)
    return {"object": "list", "data": page, "first_id": first, "last_id": final, "has_more": more}


async def _stored(work: Callable[[], T]) -> T:
    """Work with the store in a thread; raises `ExchangeError` if it fails."""
    try:
        return await to_thread.run_sync(work)
    except StoreError as error:
        raise refusal("server", str(error)) from None


def _kept(body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
    return format in NAMED and body.get("store") is not False
