"""Bedrock Converse: a request, or the messages alone; bytes are base64, as they are on the wire.

{"system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
 "messages": [
    {"role": "user", "content": [{"text": "Weather in Paris?"},
        {"document": {"format": "pdf", "name": "report", "source": {"s3Location": {"uri": "s3://bucket/report.pdf"}}}}]},
    {"role": "assistant", "content": [
        {"reasoningContent": {"reasoningText": {"text": "One call.", "signature": "EqQB"}}},
        {"toolUse": {"toolUseId": "tooluse_A1", "name": "get_weather", "input": {"city": "Paris"}}}]},
    {"role": "user", "content": [{"toolResult": {"toolUseId": "tooluse_A1", "status": "error", "content": [
        {"json": {"temp": "18C"}}, {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo"}}}]}}]}],
 "toolConfig": {"tools": [{"toolSpec": {"name": "get_weather", "inputSchema": {"json": {"type": "object"}}}}]}}

A block is an object with one key, which is its type; a cache point marks what comes before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    Said,
    TextPart,
    ToolChoice,
    ToolDeclaration,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import BEDROCK, BEDROCK_STRICT
from toolfmt.transcripts.format import NAMES, Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.citations import cited, converse, is_found, read_found, write_found
from toolfmt.transcripts.parts.hosted import read_hosted
from toolfmt.transcripts.parts.media import CHUNKS, MediaKind, data_of, kind_of, read_chunks
from toolfmt.transcripts.parts.values import expected, inside, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, content
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import ABOUT, PartField, arguments, flag, ident, option, text, where
from toolfmt.transcripts.tables.request import ChoicePlace, RequestTable, SystemPlace, ToolsPlace, objects_in

OWNER: Final = "bedrock"
SIGNER: Final = "anthropic"
"""The owner of signatures of reasoning: no other models on Bedrock sign theirs."""
TYPES: Final = {
    **{name: f"image/{name}" for name in ("png", "jpeg", "gif", "webp")},
    **{name: f"audio/{name}" for name in ("wav", "flac", "ogg")},
    **{name: f"video/{name}" for name in ("mp4", "webm", "mpeg")},
    **{name: f"text/{name}" for name in ("csv", "html")},
    "mp3": "audio/mpeg",
    "mov": "video/quicktime",
    "mkv": "video/x-matroska",
    "flv": "video/x-flv",
    "wmv": "video/x-ms-wmv",
    "three_gp": "video/3gpp",
    "pdf": "application/pdf",
    "txt": "text/plain",
    "md": "text/markdown",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""The media type of each `format`."""
_STORED: Final = f"{OWNER}.s3"
"""The owner of a stored file's extra fields."""
_SAID: Final = frozenset({"text", "signature"})
OURS: Final = "tool_use"
"""The type that some models' answers give to calls that the client runs."""


def _read_mark(block: JsonValue) -> JsonObject | None:
    """Read a cache point as the mark that other formats put on the part before it."""
    point = block.get("cachePoint") if is_object(block) else None
    if not is_object(point) or point.get("type") != "default" or not point.keys() <= {"type", "ttl"} or len(block) > 1:
        return None
    return {**point, "type": "ephemeral"}


def _write_mark(mark: JsonObject) -> JsonObject:
    return {"cachePoint": {"type": "default", "ttl": mark["ttl"]} if "ttl" in mark else {"type": "default"}}


def _says(block: JsonValue) -> tuple[Said, ...]:
    """Describe a Bedrock-specific block in common terms: a call that it ran, its result, or text."""
    for key, value in block.items() if is_object(block) else ():
        if not is_object(value):
            continue
        match key:
            case "toolUse" | "toolResult" if "type" in value:
                part = BLOCKS.read({key: {name: found for name, found in value.items() if name != "type"}})
                return (replace(part, extra={}),) if isinstance(part, (CallPart, ResultPart)) else ()
            case "guardContent":
                text, shown = word(value.get("text"), "text"), BLOCKS.read(value)
                return (TextPart(text),) if text else (shown,) if isinstance(shown, MediaPart) else ()
            case _:
                continue
    return ()


def cites(item: JsonObject) -> bool:
    """Whether a citation is in Bedrock's form."""
    return not item.keys().isdisjoint(("location", "sourceContent"))


def _alone(kind: str, read: Callable[[JsonObject], Part | None]) -> Callable[[JsonObject], Part | None]:
    """Read a block named by its key, and the keys beside it."""

    def reading(block: JsonObject) -> Part | None:
        part = read(block)
        if part is not None and len(block) > 1 and not isinstance(part, OpaquePart):
            part.extra |= inside(block, {kind}, OWNER, kind)
        return part

    return reading


def _read_cited(block: JsonObject) -> Part | None:
    value = block["citationsContent"]
    texts, found = objects_in(value, "content"), objects_in(value, "citations")
    if not texts or not is_object(value) or len(texts) + len(found) < sum(map(len, value.values())):
        return None
    return TextPart("".join(word(item, "text") for item in texts), tuple(found))


