"""The stream of a model that only writes text: its calls become calls, and invalid answers are held back."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import fields

from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, ReasoningDelta, TextDelta
from toolfmt.gateway.text import TextRequest
from toolfmt.model import JsonObject
from toolfmt.transcripts.answers import AsyncAnswerEvents


class AsyncEvents:
    """Events of a text answer, read in a dialect as they come."""

    def __init__(
        self,
        request: TextRequest,
        source: AsyncAnswerEvents,
        ask: Callable[[JsonObject], AbstractAsyncContextManager[AsyncAnswerEvents]],
    ) -> None:
        """Read the text among the events of `source`, the answer to the first request; `ask` sends a further one."""
        self._request = request
        self._source = source
        self._ask = ask

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Yield the events as soon as they are final."""
        attempt = _Attempt(self._request)
        async for event in attempt.read(self._source):
            yield event
        info = self._source.info
        while not attempt.begun:
            again = self._request.again(attempt.text, attempt.events, cut=info.stop == "length")
            if again is None:
                break
            attempt = _Attempt(self._request)
            async with self._ask(again) as source:
                async for event in attempt.read(source):
                    yield event
            for one in fields(info):  # the client's stream has one record, of the answer that counts
                setattr(info, one.name, getattr(source.info, one.name))
        self._request.note(attempt.events)
        left = attempt.held
        if not attempt.called:
            read = self._request.finished(left if attempt.silent else attempt.events, cut=info.stop == "length")
            left = read if attempt.silent else left
        for event in left:  # of a call that failed, its text alone
            if not isinstance(event, (CallStart, ArgumentsDelta)):
                yield event
        if attempt.called and info.stop == "stop":
            ended = any(isinstance(event, CallEnd) for event in attempt.events)
            info.stop = "tool_calls" if ended else "malformed_call"


class _Attempt:
    """One answer of the model: events that are yielded at once, and those held back until it is valid."""

    def __init__(self, request: TextRequest) -> None:
        self._request = request
        self._holds = request.holds
        self._exact = request.holds and request.exact
        self._whole = request.holds and not request.exact
        """Whether a call is yielded when it is complete: of one that fails, the client gets the text alone."""
        self._open: set[int] = set()
        self._counts = False
        """Whether the answer has a call, which counts whatever else is in it."""
        self._reading = request.reading(exact=self._exact)
        self.events: list[Event] = []
        self.held: list[Event] = []
        self.called = False
        self.begun = False
        """Whether the client has been given a part of a call, so that the model cannot be asked again."""
        self.silent = request.silent and self._holds

    @property
    def text(self) -> str:
        return self._reading.text

    async def read(self, source: AsyncAnswerEvents) -> AsyncGenerator[Event]:
        """Yield what is final in an answer; the API's own reasoning stays reasoning."""
        async for event in source:
            if isinstance(event, ReasoningDelta):
                yield event
            else:
                for one in self._passed(self._reading.feed(event)):
                    yield one
        for one in self._passed(self._reading.close()):
            yield one

    def _passed(self, events: Sequence[Event]) -> Iterator[Event]:
        self.events += events
        for event in events:
            match event:
                case CallStart():
                    self._open.add(event.index)
                    self.begun = self.begun or self._exact
                case CallEnd():
                    self._request.check(event.call, exact=self._exact)
                    self._open.discard(event.index)
                    self.called = self._counts = True
                case CallFailed():
                    self._open.discard(event.index)
                    self.called = True
                case _:
                    pass
            part = isinstance(event, (CallStart, ArgumentsDelta))
            waits = self._holds and (self.silent or isinstance(event, CallFailed))
            waits = waits or ((self._holds or self._whole) and bool(self.held or part))
            if waits and not isinstance(event, ReasoningDelta):
                self.held.append(event)
            else:
                yield self._final(event)
            if self.begun or self._counts:
                self._holds = False
            if not self._holds and not (self._whole and self._open):
                yield from self._released()

    def _released(self) -> Iterator[Event]:
        """Yield what was held; of calls that failed, the texts."""
        failed = {event.index for event in self.held if isinstance(event, CallFailed)} if self._whole else set[int]()
        for event in self.held:
            if not (isinstance(event, (CallStart, ArgumentsDelta)) and event.index in failed):
                yield self._final(event)
        self.held.clear()

    def _final(self, event: Event) -> Event:
        """Return an event, or the text of a call that failed beside one that counts: it does not end the answer."""
        if self._whole and self._counts and isinstance(event, CallFailed):
            return TextDelta(event.raw, event.span[0])
        return event
