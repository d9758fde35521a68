"""Bedrock's content blocks: an object with one key, which says what it is; a cache point marks what stands before it.

{"reasoningContent": {"reasoningText": {"text": "Two calls.", "signature": "EqQB"}}}
{"toolUse": {"toolUseId": "tooluse_A1", "name": "get_weather", "input": {"city": "Paris"}}}
{"toolResult": {"toolUseId": "tooluse_A1", "status": "error", "content": [
    {"json": {"temp": "18C"}}, {"text": "cold"}, {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo"}}}]}}
{"document": {"format": "pdf", "name": "report", "source": {"s3Location": {"uri": "s3://bucket/report.pdf"}}}}
{"cachePoint": {"type": "default"}}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from hashlib import sha256
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
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.citations import cited, converse
from toolfmt.transcripts.media import MediaKind, kind_of
from toolfmt.transcripts.values import argument_object, put_own, rest, says, tagged, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "bedrock"
SIGNER: Final = "anthropic"
"""Whose signatures reasoning has: no other maker's models on Bedrock sign theirs."""
TYPES: Final = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "webm": "video/webm",
    "flv": "video/x-flv",
    "mpeg": "video/mpeg",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
    "pdf": "application/pdf",
    "csv": "text/csv",
    "html": "text/html",
    "txt": "text/plain",
    "md": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""Each `format` and its media type."""
_FORMATS: Final = {media: name for name, media in TYPES.items()}
_CITES: Final = frozenset({"location", "sourceContent"})
_SAID: Final = frozenset({"text", "signature"})
_USE: Final = frozenset({"toolUseId", "name", "input"})
OURS: Final = "tool_use"
"""The type that answers of some models give to a call which the client runs."""
_RESULT: Final = frozenset({"toolUseId", "content", "status"})
_IN_REASONING: Final = f"{OWNER}.reasoningContent"
_IN_USE: Final = f"{OWNER}.toolUse"
_IN_RESULT: Final = f"{OWNER}.toolResult"
_MARKED: Final = (TextPart, MediaPart, CallPart, ResultPart)


def read_blocks(blocks: Iterable[JsonValue]) -> tuple[Part, ...]:
    """Read the blocks of a message, or of the instructions."""
    parts: list[Part] = []
    for block in blocks:
        mark = read_mark(block)
        last = parts[-1] if parts else None
        if mark is not None and isinstance(last, _MARKED) and "cache_control" not in last.extra:
            last.extra["cache_control"] = mark
        else:
            parts.append(_read(block))
    return tuple(parts)


def read_mark(block: JsonValue) -> JsonObject | None:
    """Read a cache point as the mark that other formats put on the part before it."""
    point = block.get("cachePoint") if is_object(block) else None
    if not is_object(point) or point.get("type") != "default" or not point.keys() <= {"type", "ttl"}:
        return None
    return {**point, "type": "ephemeral"}


def write_mark(extra: JsonObject) -> list[JsonValue]:
    """Write the cache point that a mark asks for, if there is one."""
    mark = extra.get("cache_control") if extra else None
    if not is_object(mark):
        return []
    return [{"cachePoint": {"type": "default", "ttl": mark["ttl"]} if "ttl" in mark else {"type": "default"}}]


def _read(block: JsonValue) -> Part:
    for key in block if is_object(block) else ():
        reader = _READERS.get(key)
        if reader is not None:
            return reader(block[key], block) or OpaquePart(OWNER, block, _says(block))
    return OpaquePart(OWNER, block, _says(block))


def _says(block: JsonValue) -> tuple[Said, ...]:
    """Say what a block that only Bedrock has says to others: a call that it ran, its result, or text."""
    for key, value in block.items() if is_object(block) else ():
        if not is_object(value):
            continue
        content = value.get("content")
        texts = [word(found, "text") for found in content] if is_array(content) else []
        match key:
            case "toolUse" if "type" in value:
                return (CallPart(word(value, "name"), value.get("input") or {}, id=word(value, "toolUseId") or None),)
            case "toolResult" if "type" in value:
                inside = tuple(map(_inside, content)) if is_array(content) else ()
                return (ResultPart(inside, word(value, "toolUseId") or None, None, value.get("status") == "error"),)
            case "searchResult":
                return (
                    tagged("search_result", "\n".join(texts), title=word(value, "title"), source=word(value, "source")),
                )
            case "citationsContent":
                return (TextPart("".join(texts)),) if any(texts) else ()
            case "guardContent":
                text = word(value.get("text"), "text")
                return (TextPart(text),) if text else ()
            case _:
                continue
    return ()


def _text(value: JsonValue, _: JsonObject) -> Part | None:
    return TextPart(value) if isinstance(value, str) else None


def _cited(value: JsonValue, _: JsonObject) -> Part | None:
    """Read text with citations where it is one text."""
    content = value.get("content") if is_object(value) else None
    citations = value.get("citations") if is_object(value) else None
    if not (is_array(content) and len(content) == 1 and is_array(citations) and all(map(is_object, citations))):
        return None
    text = content[0].get("text") if is_object(content[0]) else None
    return TextPart(text, tuple(citations)) if isinstance(text, str) and citations else None


def _reasoning(value: JsonValue, _: JsonObject) -> Part | None:
    said = value.get("reasoningText") if is_object(value) else None
    if is_object(said) and isinstance(said.get("text"), str):
        signature = said.get("signature") or None
        extra = rest(said, _SAID, _IN_REASONING)
        return ReasoningPart(said["text"], signature, None, SIGNER if signature else OWNER, extra)
    hidden = value.get("redactedContent") if is_object(value) else None
    return ReasoningPart("", None, hidden, SIGNER) if isinstance(hidden, str) else None


def _use(value: JsonValue, _: JsonObject) -> Part | None:
    if not is_object(value) or not isinstance(value.get("name"), str) or not says(value, "toolUseId"):
        return None
    if value.get("type", OURS) != OURS:
        return None  # the provider runs it
    arguments = value.get("input")
    return CallPart(
        value["name"],
        {} if arguments is None else arguments,
        None,
        value.get("toolUseId"),
        extra=rest(value, _USE, _IN_USE),
    )


def _result(value: JsonValue, _: JsonObject) -> Part | None:
    content = value.get("content") if is_object(value) else None
    if not is_object(value) or not is_array(content) or "type" in value or not says(value, "toolUseId"):
        return None
    return ResultPart(
        tuple(map(_inside, content)),
        value.get("toolUseId"),
        None,
        value.get("status") == "error",
        extra=rest(value, _RESULT, _IN_RESULT),
    )


def _inside(block: JsonValue) -> Content:
    if is_object(block) and "json" in block:
        return JsonPart(block["json"])
    part = _read(block)
    return part if isinstance(part, (TextPart, MediaPart)) else OpaquePart(OWNER, block)


def _media(value: JsonValue, block: JsonObject) -> Part | None:
    form = value.get("format") if is_object(value) else None
    source = value.get("source") if is_object(value) else None
    media_type = TYPES.get(form) if isinstance(form, str) else None
    if media_type is None or not is_object(value) or not is_object(source):
        return None
    kind: MediaKind = kind_of(media_type)
    if kind not in block:
        return None
    extra = rest(value, {"format", "name", "source"}, f"{OWNER}.{kind}")
    name = value.get("name")
    part = MediaPart(kind, media_type, name=name if isinstance(name, str) else None, extra=extra)
    stored = source.get("s3Location")
    if isinstance(source.get("bytes"), str):
        part.data = source["bytes"]
    elif is_object(stored) and isinstance(stored.get("uri"), str):
        part.file_id, part.owner = stored["uri"], OWNER
        extra.update({f"{OWNER}.s3.{key}": found for key, found in stored.items() if key != "uri"})
    else:
        return None
    return part


_READERS: Final[dict[str, Callable[[JsonValue, JsonObject], Part | None]]] = {
    "text": _text,
    "citationsContent": _cited,
    "reasoningContent": _reasoning,
    "toolUse": _use,
    "toolResult": _result,
    "image": _media,
    "audio": _media,
    "video": _media,
    "document": _media,
}


def write_blocks(parts: Iterable[Part]) -> list[JsonValue]:
    """Write parts as blocks, each with the cache point that marks it; what has no place is left out."""
    written: list[JsonValue] = []
    for part in parts:
        block = _write(part)
        if block is not None:
            written.append(block)
            if isinstance(part, _MARKED):
                written.extend(write_mark(part.extra))
    return written


def _write(part: Part) -> JsonValue:
    if isinstance(part, OpaquePart):
        return part.value if part.owner == OWNER else None
    return _WRITERS[type(part)](part)


def _write_text(part: TextPart) -> JsonObject:
    found = cited(part, converse, lambda item: not item.keys().isdisjoint(_CITES))
    if found:
        return {"citationsContent": {"content": [{"text": part.text}], "citations": found}}
    return {"text": part.text}


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner not in (OWNER, SIGNER):
        return None
    if part.encrypted is not None:
        return {"reasoningContent": {"redactedContent": part.encrypted}}
    said = {"text": part.text} if part.signature is None else {"text": part.text, "signature": part.signature}
    return {"reasoningContent": {"reasoningText": said}}


def _write_use(part: CallPart) -> JsonObject:
    block: JsonObject = {"toolUse": {"toolUseId": part.id, "name": part.name, "input": argument_object(part)}}
    put_own(block, part.extra, OWNER)
    return block


def _write_result(part: ResultPart) -> JsonObject:
    content = [block for found in part.content if (block := _write_inside(found)) is not None]
    body: JsonObject = {"toolUseId": part.id, "content": content}
    if part.is_error:
        body["status"] = "error"
    block: JsonObject = {"toolResult": body}
    put_own(block, part.extra, OWNER)
    return block


def _write_inside(part: Content) -> JsonValue:
    return {"json": part.value} if isinstance(part, JsonPart) and is_object(part.value) else _write(part)


def _write_media(part: MediaPart) -> JsonObject | None:
    form = _FORMATS.get(part.media_type.partition(";")[0].lower())
    if part.data is not None:
        source: JsonObject = {"bytes": part.data}
    elif part.file_id is not None and part.owner == OWNER:
        source = {"s3Location": {"uri": part.file_id}}
    else:
        return None
    if form is None:
        return None
    body: JsonObject = {"format": form, "source": source}
    if part.kind == "document":
        body = {"format": form, "name": _document_name(part), "source": source}
    block: JsonObject = {part.kind: body, "s3": {}}
    put_own(block, part.extra, OWNER)
    stored = block.pop("s3")
    if stored:
        source["s3Location"] |= stored
    return block


def _document_name(part: MediaPart) -> str:
    """Name a document as Bedrock allows it; one without a name is told apart by what is in it."""
    if part.name:
        return re.sub(r"\s+", " ", re.sub(r"[^a-zA-Z0-9\s()\[\]-]", "-", part.name))[:200]
    return "document " + sha256((part.data or part.file_id or "").encode("utf-8", "surrogatepass")).hexdigest()[:8]


_WRITERS: Final[dict[type, Callable[[Any], JsonObject | None]]] = {
    TextPart: _write_text,
    RefusalPart: lambda part: {"text": part.text},
    JsonPart: lambda part: {"text": jsontext.dumps(part.value)},
    ReasoningPart: _write_reasoning,
    CallPart: _write_use,
    ResultPart: _write_result,
    MediaPart: _write_media,
}
