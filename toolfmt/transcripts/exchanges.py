"""Finds requests and answers in rows of logs and batches, and joins them to one conversation.

inside({"custom_id": "1", "body": {...}}, "/body")                    {...}
exchange({"messages": [...]}, {"choices": [...]}, "openai-chat")      {"messages": [..., the answer]}
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from toolfmt import jsontext
from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.errors import FormatQuestionError, ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.answer_api import AnswerApi
from toolfmt.transcripts.answering.answer_message import answer_message
from toolfmt.transcripts.answers import AnswerReader, is_event_text
from toolfmt.transcripts.comparing.loss import SEVERITIES
from toolfmt.transcripts.fitting.shape import fit
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.formats import find, known_as
from toolfmt.transcripts.parts.endings import UNFINISHED, Stop
from toolfmt.transcripts.parts.values import json_at, json_text
from toolfmt.transcripts.reading import answer_info, answered_by, lacks, opened, read, said_by
from toolfmt.transcripts.recognising import origin
from toolfmt.transcripts.sse import EventText


def inside(row: JsonValue, pointer: str) -> JsonValue:
    """Return the value at a JSON pointer, decoded if it is JSON text; raises ParseError if there is none."""
    found = row
    for key in _keys(pointer):
        found = json_at(found)
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise ParseError(f"{pointer}: the row has nothing there")
    return json_at(found) if pointer else found


def put_inside(row: JsonValue, pointer: str, value: JsonValue) -> JsonValue:
    """Copy a row with another value at an existing JSON pointer."""
    keys = _keys(pointer)
    if not keys:
        return value
    if isinstance(row, str):
        return json_text(put_inside(json_at(row), pointer, value))
    first, rest = keys[0], "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys[1:])
    if is_object(row):
        return {**row, first: put_inside(row[first], rest, value)}
    copy = list(row) if is_array(row) else []
    copy[int(first)] = put_inside(copy[int(first)], rest, value)
    return copy


def without(row: JsonValue, pointer: str) -> JsonValue:
    """Copy a row without the field at a JSON pointer; an item of a list stays."""
    outer, _, _ = pointer.rpartition("/")
    holder = inside(row, outer)
    if not is_object(holder):
        return row
    gone = _keys(pointer)[-1]
    return put_inside(row, outer, {key: value for key, value in holder.items() if key != gone})


def _keys(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ParseError(f"{pointer}: a JSON pointer begins with /")
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def exchange(request: JsonValue, answer: JsonValue, source: str | Collection[str] = "auto") -> JsonValue:
    """Put an answer after the messages of its request: one conversation, in the format of both.

    An answer is what the API answers, whole or as its stream, or its message alone, a list of messages, or its text.
    Raises `ParseError` for anything else, and for the answer of another API.
    """
    return exchanged(request, answer, source)[0]


def exchanged(
    request: JsonValue, answer: JsonValue, source: str | Collection[str] = "auto"
) -> tuple[JsonValue, Stop | None]:
    """Put an answer after the messages of its request like `exchange`, and return why it ended, if it says so."""
    made = shared_format(request, answer, source)
    given = request.get(made.messages) if is_object(request) else request
    said, stop = _said(answer, made)
    answers = _written(said, made) if isinstance(said, Message) else _answer_list(said, made)
    if isinstance(said, Message) and not answers:  # it has another place, as in a row of a prompt and its completion
        before = read(request, made)
        return made.write(fit(replace(before, messages=(*before.messages, said)), made.rules)), stop
    messages = [*message_list(given, made), *answers]
    return {**request, made.messages: messages} if is_object(request) else messages, stop


def shared_format(request: JsonValue, answer: JsonValue, source: str | Collection[str]) -> TranscriptFormat:
    """Return the format of a request; of those that read it alike, that of its answer."""
    theirs = answered_by(answer)
    try:
        made = origin(request, source)
    except FormatQuestionError as error:
        if source != "auto" or error.conversations or not theirs:
            raise
        made = find(theirs[0])
    if not theirs or known_as(made.name, ANSWERS) in theirs:
        return made
    if source == "auto":
        said = read(request, made)
        for other in map(find, theirs):
            with suppress(ParseError):
                if not lacks(read(request, other), said):
                    return other
    raise ParseError(f"the request is of {made.name}, and its answer of {theirs[0]}")


def _answer_list(answer: JsonValue, made: TranscriptFormat) -> list[JsonValue]:
    whole = said_by(answer, made)
    answers = answer if whole is None else whole.get(made.messages) if is_object(whole) else None
    answers = [answers] if is_object(answers) else answers
    if not is_array(answers) or not read(answers, made).messages:
        raise ParseError(f"{made.name}: the answer has no message")
    return answers


def _said(answer: JsonValue, made: TranscriptFormat) -> tuple[Message | JsonValue, Stop | None]:
    """Return the message of an answer that is text or a stream, or another one as it is, and why it ended."""
    if isinstance(answer, str) and not is_event_text(answer):
        lines = [json_at(line) for line in answer.splitlines() if line.strip()]
        if len(lines) > 1 and all(map(is_object, lines)) and answered_by(lines):  # a stream of Ollama
            return _said(lines, made)
        return Message("assistant", (TextPart(answer),) if answer.strip() else ()), None
    if opened(answer, made):
        return answer, answer_info(answer, made).stop
    apis = [] if is_object(answer) else answered_by(answer)
    return _streamed(answer, ANSWERS[apis[0]]) if apis else (answer, None)


def _streamed(stream: JsonValue, api: AnswerApi) -> tuple[Message | JsonValue, Stop | None]:
    """Read the message of a stream: its text, or a list of its events' data; or make a whole answer of it."""
    reader = AnswerReader()
    pieces = stream if is_array(stream) else [stream]
    events = [event for piece in pieces for event in reader.feed(piece)] + reader.close()
    if reader.info.failure is not None:
        raise ParseError(f"the answer ends with an API's error: {reader.info.failure.message}")
    lost = ", ".join(what for code, what in reader.info.dropped if SEVERITIES[code] == "content")
    if lost and reader.info.stop not in UNFINISHED:
        data = pieces if is_array(stream) else map(jsontext.loads, EventText().feed(f"{stream}\n\n"))
        if (whole := api.whole([one for one in data if is_object(one) and api.fits(one)])) is not None:
            return whole, reader.info.stop
    if lost:
        raise ParseError(f"the stream of the answer holds what only a whole answer keeps: {lost}")
    if reader.info.stop is None:
        raise ParseError("the stream of the answer breaks off before its end")
    return answer_message(events, reader.info), reader.info.stop


def message_list(given: JsonValue, made: TranscriptFormat) -> list[JsonValue]:
    """Return a request's messages as a list in their format; text alone is a user message."""
    if isinstance(given, str):
        return _written(Message("user", (TextPart(given),)), made)
    return list(given) if is_array(given) else [given] if is_object(given) else []


def _written(message: Message, made: TranscriptFormat) -> list[JsonValue]:
    if not message.parts:
        raise ParseError(f"{made.name}: the answer has no message")
    written = made.write(fit(Transcript((message,)), made.rules))
    return message_list(written.get(made.messages) if is_object(written) else written, made)
