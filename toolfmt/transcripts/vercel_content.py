"""The parts of the AI SDK's ModelMessage: text, files, reasoning, calls and their results.

{"type": "tool-call", "toolCallId": "call_A1", "toolName": "get_weather", "input": {"city": "Paris"}}
{"type": "tool-result", "toolCallId": "call_A1", "toolName": "get_weather", "output": {"type": "content", "value": [
    {"type": "text", "text": "18C"}, {"type": "image-data", "data": "iVBORw0KGgo", "mediaType": "image/png"}]}}
{"type": "tool-result", "toolCallId": "call_B2", "toolName": "get_weather",
    "output": {"type": "error-text", "value": "unknown city"}}
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
    Role,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.media import known_type
from toolfmt.transcripts.values import argument_value, word
from toolfmt.transcripts.vercel_parts import further, proven, put_further, read_file

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "vercel-model"
_TEXT: Final = frozenset({"type", "text"})
_FILE: Final = frozenset({"type", "data", "image", "url", "mediaType", "filename", "fileId", "providerReference"})
_CALL: Final = frozenset({"type", "toolCallId", "toolName", "input"})
_RESULT: Final = frozenset({"type", "toolCallId", "toolName", "output"})
_FILES: Final = {"file": "data", "image": "image"}
_INSIDE: Final = {
    "media": "data",
    "image-data": "data",
    "image-url": "url",
    "file-data": "data",
    "file-url": "url",
    "file": "data",
    "file-id": "fileId",
    "image-file-id": "fileId",
    "file-reference": "providerReference",
    "image-file-reference": "providerReference",
}
"""The key that holds the data or the address, for each kind of file in a message and in a result."""


def read_content(content: JsonValue, role: Role) -> tuple[Part, ...]:
    """Read a message's list of parts; those that are not understood are kept as they came."""
    if not is_array(content):
        return () if content is None else (OpaquePart(NAME, content),)
    return tuple([_read(part, role) for part in content])


def _read(item: JsonValue, role: Role) -> Part:
    kind = word(item, "type")
    part: Part | None = None
    if kind in ("text", "reasoning"):
        part = _said(item)
    elif kind in _FILES:
        part = _media(item, _FILES[kind])
    elif kind == "tool-call":
        part = read_call(item)
    elif kind == "tool-result":
        part = _result(item)
    if isinstance(part, (CallPart, ResultPart)) and (
        "providerExecuted" in item or (role == "assistant") == (kind == "tool-result")
    ):
        return OpaquePart(NAME, item, (part,))  # the provider ran it
    return OpaquePart(NAME, item) if part is None else part


def _said(item: JsonObject) -> TextPart | ReasoningPart | None:
    text = item.get("text")
    if not isinstance(text, str):
        return None
    extra = further(item, _TEXT, NAME)
    if item["type"] == "text":
        return TextPart(text, extra=extra)
    part = ReasoningPart(text, extra=extra)
    proven(part)
    return part


def _media(item: JsonObject, key: str) -> MediaPart | None:
    data, given, name = item.get(key), item.get("mediaType"), item.get("filename")
    if given is None:
        given = "image/*" if item["type"].startswith("image") else "*/*"
    if not (isinstance(given, str) and (name is None or isinstance(name, str))):
        return None
    part = read_file(data, given, name)
    if part is None:
        return None
    part.extra = further(item, _FILE, NAME)
    return part


def read_call(item: JsonObject) -> CallPart | None:
    """Read a call; input that is text is what the model wrote and what could not be read."""
    name, ident, given = item.get("toolName"), item.get("toolCallId"), item.get("input")
    if not isinstance(name, str) or not isinstance(ident, str):
        return None
    part = CallPart(name, id=ident, extra=further(item, _CALL, NAME))
    if isinstance(given, str):
        part.text = given
    else:
        part.arguments = given
    proven(part)
    return part


def _result(item: JsonObject) -> ResultPart | None:
    output, name, ident = item.get("output"), item.get("toolName"), item.get("toolCallId")
    if not is_object(output) or not isinstance(ident, str) or not isinstance(name, str):
        return None
    value, kind = output.get("value"), word(output, "type")
    content: tuple[Content, ...]
    if kind in ("text", "error-text") and isinstance(value, str):
        content = (TextPart(value),) if value else ()
    elif kind in ("json", "error-json"):
        content = (JsonPart(value),)
    elif kind == "content" and is_array(value):
        content = tuple(map(_inside, value))
    elif kind == "execution-denied":
        reason = output.get("reason")
        content = (TextPart(reason),) if isinstance(reason, str) else ()
    else:
        return None
    extra = further(item, _RESULT, NAME)
    beside = {key: found for key, found in output.items() if key not in ("type", "value", "reason")}
    if kind == "execution-denied":
        beside["type"] = kind
    if beside:
        extra[f"{NAME}.output"] = beside
    return ResultPart(content, ident, name, kind not in ("text", "json", "content"), extra=extra)


