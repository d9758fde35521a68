"""A state as JSON: every record an object of its fields, those at their defaults left out.

    {"version": 1, "sections": {"messages": [
        {"role": "user", "parts": [{"type": "text", "text": "Weather in Paris?"}]},
        {"role": "assistant", "parts": [{"type": "call", "name": "get_weather", "arguments": {"city": "Paris"}}]}]},
     "steps": [{"messages": [...], "executions": [...]}], "status": "running"}

Of all the conversation's formats none holds every part of the hub, so this is one of its own. A message that was
read from a format keeps the value it was read from, and is written again as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
)
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.transcripts.pieces import SharedSource

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

VERSION: Final = 1
PARTS: Final[Mapping[str, type[Any]]] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "refusal": RefusalPart,
    "media": MediaPart,
    "call": CallPart,
    "result": ResultPart,
    "json": JsonPart,
    "opaque": OpaquePart,
}
_TAGS: Final[Mapping[type[Any], str]] = {kind: tag for tag, kind in PARTS.items()}
_T = TypeVar("_T")


def dump(record: object) -> JsonObject:
    """Write a record; raises `UnrepresentableError` with the place of a value that JSON cannot hold."""
    value: JsonObject = {"version": VERSION, **plain(record)}
    wrong = jsontext.unwritable(value)
    if wrong is not None:
        raise wrong
    return value


def load(kind: type[_T], value: JsonValue) -> _T:
    """Read a record; raises `ParseError` with the place of what was not written so."""
    if jsontext.too_deep(value):
        raise LimitExceededError(f"a state is nested more than {jsontext.MAX_NESTING} levels deep")
    found = _fields(value, "")
    version = found.pop("version", None)
    if version != VERSION:
        raise ParseError(f"/version: {version!r}; states of version {VERSION} are read")
    return _record(kind, found, "")


def plain(value: Any) -> Any:
    """Make JSON of records, of any depth; anything else in them stays as it is."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return plain(value.model_dump())
    if is_dataclass(value) and not isinstance(value, type):
        tag = {"type": _TAGS[kind]} if (kind := type(value)) in _TAGS else {}
        own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        given = {field.name: _default(field) for field in fields(value) if field.init}
        return {**tag, **{name: plain(found) for name, found in own.items() if found != given[name]}, **_read(value)}
    if isinstance(value, Mapping):
        return {key: plain(found) for key, found in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(found) for found in cast("list[Any]", value)]
    return value


def _default(field: Any) -> Any:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def _read(value: Any) -> JsonObject:
    """Give what a message was read from."""
    if not isinstance(value, Message) or value.source is None or isinstance(value.source, SharedSource):
        return {}
    return {"origin": value.origin, "source": value.source}


def _fields(value: JsonValue, where: str) -> JsonObject:
    if not jsontext.is_object(value):
        raise ParseError(f"{where or '/'}: an object is expected, not {type(value).__name__}")
    return dict(value)


def _list(value: JsonValue, where: str, each: Callable[[JsonValue, str], _T]) -> tuple[_T, ...]:
    if not jsontext.is_array(value):
        raise ParseError(f"{where}: a list is expected, not {type(value).__name__}")
    return tuple(each(item, f"{where}/{at}") for at, item in enumerate(value))


def _part(value: JsonValue, where: str) -> Any:
    found = _fields(value, where)
    tag = found.pop("type", None)
    if not isinstance(tag, str) or tag not in PARTS:
        raise ParseError(f"{where}/type: {tag!r}; a part is one of {', '.join(PARTS)}")
    return _record(PARTS[tag], found, where)


def _message(value: JsonValue, where: str) -> Message:
    found = _fields(value, where)
    origin, source = found.pop("origin", ""), found.pop("source", None)
    message = _record(Message, found, where)
    if source is not None:
        message.origin, message.source = str(origin), source
    return message


def _messages(value: JsonValue, where: str) -> tuple[Message, ...]:
    return _list(value, where, _message)


def _sections(value: JsonValue, where: str) -> dict[str, tuple[Message, ...]]:
    return {name: _messages(found, f"{where}/{name}") for name, found in _fields(value, where).items()}


def many(kind: type[Any]) -> Mapping[str, Any]:
    """Describe a dataclass field that holds a tuple of such records: its `metadata`."""

    def read(value: JsonValue, where: str) -> tuple[Any, ...]:
        return _list(value, where, lambda item, at: _record(kind, item, at))

    return {_READ: read}


_READ: Final = "read"
MESSAGES: Final[Mapping[str, Any]] = {_READ: _messages}
"""The `metadata` of a field that holds messages."""
SECTIONS: Final[Mapping[str, Any]] = {_READ: _sections}
"""The `metadata` of a field that holds messages by name."""
_PARTS: Final = frozenset({(Message, "parts"), (ResultPart, "content")})


def _record(kind: type[_T], value: JsonValue, where: str) -> _T:
    found = _fields(value, where)
    known = {field.name: field for field in fields(cast("Any", kind)) if field.init}
    for name in found:
        if name not in known:
            raise ParseError(f"{where}/{name}: {kind.__name__} has no such field")
        if (kind, name) in _PARTS:
            found[name] = _list(found[name], f"{where}/{name}", _part)
        elif _READ in known[name].metadata:
            found[name] = known[name].metadata[_READ](found[name], f"{where}/{name}")
    try:
        return _adapter(kind).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"/{step}" for step in first["loc"])
        raise ParseError(f"{where}{place}: {first['msg']}") from None


@cache
def _adapter(kind: type[_T]) -> TypeAdapter[_T]:
    return TypeAdapter(kind)
