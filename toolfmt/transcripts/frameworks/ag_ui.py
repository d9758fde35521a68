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

from collections.abc import Iterator, Sequence
from typing import Final

from toolfmt.conversation import (
    CallPart,
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
from toolfmt.transcripts.datasets.rows import functions
from toolfmt.transcripts.format import ANYTHING, Rules, TranscriptFormat
from toolfmt.transcripts.parts.media import kind_of
from toolfmt.transcripts.parts.pieces import changed
from toolfmt.transcripts.parts.values import content_text, own, rest, text_at, text_or_list, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import arguments, constant, ident, text
from toolfmt.transcripts.tables.message_fields import listed
from toolfmt.transcripts.tables.request import ROLES, RequestTable, objects_in

NAME: Final = "ag-ui"
_ROLES: Final[dict[str, Role]] = {**ROLES, "developer": "developer", "reasoning": "assistant", "activity": "user"}
_SOURCES: Final = {"data": "data", "url": "url", "file": "file_id"}
_BINARY: Final = {"data": "data", "url": "url", "id": "file_id"}


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
    """Read a file in older clients' form."""
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


def _read_result(item: JsonObject) -> ResultPart:
    error, content = text_at(item, "error"), BLOCKS.read_content(item.get("content"))
    if error and error not in content_text(content):
        content = (*content, TextPart(error))
    extra = rest(item, {"role", "content", "toolCallId", "error"}, NAME)
    return ResultPart(content, text_at(item, "toolCallId"), is_error=error is not None, extra=extra)


def _write_result(part: ResultPart) -> JsonObject:
    error = {"error": content_text(part.content)} if part.is_error else {}
    item: JsonObject = {"role": "tool", "toolCallId": part.id or "", "content": _content(part.content, "tool"), **error}
    return item | own(part.extra, NAME)


def _content(parts: Sequence[Part], role: Role) -> JsonValue:
    """Write content: text, or a list of parts for a user's other content."""
    written = BLOCKS.write_list(parts)
    if role in ("user", "tool"):
        return text_or_list(written)
    return "\n".join(item["text"] for item in written if word(item, "type") == "text")


def _read_message(item: JsonObject, role: Role) -> Message:
    match item["role"]:
        case "activity":
            # The state of an activity: each kind has its own form.
            return Message(role, (OpaquePart(NAME, item),))
        case "reasoning":
            encrypted = text_at(item, "encryptedValue")
            thought = ReasoningPart(text_at(item, "content") or "", None, encrypted, NAME if encrypted else "")
            return Message(role, (thought,), extra=rest(item, {"role", "content", "encryptedValue"}, NAME))
        case _:
            return _TABLE.read_plain(item, role)


def _write_message(message: Message) -> Iterator[JsonValue]:
    """Write the content of a message: its reasoning, then its text and calls."""
    said = [part for part in message.parts if not isinstance(part, ReasoningPart)]
    for part in message.parts:
        if isinstance(part, ReasoningPart):
            encrypted = {"encryptedValue": part.encrypted} if part.encrypted and part.owner == NAME else {}
            only = own(message.extra, NAME) if len(message.parts) == 1 else {}
            yield {"role": "reasoning", "content": part.text, **encrypted, **only}
    if said or not message.parts:
        yield from _TABLE.write_plain(changed(message, message.role, said))


_NAMED: Final = (text("name", "name", default=""), arguments("arguments", "text"))
_AROUND: Final = (ident("id"), constant("type", "function", needed=False))
_CALLS: Final = PartTable(NAME, (PartRow("function", CallPart, *_NAMED, inside=True, around=_AROUND),), tag="")
_TABLE: Final = RequestTable(
    owner=NAME,
    roles=_ROLES,
    blocks=BLOCKS,
    write_content=_content,
    fields=(listed("toolCalls", _CALLS, "function", refuses=True, instead=True),),
    name="name",
    result=(_read_result, _write_result),
    empty="alone",
    no_content="absent",
    read_message=_read_message,
    write_message=_write_message,
    tools=functions(NAME, description="always").listed(),
    ids=("id", "message_"),
)


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
    read=_TABLE.read,
    write=_TABLE.write,
    recognise=recognise,
    rules=Rules(result_kinds=ANYTHING, user_kinds=ANYTHING, neighbours="answers", interleaved=False),
    aliases=("agui",),
    sources=(Provenance("ag-ui-protocol, ag_ui.core.types", "source", "1.0.0", "MIT"),),
)
