"""Read a server's tools and results, and write our own for MCP.

{"name": "get_weather", "inputSchema": {…}, "annotations": {"destructiveHint": true}}
    ToolDefinition(name="get_weather", server="weather", metadata={"annotations": {…}, "dangerous": True})

{"content": [{"type": "text", "text": "18C"}], "structuredContent": {"temp": 18}}
    ToolResult(name="get_weather", content={"temp": 18}, server="weather")
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from mcp import types
from pydantic import ValidationError

from toolfmt import jsontext
from toolfmt.conversation import Content, JsonPart, MediaPart, OpaquePart, ResultPart, TextPart
from toolfmt.errors import SchemaError, warn
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, Media, ToolDefinition, ToolInvocation, ToolResult
from toolfmt.schema import Validator, inline_refs, problems
from toolfmt.tools import tool
from toolfmt.transcripts.parts import mcp_content
from toolfmt.transcripts.parts.mcp_content import read_result
from toolfmt.transcripts.parts.values import word

_STRUCTURED: Final = "mcp.result.structuredContent"
_META: Final = "mcp.result._meta"
_READ: Final = frozenset({_STRUCTURED, _META, "mcp.result.resultType"})
_SILENT: Final = "the tool failed without a message"


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A server's tool: its name on the server, its definition, and the schema of its structured content."""

    name: str
    definition: ToolDefinition
    output: ToolDefinition | None
    """A definition whose `parameters` are the schema of the structured content."""
    hidden: tuple[str, ...]
    """The injected arguments, which the model does not see."""


def read_tool(
    found: dict[str, ServerTool], server: str, item: types.Tool, prefix: str = "", inject: Collection[str] = ()
) -> None:
    """Read one of a server's tools into `found`, by the name that calls use: the server's own name after `prefix`.

    The arguments that `inject` names are left out of the schema. A tool that cannot be used is left out with a warning
    that names it.
    """
    name = prefix + item.name
    if name in found:
        warn(f"MCP server {server!r} lists two tools named {item.name!r}; the first counts")
        return
    try:
        found[name] = _read_tool(server, name, item, inject)
    except SchemaError as error:
        warn(f"MCP server {server!r}: a tool is left out: {error}")


def _read_tool(server: str, name: str, listed: types.Tool, inject: Collection[str]) -> ServerTool:
    try:
        item = listed.model_dump(mode="json", by_alias=True, exclude_none=True)
        deep = jsontext.too_deep(item)
        _ = deep or jsontext.dumps(item)
    except ValueError as error:  # a lone surrogate, for one
        raise SchemaError(f"{name!r}: {error}") from None
    if deep:
        raise SchemaError(f"{name!r}: it is nested more than {jsontext.MAX_NESTING} levels deep")
    schema, hidden = _hide(item["inputSchema"], inject)
    definition = tool({**item, "inputSchema": schema}, name=name, server=server)
    try:
        inline_refs(definition.parameters)  # else one tool would stop every manifest
    except SchemaError as error:
        raise SchemaError(f"{name!r}: {error}") from None
    Validator(definition)  # else every call would fail, whatever the model does
    if _dangerous(item.get("annotations")):
        definition = definition.model_copy(update={"metadata": {**definition.metadata, "dangerous": True}})
    output = item.get("outputSchema")
    known = ToolDefinition(name=name, parameters=output) if is_object(output) else None
    return ServerTool(listed.name, definition, known, hidden)


def _hide(schema: JsonObject, names: Collection[str]) -> tuple[JsonObject, tuple[str, ...]]:
    properties, required = schema.get("properties"), schema.get("required")
    if not is_object(properties) or properties.keys().isdisjoint(names):
        return schema, ()
    hidden = tuple(name for name in properties if name in names)
    shown: JsonObject = {**schema, "properties": {key: item for key, item in properties.items() if key not in hidden}}
    if is_array(required):
        shown["required"] = [key for key in required if key not in hidden]
    return shown, hidden


def _dangerous(hints: JsonValue) -> bool:
    """Whether a tool may destroy something, according to its hints.

    By the specification, a tool that is not read-only may, unless it denies it. A tool without hints is not marked.
    """
    if not is_object(hints) or hints.keys().isdisjoint(("readOnlyHint", "destructiveHint")):
        return False
    return hints.get("readOnlyHint") is not True and hints.get("destructiveHint") is not False


