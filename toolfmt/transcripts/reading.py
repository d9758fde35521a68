"""Reads a value as a conversation of one format, or raises if that format does not understand it.

    read([{"role": "user", "content": "Hi."}], find("openai-chat"))      Transcript((Message("user", ...),))
    read([{"type": "human", "content": "Hi."}], find("openai-chat"))     ParseError: ...; it looks like langchain

A reader keeps unknown data, so that the conversion back is exact. So a value
of a different format may read as an empty conversation, or as half of one;
such readings are refused here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import Message, OpaquePart, Part, ResultPart, Transcript
from toolfmt.errors import ParseError, shown
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answer_apis import ANSWERS, APART
from toolfmt.transcripts.answering.answer_api import AnswerApi
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.answering.answer_message import cite
from toolfmt.transcripts.answering.known_fields import dotted, unread
from toolfmt.transcripts.answers import AnswerReader, is_event_text
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.format import TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.formats import evident, fits, formats, known_as, known_of
from toolfmt.transcripts.parts.endings import ORDINARY
from toolfmt.transcripts.parts.values import at, pointer
from toolfmt.transcripts.settings.tables import TABLES
from toolfmt.transcripts.sse import EventText

_SPOKEN: Final = frozenset({"input", "instructions", "query", "system", "systemInstruction", "system_instruction"})
"""Keys beside the messages whose text is part of the conversation in some format; other texts are not."""
ANSWER: Final = "answer"
"""The owner, in a transcript's `extra`, of an answer's data beside its message."""
_GRAVE: Final = frozenset({"content", "meaning"})
_SHOWN: Final = 6
_BEGINNING: Final = 1 << 16
"""The characters of a stream that show whose it is."""
_LOOKED_AT: Final = 20
"""How many messages that are not wholly understood are compared with other formats."""


def read(value: JsonValue, made: TranscriptFormat, *, answers: bool = True) -> Transcript:
    """Read a conversation of a format or, with `answers`, an answer of its API: a conversation of one message.

    Raises `ParseError` if the format understands nothing of the value, or
    less than another format that recognises it, and `LimitExceededError` for a value that is nested too deeply.
    """
    jsontext.check_depth(value, f"{made.name}: a value")
    return read_shallow(value, made, answers=answers)


def read_shallow(value: JsonValue, made: TranscriptFormat, *, answers: bool = True) -> Transcript:
    """Read a conversation like `read`, if it is known not to be nested too deeply."""
    try:
        with reraise_as_parse_error(made.name):
            answer = _answer(value, made) if answers else None
        found = sound(value, made) if answer is None else answer
    except ParseError as error:
        hint = _names(_others(value, made)) if type(error) is ParseError else ""
        if hint:
            raise ParseError(f"{error}; {hint}") from error
        raise
    if not understood(found):
        empty = not (value[made.messages] if is_object(value) and made.messages in value else value)
        if empty or fits(made, value) or made.rules.is_continued(found):
            return found
        hint = _names(_others(value, made)) or f"found {described(value)}"
        raise ParseError(f"{made.name}: nothing in the value is understood; {hint}")
    if leaves(found, made):
        if not fits(made, value):
            _refuse_half(value, found, made)
        _refuse_mixed(found, made)
    return found


def sound(value: JsonValue, made: TranscriptFormat) -> Transcript:
    """Read a value; also raises `ParseError` for a number, boolean or text in place of content or tools."""
    with reraise_as_parse_error(made.name):
        found = made.read(value)
    for message in () if made.session else found.messages:
        for part in message.parts:
            if type(part) is OpaquePart and _is_scalar(part.value) and part.value is not message.source:
                kind = type(part.value).__name__
                raise ParseError(f"{pointer(message.where)}: expected text or a part of a content, not {kind}")
    tools = value.get("tools") if is_object(value) and found.tools is None else None
    if tools and _is_scalar(tools):
        raise ParseError(f"/tools: expected a list, not {type(tools).__name__}")
    return found


def _is_scalar(value: JsonValue) -> bool:
    return not (is_object(value) or is_array(value))


def _leaves(part: Part) -> bool:
    return not part.says if isinstance(part, OpaquePart) else bool(part.extra)


def understood(transcript: Transcript) -> bool:
    """Whether a message or a tool was understood."""
    return bool(transcript.tools) or any(map(_understood, transcript.messages))


def says_anything(transcript: Transcript) -> bool:
    """Whether a message has an understood part."""
    return any(not isinstance(part, OpaquePart) for message in transcript.messages for part in message.parts)


def leaves(transcript: Transcript, made: TranscriptFormat) -> bool:
    """Whether anything except settings was not understood by the format."""
    settings = _settings(made.name)
    start = len(made.name) + 1
    if any(message.extra or any(map(_leaves, message.parts)) for message in transcript.messages):
        return True
    return any(
        (is_array(value) or is_object(value) or key[start:] in _SPOKEN) and value and key[start:] not in settings
        for key, value in transcript.extra.items()
    )


def is_column(value: JsonValue, made: TranscriptFormat) -> bool:
    """Whether the format read only one of several text columns of a row, which no request of its API has."""
    settings = _settings(made.name)
    if not settings or not is_object(value) or not isinstance(value.get(made.messages), str):
        return False
    return any(isinstance(item, str) and key not in (*_SPOKEN, *settings) for key, item in value.items())


def opened(value: JsonValue, made: TranscriptFormat) -> list[JsonValue]:
    """Return each choice of an answer as a conversation in its API's format; empty if it is not an answer."""
    api = _answering(value, made)
    return [] if api is None or not is_object(value) else api.open(value)


