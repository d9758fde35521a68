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

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.datasets.rows import read_tool, write_tools
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.media import kind_of
from toolfmt.transcripts.values import content_text, expected, give, own, pointer, rest, text_at, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "ag-ui"
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
}
_ACTIVITY: Final = "activity"
"""Whose messages show how far something is: each kind has a form of its own."""
_MEDIA: Final = ("image", "audio", "video", "document")
_RESULT: Final = frozenset({"id", "role", "content", "toolCallId", "error"})


def read(value: JsonValue) -> Transcript:
    """Read a run's input, or a list of messages."""
    whole: JsonObject = {"messages": value} if is_array(value) else value if is_object(value) else {}
    items = whole.get("messages")
    if not is_array(items):
        raise ParseError(f"{NAME}: expected a list of messages, or an object with `messages`")
    tools = expected(whole, "tools", is_array, "a list")
    return Transcript(
        tuple(_read_message(item, at) for at, item in enumerate(items)),
        None if tools is None else tuple(read_tool(tool, NAME) for tool in tools),
        extra=rest(whole, {"messages", "tools"}, NAME),
    )


def write(transcript: Transcript) -> JsonValue:
    """Write messages and tools, and what else a run's input of this format had."""
    whole: JsonObject = {"messages": list(_write_messages(transcript.messages))}
    if transcript.tools is not None:
        whole["tools"] = write_tools(transcript.tools, NAME, _write_tool)
    return whole | own(transcript.extra, NAME)


def _read_message(item: JsonValue, at: int) -> Message:
    where = ("/messages", at)
    if not is_object(item) or not isinstance(item.get("role"), str):
        raise ParseError(f"{pointer(where)}: a message is an object with a role")
    read_one = _READERS.get(item["role"])
    if read_one is None and item["role"] != _ACTIVITY:
        roles = ", ".join((*_READERS, _ACTIVITY))
        raise ParseError(f"{pointer(where)}: the role is one of {roles}, not {item['role']!r}")
    try:
        message = Message("user", (OpaquePart(NAME, item),)) if read_one is None else read_one(item)
    except ParseError as error:
        raise ParseError(f"{pointer(where)}/{error}") from None
    if read_one is not None and item.get("id") not in (None, _id(at)):
        message.extra[f"{NAME}.id"] = item["id"]
    message.origin, message.source, message.where = NAME, item, where
    return message


def _read_spoken(item: JsonObject) -> Message:
    parts: list[Part] = list(_read_content(item.get("content")))
    parts.extend(map(_read_call, _list_at(item, "toolCalls")))
    known = {"id", "role", "content", "name", "toolCalls"}
    return Message(_ROLES[item["role"]], tuple(parts), text_at(item, "name"), rest(item, known, NAME))


def _read_reasoning(item: JsonObject) -> Message:
    encrypted = text_at(item, "encryptedValue")
    part = ReasoningPart(text_at(item, "content") or "", encrypted=encrypted, owner=NAME if encrypted else "")
    return Message("assistant", (part,), extra=rest(item, {"id", "role", "content", "encryptedValue"}, NAME))


def _read_result(item: JsonObject) -> Message:
    error, content = text_at(item, "error"), tuple(_read_content(item.get("content")))
    if error and error not in content_text(content):
        content = (*content, TextPart(error))
    part = ResultPart(content, text_at(item, "toolCallId"), is_error=error is not None)
    return Message("tool", (part,), extra=rest(item, _RESULT, NAME))


_READERS: Final[dict[str, Callable[[JsonObject], Message]]] = {
    **dict.fromkeys(_ROLES, _read_spoken),
    "reasoning": _read_reasoning,
    "tool": _read_result,
}


def _list_at(item: JsonObject, key: str) -> list[JsonValue]:
    found = item.get(key)
    if found is None or is_array(found):
        return found or []
    raise ParseError(f"{key}: expected a list, not {type(found).__name__}")


def _read_content(content: JsonValue) -> Iterator[TextPart | MediaPart | OpaquePart]:
    if isinstance(content, str):
        yield from (TextPart(content),) if content else ()
    elif is_array(content):
        yield from map(_read_part, content)
    elif content is not None:
        raise ParseError(f"content: expected text or a list of parts, not {type(content).__name__}")


def _read_part(item: JsonValue) -> TextPart | MediaPart | OpaquePart:
    kind = item.get("type") if is_object(item) else None
    if is_object(item) and kind == "text" and isinstance(item.get("text"), str):
        return TextPart(item["text"], extra=rest(item, {"type", "text"}, NAME))
    source = item.get("source") if is_object(item) else None
    if is_object(item) and kind == "binary":
        return _read_binary(item)
    if is_object(item) and kind in _MEDIA and is_object(source) and isinstance(source.get("value"), str):
        place = _SOURCES.get(word(source, "type"))
        if place is not None:
            part = MediaPart(kind, word(source, "mimeType"), extra=rest(item, {"type", "source"}, NAME))
            setattr(part, place, source["value"])
            part.owner = (word(source, "provider") or NAME) if place == "file_id" else ""
            return part
    return OpaquePart(NAME, item)