def read_answer(call: ToolInvocation, offer: ServerTool, answer: JsonObject) -> ToolResult:
    """Read the `result` that answers a call.

    The content is the structured content, else the text; of an error, the text. `extra` keeps the rest: other text,
    descriptions of blocks, `_meta`. Structured content that does not fit the server's own schema becomes an error.
    """
    part = read_result(answer)
    structured = [*_structured(part)]
    texts = [text for one in part.content if (text := _text(one)) is not None]
    extra = _further(part)
    if any(described := [{} if isinstance(one, OpaquePart) else one.extra for one in part.content]):
        extra["mcp.blocks"] = described
    wrong = "" if part.is_error or not structured else _misfit(offer, structured[0])
    if wrong or (part.is_error and texts):
        content: JsonValue = wrong or "\n".join(texts)
        extra |= {_STRUCTURED: structured[0]} if structured else {}
    elif structured:
        (content,) = structured
        extra |= {"mcp.texts": texts} if texts else {}
    else:
        content = "\n".join(texts) if texts else _SILENT if part.is_error else None
    return ToolResult(
        name=call.name,
        content=content,
        media=tuple(_media(one) for one in part.content if isinstance(one, MediaPart)),
        is_error=part.is_error or bool(wrong),
        id=call.id,
        server=offer.definition.server,
        agent=call.agent,
        extra=extra,
    )


def _further(part: ResultPart) -> JsonObject:
    """Return a result's other data, without the server's information about itself."""
    extra = {key: value for key, value in part.extra.items() if key not in _READ}
    meta = part.extra.get(_META)
    if is_object(meta) and (known := {key: value for key, value in meta.items() if key != types.SERVER_INFO_META_KEY}):
        extra[_META] = known
    return extra


def _structured(part: ResultPart) -> Sequence[JsonValue]:
    """Return the structured content, if any, in a sequence; it may be null."""
    alone = part.content[0] if len(part.content) == 1 else None
    if isinstance(alone, JsonPart):
        part.content = ()
        return (alone.value,)
    return (part.extra[_STRUCTURED],) if _STRUCTURED in part.extra else ()


def _media(part: MediaPart) -> Media:
    # An embedded file has no other name than its address on the server.
    name = part.name or word(part.extra.get("mcp.resource"), "uri") or None
    return Media(kind=part.kind, media_type=part.media_type, data=part.data, url=part.url, name=name)


def _text(part: Content) -> str | None:
    match part:
        case TextPart():
            return part.text
        case MediaPart():
            return None
        case JsonPart() | OpaquePart():
            return jsontext.dumps(part.value)


def _misfit(offer: ServerTool, value: JsonValue) -> str:
    if offer.output is None:
        return ""
    try:
        found = problems(offer.output, value)  # a schema of any value, not of arguments alone
    except SchemaError:
        return ""  # an invalid schema says nothing about the value
    reasons = "; ".join(map(str, found))
    return f"the tool ran, but its structured content does not fit its output schema: {reasons}" if found else ""


_TOLD: Final = ("title", "annotations", "outputSchema", "icons", "_meta")
"""Keys of a tool's metadata that MCP defines."""


def write_tool(tool: ToolDefinition) -> types.Tool:
    """Write a tool, with the metadata that MCP defines."""
    schema = tool.parameters
    plain: JsonObject = {
        "name": tool.name,
        "inputSchema": schema if schema.get("type") == "object" else {**schema, "type": "object"},
    }
    if tool.description:
        plain["description"] = tool.description
    stated = {key: tool.metadata[key] for key in _TOLD if key in tool.metadata}
    if not is_object(output := stated.get("outputSchema", {"type": "object"})) or output.get("type") != "object":
        del stated["outputSchema"]  # other values than objects are written as text
    if tool.metadata.get("dangerous") is True and "annotations" not in stated:
        stated["annotations"] = {"destructiveHint": True}
    try:
        return types.Tool.model_validate(plain | stated)
    except ValidationError:
        return types.Tool.model_validate(plain)  # the metadata has other keys of the same names


def write_result(result: ToolResult) -> types.CallToolResult:
    """Write a result: its content as text, an object as structured content too, then its media."""
    content = result.content
    parts: list[Content] = (
        [] if content is None else [TextPart(content) if isinstance(content, str) else JsonPart(content)]
    )
    part = ResultPart((*parts, *map(_media_part, result.media)), is_error=result.is_error)
    written = mcp_content.write_result(part)
    if is_object(content):
        written["structuredContent"] = content
    return types.CallToolResult.model_validate(written)


def _media_part(media: Media) -> MediaPart:
    part = MediaPart(media.kind, media.media_type, media.data, media.url, name=media.name)
    if media.data is not None and media.kind not in ("image", "audio"):
        name = media.name or media.kind
        part.extra["mcp.resource"] = {"uri": name if "://" in name else f"file:///{quote(name)}"}
    return part
