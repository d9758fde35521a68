"""Converts a whole answer of one API, or an error, to another's.

convert_answer({"choices": [{"message": {...}, "finish_reason": "stop"}], ...}, target="anthropic")
Conversion(value={"type": "message", "content": [...], "stop_reason": "end_turn", ...}, losses=())

The message is converted like a conversation's message; the finish reason and the usage are written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from toolfmt.arguments import checked
from toolfmt.conversation import CallPart, Message, Part, ReasoningPart, ResultPart, TextPart, Transcript, parse_failure
from toolfmt.errors import ParseError
from toolfmt.events import CallFailed, CallStart, Event
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_api import AnswerApi
from toolfmt.transcripts.answering.answer_info import (
    AnswerEnding,
    AnswerHead,
    AnswerInfo,
    Failure,
    ended_by,
    stopped,
    unusable,
)
from toolfmt.transcripts.answering.answer_message import answer_message, cite
from toolfmt.transcripts.answering.failures import WRITERS, read_error, usual_status
from toolfmt.transcripts.answering.known_fields import Fields, error_fields, unread
from toolfmt.transcripts.answers import AnswerReader
from toolfmt.transcripts.comparing.losses import Loss, losses
from toolfmt.transcripts.convert import ADVICE, Conversion, conversion_from, refuse
from toolfmt.transcripts.fitting.carrying import Carry
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.format import Rules, TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.formats import find, known_of
from toolfmt.transcripts.parts.endings import Stop
from toolfmt.transcripts.parts.media import with_base64
from toolfmt.transcripts.parts.values import outline
from toolfmt.transcripts.tables.request import objects_in

_ANSWER: Final = Carry(hosted="drop")
"""The results of a provider's own calls are not part of an answer."""


@checked(**ADVICE)
def convert_answer(  # noqa: PLR0913 - each is a choice of the caller's
    value: JsonValue,
    *,
    source: str = "auto",
    target: str,
    id: str = "",  # noqa: A002 - the field's name
    model: str = "",
    created: int = 0,
    strict: bool = False,
) -> Conversion:
    """Convert a whole answer: text, calls, reasoning, finish reason, usage, id and model.

    `source` and `target` are names of formats, as for `convert`; `auto` detects the source by the answer's shape.
    `id`, `model` and `created` (seconds since 1970) replace those of the answer. A call without an id gets one derived
    from the answer's id. An error becomes the target's error. If source and target are the same, fields that
    toolfmt does not know are kept. Raises `ParseError` for a value that is not an answer of the source,
    `LookupError` for a format without answers, and `ConversionError` under `strict` for a loss of content or meaning.
    """
    if not is_object(value):
        raise ParseError(f"an answer is an object, not {type(value).__name__}")
    as_given, value = value, with_base64(value, "an answer")
    name = _recognised(value) if source == "auto" else find(source).name
    goal = find(target).widest
    if name == goal.name and known_of(name, ANSWERS) and not (id or model or created):
        return conversion_from(as_given, (), name, name)
    reader = AnswerReader(name)
    events = [*reader.read(value), *reader.close()]
    return converted_answer(value, events, reader.info, name, goal.name, AnswerHead(id, model, created), strict=strict)


def converted_answer(  # noqa: PLR0913, PLR0917 - what an answer has
    value: JsonObject,
    events: Sequence[Event],
    info: AnswerInfo,
    source: str,
    target: str,
    head: AnswerHead,
    *,
    strict: bool = False,
) -> Conversion:
    """Convert an answer of which the events are known; as `convert_answer`."""
    name, goal = source, find(target).widest
    origin_api, api = known_of(name, ANSWERS), known_of(goal.name, ANSWERS)
    if info.failure is not None and not info.stop:
        written = write_error(info.failure, goal.name)
        return conversion_from(written, _error_losses(info.failure, value, written), name, goal.name)
    head = head.filled(info)
    origin = find(name)
    with reraise_as_parse_error(name, value):
        answers = [origin.read(opened).messages for opened in origin_api.open(value)]
        if not any(answers) and info.stop is None:
            raise ParseError(f"{name}: the answer has no message")
        kept = answers if api.several else answers[:1]
        answered = [part for message in answers[0] for part in message.parts] if answers else []
        cite(answered, info.citations)  # some APIs list sources beside the message
        ending = AnswerEnding(_stop(info, kept, events), info, head)
        written, found = _written(kept, goal, api, ending, results=name == goal.name)
    found.extend(Loss("call", "", "dropped", unusable(event)) for event in events if isinstance(event, CallFailed))
    found.extend(Loss("choice", f"/{at}", "dropped", "a further choice") for at in range(len(kept), len(answers)))
    if name == goal.name:
        written = _kept(written, value, origin_api)
    else:
        if info.logprobs and origin_api.weights and not api.stream.logprobs:
            found.append(Loss("answer_field", origin_api.weights, "dropped", "logprobs"))
        found.extend(_unread(value, origin_api.known))
    refuse(found, strict=strict)
    return conversion_from(written, found, name, goal.name)


def write_answer(  # noqa: PLR0913 - as above
    events: Iterable[Event],
    info: AnswerInfo,
    *,
    target: str,
    id: str = "",  # noqa: A002 - the field's name
    model: str = "",
    created: int = 0,
) -> JsonObject:
    """Write the answer of a stream's events, with its `info`, in an API's format.

    Raises `LookupError` for a format without answers.
    """
    goal = find(target).widest
    head = AnswerHead(id, model, created).filled(info)
    events = list(events)
    answers = [(answer_message(events, info),)]
    return _written(
        answers, goal, known_of(goal.name, ANSWERS), AnswerEnding(_stop(info, answers, events), info, head)
    )[0]


