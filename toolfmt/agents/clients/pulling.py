"""Call sync and async functions in the same way, and take their values one by one.

    pieces(partial(client.chat.completions.create, stream=True, ...), single=...)   # in worker threads
    pieces(partial(async_client.messages.create, stream=True, ...), single=...)     # in the event loop

Stopping early closes the source. A blocking call cannot be interrupted; a source that is abandoned during one is closed
as soon as the call returns.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from anyio import to_thread

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Iterable

CLOSING: Final = 5.0
"""Seconds by which closing may delay a cancellation."""
_END: Final = object()


async def pieces(call: partial[Any], *, single: Callable[[object], bool]) -> AsyncGenerator[object]:
    """Call a sync or async function and yield its value if `single(value)`, else the items of the value."""
    threads = _Threads()
    source: _Threads | _Loop = threads
    try:
        given = call() if _at_once(inspect.unwrap(call.func)) else await threads.run(call)
        if inspect.isawaitable(given):
            given = await given
        if single(given):
            yield given
            return
        source = _Loop(given) if hasattr(given, "__aiter__") else threads.iterating(given)
        while (value := await source.next()) is not _END:
            yield value
    finally:
        with anyio.move_on_after(CLOSING, shield=True):
            await source.close()


def _at_once(function: object) -> bool:
    """Whether a call of the function only returns something to await or iterate."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


class _Loop:
    """Iterates in the event loop."""

    def __init__(self, given: Any) -> None:
        # A stream that is its own iterator: a generator around it would stay open when the stream is closed.
        self._values: AsyncIterator[object] = given if hasattr(given, "__anext__") else aiter(given)

    async def next(self) -> object:
        return await anext(self._values, _END)

    async def close(self) -> None:
        method = getattr(self._values, "aclose", None) or getattr(self._values, "close", None)
        closing = method() if callable(method) else None
        if inspect.isawaitable(closing):
            await closing


class _Threads:
    """Runs blocking steps in worker threads, one at a time."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._busy = False
        self._closed = False
        self._values: Iterator[object] = iter(())

    def iterating(self, given: Iterable[object]) -> _Threads:
        self._values = given if isinstance(given, Iterator) else iter(given)
        return self

    async def next(self) -> object:
        return await self.run(partial(next, self._values, _END))

    async def run(self, step: Callable[[], Any]) -> Any:
        return await to_thread.run_sync(self._run, step, abandon_on_cancel=True)

    def _run(self, step: Callable[[], Any]) -> Any:
        with self._lock:
            if self._closed:
                return _END
            self._busy = True
        value: object = None
        try:
            value = step()
        finally:
            with self._lock:
                self._busy, late = False, self._closed
            if late:
                _shut(self._values)
                _shut(value)
        return value

    async def close(self) -> None:
        with self._lock:
            self._closed, busy = True, self._busy
        if not busy:
            await to_thread.run_sync(_shut, self._values)


def _shut(given: object) -> None:
    """Call the sync `close` of an object, if it has one."""
    method = getattr(given, "close", None)
    if callable(method) and not inspect.iscoroutinefunction(method):
        method()


@asynccontextmanager
async def closing(stream: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Close a stream at the end, read or not, if it can be closed."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
