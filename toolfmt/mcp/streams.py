"""Streams of messages around the SDK's own, which keep the memory for unread answers bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage


class _Stream:
    """A stream in another one."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> Any:
        return await self._stream.__aexit__(*exc)


class Sending(_Stream):
    """A stream that knows the ids of the requests it has sent, and how many answers wait to be sent."""

    def __init__(self, stream: Any, most: int) -> None:
        """Wrap a stream; `room` waits while `most` answers wait."""
        super().__init__(stream)
        self.sent: set[str] = set()
        self._most = most
        self._waiting = 0
        self._less = anyio.Event()

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        if isinstance(item.message, JSONRPCRequest):
            self.sent.add(str(item.message.id))
        answers = isinstance(item.message, JSONRPCResponse | JSONRPCError)
        self._waiting += answers
        try:
            await self._stream.send(item)
        finally:
            self._waiting -= answers
            self._less.set()
            self._less = anyio.Event()

    async def room(self) -> None:
        """Wait until the other side has read answers to its earlier requests."""
        while self._waiting >= self._most:
            await self._less.wait()


class Receiving(_Stream):
    """A stream that is not read while too many answers wait to be sent, as the other side may never read them."""

    def __init__(self, stream: Any, writer: Sending) -> None:
        super().__init__(stream)
        self._writer = writer

    def __aiter__(self) -> Self:
        """Iterate over the messages."""
        return self

    async def __anext__(self) -> Any:
        """Wait for room, then for a message."""
        await self._writer.room()
        return await self._stream.__anext__()
