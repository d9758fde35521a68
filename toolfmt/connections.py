"""Connections of a web server's clients, on which requests arrive in time."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol


class HeadsInTime(H11Protocol):
    """A connection that is closed if the head of a request is not complete within uvicorn's `timeout_keep_alive`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] - as uvicorn's
        """Begin to wait for the first request, as uvicorn does for each further one."""
        super().connection_made(transport)
        self._wait(self.loop.time() + self.timeout_keep_alive)

    def data_received(self, data: bytes) -> None:
        """Read bytes; a part of a head does not prolong the wait."""
        end = None if self.timeout_keep_alive_task is None else self.timeout_keep_alive_task.when()
        super().data_received(data)
        if end is not None and self.timeout_keep_alive_task is None and self.conn.their_state is h11.IDLE:
            self._wait(end)

    def _wait(self, end: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_at(end, self.timeout_keep_alive_handler)


class RequestsInTime(HeadsInTime):
    """A connection that is cut off too if the body of a request is not complete in as much time again."""

    _late: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Read bytes; a part of a body does not prolong the wait."""
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            self._end_wait()
        elif self._late is None:
            self._late = self.loop.call_later(self.timeout_keep_alive, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait too."""
        self._end_wait()
        super().connection_lost(exc)

    def _end_wait(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
