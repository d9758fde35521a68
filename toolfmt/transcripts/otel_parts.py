"""The parts of OpenTelemetry's GenAI messages.

{"type": "reasoning", "content": "Two calls."}
{"type": "blob", "mime_type": "image/png", "modality": "image", "content": "iVBORw0KGgo"}
{"type": "uri", "mime_type": null, "modality": "image", "uri": "https://a.b/c.png"}
{"type": "tool_call", "id": "call_A1", "name": "get_weather", "arguments": {"city": "Paris"}}
{"type": "tool_call_response", "id": "call_A1", "response": "18C"}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
)
from toolfmt.jsontext import is_array
from toolfmt.transcripts.hosted import OTEL, hosted
from toolfmt.transcripts.media import kind_of
from toolfmt.transcripts.values import argument_value, own, plain_text, rest, says, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "otel-genai"
_SAID: Final = frozenset({"type", "content"})
_CALL: Final = frozenset({"type", "id", "name", "arguments"})
_RESULT: Final = frozenset({"type", "id", "response"})
_SOURCES: Final = {"blob": "content", "uri": "uri", "file": "file_id"}
_MEDIA: Final = frozenset({"type", "mime_type", "modality", *_SOURCES.values()})


def read_part(item: JsonValue) -> Part:
    """Read a part; one that is not understood is kept as it came."""
    reader = _READERS.get(word(item, "type"))
    part = reader(item) if reader is not None else None
    return OpaquePart(NAME, item, hosted(item, OTEL)) if part is None else part


def _text(item: JsonObject) -> Part | None:
    text = item.get("content")
    return TextPart(text, extra=rest(item, _SAID, NAME)) if isinstance(text, str) else None


def _reasoning(item: JsonObject) -> Part | None:
    text = item.get("content")
    return ReasoningPart(text, extra=rest(item, _SAID, NAME)) if isinstance(text, str) else None


def _media(item: JsonObject) -> Part | None:
    data, media_type, modality = word(item, _SOURCES[item["type"]]), word(item, "mime_type"), word(item, "modality")
    if not data:
        return None
    part = MediaPart(kind_of(f"{modality}/" if modality else media_type), media_type, extra=rest(item, _MEDIA, NAME))
    match item["type"]:
        case "blob":
            part.data = data
        case "uri":
            part.url = data
        case _:
            part.file_id, part.owner = data, NAME
    return part


def _call(item: JsonObject) -> Part | None:
    arguments = item.get("arguments")
    if not isinstance(item.get("name"), str) or not says(item, "id"):
        return None
    part = CallPart(item["name"], id=word(item, "id") or None, extra=rest(item, _CALL, NAME))
    if isinstance(arguments, str):
        part.text = arguments
    else:
        part.arguments = {} if arguments is None else arguments
    return part


def _result(item: JsonObject) -> Part | None:
    if "response" not in item or not says(item, "id"):
        return None
    return ResultPart(_content(item["response"]), word(item, "id") or None, extra=rest(item, _RESULT, NAME))


def _content(value: JsonValue) -> tuple[Content, ...]:
    """Read a response: text, parts, or another JSON value."""
    if isinstance(value, str):
        return (TextPart(value),) if value else ()
    if is_array(value):
        parts = [part for item in value if isinstance(part := read_part(item), (TextPart, MediaPart))]
        if parts and len(parts) == len(value):
            return tuple(parts)
    return (JsonPart(value),)


_READERS: Final[dict[str, Callable[[JsonObject], Part | None]]] = {
    "text": _text,
    "reasoning": _reasoning,
    "blob": _media,
    "uri": _media,
    "file": _media,
    "tool_call": _call,
    "tool_call_response": _result,
}


def write_parts(parts: Iterable[Part]) -> list[JsonValue]:
    """Write a message's parts; what has no place is left out."""
    written: list[JsonValue] = []
    for part in parts:
        item = _WRITERS[type(part)](part)
        if item is not None:
            extra: JsonObject = getattr(part, "extra", None) or {}
            written.append(item | own(extra, NAME) if extra else item)
    return written


def _write_media(part: MediaPart) -> JsonObject | None:
    item: JsonObject = {"type": "blob", "mime_type": part.media_type or None, "modality": part.kind}
    if part.data is not None:
        item["content"] = part.data
    elif part.url is not None:
        item |= {"type": "uri", "uri": part.url}
    elif part.file_id is not None and part.owner == NAME:
        item |= {"type": "file", "file_id": part.file_id}
    else:
        return None
    return item


def _write_result(part: ResultPart) -> JsonObject:
    text = plain_text(part.content)
    response: JsonValue = text
    if text is None:
        alone = part.content[0] if len(part.content) == 1 else None
        response = alone.value if isinstance(alone, JsonPart) else write_parts(part.content)
    return {"type": "tool_call_response", "id": part.id, "response": response}


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    TextPart: lambda part: {"type": "text", "content": part.text},
    RefusalPart: lambda part: {"type": "text", "content": part.text},
    JsonPart: lambda part: {"type": "text", "content": jsontext.dumps(part.value)},
    ReasoningPart: lambda part: {"type": "reasoning", "content": part.text} if part.text else None,
    MediaPart: _write_media,
    CallPart: lambda part: {
        "type": "tool_call",
        "id": part.id,
        "name": part.name,
        "arguments": argument_value(part),
    },
    ResultPart: _write_result,
    OpaquePart: lambda part: part.value if part.owner == NAME else None,
}