def _write_cited(part: TextPart) -> JsonObject | None:
    found = cited(part, converse, cites) if part.citations else []
    return {"citationsContent": {"content": [{"text": part.text}], "citations": found}} if found else None


def _read_reasoning(block: JsonObject) -> Part | None:
    value = block["reasoningContent"]
    reasoning = value.get("reasoningText") if is_object(value) else None
    if is_object(reasoning) and isinstance(reasoning.get("text"), str):
        signature = reasoning.get("signature") or None
        holder = f"{OWNER}.reasoningContent"
        extra = rest(reasoning, _SAID, holder) | rest(value, {"reasoningText"}, holder)
        return ReasoningPart(reasoning["text"], signature, None, SIGNER if signature else OWNER, extra)
    hidden = value.get("redactedContent") if is_object(value) else None
    return ReasoningPart("", None, hidden, SIGNER) if isinstance(hidden, str) else None


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner not in (OWNER, SIGNER):
        return None
    if part.encrypted is not None:
        return {"reasoningContent": {"redactedContent": part.encrypted}}
    reasoning = {"text": part.text} if part.signature is None else {"text": part.text, "signature": part.signature}
    return {"reasoningContent": {"reasoningText": reasoning}}


def _with_enabled(block: JsonObject) -> JsonObject:
    """Fill in whether a document or a search result is cited, which Anthropic may leave out."""
    if is_object(block.get("citations")):
        block["citations"] = {"enabled": False, **block["citations"]}
    return block


def _write_enabled(part: MediaPart, block: JsonObject) -> None:
    if "citations" in part.extra:
        block["citations"] = part.extra["citations"]
        _with_enabled(block)


def _media(kind: MediaKind) -> PartRow:
    """Describe the block of a kind of media: its format, a document's name, and its bytes or their location."""
    known = {name: media for name, media in TYPES.items() if kind_of(media) == kind}
    names = {media: name for name, media in known.items()}

    def read_format(body: JsonObject, part: MediaPart) -> bool:
        part.kind, part.media_type = kind, known.get(word(body, "format"), "")
        return bool(part.media_type)

    def write_format(part: MediaPart, body: JsonObject) -> bool:
        body["format"] = names.get(part.media_type.partition(";")[0].lower())
        return part.kind == kind and body["format"] is not None

    def write_name(part: MediaPart, body: JsonObject) -> None:
        if kind == "document":
            body["name"] = _document_name(part)

    name = option("name", "name")._replace(write=write_name)
    source = PartField(("source",), _read_source, _write_source)
    about = (ABOUT[0], ABOUT[1]._replace(write=_write_enabled)) if kind == "document" else ()
    return PartRow(
        kind, MediaPart, PartField(("format",), read_format, write_format), name, source, *about, inside=True
    )


def _read_source(body: JsonObject, part: MediaPart) -> bool:
    source = body.get("source")
    if is_object(source):
        part.extra |= inside(source, _SOURCE, OWNER, "source")
    match source:
        case {"bytes": str() as data}:
            part.data = data
        case {"s3Location": {"uri": str() as uri, **further}}:
            part.file_id, part.owner = uri, OWNER
            part.extra |= rest(further, set(), _STORED)
        case {"text": str() as found}:
            part.data = data_of(found)
        case {"content": content}:
            return read_chunks(content, part)
        case _:
            return False
    return True


_SOURCE: Final = frozenset({"bytes", "s3Location", "text", "content"})


def _write_source(part: MediaPart, body: JsonObject) -> bool:
    if CHUNKS in part.extra:
        body["source"] = {"content": [{"text": text} for text in part.extra[CHUNKS]]}
    elif part.data is not None:
        body["source"] = {"bytes": part.data}
    elif part.file_id is not None and part.owner == OWNER:
        body["source"] = {"s3Location": {"uri": part.file_id, **own(part.extra, _STORED)}}
    return "source" in body


def _document_name(part: MediaPart) -> str:
    """Return a document's legal name; one without a name is named by a hash of its content."""
    if part.name:
        return re.sub(r"\s+", " ", re.sub(r"[^a-zA-Z0-9\s()\[\]-]", "-", part.name))[:200]
    return "document " + sha256((part.data or part.file_id or "").encode("utf-8", "surrogatepass")).hexdigest()[:8]