def answered_by(value: JsonValue) -> list[str]:
    """Name the APIs whose answer a value may be, whole or as a stream: its text, or a list of its events' data."""
    if is_object(value):
        return [name for name, api in ANSWERS.items() if api.fits(value) and api.open(value)]
    if isinstance(value, str):
        value = _events(value) if is_event_text(value) else None
    if not is_array(value) or not all(map(is_object, value)):
        return []
    said = [item for item in value if is_object(item) and not APART.fits(item)]
    return [name for name, api in ANSWERS.items() if said and all(map(api.fits, said))]


def _events(text: str) -> list[JsonValue]:
    """Return the data of a stream's first events."""
    try:
        return [jsontext.loads(data) for data in EventText().feed(text[:_BEGINNING])[:_SHOWN]]
    except ParseError:
        return []


def said_by(answer: JsonValue, made: TranscriptFormat) -> JsonValue:
    """Return an answer's only message as a conversation; raises `ParseError` for several choices."""
    choices = opened(answer, made)
    if not choices and _answering(answer, made) is not None:
        raise ParseError(f"{made.name}: the answer has no message")
    if len(choices) > 1:
        raise ParseError(f"{made.name}: the answer has {len(choices)} choices, and a conversation has one: keep one")
    return choices[0] if choices else None


def lacks(one: Transcript, other: Transcript) -> bool:
    """Whether one reading of a value lacks content or meaning that another reading has.

    Raises `ParseError` for a field of the wrong type.
    """
    with reraise_as_parse_error("the conversation"):
        found = losses(_plain(other), _plain(one))
    return any(loss.severity in _GRAVE and loss.code not in _NOTHING and loss.action != "added" for loss in found)


_NOTHING: Final = frozenset({"beside", "ending", "provider_part", "unread"})
"""Codes of losses of data that was not understood."""


def described(value: JsonValue) -> str:
    """Describe a value's shape in a few words: `a list of 2 objects with the keys 'type', 'content'`."""
    if is_object(value):
        return f"an object with {_keys(value)}"
    if is_array(value):
        first = next(iter(value), None)
        kind = f"objects with {_keys(first)}" if is_object(first) else f"{type(first).__name__} values"
        return f"a list of {len(value)} {kind}" if value else "an empty list"
    if isinstance(value, str):
        return "text: a conversation is a list or an object, as json.loads returns it"
    return "null" if value is None else f"a value of the type {type(value).__name__}"


def _keys(value: JsonObject) -> str:
    names = ", ".join(map(shown, list(value)[:_SHOWN]))
    return f"the keys {names}{', ...' if len(value) > _SHOWN else ''}" if value else "no keys"


def _answering(value: JsonValue, made: TranscriptFormat) -> AnswerApi | None:
    """Return a format's API if the value is an answer of it."""
    if not is_object(value) or made.messages in value:
        return None
    api = ANSWERS.get(known_as(made.name, ANSWERS))
    return api if api is not None and api.fits(value) else None


