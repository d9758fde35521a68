"""What a provider's SDK raises, as the one error that drivers know.

    DriverError("openai-chat: Error code: 429 - {'error': {'message': 'slow down'}}",
                status=429, retryable=True, retry_after=2.0)

The SDKs' classes share no base. What they share is read: a status, the response's
headers, the error's own word for what happened, and the HTTP library's error beneath.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

from toolfmt.errors import DriverError

if TYPE_CHECKING:
    from toolfmt.transcripts.answer_info import AnswerInfo

RETRYABLE_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that say nothing against asking again; 529 is how Anthropic says that it is overloaded."""
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
"""What providers call a failure that passes."""
CONNECTION: Final = frozenset({"APIConnectionError", "ClientConnectionError", "RequestException", "TransportError"})
"""What SDKs and the HTTP libraries beneath them call a connection that failed, was cut or took too long."""
_ERRORS: Final = range(400, 600)
_LONGEST: Final = 2000
"""How many characters of an error are reported: some are a whole page."""
_DEPTH: Final = 4
"""How many levels of an error's body are searched for its word."""


async def reraising(values: AsyncGenerator[object], name: str) -> AsyncGenerator[object]:
    """Yield the same values; what getting them raises is a `DriverError` that begins with `name`."""
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
    """Say what an exception of an SDK, or of what it is built on, means to a driver."""
    status = _status(error)
    retryable = status in RETRYABLE_STATUS
    if status is None:
        lost = any(
            isinstance(one, (ConnectionError, TimeoutError)) or not CONNECTION.isdisjoint(_classes(one))
            for one in _chain(error)
        )
        retryable = lost or not RETRYABLE_WORDS.isdisjoint(_words(_body(error)))
    said = [str(one).strip() or type(one).__name__ for one in _chain(error)]
    body = _body(error)
    if isinstance(body, str) and body.strip() not in said[0]:
        said.insert(1, body.strip())
    message = ": ".join(dict.fromkeys(said))[:_LONGEST]
    return DriverError(f"{name}: {message}", status=status, retryable=retryable, retry_after=_retry_after(error))


def failure_suffix(info: AnswerInfo) -> str:
    """Give what the provider itself says of an answer that it could not finish, to end a sentence."""
    return "" if info.error is None else f": {info.error}"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Give an exception and what it says caused it."""
    at: BaseException | None = error
    seen: set[int] = set()
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        yield at
        at = at.__cause__


def _classes(error: BaseException) -> set[str]:
    return {one.__name__ for one in type(error).__mro__}


def _status(error: Exception) -> int | None:
    """Find the status of an HTTP error; one of success tells nothing of an error in the stream."""
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if type(value) is int and value in _ERRORS:
            return value
    return None


def _body(error: Exception) -> object:
    """Get what the provider said of the error, as JSON."""
    found = (getattr(error, name, None) for name in ("body", "details"))
    return next((value for value in found if value is not None), None)


def _words(value: Any, depth: int = 0) -> Iterator[str]:
    """Give the texts in an error's body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth < _DEPTH:
        for one in value.values():  # pyright: ignore[reportUnknownVariableType] - of any kind
            yield from _words(one, depth + 1)


def _retry_after(error: Exception) -> float | None:
    """Read the header `retry-after`, where it counts seconds."""
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
