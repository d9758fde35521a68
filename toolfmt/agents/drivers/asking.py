"""Asking an API: a request out, events in as they come, a whole answer or an error in the end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolfmt import ids
from toolfmt.agents.clients.failing import failure_suffix
from toolfmt.agents.clients.pulling import closing
from toolfmt.errors import DriverError, ParseError
from toolfmt.events import CallEnd, CallFailed, CallStart, TextDelta, coalesce
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted, InferenceResponseReceived
from toolfmt.model import ToolInvocation
from toolfmt.parsers.leaks import drop_leaks
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_apis import SHAPES
from toolfmt.transcripts.answers import AnswerReader

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolfmt.agents.runtime import Runtime
    from toolfmt.events import Event
    from toolfmt.execution.contracts import ModelClient
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import AnswerInfo
    from toolfmt.transcripts.losses import Loss


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, what it could not say, and the tools' own names where it calls them by others."""

    value: JsonObject
    losses: tuple[Loss, ...] = ()
    names: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A whole answer: its events as they came, and what else it says."""

    events: tuple[Event, ...]
    info: AnswerInfo


async def ask(client: ModelClient, request: Request, runtime: Runtime, *, stream: bool, attempt: int) -> ModelAnswer:
    """Ask once. Every event is emitted as it comes; calls have ids and their tools' own names.

    Raises `DriverError`, which may be tried again, for an answer that ends before it is complete,
    and for anything else.
    """
    runtime.tell(InferenceRequestStarted, request=request.value, attempt=attempt, losses=request.losses)
    reader = AnswerReader(client.format if client.format in SHAPES else "auto")
    own = _Own(request.names or {})
    events: list[Event] = []

    def take(found: Sequence[Event]) -> None:
        for event in map(own, found):
            events.append(event)
            runtime.tell(AnswerReceived, event=event)

    async with closing(client.send(request.value, stream=stream)) as values:
        async for value in values:
            try:
                take(reader.feed(value))
            except ParseError as error:
                raise DriverError(f"{client.format}: {error}") from error
    if reader.info.error is not None or (stream and reader.info.stop is None):
        failed = failure_suffix(reader.info)
        raise DriverError(f"{client.format}: the answer ended before it was complete{failed}", retryable=True)
    take(reader.close())
    if reader.info.stop == "tool_calls" and not any(isinstance(event, (CallEnd, CallFailed)) for event in events):
        raise DriverError(f"{client.format}: the answer ends with calls, and there are none in it", retryable=True)
    kept = _without_leaks(events, runtime)
    result = ParseResult(tuple(kept))
    said = {"text": result.text, "reasoning": result.reasoning, "calls": result.calls, "failures": result.failures}
    runtime.tell(InferenceResponseReceived, info=reader.info, **said)
    return ModelAnswer(tuple(kept), reader.info)


class _Own:
    """Gives calls without an id one, and tools the names by which they are registered."""

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


def _without_leaks(events: list[Event], runtime: Runtime) -> list[Event]:
    """Take out text that merely echoes a call's arguments; it is reported as a notice."""
    calls = [event.call for event in events if isinstance(event, CallEnd)]
    if not calls:
        return events
    joined = coalesce(events)
    spans: list[tuple[int, int]] = []
    for before, after in zip(joined, drop_leaks(joined, calls), strict=True):
        if isinstance(before, TextDelta) and after is not before:
            runtime.tell(AnswerReceived, event=after)
            spans.append((before.start, before.start + len(before.text)))
    return [
        event
        for event in events
        if not (isinstance(event, TextDelta) and any(start <= event.start < end for start, end in spans))
    ]
