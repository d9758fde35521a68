"""Anthropic Messages: a request, or the messages alone.

{"model": "claude-sonnet-4-5", "system": "Be brief.", "messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "One call.", "signature": "EqQB"},
        {"type": "text", "text": "Checking."},
        {"type": "tool_use", "id": "toolu_A1", "name": "get_weather", "input": {"city": "Paris"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_A1", "is_error": true, "content": [
            {"type": "text", "text": "no such city"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo"}}]}]}],
 "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}],
 "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    ReasoningPart,
    ResultPart,
    Said,
    TextPart,
    ToolDeclaration,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import ANTHROPIC as SCHEMA
from toolfmt.schema.rules import ANTHROPIC_STRICT, ANY
from toolfmt.transcripts.format import NAMES, Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.citations import is_found, located, read_found, write_found
from toolfmt.transcripts.parts.hosted import ANTHROPIC, hosted, read_hosted
from toolfmt.transcripts.parts.media import CHUNKS, data_of, read_chunks, text_in
from toolfmt.transcripts.parts.values import inner, inside, lines, tagged, text_at, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, content
from toolfmt.transcripts.tables.choosing import Mode, typed
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import ABOUT, PartField, arguments, citations, flag, ident, option, proof, text
from toolfmt.transcripts.tables.request import RequestTable, SystemPlace, ToolsPlace, objects_in

OWNER: Final = "anthropic"
ID: Final = r"[a-zA-Z0-9_-]"
"""A character of a call's id."""
_PLAIN: Final = "text/plain"
_TYPES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf", _PLAIN})
"""The accepted media types of data."""
_SERVER: Final = f"{OWNER}.server"


def _says(block: JsonValue) -> tuple[Said, ...]:
    """Describe an Anthropic-specific block in common terms: a call, its result, or text."""
    parts = hosted(block, ANTHROPIC)
    if parts or not is_object(block):
        return parts
    say = _SAYING.get(word(block, "type"))
    if say is not None:
        return say(block)
    return (TextPart(block["text"]),) if word(block, "text") else ()


def _says_document(block: JsonObject) -> tuple[Said, ...]:
    """Describe the content of a document that consists of blocks."""
    inside = inner(block, "source").get("content")
    shown = [part for part in BLOCKS.read_all(inside) if isinstance(part, MediaPart)]
    text = inside if isinstance(inside, str) else lines(inside)
    return (*([tagged("document", text, name=word(block, "title"))] if text else ()), *shown)


_SAYING: Final[dict[str, Callable[[JsonObject], tuple[Said, ...]]]] = {
    "document": _says_document,
    "compaction": lambda block: (tagged("summary", word(block, "content")),) if word(block, "content") else (),
    "tool_addition": lambda block: (tagged("tool_addition", word(block.get("tool"), "name")),),
    "tool_reference": lambda block: (TextPart(f"tool: {word(block, 'tool_name')}"),),
}


def _read_source(block: JsonObject, part: MediaPart) -> bool:
    source = block.get("source")
    if not is_object(source):
        return False
    part.kind = "image" if block["type"] == "image" else "document"
    part.media_type = text_at(source, "media_type") or ""
    part.extra |= inside(source, _SOURCE, OWNER, "source")
    match source.get("type"):
        case "base64":
            part.data = text_at(source, "data")
        case "text" if isinstance(source.get("data"), str):
            part.data = data_of(source["data"])
        case "url":
            part.url = text_at(source, "url")
        case "file":
            part.file_id, part.owner = text_at(source, "file_id"), OWNER
        case "content":
            return read_chunks(source.get("content"), part, type="text")
        case _:
            return False
    return True


_SOURCE: Final = frozenset({"type", "media_type", "data", "url", "file_id", "content"})


def _write_source(part: MediaPart, block: JsonObject) -> bool:
    kind = part.media_type.partition(";")[0].lower()
    if CHUNKS in part.extra:
        source = {"type": "content", "content": [{"type": "text", "text": text} for text in part.extra[CHUNKS]]}
    elif part.data is not None and kind == _PLAIN:
        found = text_in(part.data)
        source = None if found is None else {"type": "text", "media_type": _PLAIN, "data": found}
    elif part.data is not None:
        source = {"type": "base64", "media_type": part.media_type, "data": part.data} if kind in _TYPES else None
    elif part.url is not None:
        source = {"type": "url", "url": part.url}
    else:
        source = {"type": "file", "file_id": part.file_id} if part.file_id is not None and part.owner == OWNER else None
    block["source"] = source
    return source is not None


def cites(item: JsonObject) -> bool:
    """Whether a citation is in Anthropic's form."""
    return str(item.get("type")).endswith("_location")


_MEDIA: Final = PartField(("source",), _read_source, _write_source)
_TITLE: Final = option("title", "name", odd="refuse")
BLOCKS: Final = PartTable(
    OWNER,
    (
        PartRow(
            "search_result",
            TextPart,
            read=read_found,
            write=lambda part: {"type": "search_result", **write_found(part, {"type": "text"})},
            keys=("source", "title", "content", "citations"),
            when=is_found,
        ),
        PartRow("text", TextPart, text("text"), citations("citations", located, cites, odd="opaque")),
        PartRow(
            "redacted_thinking",
            ReasoningPart,
            proof("data", OWNER, "encrypted", odd="refuse"),
            when=lambda part: part.owner == OWNER and part.encrypted is not None,
        ),
        PartRow(
            "thinking",
            ReasoningPart,
            text("thinking", odd="refuse", default=""),
            proof("signature", OWNER, odd="refuse"),
            when=lambda part: part.owner == OWNER,
        ),
        PartRow(
            "tool_use",
            CallPart,
            ident("id", odd="refuse"),
            text("name", "name", odd="refuse", default=""),
            arguments("input"),
        ),
        PartRow("tool_result", ResultPart, ident("tool_use_id", odd="refuse"), content("content"), flag("is_error")),
        PartRow("image", MediaPart, _MEDIA, _TITLE._replace(write=None), when=lambda part: part.kind == "image"),
        PartRow("document", MediaPart, _MEDIA, _TITLE, *ABOUT, when=lambda part: part.kind == "document"),
    ),
    marks="kept",
    strings=True,
    says=_says,
)


