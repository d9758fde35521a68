"""Anthropic's content blocks: text, thinking, images, documents, tool_use, tool_result.

{"type": "tool_result", "tool_use_id": "toolu_A1", "is_error": true, "content": [
    {"type": "text", "text": "no such city"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}]}
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
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
    Said,
    TextPart,
)
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.hosted import ANTHROPIC, hosted
from toolfmt.transcripts.values import argument_object, own, plain_text, rest, tagged, text_at, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "anthropic"
_PLAIN: Final = "text/plain"
TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", _PLAIN})
"""The media types of the data that is taken."""


def read_content(content: JsonValue) -> tuple[Part, ...]:
    """Read a message's content: text, or a list of blocks."""
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    if not is_array(content):
        return () if content is None else (OpaquePart(OWNER, content),)
    parts: list[Part] = []
    for at, block in enumerate(content):
        try:
            parts.append(_read(block))
        except ParseError as error:
            raise ParseError(f"{at}/{error}") from None
    return tuple(parts)


def _read(block: JsonValue) -> Part:
    if isinstance(block, str):
        return TextPart(block)
    kind = block.get("type") if is_object(block) else None
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    part = reader(block) if reader is not None else None
    return OpaquePart(OWNER, block, _says(block)) if part is None else part


def _says(block: JsonValue) -> tuple[Said, ...]:
    """Say what a block that only Anthropic has says to others: a call, its result, or text."""
    said = hosted(block, ANTHROPIC)
    if said or not is_object(block):
        return said
    match block.get("type"):
        case "search_result":
            content = block.get("content")
            texts = [word(found, "text") for found in content] if is_array(content) else []
            return (
                tagged("search_result", "\n".join(texts), title=word(block, "title"), source=word(block, "source")),
            )
        case "compaction":
            return (tagged("summary", word(block, "content")),) if word(block, "content") else ()
        case "tool_addition":
            return (tagged("tool_addition", word(block.get("tool"), "name")),)
        case "tool_reference":
            return (TextPart(f"tool: {word(block, 'tool_name')}"),)
        case _:
            return (TextPart(block["text"]),) if word(block, "text") else ()


def _extra(block: JsonObject, known: frozenset[str]) -> JsonObject:
    if block.keys() <= known:
        return {}
    extra = rest(block, known | {"cache_control"}, OWNER)
    if "cache_control" in block:
        extra["cache_control"] = block["cache_control"]
    return extra


_TEXT: Final = frozenset({"type", "text", "citations"})
_THINKING: Final = frozenset({"type", "thinking", "signature"})
_REDACTED: Final = frozenset({"type", "data"})
_USE: Final = frozenset({"type", "id", "name", "input"})
_RESULT: Final = frozenset({"type", "tool_use_id", "content", "is_error"})
_MEDIA: Final = frozenset({"type", "source", "title"})


def _text(block: JsonObject) -> Part | None:
    if not isinstance(block.get("text"), str):
        return None
    cited = block.get("citations")
    if cited is None:
        return TextPart(block["text"], extra=_extra(block, _TEXT))
    if not is_array(cited) or not all(map(is_object, cited)):
        return None
    return TextPart(block["text"], tuple(cited), _extra(block, _TEXT))


def _thinking(block: JsonObject) -> Part:
    signature = text_at(block, "signature") or None
    return ReasoningPart(
        text_at(block, "thinking") or "", signature, None, OWNER if signature else "", _extra(block, _THINKING)
    )


def _redacted(block: JsonObject) -> Part:
    return ReasoningPart("", None, text_at(block, "data"), OWNER, _extra(block, _REDACTED))


def _use(block: JsonObject) -> Part:
    arguments = block.get("input")
    return CallPart(
        text_at(block, "name") or "",
        {} if arguments is None else arguments,
        None,
        text_at(block, "id"),
        extra=_extra(block, _USE),
    )


def _result(block: JsonObject) -> Part:
    try:
        found = read_content(block.get("content"))
    except ParseError as error:
        raise ParseError(f"content/{error}") from None
    content: list[Content] = [part if isinstance(part, (TextPart, MediaPart)) else _whole(part) for part in found]
    return ResultPart(
        tuple(content), text_at(block, "tool_use_id"), None, bool(block.get("is_error")), extra=_extra(block, _RESULT)
    )


