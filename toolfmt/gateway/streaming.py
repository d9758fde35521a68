"""A streamed answer: the batches in which a back's events arrive, until they are events of the client's API.

    [{"choices": ...}, {"choices": ...}] -> [TextDelta, TextDelta] -> [{"type": "content_block_delta", ...}, ...]

What arrives together is sent together.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Final, TypeVar

from toolfmt.errors import ToolFmtError
from toolfmt.events import CallFailed, Event, Notice
from toolfmt.gateway.failing import ExchangeError, UpstreamError, bad_answer
from toolfmt.gateway.handling import GatewayAnswer
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answers import AnswerReader
from toolfmt.transcripts.streams.emitter import Emitter

T = TypeVar("T")
UNREADABLE: Final = "the upstream's answer cannot be read"


async def single(batches: AsyncIterable[list[T]]) -> AsyncIterator[T]:
    """Yield what batches hold, one by one."""
    async for batch in batches:
        for one in batch:
            yield one


async def in_batches(events: AsyncIterable[T]) -> AsyncIterator[list[T]]:
    """Yield each event as a batch."""
    async for event in events:
        yield [event]


async def read_batches(batches: AsyncIterable[list[JsonObject]], reader: AnswerReader) -> AsyncIterator[list[Event]]:
    """Read the values of a stream; what came before a fault is given before it is raised.

    Raises `UpstreamError` for a call without a name, which no client could be given.
    """
    events: list[Event] = []
    try:
        async for batch in batches:
            for value in batch:
                events += map(named, reader.read(value))
            yield events
            events = []
        events += map(named, reader.close())
    except (ToolFmtError, ExchangeError):
        yield events
        raise
    yield events


def named(event: Event) -> Event:
    """Return an event; raises `UpstreamError` for a call without a name."""
    if isinstance(event, CallFailed) and not event.name:
        raise bad_answer(UNREADABLE, event.detail)
    return event


async def complete_batches(
    batches: AsyncIterable[list[Event]],
    answered: GatewayAnswer,
    info: AnswerInfo,
    ended: Callable[[list[Event]], Awaitable[None]] | None,
    broken: Callable[[ExchangeError], Awaitable[None]],
) -> AsyncIterator[list[Event]]:
    """Return the events of an answer; what goes wrong in it is its end, written as the client's API does.

    `ended` is given the events of a complete answer before its end is written, `broken` the error of any other.
    Notices begin no answer and are left out.

    Raises `UpstreamError` if nothing of the answer has been given yet.
    """
    begun, failed = False, None
    emitted: list[Event] = []
    try:
        async for batch in batches:
            events: list[Event] = [event for event in batch if not isinstance(event, Notice)]
            if events:
                begun = True
                emitted += events if ended is not None else ()
                yield events
        if info.failure is not None:
            failed = UpstreamError(info.failure, logged="the upstream's answer ended in an error")
        elif info.stop is None:
            failed = bad_answer("the upstream's answer ended before it was complete")
        elif ended is not None:
            await ended(emitted)
    except ExchangeError as error:
        failed = error
    except ToolFmtError as error:
        failed = bad_answer(UNREADABLE, error)
    if failed is None:
        return
    await broken(failed)
    if not begun:
        raise failed
    answered.error = failed.logged
    info.error, info.failure = failed.failure.message, failed.failure


async def written_batches(
    batches: AsyncIterable[list[Event]], emitter: Emitter, complete: Sequence[Callable[[JsonObject], JsonObject]]
) -> AsyncIterator[list[JsonObject]]:
    """Write the events of an answer as a stream of the client's API, each completed."""

    def completed(events: Iterable[JsonObject]) -> list[JsonObject]:
        for one in complete:
            events = map(one, events)
        return list(events)

    async for batch in batches:
        if written := completed(one for event in batch for one in emitter.feed(event)):
            yield written
    yield completed(emitter.close())
