"""Write an answer as a provider's stream: relay another provider's stream, or serve a text model.

    for chunk in write_stream(read_stream(claude), target="openai-chat"): ...
    for event in write_stream(parse_stream(pieces, dialect="hermes"), target="anthropic", id="msg_1", model="m"): ...
    list(write_stream(message, target="gemini"))

A converter does the same between two connections, event by event or as text, without input or output of its own:

    relay = StreamConverter("anthropic", "openai-chat", id="chatcmpl-1")
    for chunk in response.iter_bytes():
        connection.send(relay.feed_text(chunk))
    connection.send(relay.close_text())
    relay.losses

An event is held back only if the target's stream cannot express it yet. Text with a broken event, or that ends before
the answer, ends the new stream with an error, after everything before.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, cast

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, JsonPart, Message, ReasoningPart, RefusalPart, TextPart
from toolfmt.errors import ParseError
from toolfmt.events import Event
from toolfmt.model import JsonObject
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_info import AnswerHead, AnswerInfo, Failure
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answers import AnswerEvents, AnswerReader, AsyncAnswerEvents, answered, plain
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.formats import known_of
from toolfmt.transcripts.sse import EventText, end_text, event_text
from toolfmt.transcripts.streams.emitter import Emitter


@checked
def write_stream(  # noqa: PLR0913 - each is a choice of the caller's
    answer: object,
    *,
    target: str,
    id: str = "",  # noqa: A002 - the field's name
    model: str = "",
    created: int = 0,
    info: AnswerInfo | None = None,
) -> Iterator[JsonObject]:
    """Write an answer as the stream of a provider, event by event and without delay.

    `answer` is an iterable of toolfmt's events, as from `read_stream` and `parse_stream`, or a whole answer: a
    `ParseResult`, an assistant's `Message`, or what `read_answer` takes. `target` is the provider's format, or
    `vercel-ui` for the AI SDK's stream of UI messages, or `ag-ui`. `id`, `model` and `created` (seconds since 1970)
    are those of the new stream; `info`, which `read_stream` provides, has their defaults, the finish reason and the
    usage. Calls without an id get one derived from the answer's `id`, so give each answer a unique id. Raises
    `UnknownFormatError` for a target without streams.
    """
    events, known = _opened(answer)
    return _written(events, Emitter(known_of(target, APIS).stream, info or known, AnswerHead(id, model, created)))


@checked(answer="see write_stream")
def awrite_stream(  # noqa: PLR0913 - as above
    answer: AsyncIterable[Event],
    *,
    target: str,
    id: str = "",  # noqa: A002 - the field's name
    model: str = "",
    created: int = 0,
    info: AnswerInfo | None = None,
) -> AsyncIterator[JsonObject]:
    """Write an answer from an asynchronous source of events, like `write_stream`."""
    known = answer.info if isinstance(answer, AsyncAnswerEvents) else AnswerInfo(stop="stop")
    return _awritten(answer, Emitter(known_of(target, APIS).stream, info or known, AnswerHead(id, model, created)))


def _written(events: Iterable[Event], emitter: Emitter) -> Iterator[JsonObject]:
    for event in events:
        yield from emitter.feed(event)
    yield from emitter.close()


async def _awritten(events: AsyncIterable[Event], emitter: Emitter) -> AsyncIterator[JsonObject]:
    async for event in events:
        for written in emitter.feed(event):
            yield written
    for written in emitter.close():
        yield written


def _opened(answer: object) -> tuple[Iterable[Event], AnswerInfo]:
    """Return an answer's events and its further facts; an answer without a finish reason has just ended."""
    if isinstance(answer, ParseResult):
        return answer.events, AnswerInfo(stop="stop")
    if isinstance(answer, Message):
        return _told(answer)
    if isinstance(answer, AnswerEvents):
        return answer, answer.info
    if isinstance(answer, (str, bytes, Mapping)) or hasattr(answer, "model_dump"):  # an SDK's object is iterable
        whole = answered(cast("object", answer))
        return list(whole), whole.info
    if not isinstance(answer, Iterable):
        raise TypeError(f"an answer or an iterable of its events is expected, not {type(answer).__name__}")
    return cast("Iterable[Event]", answer), AnswerInfo(stop="stop")


def _told(message: Message) -> tuple[list[Event], AnswerInfo]:
    made = Assembler()
    made.info.stop = "stop"
    for key, part in enumerate(message.parts):
        match part:
            case TextPart(text):
                made.text(text)
            case RefusalPart(text):
                made.refusal(text)
            case ReasoningPart():
                made.reasoning(part.text)
                made.prove(part.owner, part.signature, part.encrypted)
            case CallPart():
                form, signed = "text" if part.custom else "json", (part.owner, part.signature)
                made.call(key, part.name, part.id, form=form, signed=signed, extra=part.extra)
                made.arguments(key, part.json)
                made.end(key)
            case JsonPart(value):
                made.text(jsontext.dumps(value))
            case _:
                made.note("provider_part", type(part).__name__)
    return made.take(), made.info


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
