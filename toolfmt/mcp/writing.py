"""Write tools and results for MCP.

ToolDefinition("get_weather", metadata={"dangerous": True})
    {"name": "get_weather", "inputSchema": {…}, "annotations": {"destructiveHint": true}}

ToolResult(name="get_weather", content={"temp": 18})
    {"content": [{"type": "text", "text": "{…}"}], "structuredContent": {"temp": 18}, "isError": false}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from mcp import types
from pydantic import ValidationError

from toolfmt.conversation import JsonPart, MediaPart, ResultPart, TextPart
from toolfmt.jsontext import is_object
from toolfmt.transcripts import mcp_content

if TYPE_CHECKING:
    from toolfmt.conversation import Content
    from toolfmt.model import JsonObject, Media, ToolDefinition, ToolResult

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
    part = ResultPart((*parts, *map(_media, result.media)), is_error=result.is_error)
    written = mcp_content.write_result(part)
    if is_object(content):
        written["structuredContent"] = content
    return types.CallToolResult.model_validate(written)


def _media(media: Media) -> MediaPart:
    part = MediaPart(media.kind, media.media_type, media.data, media.url, name=media.name)
    if media.data is not None and media.kind not in ("image", "audio"):
        name = media.name or media.kind
        part.extra["mcp.resource"] = {"uri": name if "://" in name else f"file:///{quote(name)}"}
    return part
