"""Turn the exceptions of providers' SDKs into `DriverError`.

    DriverError("openai-chat: Error code: 429 - {'error': {'message': 'slow down'}}",
                status=429, retryable=True, retry_after=2.0)

The SDKs' exceptions share no base class. Read are the attributes that they share: a status, the response's headers, the
error's code, and the HTTP library's exception as the cause.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from toolfmt.errors import DriverError

RETRYABLE_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of errors that may pass; 529 is Anthropic's status for overload."""
RETRYABLE_WORDS: Final = frozenset(
    {
        # Anthropic, in the stream of an answer that began with status 200
        "api_error",
        "overloaded_error",
        "rate_limit_error",
        "timeout_error",
        # OpenAI, likewise
        "rate_limit_exceeded",
        "server_error",
        # Google
        "DEADLINE_EXCEEDED",
        "INTERNAL",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
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
    """Turn an exception of an SDK or an HTTP library into a `DriverError`."""
    status = _status(error)
    retryable = status in RETRYABLE_STATUS
    if status is None:
        lost = any(
            isinstance(one, (ConnectionError, TimeoutError)) or not CONNECTION.isdisjoint(_classes(one))
            for one in _chain(error)
        )
        retryable = lost or not RETRYABLE_WORDS.isdisjoint(_words(_body(error)))
    causes = [str(one).strip() or type(one).__name__ for one in _chain(error)]
    body = _body(error)
    if isinstance(body, str) and body.strip() not in causes[0]:
        causes.insert(1, body.strip())
    message = ": ".join(dict.fromkeys(causes))[:_LONGEST]
    return DriverError(f"{name}: {message}", status=status, retryable=retryable, retry_after=_retry_after(error))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes."""
    at: BaseException | None = error
    seen: set[int] = set()
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__


def _classes(error: BaseException) -> set[str]:
    return {one.__name__ for one in type(error).__mro__}


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
