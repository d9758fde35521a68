r"""Reads the lines of an agent's session, which are never written.

'{"type": "session_meta", "payload": {}}\n{"type": "response_item", "payload": {}}\n'
[{"type": "session_meta", "payload": {}}, {"type": "response_item", "payload": {}}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.errors import ParseError, UnrepresentableError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import json_at, word

_SEEN: Final = 50
"""The number of lines examined to recognise a session."""


TORN: Final = "torn"
"""The type of the replacement for a line that is not JSON, such as an incomplete last one."""
_WORDS: Final = frozenset(
    {
        *("text", "content", "prompt", "message", "summary", "snippet", "lastPrompt", "customTitle", "aiTitle"),
        *("newText", "notes", "note", "comment", "reason", "thoughts"),
    }
)
"""The keys of text by people and models."""


def kept(
    lines: Iterable[tuple[int, JsonObject]], messages: Iterable[Message], owner: str, own: AbstractSet[str]
) -> JsonObject:
    """Keep lines that are not messages for a transcript's `extra`.

    `lines` are all of them; `said` is the text of those that no message repeats, by line number, except of a
    type in `own`, which the program writes for itself.
    """
    said: JsonObject = {}
    others: list[JsonValue] = []
    known = {text for message in messages for part in message.parts for text in _texts(part)}
    for at, line in lines:
        others.append(line)
        kind = line_type(line)
        words = () if kind in own else [text for text in written(line) if text not in known]
        if words:
            said[str(at)] = f"{kind}: {' '.join(words)}"
    return {f"{owner}.{key}": found for key, found in (("said", said), ("lines", others)) if found}


def line_type(line: JsonObject) -> str:
    """Return a line's innermost type: `attachment` or, more precisely, `file`."""
    named = [word(line.get(key), "type") for key in ("attachment", "payload")]
    return word(line, "subtype") or next(filter(None, named), "") or word(line, "type")


def written(value: JsonValue, *, all_keys: bool = False, words: bool = False) -> Iterator[str]:
    """Yield the written texts of a value: those under the keys of text, or under all keys."""
    if isinstance(value, str):
        text = value.strip()
        if words and text:
            yield text
    elif is_object(value):
        for key, item in value.items():
            yield from written(item, all_keys=all_keys, words=all_keys or key in _WORDS)
    elif is_array(value):
        for item in value:
            yield from written(item, all_keys=all_keys, words=words)


def _texts(part: Part) -> Iterator[str]:
    match part:
        case CallPart():
            yield from written(json_at(part.json), all_keys=True, words=True)
        case OpaquePart():
            yield from written(part.value, all_keys=True, words=True)
        case ResultPart():
            for found in part.content:
                yield from _texts(found)
        case TextPart() | ReasoningPart() | RefusalPart():
            yield part.text.strip()
        case _:
            return


def read_lines(value: JsonValue, owner: str) -> list[JsonObject]:
    """Return a session's lines, from a list of objects or from text with a JSON object on each line.

    A damaged line does not affect others: it becomes `{"type": "torn", "line": 1, "text": ...}`.
    """
    if isinstance(value, str):
        lines = [_line(text, at, owner) for at, text in enumerate(value.split("\n")) if text.strip()]
        if lines and all(line.get("type") == TORN for line in lines):
            raise ParseError(f"{owner}: line {lines[0]['line']}: no line is a JSON object")
        return lines
    if not is_array(value):
        raise ParseError(f"{owner}: expected a list of lines, or their text")
    for at, item in enumerate(value):
        if not is_object(item):
            raise ParseError(f"/{at}: a line is an object, not {type(item).__name__}")
    return value


def _line(text: str, at: int, owner: str) -> JsonObject:
    try:
        value = jsontext.loads(text)
    except ParseError:
        return {"type": TORN, "line": at + 1, "text": text}
    if not is_object(value):
        raise ParseError(f"{owner}: line {at + 1}: a line is an object, not {type(value).__name__}")
    return value


def damaged_lines(transcript: Transcript) -> list[int]:
    """Return the numbers of a session's lines that are not JSON."""
    kept = (line for lines in transcript.extra.values() if is_array(lines) for line in lines)
    return [line["line"] for line in kept if is_object(line) and line.get("type") == TORN and "line" in line]


def first_lines(value: JsonValue) -> list[JsonObject]:
    """Return the first lines of a possible session; empty for anything else."""
    if isinstance(value, str):
        lines = value[: 1 << 20].split("\n")[:_SEEN] if value.lstrip().startswith("{") else []
        return list(filter(is_object, map(json_at, lines)))
    return list(filter(is_object, value[:_SEEN])) if is_array(value) else []


def unwritable(owner: str) -> Callable[[Transcript], JsonValue]:
    """Make the writer of a format that can only be read: it raises `UnrepresentableError`."""

    def write(_: Transcript) -> JsonValue:
        raise UnrepresentableError(owner, "", "its sessions are written by the program itself, and only read here")

    return write
