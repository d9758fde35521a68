"""The tools that providers run themselves: their declarations, calls and results in each API.

    understood("anthropic", "web_search_20250305", {"name": "web_search", "max_uses": 3})
    {"kind": "web_search", "max_uses": 3}
    declared("gemini", {"kind": "web_search", "max_uses": 3})
    ("googleSearch", {})

A declaration in common terms is under `hosted` in `ToolDeclaration.extra`; a
setting that an API lacks is lost, and reported as a change.

    hosted({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "news"}}, ANTHROPIC)
    (CallPart("web_search", {"query": "news"}, id="srvtoolu_1"),)

A provider is a table of rows; each states the types of its parts, and
the keys of a call's name, arguments and id, or of a result's content.
Encrypted data (`encrypted_content`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from toolfmt.conversation import CallPart, Content, JsonPart, MediaPart, ResultPart, Said, TextPart, ToolDeclaration
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.media import from_url, media_type_in
from toolfmt.transcripts.parts.values import at, put

_HIDDEN: Final = re.compile(r"encrypted_.*|signature|thought_?[sS]ignature")
"""Keys of data that only the provider can read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """One kind of a provider's own parts: a call, a result, or both in one."""

    type: str
    """A regular expression for the part's `type`; its first group is the name if no key has one."""
    name: str = ""
    arguments: Sequence[str] = ()
    """The keys of the arguments: the first with an object or text, otherwise all together."""
    id: str = "id"
    content: Sequence[str] = ()
    """The keys of the result; several of them form one JSON object."""
    error: Sequence[str] = ()
    """Keys that have a value if the call failed."""


HostedTable: TypeAlias = Sequence[Hosted]

ANTHROPIC: Final[HostedTable] = (
    Hosted(type=r"(?:server|mcp)_tool_use", name="name", arguments=("input",)),
    Hosted(type=r"(.*)_tool_result", id="tool_use_id", content=("content",), error=("is_error",)),
)
RESPONSES: Final[HostedTable] = (
    Hosted(type=r"mcp_call", name="name", arguments=("arguments",), content=("output", "error"), error=("error",)),
    Hosted(type=r"(mcp_approval)_request", arguments=("name", "server_label", "arguments")),
    Hosted(type=r"(mcp_approval)_response", id="approval_request_id", content=("approve", "reason")),
    Hosted(
        type=r"(.*)_call",
        arguments=("action", "arguments", "queries", "code", "revised_prompt"),
        content=("results", "result", "outputs", "output", "status"),
    ),
    Hosted(type=r"(mcp_list_tools)", arguments=("server_label",), content=("tools", "error"), error=("error",)),
    Hosted(type=r"(.*?)(?:_call)?_output", content=("output", "tools", "status")),
)
INTERACTIONS: Final[HostedTable] = (
    Hosted(type=r"(.*)_call", name="name", arguments=("arguments",)),
    Hosted(type=r"(.*)_result", id="call_id", name="name", content=("result",), error=("is_error",)),
)
OTEL: Final[HostedTable] = (
    Hosted(type=r"server_tool_call", name="name", arguments=("server_tool_call",)),
    Hosted(type=r"(server_tool_call)_response", content=("server_tool_call_response",)),
)
INSPECT: Final[HostedTable] = (
    Hosted(type=r"tool_use", name="name", arguments=("arguments",), content=("result", "error"), error=("error",)),
)
LANGCHAIN: Final[HostedTable] = (
    Hosted(type=r"server_tool_call", name="name", arguments=("args",)),
    Hosted(type=r"(server_tool)_result", id="tool_call_id", content=("output",)),
    *ANTHROPIC,
    *RESPONSES,
)


def hosted(item: JsonValue, table: HostedTable) -> tuple[Said, ...]:
    """Describe a provider's part in common terms; return nothing if no row matches."""
    named = item.get("type") if is_object(item) else None
    if not is_object(item) or not isinstance(named, str):
        return ()
    for row in table:
        found = re.fullmatch(row.type, named)
        if found is not None:
            return _read(item, row, found[1] if found.re.groups else named)
    return ()


def _read(item: JsonObject, row: Hosted, group: str) -> tuple[Said, ...]:
    name, ident = item.get(row.name, group), item.get(row.id, item.get("call_id"))
    if not isinstance(name, str) or not (ident is None or isinstance(ident, str)):
        return ()
    parts: list[Said] = []
    if row.arguments:
        parts.append(_call(item, row.arguments, name, ident))
    given = {key: item[key] for key in row.content if item.get(key) is not None}
    if given:
        inside = next(iter(given.values()))
        failed = any(item.get(key) for key in row.error) or (
            is_object(inside) and str(inside.get("type")).endswith("_error")
        )
        whole = given if len(given) > 1 and not isinstance(inside, str) and not is_array(inside) else inside
        parts.append(ResultPart(readable(whole), ident, name if row.name in item or ident is None else None, failed))
    return tuple(parts)


def _call(item: JsonObject, keys: Sequence[str], name: str, ident: str | None) -> CallPart:
    given = {key: item[key] for key in keys if item.get(key) is not None}
    text = given.get("arguments")
    if isinstance(text, str) and len(given) == 1:
        return CallPart(name, text=text, id=ident)
    alone = next(iter(given.values())) if len(given) == 1 else given
    return CallPart(name, alone if is_object(alone) else given, id=ident)


def readable(value: JsonValue) -> tuple[Content, ...]:
    """Read the result of a provider's own tool: text, media, else JSON without encrypted fields."""
    if isinstance(value, str):
        data = value if len(value) > _SHORT and " " not in value else ""
        kind = media_type_in(data) if data else ""
        return (MediaPart("image", kind, value) if kind.startswith("image/") else TextPart(value),) if value else ()
    if is_array(value) and value:
        parts = [_content(item) for item in value]
        if all(part is not None for part in parts):
            return tuple(part for part in parts if part is not None)
    shown = _shown(value)
    return () if shown in ({}, []) else (JsonPart(shown),)