def _inside(item: JsonValue) -> Content:
    kind = word(item, "type")
    part: Content | None = None
    if kind == "text" and isinstance(item.get("text"), str):
        part = TextPart(item["text"], extra=further(item, _TEXT, NAME))
    elif kind in _INSIDE:
        part = _media(item, _INSIDE[kind])
    return OpaquePart(NAME, item) if part is None else part


def write_content(parts: Iterable[Part], role: Role) -> list[JsonValue]:
    """Write a message's parts; what has no place is left out."""
    images = role == "user"
    return [written for part in parts if (written := _write(part, images=images)) is not None]


def _write(part: Part, *, images: bool) -> JsonValue:
    if isinstance(part, MediaPart):
        return _write_media(part, image=images and part.kind == "image")
    writer = _WRITERS.get(type(part))
    return None if writer is None else writer(part)


def _write_media(part: MediaPart, *, image: bool) -> JsonObject | None:
    data = part.data if part.data is not None else part.url
    if data is None:
        return None
    item: JsonObject = {"type": "image", "image": data} if image else {"type": "file", "data": data}
    if part.media_type or not image:
        item["mediaType"] = known_type(part)
    if part.name is not None:
        item["filename"] = part.name
    return put_further(item, part, NAME)


def _write_call(part: CallPart) -> JsonObject:
    item: JsonObject = {
        "type": "tool-call",
        "toolCallId": part.id,
        "toolName": part.name,
        "input": argument_value(part),
    }
    return put_further(item, part, NAME) if part.extra or part.owner else item


def _opaque(part: OpaquePart) -> JsonValue:
    return part.value if part.owner == NAME else None


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    TextPart: lambda part: put_further({"type": "text", "text": part.text}, part, NAME),
    RefusalPart: lambda part: {"type": "text", "text": part.text},
    JsonPart: lambda part: {"type": "text", "text": jsontext.dumps(part.value)},
    ReasoningPart: lambda part: put_further({"type": "reasoning", "text": part.text}, part, NAME),
    CallPart: _write_call,
    OpaquePart: _opaque,
}


def write_results(parts: Iterable[ResultPart | OpaquePart]) -> list[JsonValue]:
    """Write the content of a message of results."""
    return [
        written
        for part in parts
        if (written := _opaque(part) if isinstance(part, OpaquePart) else _write_result(part)) is not None
    ]


def _write_result(part: ResultPart) -> JsonObject:
    item: JsonObject = {"type": "tool-result", "toolCallId": part.id, "toolName": part.name or ""}
    item["output"] = _output(part)
    if not part.extra:
        return item
    put_further(item, part, NAME)
    beside = part.extra.get(f"{NAME}.output")
    if beside is None:
        return item
    output = item["output"] = _output(part) | beside
    if output["type"] == "execution-denied":
        reason = output.pop("value")
        item["output"] = {"type": "execution-denied", "reason": reason} | output if reason else output
    return item


def _output(part: ResultPart) -> JsonObject:
    failed = "error-" if part.is_error else ""
    match part.content:
        case ():
            return {"type": f"{failed}text", "value": ""}
        case (TextPart(text=text, citations=(), extra={**extra}),) if text and not extra:
            return {"type": f"{failed}text", "value": text}
        case (JsonPart(value=value),):
            return {"type": f"{failed}json", "value": value}
        case content:
            texts = [found.text for found in content if isinstance(found, TextPart)]
            if part.is_error and len(texts) == len(content):
                return {"type": "error-text", "value": "\n".join(texts)}
            inside = [written for found in content if (written := _write_inside(found)) is not None]
            return {"type": "content", "value": inside}


def _write_inside(part: Content) -> JsonValue:
    if not isinstance(part, MediaPart):
        return _write(part, images=False)
    prefix = "image" if part.kind == "image" else "file"
    if part.data is not None:
        item: JsonObject = {"type": f"{prefix}-data", "data": part.data, "mediaType": known_type(part)}
    elif part.url is not None:
        item = {"type": f"{prefix}-url", "url": part.url}
        if part.media_type:
            item["mediaType"] = part.media_type
    else:
        return None
    if part.name is not None:
        item["filename"] = part.name
    return put_further(item, part, NAME)
