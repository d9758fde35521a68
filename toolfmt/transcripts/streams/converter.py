"""Converts a provider's stream to another's, event by event or as text, for a relay between two connections.

    relay = StreamConverter("anthropic", "openai-chat", id="chatcmpl-1")
    for chunk in response.iter_bytes():
        connection.send(relay.feed_text(chunk))
    connection.send(relay.close_text())
    relay.losses

It does no input or output of its own. An event is held back only if the target's stream cannot express it yet. Text
with a broken event, or that ends before the answer, ends the new stream with an error, after everything before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.errors import ParseError
from toolfmt.events import Event
from toolfmt.model import JsonObject
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_ending import AnswerHead
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Failure
from toolfmt.transcripts.answers import AnswerReader, plain
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.formats import known_of
from toolfmt.transcripts.sse import EventText, end_text, event_text
from toolfmt.transcripts.streams.emitter import Emitter

_CUT_OFF: Final = "the stream ended before the answer was complete"


@checked
class StreamConverter:
    """Converts one stream; `info` is what is known of the answer so far."""

    def __init__(
        self,
        source: str,
        target: str,
        *,
        id: str = "",  # noqa: A002 - the field's name
        model: str = "",
        created: int = 0,
    ) -> None:
        """Start a stream: `source` and `target` are APIs' formats, as for `read_stream` and `write_stream`.

        `id`, `model` and `created` (seconds since 1970) replace the answer's
        own; without them, a stream within one format is unchanged.
        Raises `UnknownFormatError` for a format without streams.
        """
        self._api = api = known_of(target, APIS)
        self._target = api.name
        self._reader = AnswerReader(source)
        self._same = not (id or model or created) and source == target
        self.info: AnswerInfo = self._reader.info
        self._emitter = Emitter(api.stream, self.info, AnswerHead(id, model, created))
        self._text = EventText()
        self._broken = self._closed = False
        self._passed = 0
        self._lost: dict[tuple[str, str], str] = {}
        self._noted = [0, 0]

    def feed(self, event: object) -> list[JsonObject]:
        """Convert one event: JSON, its text, or an SDK's object.

        Raises `ParseError` with the event's number for a broken one; later events can still be fed.
        """
        try:
            events = self._reader.feed(event)
        except ParseError as error:
            raise type(error)(f"event {self._passed}: {error}") from error
        self._passed += 1
        return [plain(event)] if self._same else self._written(events)

    def close(self) -> list[JsonObject]:
        """End the stream."""
        events = self._reader.close()
        if self._same:
            return []
        made = [*self._written(events), *self._emitter.close()]
        return made + self._written([])

    def feed_text(self, text: str | bytes) -> str:
        """Convert a piece of a stream's text, cut anywhere; returns "" after a broken event."""
        if not isinstance(text, (str, bytes)):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
            raise TypeError(f"a piece of a stream's text is str or bytes, not {type(text).__name__}; feed takes events")
        if self._closed:
            raise ValueError("the stream is closed: convert another with a new StreamConverter")
        return self._lines(self._relayed(lambda: self._text.feed(text)))

    def close_text(self) -> str:
        """End a stream of text; if the answer is incomplete, it ends with an error, also in `info.failure`."""
        self._closed = True
        rest = self._lines(self._relayed(self._text.close, _CUT_OFF))
        if not self._broken:
            complete = self.info.stop is not None or self.info.error is not None
            rest += self._lines(self.close() if complete else self._fail(_CUT_OFF))
        return rest + end_text(self._target)

    def _relayed(self, given: Callable[[], list[str]], unreadable: str = "") -> Iterator[JsonObject]:
        """Convert events; a broken one ends the stream in an error: `unreadable`, if it is no JSON."""
        if self._broken:
            return
        problem = ""
        try:
            for data in given():
                problem = unreadable
                value = jsontext.loads(data)
                problem = ""
                yield from self.feed(value)
            if self._text.done:
                self._reader.terminate()
        except ParseError as error:
            yield from self._fail(problem or f"the stream is broken: {error}")

    def _fail(self, reason: str) -> list[JsonObject]:
        """End the stream with an error."""
        self._broken = True
        failure = self.info.failure or Failure(kind="server", message=reason, status=502)
        self.info.error, self.info.failure = failure.message, failure
        if not self._same:
            return self.close()
        table = self._api.stream
        events = table.fail(AnswerHead(self.info.id, self.info.model, self.info.created), failure, ())
        return [
            {**event, table.numbered: self._passed + at} if table.numbered else event for at, event in enumerate(events)
        ]

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far: data of the answer that the new stream cannot express.

        The path of each is `/NUMBER` of the event after which it was known.
        """
        return tuple(Loss(code, path, "dropped", detail) for (code, detail), path in self._lost.items())

    def _written(self, events: list[Event]) -> list[JsonObject]:
        made = [written for event in events for written in self._emitter.feed(event)]
        for at, dropped in enumerate((self.info.dropped, self._emitter.dropped)):
            new = [*islice(reversed(dropped), len(dropped) - self._noted[at])]  # without a look at all before it
            self._lost.update((key, f"/{self._passed - 1}") for key in reversed(new) if key not in self._lost)
            self._noted[at] = len(dropped)
        return made

    def _lines(self, events: Iterable[JsonObject]) -> str:
        return "".join(event_text(event, self._target) for event in events)