_KINDS: Final[tuple[MediaKind, ...]] = ("image", "audio", "video", "document")
_CONTENTS: Final = (
    PartRow(
        "searchResult",
        TextPart,
        read=_alone("searchResult", lambda block: read_found(block["searchResult"])),
        write=lambda part: {"searchResult": _with_enabled(write_found(part, {}))},
        when=is_found,
    ),
    PartRow("citationsContent", TextPart, read=_alone("citationsContent", _read_cited), write=_write_cited),
    PartRow("text", TextPart, text("text")),
    *map(_media, _KINDS),
)
_JSON: Final = PartRow(
    "json",
    JsonPart,
    read=_alone("json", lambda block: JsonPart(block["json"])),
    write=lambda part: {"json": part.value} if is_object(part.value) else None,
)
_INSIDE: Final = PartTable(OWNER, (*_CONTENTS, _JSON), tag="", says=_says)
"""The blocks of a tool's result."""
_OURS: Final = where(lambda body: body.get("type", OURS) == OURS)  # otherwise the provider runs it
_ID: Final = ident("toolUseId", odd="opaque")
_CONTENT: Final = content("content", _INSIDE, listed=True)
_STATUS: Final = flag("status", value="error")
_THOUGHT: Final = _alone("reasoningContent", _read_reasoning)
BLOCKS: Final = PartTable(
    OWNER,
    (
        *_CONTENTS,
        PartRow("reasoningContent", ReasoningPart, read=_THOUGHT, write=_write_reasoning),
        PartRow("toolUse", CallPart, _OURS, _ID, text("name", "name"), arguments("input"), inside=True),
        PartRow("toolResult", ResultPart, _OURS, _ID, _CONTENT, _STATUS, inside=True),
    ),
    tag="",
    point=(_read_mark, _write_mark),
    says=_says,
)
_TOOLS: Final = Declaring(
    owner=OWNER,
    under=("toolSpec",),
    schema="inputSchema.json",
    description="filled",
    strict=True,
    objects=True,
    kept=True,
    point=(_read_mark, _write_mark),
    hosted=lambda item: read_hosted(item, OWNER, next(iter(item), ""), kind=word([*item.values(), ""][0], "name")),
)


def _read_choice(value: JsonValue) -> ToolChoice | None:
    given = value if is_object(value) else {}
    if name := word(given.get("tool"), "name"):
        return ToolChoice("required", (name,))
    return ToolChoice("required") if "any" in given else ToolChoice("auto") if "auto" in given else None


def _write_choice(choice: ToolChoice, tools: Sequence[ToolDeclaration]) -> JsonObject | None:
    """Write `toolChoice`, only beside tools; there is no word for `none`."""
    if choice.mode == "none" or not _TOOLS.write_list(tools):
        return None
    if choice.mode == "auto":
        return {"auto": {}}
    return {"tool": {"name": choice.names[0]}} if len(choice.names) == 1 else {"any": {}}


_REQUEST: Final = RequestTable(
    owner=OWNER,
    roles={"user": "user", "assistant": "assistant", "system": "system"},
    blocks=BLOCKS,
    texts=False,
    empty="always",
    system=SystemPlace("system", BLOCKS.read_all, BLOCKS.write_list),
    tools=ToolsPlace("toolConfig/tools", _TOOLS.read_list, lambda tools: _TOOLS.write_list(tools) or None),
    choice=ChoicePlace("toolConfig/toolChoice", _read_choice, _write_choice),
)


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of messages."""
    if is_object(value):
        expected(value, "system", is_array, "a list of blocks")
        expected(value, "toolConfig", is_object, "an object")
    return _REQUEST.read(value)


def recognise(value: JsonValue) -> bool:
    """Recognise a request by its `toolConfig`, or by blocks that are named by their key."""
    messages = objects_in(value)
    if is_object(value) and is_array(value.get("messages")) and "toolConfig" in value:
        return True
    contents = [item.get("content") for item in messages]
    blocks = [block for content in contents if is_array(content) for block in content if is_object(block)]
    return (
        not any(isinstance(content, str) for content in contents)
        and not any(word(block, "image") for block in blocks)
        and any("type" not in block and not block.keys().isdisjoint(_TELLING) for block in blocks)
    )


_TELLING: Final = frozenset({"text", "toolUse", "toolResult", "reasoningContent", "cachePoint"})

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Bedrock Converse: content blocks, toolUse and toolResult.",
    read=read,
    write=_REQUEST.write,
    recognise=recognise,
    rules=Rules(
        empty_tools=False,
        calls_declared=True,
        user_first=True,
        roles=frozenset({"system", "user", "assistant"}),
        system="first",
        call_id=Spelling(r"[a-zA-Z0-9_.:-]", 64),
        fresh_ids=True,
        tool_name=NAMES,
        results_in="user",
        result_kinds=frozenset({"text", "json", "image", "document", "video"}),
        user_kinds=frozenset({"text", "image", "document", "video", "audio"}),
        url_kinds=frozenset(),
        media_types=frozenset(TYPES.values()),
        owners=frozenset({OWNER, SIGNER}),
        unsigned=False,
        neighbours="refused",
        blank_text="beside",
        empty_messages=False,
        instructions_alone=False,
        arguments="object",
        schema=BEDROCK,
        strict_schema=BEDROCK_STRICT,
    ),
    aliases=("bedrock-converse", "converse"),
    sources=(
        Provenance("botocore, data/bedrock-runtime/2023-09-30/service-2", "source", "1.44.5", "Apache-2.0"),
        Provenance("Amazon Bedrock API reference, Converse", "documentation"),
    ),
)
