"""A state as JSON: every record an object of its fields, those at their defaults left out.

    {"version": 1, "sections": {"messages": [
        {"role": "user", "parts": [{"type": "text", "text": "Weather in Paris?"}]},
        {"role": "assistant", "parts": [{"type": "call", "name": "get_weather", "arguments": {"city": "Paris"}}]}]},
     "steps": [{"messages": [...], "executions": [...]}], "status": "running"}

No transcript format holds every part of a conversation, so this is a format of its own. A message that was read from a
format keeps the value that it was read from, and that format writes it again unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from toolfmt import conversation, jsontext
from toolfmt.errors import ParseError, UnrepresentableError
from toolfmt.model import JsonObject, JsonValue, Record, written_fields
from toolfmt.transcripts.parts.pieces import SharedSource

VERSION: Final = 1
PARTS: Final[Mapping[str, type[Any]]] = {
    "text": conversation.TextPart,
    "reasoning": conversation.ReasoningPart,
    "refusal": conversation.RefusalPart,
    "media": conversation.MediaPart,
    "call": conversation.CallPart,
    "result": conversation.ResultPart,
    "json": conversation.JsonPart,
    "opaque": conversation.OpaquePart,
}
_TAGS: Final[Mapping[type[Any], str]] = {kind: tag for tag, kind in PARTS.items()}
_T = TypeVar("_T")


def dump(record: object) -> JsonObject:
    """Write a record; raises `UnrepresentableError` with the place of a value that JSON cannot hold."""
    try:
        value: JsonObject = {"version": VERSION, **plain(record)}
    except RecursionError:
        raise UnrepresentableError("JSON", "", "it is nested too deeply, or contains itself") from None
    wrong = jsontext.unwritable(value)
    if wrong is not None:
        raise wrong
    return value


def load(kind: type[_T], value: JsonValue) -> _T:
    """Read a record; raises `ParseError` with the place of what is wrong."""
    jsontext.check_depth(value, "a state")
    found = _fields(value, "")
    version = found.pop("version", None)
    if version is None:
        raise ParseError("/version: the field is missing; a state is read from what its to_json() returned")
    if version != VERSION:
        raise ParseError(f"/version: {version!r}; states of version {VERSION} are read")
    return _record(kind, found, "")


def plain(value: Any) -> Any:
    """Turn nested records into JSON; all other values stay as they are."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, BaseModel):  # a record, or a run's output
        return plain(written_fields(value) if isinstance(value, Record) else dict(value))
    if is_dataclass(value) and not isinstance(value, type):
        tag = {"type": _TAGS[kind]} if (kind := type(value)) in _TAGS else {}
        own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        given = {
            field.name: field.default if field.default_factory is MISSING else field.default_factory()
            for field in fields(value)
            if field.init
        }
        return {**tag, **{name: plain(found) for name, found in own.items() if found != given[name]}, **_source(value)}
    if isinstance(value, Mapping):
        return {key: plain(found) for key, found in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [plain(found) for found in cast("list[Any]", value)]
    return value


def _source(value: Any) -> JsonObject:
    """Return the value that a message was read from."""
    if not isinstance(value, conversation.Message) or value.source is None or isinstance(value.source, SharedSource):
        return {}
    return {"origin": value.origin, "source": value.source}


def _fields(value: JsonValue, where: str) -> JsonObject:
    if not jsontext.is_object(value):
        advice = ": decode it first, with json.loads" if isinstance(value, str) and not where else ""
        raise ParseError(f"{where or '/'}: an object is expected, not {type(value).__name__}{advice}")
    return dict(value)


def _value(hint: Any, value: JsonValue, where: str) -> Any:
    """Read the records in a value of a field; pydantic checks everything else."""
    inner = get_args(hint)
    match get_origin(hint):
        case None if is_dataclass(hint):
            return _record(cast("type[Any]", hint), value, where)
        case origin if origin in {Union, UnionType}:
            if not _TAGS.keys().isdisjoint(inner):
                return _part(value, where)
            others = [kind for kind in inner if kind is not NoneType]
            return value if value is None or len(others) > 1 else _value(others[0], value, where)
        case origin if origin is tuple and inner[1:] == (...,):
            if not jsontext.is_array(value):
                raise ParseError(f"{where}: a list is expected, not {type(value).__name__}")
            return tuple(_value(inner[0], item, f"{where}/{at}") for at, item in enumerate(value))
        case origin if origin is Mapping:
            return {name: _value(inner[1], found, f"{where}/{name}") for name, found in _fields(value, where).items()}
        case _:
            return value


def _part(value: JsonValue, where: str) -> Any:
    found = _fields(value, where)
    tag = found.pop("type", None)
    if not isinstance(tag, str) or tag not in PARTS:
        raise ParseError(f"{where}/type: {tag!r}; a part is one of {', '.join(PARTS)}")
    return _record(PARTS[tag], found, where)


def _record(kind: type[_T], value: JsonValue, where: str) -> _T:
    found = _fields(value, where)
    origin, source = (
        (found.pop("origin", ""), found.pop("source", None)) if kind is conversation.Message else ("", None)
    )
    known = {field.name for field in fields(cast("Any", kind)) if field.init}
    for name in found:
        if name not in known:
            raise ParseError(f"{where}/{name}: {kind.__name__} has no such field")
        found[name] = _value(_hints(kind)[name], found[name], f"{where}/{name}")
    try:
        record = _adapter(kind).validate_python(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"/{step}" for step in first["loc"])
        raise ParseError(f"{where}{place}: {first['msg']}") from None
    if isinstance(record, conversation.Message) and source is not None:
        record.origin, record.source = str(origin), source
    return cast("_T", record)


_hints = cache(get_type_hints)
_adapter = cache(TypeAdapter[Any])