def write_error(failure: Failure, target: str) -> JsonObject:
    """Write an error in an API's format; raises `UnknownFormatError` for a format without errors."""
    return known_of(target, WRITERS)(failure)


def error_status(failure: Failure, target: str) -> int:
    """Return the HTTP status of an error in an API."""
    own = {("anthropic", "overloaded"): 529}  # anthropic 2.12, _exceptions.py: OverloadedError
    return own.get((find(target).name, failure.kind), usual_status(failure))


def _recognised(value: JsonObject) -> str:
    """Find an answer's API; Mistral's answers have the shape of OpenAI's."""
    found = next((name for name, api in ANSWERS.items() if api.fits(value)), None)
    if found is None:
        raise ParseError(f"no provider's answer has this shape: {outline(value)}; give source=")
    return found


def _written(
    answers: list[tuple[Message, ...]],
    goal: TranscriptFormat,
    api: AnswerApi,
    ending: AnswerEnding,
    *,
    results: bool = False,
) -> tuple[JsonObject, list[Loss]]:
    """Write each choice's messages in the target's format, and the answer around them.

    `results` says whether results, which only some APIs have in an answer, are written.
    """
    found: list[Loss] = []
    choices: list[list[JsonObject]] = []
    rules = _ended(goal.name)
    for messages in answers:
        before = Transcript((_one(messages, ending.head, api.stream.call_prefix),))
        (message,) = before.messages
        if goal.rules.arguments == "object":
            before = Transcript((replace(message, parts=tuple(map(_runnable, message.parts))),))
            (message,) = before.messages
        said = (part for part in message.parts if results or not isinstance(part, ResultPart))
        sent = replace(message, parts=tuple(_proven(part, api) for part in said))
        conversation = goal.write(shape(Transcript((sent,)), rules, carry=_ANSWER))
        items = conversation.get(goal.messages) if is_object(conversation) else conversation
        choices.append([item for item in items or () if is_object(item)])
        found.extend(losses(before, goal.read(conversation)))
    return api.close(choices or [[]], ending), found


@cache
def _ended(name: str) -> Rules:
    """Return the rules of a format for an answer: nobody continues one that has ended."""
    return replace(find(name).widest.rules, ends_in_space=True)


def _one(messages: Sequence[Message], head: AnswerHead, prefix: str) -> Message:
    """Join an answer's messages; each call gets the same id as in a stream of this answer."""
    parts: list[Part] = []
    number = 0
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, CallPart):
            minted = head.mint(prefix, number) if prefix and part.id is None else part.id
            parts.append(replace(part, id=minted))
            number += 1
        else:
            parts.append(part)
    extra = {key: found for message in messages for key, found in message.extra.items()}
    return Message("assistant", tuple(parts), extra=extra)


def _proven(part: Part, api: AnswerApi) -> Part:
    """Keep reasoning of other models without a signature: an answer may have it, a request may not."""
    if not api.proves or not isinstance(part, ReasoningPart) or part.owner == api.proves or not part.text:
        return part
    return replace(part, owner=api.proves, signature=api.unsigned, encrypted=None)


def _runnable(part: Part) -> Part:
    """Replace a call whose arguments are not a JSON object by text, as a client would run it with any object."""
    if not isinstance(part, CallPart) or not (part.text or "").strip() or not parse_failure(part):
        return part
    return TextPart(part.text or "")


def _stop(info: AnswerInfo, answers: Sequence[Sequence[Message]], events: Sequence[Event]) -> Stop:
    """Return the finish reason; an answer without one has simply stopped."""
    begun = {event.index for event in events if isinstance(event, CallStart) and event.name}
    cut: Stop | None = None
    for event in events:
        if isinstance(event, CallFailed):
            cut = cut or ended_by(event, begun)
    calls = any(isinstance(part, CallPart) for messages in answers[:1] for found in messages for part in found.parts)
    return stopped(replace(info, stop=info.stop or "stop"), cut=cut, calls=calls)


def _kept(written: JsonObject, value: JsonObject, api: AnswerApi) -> JsonObject:
    """Add an answer's unread fields to one in the same format."""
    listed = api.choices
    kept = written | {key: found for key, found in value.items() if key not in api.known}
    if listed and is_object(known := api.known[listed]):
        pairs = zip(objects_in(written, listed), objects_in(value, listed), strict=False)
        known = known.keys() - {api.weights.rpartition("/")[2]}
        kept[listed] = [one | {key: found for key, found in of.items() if key not in known} for one, of in pairs]
    return kept


def _unread(value: JsonObject, known: Fields) -> Iterator[Loss]:
    return (Loss("answer_field", place, "dropped", place.rpartition("/")[2]) for place in unread(value, known))


def _error_losses(failure: Failure, value: JsonObject, written: JsonObject) -> Iterator[Loss]:
    """Yield the fields of an error that the written one lacks."""
    yield from _unread(value, error_fields(value))
    after = read_error(written)
    for key in ("code", "param"):
        if getattr(failure, key) not in (None, getattr(after, key)):
            yield Loss("answer_field", f"/error/{key}", "dropped", f"{key}: {getattr(failure, key)}")
