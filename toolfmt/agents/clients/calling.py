"""Call sync and async functions in the same way, and take their values one by one; exceptions become `DriverError`.

    pieces(partial(client.chat.completions.create, stream=True, ...), single=...)   # in worker threads
    pieces(partial(async_client.messages.create, stream=True, ...), single=...)     # in the event loop

Stopping early closes the source. A blocking call cannot be interrupted; a source that is abandoned during one is closed
as soon as the call returns.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Lock
from traceback import extract_tb
from typing import Any, Final, TypeVar

import anyio
from anyio import to_thread

from toolfmt.errors import DriverError

T = TypeVar("T")


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
        except StopIteration:  # which can't leave a coroutine; asyncio's own error for it names no cause
            raise DriverError("the function has no further answer: it raised StopIteration") from None
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


RETRYABLE_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of errors that may pass; 529 is Anthropic's status for overload."""
RETRYABLE_WORDS: Final = frozenset(
    {
        # Anthropic and OpenAI, in the stream of an answer that began with status 200; Google
        *("api_error", "overloaded_error", "rate_limit_error", "timeout_error"),
        *("rate_limit_exceeded", "server_error"),
        *("DEADLINE_EXCEEDED", "INTERNAL", "RESOURCE_EXHAUSTED", "UNAVAILABLE"),
    }
)
"""Providers' codes of errors that may pass."""
CONNECTION: Final = frozenset({"APIConnectionError", "ClientConnectionError", "RequestException", "TransportError"})
"""Class names of SDKs and HTTP libraries for a connection that failed, was cut or timed out."""
_ERRORS: Final = range(400, 600)
_LONGEST: Final = 2000
"""Characters of an error that are reported; some errors are a whole page."""
_DEPTH: Final = 4
"""Levels of an error's body that are searched for its code."""


async def reraising(values: AsyncGenerator[object], name: str) -> AsyncGenerator[object]:
    """Yield the same values; exceptions become a `DriverError` whose text begins with `name`."""
    async with aclosing(values):
        while True:
            try:
                value = await anext(values)
            except StopAsyncIteration:
                return
            except DriverError:
                raise
            except Exception as error:
                raise driver_error(error, name) from error
            yield value


def driver_error(error: Exception, name: str) -> DriverError:
    """Turn an exception of an SDK or an HTTP library into a `DriverError`.

    They share no base class. Read are the attributes that they share: a status, the response's headers, the error's
    code, and the HTTP library's exception as the cause.
    """
    status = _status(error)
    retryable = status in RETRYABLE_STATUS
    if status is None:
        classes = {kind for one in _chain(error) for kind in type(one).__mro__}
        names = {kind.__name__ for kind in classes}
        lost = not classes.isdisjoint((ConnectionError, TimeoutError)) or not CONNECTION.isdisjoint(names)
        retryable = lost or not RETRYABLE_WORDS.isdisjoint(_words(_body(error)))
    causes = [_described(one) for one in _chain(error)]
    body = _body(error)
    if isinstance(body, str) and body.strip() not in causes[0]:
        causes.insert(1, body.strip())
    message = ": ".join(dict.fromkeys(causes))[:_LONGEST]
    return DriverError(f"{name}: {message}", status=status, retryable=retryable, retry_after=_retry_after(error))


def _described(error: BaseException) -> str:
    """Describe an exception: one of Python's own, as of a bug in the caller's function, with its type and place."""
    text = str(error).strip() or type(error).__name__
    frames = extract_tb(error.__traceback__)
    if type(error).__module__ != "builtins" or isinstance(error, OSError) or not frames:
        return text
    at = frames[-1]
    return f"{type(error).__name__}: {text} (line {at.lineno} of {Path(at.filename).name})"


def _chain(error: BaseException) -> Iterator[BaseException]:
    at: BaseException | None = error
    seen: set[int] = set()
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__


def _status(error: Exception) -> int | None:
    """Return the HTTP status of an error; None for a status of success, as after an error in a stream."""
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if type(value) is int and value in _ERRORS:
            return value
    return None


def _body(error: Exception) -> object:
    """Return the error's body, usually JSON."""
    found = (getattr(error, name, None) for name in ("body", "details"))
    return next((value for value in found if value is not None), None)


def _words(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts in an error's body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth < _DEPTH:
        for one in value.values():  # pyright: ignore[reportUnknownVariableType] - of any kind
            yield from _words(one, depth + 1)


def _retry_after(error: Exception) -> float | None:
    """Read the header `retry-after` if it is in seconds."""
    responses: tuple[Any, ...] = (error, getattr(error, "response", None), getattr(error, "raw_response", None))
    found = None
    for response in responses:
        headers: Any = getattr(response, "headers", None)
        if found is None and hasattr(headers, "get"):
            found = headers.get("retry-after")
    try:
        seconds = float(found) if isinstance(found, str) else None
    except ValueError:
        return None
    return seconds if seconds is not None and 0 <= seconds < float("inf") else None