def _whole(part: Part) -> Content:
    """Keep what no result of the hub's holds as it came: a result in a result, or reasoning in one."""
    if isinstance(part, OpaquePart):
        return part
    says = (
        part.content
        if isinstance(part, ResultPart)
        else (TextPart(part.text),)
        if isinstance(part, ReasoningPart)
        else ()
    )
    return OpaquePart(
        OWNER, write_content([part])[0], tuple(found for found in says if not isinstance(found, OpaquePart))
    )


def _media(block: JsonObject) -> Part | None:
    source = block.get("source")
    if not is_object(source):
        return None
    kind = "image" if block["type"] == "image" else "document"
    part = MediaPart(
        kind, text_at(source, "media_type") or "", name=text_at(block, "title"), extra=_extra(block, _MEDIA)
    )
    match source.get("type"):
        case "base64":
            part.data = text_at(source, "data")
        case "text" if isinstance(source.get("data"), str):
            part.data = b64encode(source["data"].encode("utf-8", "surrogatepass")).decode()
        case "url":
            part.url = text_at(source, "url")
        case "file":
            part.file_id, part.owner = text_at(source, "file_id"), OWNER
        case _:
            return None
    return part


_READERS: Final[dict[object, Callable[[JsonObject], Part | None]]] = {
    "text": _text,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
    "tool_use": _use,
    "tool_result": _result,
    "image": _media,
    "document": _media,
}


def write_content(parts: Iterable[Part]) -> JsonValue:
    """Write a message's content: text where it is one text, else blocks; what has no place is left out."""
    parts = tuple(parts)
    text = plain_text(parts)
    if text:
        return text
    return [block for part in parts if (block := _write(part)) is not None]


def _write(part: Part) -> JsonObject | None:
    if isinstance(part, OpaquePart):
        return part.value if part.owner == OWNER else None
    block = _WRITERS[type(part)](part)
    extra: JsonObject = getattr(part, "extra", {})
    if extra and block is not None:
        block.update(own(extra, OWNER))
        if "cache_control" in extra and not isinstance(part, ReasoningPart):  # which the API refuses on a thought
            block["cache_control"] = extra["cache_control"]
    return block


def _write_text(part: TextPart) -> JsonObject:
    block: JsonObject = {"type": "text", "text": part.text}
    if part.citations and all(str(item.get("type")).endswith("_location") for item in part.citations):
        block["citations"] = list(part.citations)
    return block


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner != OWNER:
        return None
    if part.encrypted is not None:
        return {"type": "redacted_thinking", "data": part.encrypted}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}


def _write_use(part: CallPart) -> JsonObject:
    return {"type": "tool_use", "id": part.id, "name": part.name, "input": argument_object(part)}


def _write_result(part: ResultPart) -> JsonObject:
    block: JsonObject = {"type": "tool_result", "tool_use_id": part.id, "content": _result_content(part)}
    if part.is_error:
        block["is_error"] = True
    return block


def _write_media(part: MediaPart) -> JsonObject | None:
    source = _source(part)
    if source is None:
        return None
    title = {"title": part.name} if part.name is not None and part.kind == "document" else {}
    return {"type": part.kind, "source": source, **title}


_WRITERS: Final[dict[type, Callable[[Any], JsonObject | None]]] = {
    TextPart: _write_text,
    RefusalPart: lambda part: {"type": "text", "text": part.text},
    ReasoningPart: _write_reasoning,
    CallPart: _write_use,
    ResultPart: _write_result,
    MediaPart: _write_media,
    JsonPart: lambda part: {"type": "text", "text": jsontext.dumps(part.value)},
}


def _result_content(part: ResultPart) -> JsonValue:
    text = plain_text(part.content)
    return text if text is not None else [block for found in part.content if (block := _write(found)) is not None]


def _source(part: MediaPart) -> JsonObject | None:
    if part.kind not in ("image", "document"):
        return None
    if part.data is not None:
        kind = part.media_type.partition(";")[0].lower()
        if kind == _PLAIN:
            return _plain(part.data)
        if kind not in TYPES:
            return None
        return {"type": "base64", "media_type": part.media_type, "data": part.data}
    if part.url is not None:
        return {"type": "url", "url": part.url}
    return {"type": "file", "file_id": part.file_id} if part.file_id is not None and part.owner == OWNER else None


def _plain(data: str) -> JsonObject | None:
    """Write a text as it is, if it is one."""
    try:
        text = b64decode(data, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    return {"type": "text", "media_type": _PLAIN, "data": text}
