"""Read a provider's own answer, whole or streamed, into the events of a text parser.

    read_answer({"choices": [{"message": {"role": "assistant", "tool_calls": [...]}}]}).calls
    read_answer(client.messages.create(...)).calls             # an SDK's own object
    for event in read_stream(client.chat.completions.create(..., stream=True)): ...
    for event in read_stream(response.iter_lines()): ...       # server-sent events as text: lines or pieces

Knows the answers of OpenAI (Chat Completions and Responses), Anthropic, Gemini and
its Interactions, Bedrock Converse, Mistral, Cohere and Ollama by their shape. Calls have the provenance `api`, and
arguments that are not a JSON object are failures, never `{}`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Final, cast

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.dialect.record import Parser, ParserOptions
from toolfmt.errors import ParseError, not_utf8
from toolfmt.events import Event, coalesce
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_apis import ANSWERS, APART
from toolfmt.transcripts.answering.answer_api import StepShape
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.formats import known_of
from toolfmt.transcripts.parts.media import with_base64
from toolfmt.transcripts.parts.values import objects_at, outline
from toolfmt.transcripts.sse import DONE, EventText

_PARTS: Final = frozenset({"role", "content", "tool_calls", "function", "arguments", "input", "functionCall"})
"""Keys of a message or a call in an answer."""
_FIELDS: Final = ("data:", "event:", "id:", "retry:", ":")
"""The possible beginnings of a line of server-sent events."""
_PARSE: Final = "toolfmt.parse reads a model's text"
_DUMPS: Final = ("model_dump", "to_dict", "dict")
"""The methods that turn SDKs' objects into JSON."""


@checked
def read_answer(response: object, *, tools: object = None) -> ParseResult:
    """Read a whole answer: an object, its JSON text, an SDK's object, or a stream's events as an iterable or as text.

    `tools` are the offered tools, as for `parse`: a call of any other tool is reported in a notice `unknown_tool`.
    Raises ParseError for anything that is not a provider's answer, such as its error; of a stream that an error ended,
    `read_stream` gives what came before.
    """
    read = answered(response, tools)
    events = tuple(coalesce(list(read)))
    if read.info.failure is not None:
        raise ParseError(f"the provider gives an error, not an answer: {read.info.failure.message}")
    if not events and read.info.stop is None and not _has_message(response):
        raise ParseError("the answer has no message")
    return ParseResult(events)


def _has_message(response: object) -> bool:
    """Whether a whole answer has a message, which may be empty."""
    value = None if is_event_text(response) else plain(response)
    if not is_object(value):
        return True
    choices = [objects_at(value, api.choices) for api in ANSWERS.values() if api.choices in value]
    for key in value.keys() & {"output", "steps"}:
        found = value[key]
        choices.append([found] if is_object(found) else [{"item": item} for item in objects_at(value, key)])
    return all(any(is_object(part) for choice in listed for part in choice.values()) for listed in choices)


def answered(response: object, tools: object = None) -> AnswerEvents:
    """Read a whole answer like `read_answer`, and return its events and further information."""
    if is_event_text(response):
        return AnswerEvents([response], "auto", tools)
    value = plain(response)
    if not isinstance(value, Iterable):
        raise ParseError(f"no answer of a provider: {type(response).__name__}")
    several = cast("Iterable[object]", value)
    values = [several] if is_object(several) else [*several]
    if not any(values):
        raise ParseError("the answer is empty: give what the provider's API returned")
    return AnswerEvents(values, "auto", tools)


@checked(stream="see aread_stream and read_answer")
def read_stream(stream: Iterable[object], *, source: str = "auto", tools: object = None) -> AnswerEvents:
    """Read a provider's stream and yield the events of a text parser, each as soon as it is certain.

    The stream yields an SDK's objects, JSON objects, their texts, or the text of server-sent events: its lines, or
    pieces that are cut anywhere. `source` is the provider's format; by default it is detected by the shape of the
    values. `tools` are as for `read_answer`. Raises ParseError during reading for anything that is not a provider's
    stream, and `UnknownFormatError` for an unknown source.
    """
    return AnswerEvents(stream, source, tools)


@checked(stream="see read_stream")
def aread_stream(stream: AsyncIterable[object], *, source: str = "auto", tools: object = None) -> AsyncAnswerEvents:
    """Read a provider's stream from an asynchronous source, like `read_stream`."""
    return AsyncAnswerEvents(stream, source, tools)


