r"""The lines of an agent's session, which are read and never written.

'{"type": "session_meta", "payload": {}}\n{"type": "response_item", "payload": {}}\n'
[{"type": "session_meta", "payload": {}}, {"type": "response_item", "payload": {}}]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnrepresentableError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.values import json_at

if TYPE_CHECKING:
    from toolfmt.conversation import Transcript
    from toolfmt.model import JsonObject, JsonValue

_SEEN: Final = 50
"""How many lines are looked at to tell a session from other values."""


TORN: Final = "torn"
"""The type of the line that stands for a last one of which only the beginning was written."""


def read_lines(value: JsonValue, owner: str) -> list[JsonObject]:
    """Give a session's lines, from a list of objects or from text with a JSON object on each line.

    A last line that is cut off costs only itself: it is `{"type": "torn", "text": ...}`.
    """
    if isinstance(value, str):
        *complete, last = value.rstrip().split("\n")
        lines = [_line(text, at, owner) for at, text in enumerate(complete) if text.strip()]
        return [*lines, _last(last, len(complete), owner)] if last else lines
    if not is_array(value):
        raise ParseError(f"{owner}: expected a list of lines, or their text")
    for at, item in enumerate(value):
        if not is_object(item):
            raise ParseError(f"/{at}: a line is an object, not {type(item).__name__}")
    return value


def _line(text: str, at: int, owner: str) -> JsonObject:
    try:
        value = jsontext.loads(text)
    except ParseError as error:
        raise ParseError(f"{owner}: line {at + 1}: {error}") from error
    if not is_object(value):
        raise ParseError(f"{owner}: line {at + 1}: a line is an object, not {type(value).__name__}")
    return value


def _last(text: str, at: int, owner: str) -> JsonObject:
    try:
        jsontext.loads(text)
    except ParseError:
        if at:
            return {"type": TORN, "text": text}
    return _line(text, at, owner)


def first_lines(value: JsonValue) -> list[JsonObject]:
    """Give the first lines of what may be a session; none if it is something else."""
    if isinstance(value, str):
        lines = value[: 1 << 20].split("\n")[:_SEEN] if value.lstrip().startswith("{") else []
        return list(filter(is_object, map(json_at, lines)))
    return list(filter(is_object, value[:_SEEN])) if is_array(value) else []


def unwritable(owner: str) -> Callable[[Transcript], JsonValue]:
    """Make the writer of a format that can only be read: it raises `UnrepresentableError`."""

    def write(_: Transcript) -> JsonValue:
        raise UnrepresentableError(owner, "", "its sessions are written by the program itself, and only read here")

    return write
