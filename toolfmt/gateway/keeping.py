"""Conversations that go on: what a request names of an earlier one is put before it, and answers are kept.

{"previous_response_id": "resp_1", "input": "And tomorrow?"}    {"input": [what was said before, "And tomorrow?"]}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from anyio import to_thread

from toolfmt.errors import ToolFmtError
from toolfmt.gateway.failing import refusal
from toolfmt.gateway.store import KeptExchange, Store, StoreError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.exchanges import exchange, message_list
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

NAMED: Final[Mapping[str, str]] = {
    "openai-responses": "previous_response_id",
    "gemini-interactions": "previous_interaction_id",
}
"""The field in which a request names an earlier answer."""


class Keeper:
    """Keeps exchanges for clients, and for the record."""

    def __init__(self, store: Store, *, record: bool) -> None:
        """Take the store; `record`: keep exchanges of all faces, also those that clients do not want stored."""
        self.store = store
        self._record = record

    async def continued(self, body: JsonObject, format: str, owner: str) -> JsonObject:  # noqa: A002 - the field's name
        """Put an earlier conversation before a request that names it; raises `ExchangeError` for an unknown one."""
        field = NAMED.get(format, "")
        ident = body.get(field)
        if not isinstance(ident, str) or not ident:
            return body
        try:
            earlier = await to_thread.run_sync(self.store.find, ident, owner)
        except StoreError as error:
            raise refusal("server", str(error)) from None
        if earlier is None or earlier.face != format:
            raise refusal("not_found", f"{field}: there is no {ident!r}", param=field)
        made = find(format)
        try:
            whole = exchange(earlier.request, earlier.answer, format)
        except ToolFmtError as error:
            raise refusal("server", f"{ident!r} cannot be read", error) from None
        before = whole.get(made.messages) if is_object(whole) else whole
        rest = {name: value for name, value in body.items() if name != field}
        return {
            **rest,
            made.messages: [*(before if is_array(before) else []), *message_list(body.get(made.messages), made)],
        }

    def wants(self, body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
        """Whether an exchange is kept."""
        return self._record or _kept(body, format)

    async def keep(self, row: JsonObject, request: JsonObject, answer: JsonObject, format: str) -> None:  # noqa: A002 - as above
        """Keep an exchange, of which `row` says the rest; raises `ExchangeError` where that cannot be done."""
        made = KeptExchange(**row, face=format, kept=_kept(request, format), request=request, answer=answer)
        try:
            await to_thread.run_sync(self.store.save, made)
        except StoreError as error:
            raise refusal("server", str(error)) from None


def _kept(body: JsonObject, format: str) -> bool:  # noqa: A002 - the field's name
    return format in NAMED and body.get("store") is not False