class AnswerReader:
    """Reads the values of one answer, and collects `info` about it."""

    def __init__(self, source: str = "auto") -> None:
        self._shapes = _shapes(source)
        self._made = Assembler()
        self._latest = APART
        self._text: EventText | None = None
        self._line_end = b""
        self._broken: ParseError | None = None
        self.info: AnswerInfo = self._made.info

    def feed(self, chunk: object) -> list[Event]:
        """Read the next value: JSON, its text, an SDK's object, or a piece of the text of server-sent events."""
        if not isinstance(chunk, (str, bytes)) or (self._text is None and not is_event_text(chunk)):
            return self._value(chunk)
        piece = chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else chunk
        if self._text is None:
            self._text = EventText()
            self._line_end = b"\n\n" if _is_line(piece) else b""  # lines without line ends; each is an event
        events: list[Event] = []
        try:
            if self._broken is None:
                for data in self._text.feed(piece + self._line_end):
                    events += self._value(data)
                if self._text.done:
                    self.terminate()
        except ParseError as error:
            self._broken = error  # what arrived before it is returned first
        if self._broken is not None and not events:
            raise self._broken
        return events

    def _value(self, value: object) -> list[Event]:
        value = plain(value)
        if not is_object(value):
            raise ParseError(f"an event of a stream is an object, not {type(value).__name__}")
        jsontext.check_depth(value, "an answer")
        return self.read(value)

    def read(self, value: JsonObject) -> list[Event]:
        """Read the next value, like `feed`, if `jsontext.loads` has made it: nothing in it has to be looked for."""
        latest = self._latest
        try:
            if latest is APART or not latest.fits(value):
                latest = self._shape(value)
                self._latest = self._latest if latest is UNKNOWN else latest
            latest.read(value, self._made)
            self._made.beside(value, latest.known)
        except ParseError:
            raise
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise ParseError(f"a field of an answer has the wrong type: {error}") from error
        return self._made.take()

    def terminate(self) -> None:
        """Take note of the stream's `[DONE]`: an answer that has begun is complete, even if no reason was given."""
        if self._latest is not APART and self.info.stop is None and self.info.failure is None:
            self._made.ended("unstated")

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        if self._broken is not None:
            raise self._broken
        events = [event for data in (self._text.close() if self._text else ()) for event in self._value(data)]
        if self._text is not None and self._text.done:
            self.terminate()
        self._made.close()
        return [*events, *self._made.take()]

    def _shape(self, value: JsonObject) -> StepShape:
        for shape in self._shapes:
            if shape.fits(value):
                return shape
        if self._latest is not APART and _event_name(value):
            return UNKNOWN
        part = "; give the whole response, not a part of it" if _PARTS & value.keys() else ""
        raise ParseError(f"no provider's answer has this shape: {outline(value)}{part}")


def _event_name(value: JsonObject) -> str:
    """Return an event's name, from its `type` or its only key, or "" if the value is not a stream's event."""
    kind = value.get("type")
    if isinstance(kind, str):
        return kind
    return next(iter(value)) if len(value) == 1 and all(map(is_object, value.values())) else ""


UNKNOWN: Final = StepShape(_event_name, lambda value, made: made.note("provider_part", f"event {_event_name(value)}"))
"""An unknown event in the middle of a stream, added by a provider later."""


class AnswerEvents(Iterator["Event"]):
    """The events of a provider's answer; `info` has what else has been read so far."""

    def __init__(self, values: Iterable[object], source: str, tools: object = None) -> None:
        """Read `values` lazily."""
        reader = AnswerReader(source)
        self.info = reader.info
        self._events = _read(values, _checked(reader, tools))

    def __next__(self) -> Event:
        """Return the next event."""
        return next(self._events)


class AsyncAnswerEvents(AsyncIterator["Event"]):
    """The events of a provider's answer from an asynchronous source, with `info` like `AnswerEvents`."""

    def __init__(self, values: AsyncIterable[object], source: str, tools: object = None) -> None:
        """Read `values` lazily."""
        reader = AnswerReader(source)
        self.info = reader.info
        self._events = _aread(values, _checked(reader, tools))

    async def __anext__(self) -> Event:
        """Return the next event."""
        return await anext(self._events)


def _checked(reader: AnswerReader, tools: object) -> Parser[object]:
    """Add notices of calls of tools that are not offered, if `tools` are given."""
    if tools is None:
        return reader
    from toolfmt.parsers.checks import CheckedParser
    from toolfmt.tools import tools as definitions

    options = ParserOptions(tools={tool.name: tool for tool in definitions(tools)})
    checked = CheckedParser(reader, options, validate=False, strict=False, exact=False, ids=None)
    return cast("Parser[object]", checked)


def _read(values: Iterable[object], reader: Parser[object]) -> Iterator[Event]:
    for value in values:
        yield from reader.feed(value)
    yield from reader.close()


async def _aread(values: AsyncIterable[object], reader: Parser[object]) -> AsyncIterator[Event]:
    async for value in values:
        for event in reader.feed(value):
            yield event
    for event in reader.close():
        yield event


def _shapes(source: str) -> tuple[StepShape, ...]:
    if source == "auto":
        return (*(shape for api in ANSWERS.values() for shape in api.shapes), APART)
    return (*known_of(source, ANSWERS).shapes, APART)


def is_event_text(value: object) -> bool:
    """Whether a text begins like server-sent events."""
    if not isinstance(value, (str, bytes)):
        return False
    text = (value if isinstance(value, str) else value[:16].decode("latin-1")).lstrip()
    return text.startswith(_FIELDS) or (bool(text) and any(field.startswith(text) for field in _FIELDS))


def _is_line(piece: bytes) -> bool:
    """Whether the first piece of a stream is a line without its end, so that all pieces are."""
    field, colon, data = piece.strip().partition(b":")
    if b"\n" in piece or not colon or field != b"data" or data.strip() == DONE.encode():
        return b"\n" not in piece and bool(colon)
    try:
        jsontext.loads(data.decode())
    except (UnicodeDecodeError, ParseError):
        return False
    return True


def plain(value: object) -> Any:
    """Convert an SDK's object to JSON; text is read as JSON, bytes inside become base64."""
    if is_object(value):
        return with_base64(value)
    if isinstance(value, (str, bytes)):
        try:
            return jsontext.loads(value if isinstance(value, str) else value.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise ParseError(f"an answer is {not_utf8(error)}") from None
        except ParseError as error:
            raise type(error)(f"no API's answer in JSON: {error}; {_PARSE}") from None
    for name in _DUMPS:
        method = getattr(value, name, None)
        if callable(method):
            made = with_base64(method())
            # Mistral's SDK yields events with a chunk as their data.
            return made["data"] if is_object(made) and made.keys() == {"data"} else made
    return value
