r"""AG-UI's messages and tools, as a run's input has them: reasoning is a message, every message has an id.

{"threadId": "t", "runId": "r", "messages": [
    {"id": "m1", "role": "user", "content": [
        {"type": "text", "text": "Weather here?"},
        {"type": "image", "source": {"type": "url", "value": "https://e.com/a.png"}}]},
    {"id": "m2", "role": "reasoning", "content": "One call."},
    {"id": "m3", "role": "assistant", "content": "Checking.", "toolCalls": [
        {"id": "call_A1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]},
    {"id": "m4", "role": "tool", "toolCallId": "call_A1", "content": "18C"}],
 "tools": [{"name": "get_weather", "description": "Get the weather", "parameters": {"type": "object"}}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.blocks import PartRow, PartTable
from toolfmt.transcripts.datasets.rows import functions
from toolfmt.transcripts.fields import text
from toolfmt.transcripts.format import ANYTHING, Rules, TranscriptFormat
from toolfmt.transcripts.media import kind_of
from toolfmt.transcripts.pieces import forget_ids
from toolfmt.transcripts.request import RequestTable, objects_in
from toolfmt.transcripts.values import content_text, give, own, rest, text_at, text_or_list, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "ag-ui"
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "reasoning": "assistant",
    "tool": "tool",
    "activity": "user",
}
_SOURCES: Final = {"data": "data", "url": "url", "file": "file_id"}
_BINARY: Final = {"data": "data", "url": "url", "id": "file_id"}
_ID: Final = f"{NAME}.id"


def _read_media(item: JsonObject) -> MediaPart | None:
    source = item.get("source")
    place = _SOURCES.get(word(source, "type"))
    if place is None or not is_object(source) or not isinstance(source.get("value"), str):
        return None
    part = MediaPart(item["type"], word(source, "mimeType"), extra=rest(item, {"type", "source"}, NAME))
    setattr(part, place, source["value"])
    part.owner = (word(source, "provider") or NAME) if place == "file_id" else ""
    return part


def _read_binary(item: JsonObject) -> MediaPart | None:
    """Read a file as older clients send it."""
    media_type = word(item, "mimeType")
    place = next((key for key in _BINARY if word(item, key)), None)
    if place is None:
        return None
    part = MediaPart(kind_of(media_type), media_type, name=word(item, "filename") or None)
    setattr(part, _BINARY[place], item[place])
    part.owner = NAME if place == "id" else ""
    part.extra = rest(item, {"type", "mimeType", "filename", *_BINARY}, NAME)
    return part


def _write_media(part: MediaPart) -> JsonObject | None:
    kind = {"mimeType": part.media_type} if part.media_type else {}
    source: JsonObject
    if part.data is not None:
        source = {"type": "data", "value": part.data, "mimeType": part.media_type or "application/octet-stream"}
    elif part.url is not None:
        source = {"type": "url", "value": part.url, **kind}
    elif part.file_id is not None:
        provider = {"provider": part.owner} if part.owner not in ("", NAME) else {}
        source = {"type": "file", "value": part.file_id, **provider, **kind}
    else:
        return None
    return {"type": part.kind, "source": source, **own(part.extra, NAME)}


BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", TextPart, text("text")),
        PartRow("binary", MediaPart, read=_read_binary, write=_write_media),
        *(PartRow(kind, MediaPart, read=_read_media) for kind in ("image", "audio", "video", "document")),
    ),
)


def _content_of(item: JsonObject) -> JsonValue:
    content = item.get("content")
    if content is None or isinstance(content, str) or is_array(content):
        return content
    raise ParseError(f"content: expected text or a list of parts, not {type(content).__name__}")


def _read_message(item: JsonObject, role: Role) -> Message:
    match item["role"]:
        case "activity":
            # How far something is: each kind has a form of its own.
            return Message(role, (OpaquePart(NAME, item),))
        case "reasoning":
            encrypted = text_at(item, "encryptedValue")
            thought = ReasoningPart(text_at(item, "content") or "", None, encrypted, NAME if encrypted else "")
            return Message(role, (thought,), extra=rest(item, {"role", "content", "encryptedValue"}, NAME))
        case "tool":
            error, content = text_at(item, "error"), BLOCKS.read_content(_content_of(item))
            if error and error not in content_text(content):
                content = (*content, TextPart(error))
            result = ResultPart(content, text_at(item, "toolCallId"), is_error=error is not None)
            return Message(role, (result,), extra=rest(item, {"role", "content", "toolCallId", "error"}, NAME))
        case _:
            calls = item.get("toolCalls")
            if not (calls is None or is_array(calls)):
                raise ParseError(f"toolCalls: expected a list, not {type(calls).__name__}")
            parts = (*BLOCKS.read_all(_content_of(item)), *map(_read_call, calls or ()))
            return Message(
                role, parts, text_at(item, "name"), rest(item, {"role", "content", "name", "toolCalls"}, NAME)
            )


def _read_call(item: JsonValue) -> CallPart:
    function = item.get("function") if is_object(item) else None
    if not is_object(item) or not is_object(function):
        raise ParseError("toolCalls: a call is an object with a `function`")
    call = CallPart(word(function, "name"), id=text_at(item, "id"), extra=rest(item, {"id", "type", "function"}, NAME))
    return give(call, function.get("arguments"))


def _write_message(message: Message) -> Iterator[JsonObject]:
    """Write what one message says: its thoughts, then what it says and calls; a result is a message of its own."""
    extra = own(message.extra, NAME)
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    for part in results:
        item: JsonObject = {"toolCallId": part.id or "", "content": _content(part.content)}
        error = {"error": content_text(part.content)} if part.is_error else {}
        yield {"role": "tool", **item, **error, **extra}
    if results:
        return
    for part in message.parts:
        if isinstance(part, ReasoningPart):
            encrypted = {"encryptedValue": part.encrypted} if part.encrypted and part.owner == NAME else {}
            only = extra if len(message.parts) == 1 else {}
            yield {"role": "reasoning", "content": part.text, **encrypted, **only}
    spoken = [part for part in message.parts if not isinstance(part, (ReasoningPart, CallPart))]
    calls = [_write_call(part) for part in message.parts if isinstance(part, CallPart)]
    if not (spoken or calls) and message.parts:
        return
    name = {} if message.name is None else {"name": message.name}
    body = {"content": _content(spoken, listed=message.role == "user")} if spoken or not calls else {}
    yield {"role": message.role, **name, **body, **({"toolCalls": calls} if calls else {}), **extra}


def _content(parts: Iterable[Part | Content], *, listed: bool = True) -> JsonValue:
    """Write content: text, or a list of parts where that is allowed and needed."""
    written = BLOCKS.write_list(parts)
    return (
        text_or_list(written) if listed else "\n".join(item["text"] for item in written if word(item, "type") == "text")
    )


def _write_call(part: CallPart) -> JsonObject:
    arguments = jsontext.dumps({"input": part.text or ""}) if part.custom else part.json
    function: JsonObject = {"name": part.name, "arguments": arguments}
    return {"id": part.id or "", "type": "function", "function": function, **own(part.extra, NAME)}


_TOOLS: Final = functions(NAME, description="always").listed()
_REQUEST: Final = RequestTable(
    owner=NAME, roles=_ROLES, blocks=BLOCKS, read_message=_read_message, write_message=_write_message, tools=_TOOLS
)


def read(value: JsonValue) -> Transcript:
    """Read a run's input, or a list of messages."""
    return forget_ids(_REQUEST.read(value), _ID, "message_")


def write(transcript: Transcript) -> JsonValue:
    """Write messages and tools, and what else a run's input of this format had; a message that is new gets an id."""
    value = _REQUEST.write(transcript)
    kept = {id(message.source) for message in transcript.messages if message.origin == NAME}
    items = [item if id(item) in kept else {"id": f"message_{at}", **item} for at, item in enumerate(value["messages"])]
    return {**value, "messages": items}


def recognise(value: JsonValue) -> bool:
    """Recognise a run's input by its ids, or a message by its calls, its thoughts or what it answers."""
    if is_object(value) and "threadId" in value and "runId" in value and is_array(value.get("messages")):
        return True
    return any(
        word(item, "role") in ("reasoning", "activity")
        or (word(item, "role") == "tool" and "toolCallId" in item and not is_array(item.get("content")))
        or (word(item, "role") == "assistant" and is_array(item.get("toolCalls")))
        for item in objects_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="AG-UI: messages with ids, reasoning as messages, camelCase keys.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(result_kinds=ANYTHING, user_kinds=ANYTHING, neighbours="answers", interleaved=False),
    aliases=("agui",),
    sources=(Provenance(reference="ag-ui-protocol, ag_ui.core.types", revision="1.0.0", kind="source", license="MIT"),),
)