TOOLS: Final = Declaring(owner=OWNER, schema="input_schema", identity="schema", strict=True, marks="kept", objects=True)


def _write_tools(tools: Sequence[ToolDeclaration]) -> list[JsonValue]:
    """Write declarations; a new MCP server is also a set of tools."""
    written: list[JsonValue] = []
    for tool in tools:
        item = None if _SERVER in tool.extra else TOOLS.write(tool)
        if item is not None:
            new = item.get("type") == "url"
            written.append({"type": "mcp_toolset", "mcp_server_name": item.get("name")} if new else item)
    return written


_CHOICES: Final[dict[str, Mode]] = {"auto": "auto", "any": "required", "none": "none"}
_REQUEST: Final = RequestTable(
    owner=OWNER,
    roles={"user": "user", "assistant": "assistant", "system": "system"},
    blocks=BLOCKS,
    system=SystemPlace("system", BLOCKS.read_all, BLOCKS.write_all),
    tools=ToolsPlace("tools", TOOLS.read_list, _write_tools),
    choice=typed("tool_choice", "name", _CHOICES, elsewhere=("disable_parallel_tool_use",)),
)


def read(value: JsonValue, sent: Sequence[Message] = ()) -> Transcript:
    """Read a request's object or a list of messages; MCP servers are also tools.

    Plain messages of those just `sent` are not read again.
    """
    found = _REQUEST.read(value, sent)
    if not is_object(value):
        return found
    choice, servers = value.get("tool_choice"), value.get("mcp_servers")
    if is_object(choice) and choice.get("disable_parallel_tool_use"):
        found.parallel = False
    if is_array(servers) and servers and all(map(is_object, servers)):
        del found.extra[f"{OWNER}.mcp_servers"]
        found.tools = (found.tools or ()) + tuple(map(_read_server, servers))
    return found


def _read_server(item: JsonObject) -> ToolDeclaration:
    tool = read_hosted(item, OWNER, str(item.get("name", "")))
    tool.extra[_SERVER] = tool.extra.pop(f"{OWNER}.hosted")
    return tool


def write(transcript: Transcript) -> JsonValue:
    """Write a request's object, with leading instructions in `system` and MCP servers beside the tools."""
    value = _REQUEST.write(transcript)
    tools = transcript.tools or ()
    servers = [tool.extra.get(_SERVER) or TOOLS.write(tool) for tool in tools]
    servers = [item for item in servers if item is not None and item.get("type") == "url"]
    if servers:
        value["mcp_servers"] = servers
        if not value["tools"]:
            del value["tools"]
    if transcript.parallel is False and word(value.get("tool_choice"), "type") != "none":
        value["tool_choice"] = {**value.get("tool_choice", {"type": "auto"}), "disable_parallel_tool_use": True}
    return value


def recognise(value: JsonValue) -> bool:
    """Recognise a request by its blocks (`tool_use`, `tool_result`, ...) or its tools' `input_schema`."""
    messages = value.get("messages") if is_object(value) else value
    if not is_array(messages):
        return False
    if is_object(value) and (
        isinstance(value.get("system"), str)
        or any("type" in block for block in objects_in(value, "system"))
        or any("input_schema" in tool for tool in objects_in(value, "tools"))
    ):
        return True
    return any(
        block.get("type") in _TELLING
        or ("signature" in block and isinstance(block.get("thinking"), str))
        or is_object(block.get("source"))
        for item in objects_in(messages)
        for block in objects_in(item, "content")
    )


_TELLING: Final = ("tool_use", "tool_result", "redacted_thinking")


_RULES: Final = Rules(
    roles=frozenset({"system", "user", "assistant"}),
    call_id=Spelling(ID),
    fresh_ids=True,
    tool_name=NAMES._replace(length=128),
    results_in="user",
    result_kinds=frozenset({"text", "image", "document"}),
    user_kinds=frozenset({"text", "image", "document"}),
    media_types=_TYPES,
    owners=frozenset({OWNER}),
    unsigned=False,
    neighbours="joined",
    blank_text="refused",
    empty_messages=False,
    instructions_alone=False,
    ends_in_space=False,
    arguments="object",
    schema=SCHEMA,
    strict_schema=ANTHROPIC_STRICT,
)

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Anthropic Messages: content blocks, tool_use and tool_result.",
    read=read,
    rereads=True,
    write=write,
    recognise=recognise,
    common=2,
    rules=_RULES,
    models=r".*claude",
    copies=replace(_RULES, unsigned=True, schema=ANY, strict_schema=None),
    aliases=("claude", "anthropic-messages"),
    sources=(
        Provenance("anthropic-sdk-python, anthropic.types", "source", "2.11.0", "MIT"),
        Provenance("Anthropic API reference, Messages", "documentation"),
    ),
)