_SHORT: Final = 64


def _content(item: JsonValue) -> Content | None:
    """Read a text, a log or an image among the results."""
    if not is_object(item):
        return None
    for key in ("text", "logs"):
        if isinstance(item.get(key), str) and item.get("type") in ("text", "logs", "output_text", "input_text"):
            return TextPart(item[key])
    if item.get("type") == "image" and isinstance(item.get("url"), str):
        return from_url(item["url"], "image")
    return None


def _shown(value: JsonValue) -> JsonValue:
    if is_object(value):
        return {
            key: _shown(item)
            for key, item in value.items()
            if item is not None and not (isinstance(item, str) and _HIDDEN.fullmatch(key))
        }
    return [_shown(item) for item in value] if is_array(value) else value


COMMON: Final = "hosted"
"""The key of `ToolDeclaration.extra` for a declaration in common terms."""


@dataclass(frozen=True, slots=True)
class Native:
    """An API's declaration of one kind of tool."""

    reads: str
    """A regular expression for the declaration's type, or its key."""
    writes: str = ""
    """The type that is written; "": it is only read."""
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Each setting in common terms, with its path of keys."""
    fixed: Mapping[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])
    """Default values of required fields."""


_DOMAINS: Final = {key: key for key in ("max_uses", "allowed_domains", "blocked_domains", "user_location")}
_SEARCHES: Final = {
    "allowed_domains": "filters.allowed_domains",
    "user_location": "user_location",
    "context_size": "search_context_size",
}
_SERVER: Final = {"headers": "headers", "allowed_tools": "allowed_tools"}
_TABLE: Final[Mapping[str, Mapping[str, Native]]] = {
    "anthropic": {
        "web_search": Native(r"web_search_\d+", "web_search_20250305", _DOMAINS, {"name": "web_search"}),
        "web_fetch": Native(r"web_fetch_\d+", "web_fetch_20250910", _DOMAINS, {"name": "web_fetch"}),
        "code_execution": Native(r"code_execution_\d+", "code_execution_20250825", fixed={"name": "code_execution"}),
        "tool_search": Native(
            r"tool_search_tool_.*", "tool_search_tool_bm25_20251119", fixed={"name": "tool_search_tool_bm25"}
        ),
        "mcp": Native(
            "url",
            "url",
            {
                "label": "name",
                "url": "url",
                "token": "authorization_token",
                "allowed_tools": "tool_configuration.allowed_tools",
            },
        ),
    },
    "openai-responses": {
        "web_search": Native("web_search.*", "web_search", _SEARCHES),
        "code_execution": Native("code_interpreter", "code_interpreter", fixed={"container": {"type": "auto"}}),
        "tool_search": Native("tool_search", "tool_search"),
        "file_search": Native("file_search"),
        "image_generation": Native("image_generation"),
        "mcp": Native(
            "mcp", "mcp", {"label": "server_label", "url": "server_url", "token": "authorization", **_SERVER}
        ),
    },
    "gemini": {
        "web_search": Native("googleSearch.*|enterpriseWebSearch", "googleSearch"),
        "web_fetch": Native("urlContext", "urlContext"),
        "code_execution": Native("codeExecution", "codeExecution"),
        "file_search": Native("fileSearch"),
    },
    "gemini-interactions": {
        "web_search": Native("google_search", "google_search"),
        "web_fetch": Native("url_context", "url_context"),
        "code_execution": Native("code_execution", "code_execution"),
        "file_search": Native("file_search"),
        "mcp": Native(
            "mcp_server",
            "mcp_server",
            {"label": "name", "url": "url", "headers": "headers", "allowed_tools": "allowed_tools.0.tools"},
        ),
    },
    "bedrock": {"web_search": Native("nova_grounding"), "code_execution": Native("nova_code_interpreter")},
    "openai-chat": {"web_search": Native("openrouter:web_search|web_search.*", settings=_SEARCHES)},
}


def understood(owner: str, kind: str, given: JsonValue) -> JsonObject:
    """Return a declaration in common terms, as an entry of `ToolDeclaration.extra`, or nothing."""
    for common, native in _TABLE.get(owner, {}).items():
        if re.fullmatch(native.reads, kind):
            found = {name: value for name, path in native.settings.items() if (value := at(given, path)) is not None}
            return {COMMON: {"kind": common, **found}}
    return {}


def declared(owner: str, tool: ToolDeclaration) -> tuple[str, JsonObject] | None:
    """Return the type and fields that declare a tool in an API, or None."""
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
    """Read a declaration of a provider's own kind: unchanged, and in common terms if possible."""
    named = kind or (item.get("type") if is_object(item) else None)
    common = understood(owner, named if isinstance(named, str) else "", item if given is None else given)
    return ToolDeclaration(name, kind="hosted", extra={f"{owner}.{COMMON}": item, **common})


def write_hosted(tool: ToolDeclaration, owner: str) -> JsonObject | None:
    """Write a declaration of a provider's own kind: unchanged, or in the API's form; None if impossible."""
    if f"{owner}.{COMMON}" in tool.extra:
        return tool.extra[f"{owner}.{COMMON}"]
    found = declared(owner, tool)
    return None if found is None else {"type": found[0], **found[1]}


def identity(tool: ToolDeclaration) -> object:
    """Return the identity of a tool: its name, or its purpose if the provider runs it."""
    common = tool.extra.get(COMMON)
    return (COMMON, common["kind"]) if is_object(common) else tool.name
