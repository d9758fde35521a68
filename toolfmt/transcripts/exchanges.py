"""Requests and answers in rows of logs and batches: where they are, and the conversation that both make.

inside({"custom_id": "1", "body": {...}}, "/body")                    {...}
exchange({"messages": [...]}, {"choices": [...]}, "openai-chat")      {"messages": [..., the answer]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.errors import ParseError, UnknownFormatError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.envelopes import ENVELOPES
from toolfmt.transcripts.formats import find, known_as, recognised

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue


def inside(row: JsonValue, pointer: str) -> JsonValue:
    """Get what is at a JSON pointer; raises ParseError where nothing is."""
    found = row
    for key in _keys(pointer):
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise ParseError(f"{pointer}: the row has nothing there")
    return found


def put_inside(row: JsonValue, pointer: str, value: JsonValue) -> JsonValue:
    """Copy a row with another value at a JSON pointer, which is there."""
    keys = _keys(pointer)
    if not keys:
        return value
    first, rest = keys[0], "".join(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys[1:])
    if is_object(row):
        return {**row, first: put_inside(row[first], rest, value)}
    copy = list(row) if is_array(row) else []
    copy[int(first)] = put_inside(copy[int(first)], rest, value)
    return copy


def _keys(pointer: str) -> list[str]:
    if pointer and not pointer.startswith("/"):
        raise ParseError(f"{pointer}: a JSON pointer begins with /")
    return [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]


def exchange(request: JsonValue, answer: JsonValue, source: str = "auto") -> JsonValue:
    """Put an answer behind the messages of its request: one conversation, in the format of both.

    Raises ParseError for what is no request or no answer, `UnknownFormatError`
    for a format that has no answers.
    """
    made = recognised(request) if source == "auto" else find(source)
    known = known_as(made.name, ENVELOPES)
    if not known:
        raise UnknownFormatError(source, sorted(ENVELOPES))
    if not is_object(request) or not is_object(answer):
        raise ParseError("a request and its answer are objects")
    opened = ENVELOPES[known].open(answer)
    said = opened[0].get(made.messages) if opened and is_object(opened[0]) else None
    if not is_array(said) or not said:
        raise ParseError(f"{made.name}: the answer has no message")
    given = request.get(made.messages)
    asked: JsonObject = {"role": "user", "content": given} if isinstance(given, str) else {}
    before = [asked] if asked else given if is_array(given) else []
    return {**request, made.messages: [*before, *said]}
