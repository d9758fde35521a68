"""The AI SDK's ModelMessage: the input of `generateText` and `streamText`, or only the messages.

{"messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"},
        {"type": "image", "image": "iVBORw0KGgo", "mediaType": "image/png"}]},
    {"role": "assistant", "content": [
        {"type": "reasoning", "text": "One call.", "providerOptions": {"anthropic": {"signature": "EqQB"}}},
        {"type": "tool-call", "toolCallId": "call_A1", "toolName": "get_weather", "input": {"city": "Paris"}}]},
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "call_A1", "toolName": "get_weather",
        "output": {"type": "content", "value": [
            {"type": "text", "text": "18C"}, {"type": "image-data", "data": "iVBOR", "mediaType": "image/png"}]}}]}],
 "tools": [{"type": "function", "name": "get_weather", "inputSchema": {"type": "object"}}],
 "toolChoice": {"type": "auto"}}

`tools` and `toolChoice` have the form in which the SDK passes them to a model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import JSON_RESULTS, TranscriptFormat
from toolfmt.transcripts.frameworks.vercel_parts import further, read_file, taken
from toolfmt.transcripts.parts.media import known_type
from toolfmt.transcripts.parts.values import plain_text
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.choosing import typed
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import PartField, arguments, text
from toolfmt.transcripts.tables.request import ROLES, RequestTable, objects_in

NAME: Final = "vercel-model"
_FILE: Final = frozenset({"type", "data", "image", "url", "mediaType", "filename", "fileId", "providerReference"})
_INSIDE: Final = {
    **dict.fromkeys(("media", "image-data", "file-data", "file"), "data"),
    **dict.fromkeys(("image-url", "file-url"), "url"),
    **dict.fromkeys(("file-id", "image-file-id"), "fileId"),
    **dict.fromkeys(("file-reference", "image-file-reference"), "providerReference"),
}
"""The key of the data or the URL, for each kind of file in a result."""
_FURTHER: Final = taken(NAME)
_PUT: Final = _FURTHER[1]


def _media(type: str, key: str) -> PartRow:  # noqa: A002 - the wire's word
    """Describe the block of a file, with its data or its URL under a key."""

    def read(item: JsonObject) -> MediaPart | None:
        given, name = item.get("mediaType"), item.get("filename")
        if given is None:
            given = "image/*" if type.startswith("image") else "*/*"
        if not (isinstance(given, str) and isinstance(name, str | None)):
            return None
        found = item.get(key)
        part = read_file({NAME: found} if key == "fileId" and isinstance(found, str) else found, given, name)
        if part is not None:
            part.extra = further(item, _FILE, NAME)
        return part

    return PartRow(type, MediaPart, read=read)


def _write_file(part: MediaPart) -> JsonObject | None:
    return _file(part, {"type": "file"}, "data")


def _write_said(part: MediaPart) -> JsonObject | None:
    """Write a user's media; an image needs no type."""
    if part.kind != "image":
        return _write_file(part)
    item = _file(part, {"type": "image"}, "image")
    if item is not None and not part.media_type:
        del item["mediaType"]
    return item


def _file(part: MediaPart, item: JsonObject, key: str) -> JsonObject | None:
    data = part.data if part.data is not None else part.url
    if data is None:
        return None
    name = {} if part.name is None else {"filename": part.name}
    return _PUT({**item, key: data, "mediaType": known_type(part), **name}, part)


def _write_inside(part: MediaPart) -> JsonObject | None:
    kind, key = "image" if part.kind == "image" else "file", "url" if part.data is None else "data"
    item = _file(part, {"type": f"{kind}-{key}"}, key)
    if item is not None and part.data is None and not part.media_type:
        del item["mediaType"]
    return item


def _read_output(item: JsonObject, part: ResultPart) -> bool:
    """Read the output of a tool; its further fields are beside it."""
    match item.get("output"):
        case {"type": "text" | "error-text", "value": str() as output, **beside}:
            part.content = (TextPart(output),) if output else ()
        case {"type": "json" | "error-json", "value": output, **beside}:
            part.content = (JsonPart(output),)
        case {"type": "content", "value": [*output], **beside}:
            part.content = _CONTENTS.read_content(output)
        case {"type": "execution-denied", **beside}:
            reason = beside.pop("reason", None)
            part.content = (TextPart(reason),) if isinstance(reason, str) else ()
            beside["type"] = "execution-denied"
        case _:
            return False
    part.is_error = item["output"]["type"] not in ("text", "json", "content")
    if beside:
        part.extra[_OUTPUT] = beside
    return True


_OUTPUT: Final = f"{NAME}.output"


def _write_output(part: ResultPart, item: JsonObject) -> None:
    beside: JsonObject = part.extra.get(_OUTPUT, {})
    item["output"] = output = _said(part) | beside
    if output["type"] == "execution-denied":
        reason = output.pop("value")
        item["output"] = {"type": "execution-denied", "reason": reason} | output if reason else output


