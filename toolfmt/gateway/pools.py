"""Connections to backs in several pools: a request's cost does not grow with the number of open streams.

A pool of httpx2 looks at all its connections for each request, so each pool here has few.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Final

import httpx2

_MOST: Final = 32
"""The open requests of one pool."""


class Pools(httpx2.AsyncBaseTransport):
    """A transport that gives each request to the first pool with few open ones."""

    def __init__(self) -> None:
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        pool = next((pool for pool in self._pools if pool.open < _MOST), None)
        if pool is None:
            pool = _Pool()
            self._pools.append(pool)
        pool.open += 1
        try:
            response = await pool.transport.handle_async_request(request)
        except BaseException:
            pool.open -= 1
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an asynchronous transport
        response.stream = _Counted(response.stream, partial(self._end, pool))
        return response

    async def _end(self, pool: _Pool) -> None:
        """End a request; of the pools without open requests, the first keeps its connections."""
        pool.open -= 1
        _, *idle = [one for one in self._pools if not one.open] or [pool]
        for one in idle:  # before any is closed: meanwhile none is given a request
            self._pools.remove(one)
        for one in idle:
            await one.transport.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools:
            await pool.transport.aclose()


class _Pool:
    def __init__(self) -> None:
        self.transport = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_connections=None), trust_env=False)
        self.open = 0


class _Counted(httpx2.AsyncByteStream):
    """An answer's bytes; the request is open until they are closed."""

    def __init__(self, stream: httpx2.AsyncByteStream, end: Callable[[], Awaitable[None]]) -> None:
        self._stream = stream
        self._end: Callable[[], Awaitable[None]] | None = end

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)  # itself, so that who reads it can close it

    async def aclose(self) -> None:
        end, self._end = self._end, None
        try:
            await self._stream.aclose()
        finally:
            if end is not None:
                await end()
