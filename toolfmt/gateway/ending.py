"""The end of the server: it is not ready any more, lets open answers end, and cuts off the rest with an error."""

from __future__ import annotations

import asyncio
import signal
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from toolfmt.gateway.failing import refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from toolfmt.gateway.config import Config

T = TypeVar("T")
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class ServerEnding:
    """Knows whether the server ends, and every wait for a back."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._waits: set[asyncio.Timeout] = set()
        self.begun = False
        """Whether the server has been asked to end."""
        self.over = False
        """Whether open answers are cut off."""

    def listen(self) -> None:
        """Handle the signals that end a process, before the server's own handlers do."""
        if threading.current_thread() is threading.main_thread():
            for one in _SIGNALS:
                signal.signal(one, partial(self._signalled, asyncio.get_running_loop(), signal.getsignal(one)))

    def _signalled(self, loop: asyncio.AbstractEventLoop, end: Any, number: int, frame: object) -> None:
        def proceed() -> None:
            loop.call_later(self._config.drain_timeout, self.cut)
            end(number, frame)

        again, self.begun = self.begun, True
        if again:
            end(number, frame)
            return
        delay = self._config.drain_delay if number == signal.SIGTERM else 0
        loop.call_soon_threadsafe(loop.call_later, delay, proceed)

    def cut(self) -> None:
        """End every wait for a back: its client gets an error."""
        self.over = True
        for one in self._waits:
            one.reschedule(0)

    async def within(self, seconds: float, awaited: Awaitable[T]) -> T:
        """Wait for what a back sends; raises TimeoutError, and `ExchangeError` if the server ends before it comes."""
        try:
            async with asyncio.timeout(0 if self.over else seconds) as limit:
                self._waits.add(limit)
                try:
                    return await awaited
                finally:
                    self._waits.discard(limit)
        except TimeoutError:
            if self.over:
                raise refusal("overloaded", "the gateway is shutting down: ask again") from None
            raise
