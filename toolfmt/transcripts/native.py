"""The tools that providers run themselves, declared by each API in its own words: web search, code execution, MCP.

    understood("anthropic", "web_search_20250305", {"name": "web_search", "max_uses": 3})
    {"kind": "web_search", "max_uses": 3}
    declared("gemini", {"kind": "web_search", "max_uses": 3})
    ("googleSearch", {})

A declaration in shared terms is under `hosted` in `ToolDeclaration.extra`; a
setting that an API has no word for is lost with it, and reported as a change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import ToolDeclaration
from toolfmt.jsontext import is_object
from toolfmt.transcripts.values import at, put

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

COMMON: Final = "hosted"
"""The key of `ToolDeclaration.extra` under which a declaration is in shared terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """How one API declares one kind of tool."""

    reads: str
    """A regular expression for the declaration's type, or its key."""
    writes: str = ""
    """The type that is written; empty: it is only read."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each setting in shared terms, and the path of keys to it."""
    fixed: Mapping[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])
    """What the API demands beside, where it is not set."""


_DOMAINS: Final = {key: key for key in ("max_uses", "allowed_domains", "blocked_domains", "user_location")}
_SEARCHES: Final = {
    "allowed_domains": "filters.allowed_domains",
    "user_location": "user_location",
    "context_size": "search_context_size",
}
_TABLE: Final[Mapping[str, Mapping[str, Native]]] = {
    "anthropic": {
        "web_search": Native(
            reads=r"web_search_\d+", writes="web_search_20250305", settings=_DOMAINS, fixed={"name": "web_search"}
        ),
        "web_fetch": Native(
            reads=r"web_fetch_\d+", writes="web_fetch_20250910", settings=_DOMAINS, fixed={"name": "web_fetch"}
        ),
        "code_execution": Native(
            reads=r"code_execution_\d+", writes="code_execution_20250825", fixed={"name": "code_execution"}
        ),
        "tool_search": Native(
            reads=r"tool_search_tool_.*",
            writes="tool_search_tool_bm25_20251119",
            fixed={"name": "tool_search_tool_bm25"},
        ),
        "mcp": Native(
            reads=r"url",
            writes="url",
            settings={
                "label": "name",
                "url": "url",
                "token": "authorization_token",
                "allowed_tools": "tool_configuration.allowed_tools",
            },
        ),
    },
    "openai-responses": {
        "web_search": Native(reads=r"web_search.*", writes="web_search", settings=_SEARCHES),
        "code_execution": Native(
            reads=r"code_interpreter", writes="code_interpreter", fixed={"container": {"type": "auto"}}
        ),
        "tool_search": Native(reads=r"tool_search", writes="tool_search"),
        "file_search": Native(reads=r"file_search"),
        "image_generation": Native(reads=r"image_generation"),
        "mcp": Native(
            reads=r"mcp",
            writes="mcp",
            settings={
                "label": "server_label",
                "url": "server_url",
                "token": "authorization",
                "headers": "headers",
                "allowed_tools": "allowed_tools",
            },
        ),
    },
    "gemini": {
        "web_search": Native(reads=r"googleSearch.*|enterpriseWebSearch", writes="googleSearch"),
        "web_fetch": Native(reads=r"urlContext", writes="urlContext"),
        "code_execution": Native(reads=r"codeExecution", writes="codeExecution"),
        "file_search": Native(reads=r"fileSearch"),
    },
    "gemini-interactions": {
        "web_search": Native(reads=r"google_search", writes="google_search"),
        "web_fetch": Native(reads=r"url_context", writes="url_context"),
        "code_execution": Native(reads=r"code_execution", writes="code_execution"),
        "file_search": Native(reads=r"file_search"),
        "mcp": Native(
            reads=r"mcp_server",
            writes="mcp_server",
            settings={"label": "name", "url": "url", "headers": "headers", "allowed_tools": "allowed_tools.0.tools"},
        ),
    },
    "bedrock": {
        "web_search": Native(reads=r"nova_grounding"),
        "code_execution": Native(reads=r"nova_code_interpreter"),
    },
    "openai-chat": {"web_search": Native(reads=r"openrouter:web_search|web_search.*")},
}


def understood(owner: str, kind: str, given: JsonValue) -> JsonObject:
    """Say a declaration in shared terms, as an entry of `ToolDeclaration.extra`; nothing if it has none."""
    for common, native in _TABLE.get(owner, {}).items():
        if re.fullmatch(native.reads, kind):
            found = {name: value for name, path in native.settings.items() if (value := at(given, path)) is not None}
            return {COMMON: {"kind": common, **found}}
    return {}


def declared(owner: str, tool: ToolDeclaration) -> tuple[str, JsonObject] | None:
    """Give the type and the fields that declare a tool in an API's words; None if it has no such tool."""
    common = tool.extra.get(COMMON)
    native = _TABLE.get(owner, {}).get(common["kind"]) if is_object(common) else None
    if native is None or not native.writes or not is_object(common):
        return None
    fields: JsonObject = dict(native.fixed)
    for name, path in native.settings.items():
        if name in common:
            put(fields, path, common[name])
    return native.writes, fields


def read_hosted(item: JsonValue, owner: str, name: str, *, kind: str = "", given: JsonValue = None) -> ToolDeclaration:
    """Read a declaration of a provider's own kind: as it came, and in shared terms where there are any."""
    named = kind or (item.get("type") if is_object(item) else None)
    common = understood(owner, named if isinstance(named, str) else "", item if given is None else given)
    return ToolDeclaration(name, kind="hosted", extra={f"{owner}.{COMMON}": item, **common})


def write_hosted(tool: ToolDeclaration, owner: str) -> JsonObject | None:
    """Write a declaration of a provider's own kind: as it came, else in the API's own words; None without any."""
    if f"{owner}.{COMMON}" in tool.extra:
        return tool.extra[f"{owner}.{COMMON}"]
    found = declared(owner, tool)
    return None if found is None else {"type": found[0], **found[1]}


def told_by(tool: ToolDeclaration) -> object:
    """Give what a tool is the same by: its name or, where the provider runs it, what it is for."""
    common = tool.extra.get(COMMON)
    return (COMMON, common["kind"]) if is_object(common) else tool.name