def _read_binary(item: JsonObject) -> MediaPart | OpaquePart:
    """Read a file as older clients send it."""
    media_type = word(item, "mimeType")
    place = next((key for key in ("data", "url", "id") if word(item, key)), None)
    if place is None:
        return OpaquePart(NAME, item)
    part = MediaPart(kind_of(media_type), media_type, name=word(item, "filename") or None)
    setattr(part, "file_id" if place == "id" else place, item[place])
    part.owner = NAME if place == "id" else ""
    part.extra = rest(item, {"type", "mimeType", "filename", "data", "url", "id"}, NAME)
    return part


_SOURCES: Final = {"data": "data", "url": "url", "file": "file_id"}


def _read_call(item: JsonValue) -> CallPart:
    function = item.get("function") if is_object(item) else None
    if not is_object(item) or not is_object(function):
        raise ParseError("toolCalls: a call is an object with a `function`")
    call = CallPart(word(function, "name"), id=text_at(item, "id"), extra=rest(item, {"id", "type", "function"}, NAME))
    return give(call, function.get("arguments"))


def _id(at: int) -> str:
    """Name a message that has no id of its own."""
    return f"message_{at}"


def _write_messages(messages: Iterable[Message]) -> Iterator[JsonValue]:
    at = 0
    for message in messages:
        for item in (message.source,) if message.origin == NAME else _write_message(message):
            yield {"id": _id(at), **item} if is_object(item) and message.origin != NAME else item
            at += 1


def _write_message(message: Message) -> Iterator[JsonObject]:
    """Write what one message says: its thoughts, then what it says and calls; a result is a message of its own."""
    extra = own(message.extra, NAME)
    results = [part for part in message.parts if isinstance(part, ResultPart)]
    for part in results:
        yield {"role": "tool", **_result(part), **extra}
    if results:
        return
    for part in message.parts:
        if isinstance(part, ReasoningPart):
            encrypted = {"encryptedValue": part.encrypted} if part.encrypted and part.owner == NAME else {}
            only = extra if len(message.parts) == 1 else {}
            yield {"role": "reasoning", "content": part.text, **encrypted, **only}
    spoken = [part for part in message.parts if not isinstance(part, (ReasoningPart, CallPart))]
    calls = [_call(part) for part in message.parts if isinstance(part, CallPart)]
    if not (spoken or calls) and message.parts:
        return
    item: JsonObject = {"role": message.role}
    if message.name is not None:
        item["name"] = message.name
    if spoken or not calls:
        item["content"] = _content(spoken, listed=message.role == "user")
    if calls:
        item["toolCalls"] = calls
    yield item | extra


def _content(parts: Iterable[Part | Content], *, listed: bool = True) -> JsonValue:
    """Write content: one text, or a list of parts where that is allowed; other texts are joined."""
    found = list(parts)
    texts = [_text(part) for part in found]
    if len(found) <= 1 and all(text is not None for text in texts) and not (listed and _marked(found)):
        return "".join(text for text in texts if text is not None)
    if not listed:
        return "\n".join(text for text in texts if text is not None)
    return [item for part, text in zip(found, texts, strict=True) if (item := _part(part, text)) is not None]


def _marked(parts: Iterable[Part | Content]) -> bool:
    return any(isinstance(part, TextPart) and own(part.extra, NAME) for part in parts)


def _text(part: Part | Content) -> str | None:
    if isinstance(part, (TextPart, RefusalPart)):
        return part.text
    return jsontext.dumps(part.value) if isinstance(part, JsonPart) else None


def _part(part: Part | Content, text: str | None) -> JsonValue:
    if text is not None:
        extra = own(part.extra, NAME) if isinstance(part, TextPart) else {}
        return {"type": "text", "text": text, **extra}
    if isinstance(part, MediaPart):
        return _media(part)
    return part.value if isinstance(part, OpaquePart) and part.owner == NAME else None


def _media(part: MediaPart) -> JsonValue:
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


def _call(part: CallPart) -> JsonObject:
    arguments = jsontext.dumps({"input": part.text or ""}) if part.custom else part.json
    function: JsonObject = {"name": part.name, "arguments": arguments}
    return {"id": part.id or "", "type": "function", "function": function, **own(part.extra, NAME)}


def _write_tool(tool: ToolDeclaration) -> JsonObject:
    item: JsonObject = {"name": tool.name, "description": tool.description or ""}
    if tool.parameters is not None:
        item["parameters"] = tool.parameters
    return item | own(tool.extra, NAME)


def _result(part: ResultPart) -> JsonObject:
    item: JsonObject = {"toolCallId": part.id or "", "content": _content(part.content)}
    return item | ({"error": content_text(part.content)} if part.is_error else {})


def recognise(value: JsonValue) -> bool:
    """Tell a run's input by its ids, or a message by its calls, its thoughts or what it answers."""
    if is_object(value) and "threadId" in value and "runId" in value and is_array(value.get("messages")):
        return True
    items = value.get("messages") if is_object(value) else value
    return is_array(items) and any(is_object(item) and _is_own(item) for item in items)


def _is_own(item: JsonObject) -> bool:
    role = item.get("role")
    if role == "tool":
        return "toolCallId" in item and not is_array(item.get("content"))
    return role in ("reasoning", _ACTIVITY) or (role == "assistant" and is_array(item.get("toolCalls")))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="AG-UI: messages with ids, reasoning as messages, camelCase keys.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(
        result_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        joined_answers=True,
        interleaved=False,
    ),
    aliases=("agui",),
    sources=(Provenance(reference="ag-ui-protocol, ag_ui.core.types", revision="1.0.0", kind="source", license="MIT"),),
)