def _said(part: ResultPart) -> JsonObject:
    failed = "error-" if part.is_error else ""
    plain = plain_text(part.content)
    if plain is not None:
        return {"type": f"{failed}text", "value": plain}
    match part.content:
        case (JsonPart(value=value),):
            return {"type": f"{failed}json", "value": value}
        case content:
            texts = [found.text for found in content if isinstance(found, TextPart)]
            if part.is_error and len(texts) == len(content):
                return {"type": "error-text", "value": "\n".join(texts)}
            return {"type": "content", "value": _CONTENTS.write_list(content)}


_RENAMED: Final = {"args": "input", "mimeType": "mediaType"}


def _spelled(item: JsonObject) -> JsonObject:
    """Convert a part of AI SDK 4 to the spelling of 5."""
    if item.keys().isdisjoint({"result", *_RENAMED}):
        return item
    part = {_RENAMED.get(key, key): value for key, value in item.items()}
    if "result" in part and "output" not in part:
        failed, result = part.pop("isError", None), part.pop("result")
        kind = ("error-" if failed is True else "") + ("text" if isinstance(result, str) else "json")
        part["output"] = {"type": kind, "value": result}
    return part


_ID: Final = text("toolCallId", "id")
_NAMED: Final = text("toolName", "name")
_TEXT: Final = PartRow("text", TextPart, text("text"))
_CONTENTS: Final = PartTable(
    NAME,
    (_TEXT, *(_media(*row) for row in _INSIDE.items()), PartRow("", MediaPart, write=_write_inside)),
    further=_FURTHER,
)
"""The contents of a result."""
BLOCKS: Final = PartTable(
    NAME,
    (
        _TEXT,
        PartRow("reasoning", ReasoningPart, text("text")),
        _media("file", "data"),
        _media("reasoning-file", "data"),
        _media("image", "image"),
        PartRow("", MediaPart, write=_write_file),
        PartRow("tool-call", CallPart, _ID, _NAMED, arguments("input", "value")),
        PartRow("tool-result", ResultPart, _ID, _NAMED, PartField(("output",), _read_output, _write_output)),
    ),
    further=_FURTHER,
    spelled=_spelled,
)
_PROMPT: Final = PartTable(NAME, (_TEXT, PartRow("", MediaPart, write=_write_said)), further=_FURTHER)
"""A user's content, as written."""


def _read_message(item: JsonObject, role: Role) -> Message:
    content, extra = item.get("content"), further(item, {"role", "content"}, NAME)
    if isinstance(content, str):
        return Message(role, (TextPart(content, extra=extra),) if content or extra else ())
    parts = BLOCKS.read_key(item, "content")
    if is_array(content):
        parts = tuple(_run(part, block, role) for part, block in zip(parts, content, strict=True))
    return Message(role, parts, extra=extra)


def _run(part: Part, item: JsonValue, role: Role) -> Part:
    """Keep provider-run calls and results unchanged: they are marked, or have another role than usual."""
    if not isinstance(part, (CallPart, ResultPart)):
        return part
    ours = "providerExecuted" not in item and (role == "assistant") == isinstance(part, CallPart)
    return part if ours else OpaquePart(NAME, item, (part,))


def _write_message(message: Message) -> list[JsonValue]:
    """Write a message; instructions are one text each."""
    parts, role = message.parts, message.role
    if role == "tool":
        results = BLOCKS.write_list(part for part in parts if isinstance(part, (ResultPart, OpaquePart)))
        return [{"role": role, "content": results}] if results else []
    if role in ("system", "developer"):
        texts = [part for part in parts if isinstance(part, TextPart)]
        return [_PUT({"role": "system", "content": part.text}, part) for part in texts]
    written = _PROMPT.write_all(parts) if role == "user" else BLOCKS.write_all(parts)
    if written == [] and parts:
        return []
    return [_PUT({"role": role, "content": written}, message)]


_FUNCTION: Final = Declaring(owner=NAME, schema="inputSchema", typed=True, strict=True, bare={}, further=_FURTHER)
_REQUEST: Final = RequestTable(
    owner=NAME,
    roles=ROLES,
    blocks=BLOCKS,
    read_message=_read_message,
    write_message=_write_message,
    tools=_FUNCTION.listed(),
    choice=typed("toolChoice", "toolName"),
)


def recognise(value: JsonValue) -> bool:
    """Recognise messages by their parts: calls with a `toolCallId`, files with a `mediaType`."""
    return any(
        is_object(part) and ("toolCallId" in part or "mediaType" in part or "providerOptions" in part)
        for item in objects_in(value)
        if is_array(item.get("content"))
        for part in item["content"]
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="The AI SDK's ModelMessage: parts with tool-call and tool-result.",
    read=_REQUEST.read,
    write=_REQUEST.write,
    recognise=recognise,
    rules=replace(JSON_RESULTS, result_names=True),
    aliases=("ai-sdk", "vercel", "vercel-modelmessage"),
    sources=(
        Provenance("@ai-sdk/provider-utils, ModelMessage", "source", "4.0.66", "Apache-2.0"),
        Provenance("@ai-sdk/provider, LanguageModelV3FunctionTool", "source", "3.0.19", "Apache-2.0"),
    ),
)
