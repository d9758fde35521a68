"""Asking a model: every event is emitted as it comes, and the whole answer is returned.

A model is asked again if its connection is lost. That is safe, because no call runs before its answer is complete.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Final, TypeVar

import anyio

from toolfmt import ids
from toolfmt.agents.clients.calling import closing
from toolfmt.agents.clients.text import TextSource, answer_events, answer_reader
from toolfmt.agents.runtime import Runtime
from toolfmt.agents.state import Step, total
from toolfmt.arguments import Positive, Seconds, checked
from toolfmt.conversation import Transcript
from toolfmt.dialect.record import Parser
from toolfmt.errors import DriverError
from toolfmt.events import CallEnd, CallFailed, CallStart, Event, Notice, TextDelta, coalesce
from toolfmt.execution.contracts import ModelClient
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted, InferenceResponseReceived
from toolfmt.model import JsonObject, ToolInvocation
from toolfmt.parsers.driving import has_ended
from toolfmt.parsers.reading.leaks import drop_leaks
from toolfmt.parsers.scanning.pieces import KeptEvents, Pieces
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage
from toolfmt.transcripts.comparing.losses import Loss

T = TypeVar("T")

LOST: Final = (ConnectionError, TimeoutError)
"""What Python raises for a lost connection; clients raise `DriverError(retryable=True)`."""


@checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """At most `tries` requests, with `pause` seconds between them, doubled each time up to `longest`.

    If the server says how long to wait, that counts.
    """

    tries: Positive = 3
    pause: Seconds = 0.5
    longest: Seconds = 60.0

    async def ask(self, once: Callable[[int], Awaitable[T]]) -> T:
        """Call `once` with the number of the attempt, from 1, until it returns or raises a permanent error."""
        for number in count(1):
            try:
                return await once(number)
            except (DriverError, *LOST) as error:
                if number >= self.tries or not getattr(error, "retryable", True):
                    raise
                asked = getattr(error, "retry_after", None)
            await anyio.sleep(min(self.pause * 2 ** (number - 1) if asked is None else asked, self.longest))
        raise AssertionError("count() has no end")


@dataclass(frozen=True, slots=True)
class Request:
    """A request to an API, its losses, and the tools' own names by the names that it uses instead."""

    value: JsonObject
    losses: tuple[Loss, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A complete answer; `raw` is a text model's text, up to the end of its turn."""

    result: ParseResult
    info: AnswerInfo
    raw: str = ""


def last_step(answers: Sequence[ModelAnswer], **fields: Any) -> Step:
    """Make the step of the last of several answers; the failures and tokens of all count."""
    last = answers[-1]
    step = Step(
        failures=tuple(failure for answer in answers for failure in answer.result.failures),
        notices=last.result.notices,
        usage=total(answer.info.usage or Usage() for answer in answers),
        info=last.info,
        stop=last.info.stop,
        text=last.result.text,
    )
    return replace(step, **fields)


class PlainParser:
    """Reads an answer as text, whatever is in it."""

    def __init__(self) -> None:
        self._at = 0

    def feed(self, chunk: str) -> list[Event]:
        """Read one more chunk."""
        start, self._at = self._at, self._at + len(chunk)
        return [TextDelta(chunk, start)] if chunk else []

    def close(self) -> list[Event]:
        """End the answer."""
        return []


class Asker:
    """Makes the requests of one step and counts them."""

    def __init__(self, runtime: Runtime, patience: Patience) -> None:
        self._runtime = runtime
        self._patience = patience
        self._attempts = count(1)

    async def ask_api(self, client: ModelClient, request: Request, *, stream: bool) -> ModelAnswer:
        """Ask an API; the calls of the answer have ids and their tools' own names.

        Raises `DriverError`, which is retryable if the answer is incomplete.
        """

        async def once(_: int) -> ModelAnswer:
            self._begin(request.value, request.losses)
            reader = answer_reader(client)
            batches = answer_events(client, request.value, reader, stream=stream)
            events = await self._received(batches, _Own(request.names))
            if reader.info.stop == "tool_calls" and not ParseResult(tuple(events)).ended:
                raise DriverError(
                    f"{client.format}: the answer ends with calls, and there are none in it", retryable=True
                )
            return received(self._runtime, self._without_leaks(events), reader.info)

        return await self._patience.ask(once)

    async def ask_text(
        self,
        source: TextSource,
        chat: Sequence[JsonObject],
        open_parser: Callable[[], Parser[str]],
        losses: Sequence[Loss] = (),
        transcript: Transcript | None = None,
    ) -> ModelAnswer:
        """Ask a text model; its stream is closed as soon as the format's own markers end the turn."""

        async def once(_: int) -> ModelAnswer:
            self._begin({"messages": list(chat)}, tuple(losses), transcript)
            pieces, info = source(chat)
            raw = Pieces()
            events = await self._received(_parsed(pieces, open_parser(), raw))
            end = next((one.span[0] for one in events if isinstance(one, Notice) and one.kind == "after_end"), None)
            return received(self._runtime, _complete(_mended(events), info), info, raw.text()[:end])

        return await self._patience.ask(once)

    def _begin(self, request: JsonObject, losses: tuple[Loss, ...], transcript: Transcript | None = None) -> None:
        attempt = next(self._attempts)
        self._runtime.report(
            InferenceRequestStarted, request=request, attempt=attempt, losses=losses, transcript=transcript
        )

    async def _received(
        self, batches: AsyncGenerator[list[Event]], change: Callable[[Event], Event] = lambda event: event
    ) -> list[Event]:
        """Emit events as they come, each changed by `change`, and return all of them."""
        events = KeptEvents()
        async with aclosing(batches):
            async for batch in batches:
                for event in map(change, batch):
                    events.add([event])
                    self._runtime.report(AnswerReceived, event=event)
        return events.take()

    def _without_leaks(self, events: list[Event]) -> list[Event]:
        """Remove text that merely echoes a call's arguments; a notice reports it."""
        calls = [event.call for event in events if isinstance(event, CallEnd)]
        joined = coalesce(events)
        spans: list[tuple[int, int]] = []
        for before, after in zip(joined, drop_leaks(joined, calls) if calls else joined, strict=True):
            if isinstance(before, TextDelta) and after is not before:
                self._runtime.report(AnswerReceived, event=after)
                spans.append((before.start, before.start + len(before.text)))
        return [
            event
            for event in events
            if not (isinstance(event, TextDelta) and any(start <= event.start < end for start, end in spans))
        ]


def received(runtime: Runtime, events: Sequence[Event], info: AnswerInfo, raw: str = "") -> ModelAnswer:
    """Make an answer of its events, and emit that it is complete."""
    result = ParseResult(tuple(events))
    content = {"text": result.text, "reasoning": result.reasoning, "calls": result.calls, "failures": result.failures}
    runtime.report(InferenceResponseReceived, info=info, **content)
    return ModelAnswer(result, info, raw)


class _Own:
    """Gives an id to calls without one, and their own names back to tools."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._mint = ids.pattern(ids.OPENAI)
        self._ids: dict[int, str | None] = {}

    def __call__(self, event: Event) -> Event:
        match event:
            case CallStart(index, name, ident):
                self._ids[index] = ident or self._mint(ToolInvocation(name=name))
                return CallStart(index, self._names.get(name, name), self._ids[index])
            case CallEnd(index, call):
                name = self._names.get(call.name, call.name)
                return replace(event, call=call.model_copy(update={"name": name, "id": call.id or self._ids[index]}))
            case CallFailed(name=name):
                return replace(event, name=self._names.get(name, name))
            case _:
                return event


async def _parsed(pieces: AsyncIterator[str], parser: Parser[str], raw: Pieces) -> AsyncGenerator[list[Event]]:
    """Yield the events of each piece of a text, up to the end of the turn; the pieces are added to `raw`."""
    async with closing(pieces) as texts:
        async for text in texts:
            raw.add(text)
            yield parser.feed(text)
            if has_ended(parser):
                break
    yield parser.close()


def _mended(events: Sequence[Event]) -> list[Event]:
    """Leave out the failures of calls that were repaired."""
    mended = {event.span for event in events if isinstance(event, Notice) and event.kind == "repaired"}
    return [event for event in events if not (isinstance(event, CallFailed) and event.span in mended)]


def _complete(events: list[Event], info: AnswerInfo) -> list[Event]:
    """Make a failure of the last call if the answer was cut off by its token limit before the call was closed."""
    last = max((at for at, event in enumerate(events) if isinstance(event, CallEnd)), default=None)
    event = None if last is None or info.stop != "length" else events[last]
    if last is not None and isinstance(event, CallEnd) and event.call.certainty == "guessed":
        raw = event.call.raw_arguments or ""
        detail = "the answer was cut off; the call may be incomplete"
        events[last] = CallFailed(event.index, raw, "truncated", detail, event.span, event.call.name)
    return events
