"""Clients that go away: what was begun for them ends, at the back too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse

from toolfmt.gateway.failing import ExchangeError

if TYPE_CHECKING:
    from contextlib import AsyncExitStack

    from starlette.types import Receive, Scope, Send

GONE: Final = 499
"""The status that the log gives a request whose client did not wait for the answer, as nginx does."""
T = TypeVar("T")


async def unless_gone(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """Work for a client as long as it is there; the request's body has been read.

    Raises `ClientDisconnect` where it goes away, and `ExchangeError` as `work` does.
    """
    found: list[T] = []
    failed: list[ExchangeError] = []
    async with anyio.create_task_group() as group:

        async def watch() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

        group.start_soon(watch)
        try:
            found.append(await work())
        except ExchangeError as error:
            failed.append(error)
        group.cancel_scope.cancel()
    if failed:
        raise failed[0]
    if not found:
        raise ClientDisconnect
    return found[0]


class AnswerStream(StreamingResponse):
    """A streamed answer; what it needs is let go when it ends, however it does."""

    def __init__(
        self, pieces: AsyncIterator[str], stack: AsyncExitStack, *, headers: Mapping[str, str], media_type: str
    ) -> None:
        """Take the text, and what to close."""
        super().__init__(pieces, headers=headers, media_type=media_type)
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, as fast as the client reads; nothing more is asked for before."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                await self._stack.aclose()
