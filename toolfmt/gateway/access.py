"""Who may ask: clients that send the key, as the SDK of any API sends one."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final

from toolfmt.gateway.failing import ExchangeError
from toolfmt.transcripts.answer_info import Failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import HTTPConnection

_HEADERS: Final = ("x-api-key", "x-goog-api-key")
"""Headers that may hold a client's key, beside `Authorization: Bearer`."""


class Access:
    """Checks keys."""

    def __init__(self, key: str | None) -> None:
        """Take the key that clients must send; None: they need none."""
        self._key = key

    def check(self, request: HTTPConnection) -> None:
        """Let a client in, or raise `ExchangeError`."""
        if self._key is None:
            return
        if not any(hmac.compare_digest(one.encode(), self._key.encode()) for one in _sent(request)):
            raise ExchangeError(Failure(kind="authentication", message="the key is missing or wrong"))


def _sent(request: HTTPConnection) -> Iterator[str]:
    """Give each key that a client sends."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield bearer
    yield from (request.headers[name] for name in _HEADERS if name in request.headers)
    if "key" in request.query_params:
        yield request.query_params["key"]