def _answer(value: JsonValue, made: TranscriptFormat) -> Transcript | None:
    conversation = said_by(value, made)
    if conversation is None or not is_object(value):
        return None
    found = made.read(conversation)
    beside = {f"{ANSWER}.{key}": item for key, item in value.items() if key not in _message_keys(made, value)}
    for place in unread(value, known_of(made.name, ANSWERS).known):
        beside.setdefault(f"{ANSWER}.{dotted(place)}", at(value, place[1:].replace("/", ".")))
    info = answer_info(value, made)
    cite([part for message in found.messages for part in message.parts], info.citations)  # named beside the message
    if info.stop not in ORDINARY:
        beside[f"{ANSWER}.stop_reason"] = info.stop
    return replace(found, extra=beside)


def answer_info(value: JsonValue, made: TranscriptFormat) -> AnswerInfo:
    """Read what an answer of a format's API has beside its message."""
    reader = AnswerReader(made.name)
    for _ in (*reader.feed(value), *reader.close()):
        pass
    return reader.info


def _message_keys(made: TranscriptFormat, value: JsonObject) -> set[str]:
    """Find the keys of an answer that its message is read from."""
    api = known_of(made.name, ANSWERS)
    whole = api.open(value)
    return {key for key in value if api.open({name: item for name, item in value.items() if name != key}) != whole}


def _understood(message: Message) -> bool:
    """Whether anything of a message was understood, at least its role."""
    if not message.parts:
        return not any(message.extra.values())
    (first, *more) = message.parts
    return bool(more) or not isinstance(first, OpaquePart) or bool(first.says) or first.value is not message.source


def _plain(transcript: Transcript) -> Transcript:
    """Return a comparable version: opaque parts as their content, and tools without extra fields."""
    messages = tuple(
        replace(message, parts=tuple(chain.from_iterable(map(_said, message.parts))))
        if any(isinstance(part, (OpaquePart, ResultPart)) for part in message.parts)
        else message
        for message in transcript.messages
    )
    tools = transcript.tools and tuple(
        replace(tool, extra={key: value for key, value in tool.extra.items() if "." not in key})
        for tool in transcript.tools
    )
    return Transcript(messages, tools)


def _said(part: Part) -> tuple[Part, ...]:
    if isinstance(part, ResultPart) and part.content:
        return () if all(isinstance(found, OpaquePart) and not found.says for found in part.content) else (part,)
    return part.says if isinstance(part, OpaquePart) and part.says else (part,)


def context(name: str) -> frozenset[str]:
    """Name the keys of a request that refer to stored messages, or contain documents beside the messages."""
    known = known_as(name, TABLES)
    return TABLES[known].context if known else frozenset()


@cache
def _settings(name: str) -> frozenset[str]:
    known = known_as(name, TABLES)
    if not known:
        return frozenset()
    table = TABLES[known]
    places = [place for setting in table.settings for place in (setting.at, *setting.also)]
    places.extend(place for group in table.groups for place in group.at)
    return frozenset(place.partition(".")[0] for place in places) | table.context


def _refuse_half(value: JsonValue, found: Transcript, made: TranscriptFormat) -> None:
    """Raise `ParseError` if a format that recognises the value understands more of it."""
    for other in _others(value, made):
        try:
            more = lacks(found, sound(value, other))
        except ParseError:
            continue
        if more:
            raise ParseError(f"{made.name}: only a part of the value is understood; {_names([other])}")


def _refuse_mixed(found: Transcript, made: TranscriptFormat) -> None:
    """Raise `ParseError` for a message that another format understands, and that of the others less of."""
    common = max(formats(), key=lambda one: one.common)
    odd = (message for message in found.messages if any(map(_leaves, message.parts)) or not message.parts)
    for message in islice((message for message in odd if is_object(message.source)), _LOOKED_AT):
        alone = [message.source]
        for other in evident(alone) or ([] if _understood(message) else [common]):
            if other.session or other.name == made.name or fits(made, alone):
                continue
            try:
                more = lacks(made.read(alone), sound(alone, other))
            except ParseError:
                continue
            if more:
                named = f"the message is of {other.name}, and others are of {made.name}"
                raise ParseError(f"{pointer(message.where)}: {named}: convert them apart")


def _others(value: JsonValue, made: TranscriptFormat) -> list[TranscriptFormat]:
    """Return the formats that a value evidently has, unless the named format is one of them."""
    found = evident(value)
    return [] if any(other.name == made.name for other in found) else found


def _names(found: Iterable[TranscriptFormat]) -> str:
    names = " or ".join(other.name for other in found)
    return f"it looks like {names}: name that format" if names else ""
