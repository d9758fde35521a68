"""Finds requests and answers in rows of logs and batches, and joins them to one conversation.

inside({"custom_id": "1", "body": {...}}, "/body")                    {...}
exchange({"messages": [...]}, {"choices": [...]}, "openai-chat")      {"messages": [..., the answer]}
"""

from __future__ import annotations

from collections.abc import Collection

from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.parts.values import json_at, json_text
from toolfmt.transcripts.reading import read, said_by
from toolfmt.transcripts.recognising import origin


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

    An answer is what the API answers, or its message alone, or a list of
    messages. Raises `ParseError` for anything else.
    """
    made = origin(request, source)
    given = request.get(made.messages) if is_object(request) else request
    whole = said_by(answer, made)
    answers = answer if whole is None else whole.get(made.messages) if is_object(whole) else None
    answers = [answers] if is_object(answers) else answers
    if not is_array(answers) or not read(answers, made).messages:
        raise ParseError(f"{made.name}: the answer has no message")
    messages = [*message_list(given, made), *answers]
    return {**request, made.messages: messages} if is_object(request) else messages


def message_list(given: JsonValue, made: TranscriptFormat) -> list[JsonValue]:
    """Return a request's messages as a list in their format; text alone is a user message."""
    if isinstance(given, str):
        written = made.write(Transcript((Message("user", (TextPart(given),)),)))
        given = written.get(made.messages) if is_object(written) else written
    return list(given) if is_array(given) else [given] if is_object(given) else []
