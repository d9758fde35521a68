"""Write an answer as a provider's stream: relay another provider's stream, or serve a text model.

    for chunk in write_stream(read_stream(claude), target="openai-chat"): ...
    for event in write_stream(parse_stream(pieces, dialect="hermes"), target="anthropic", id="msg_1", model="m"): ...
    list(write_stream(message, target="gemini"))

The API's table of `Blocks` says what to write for each part of an answer; the `Emitter` decides when.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from typing import cast

from toolfmt import jsontext
from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, JsonPart, Message, ReasoningPart, RefusalPart, TextPart
from toolfmt.events import Event
from toolfmt.model import JsonObject
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_ending import AnswerHead
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answers import AnswerEvents, AsyncAnswerEvents, answered
from toolfmt.transcripts.formats import known_of
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
    """Make the events of a message."""
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
