"""Anthropic Messages: a request, or the messages alone.

{"model": "claude-sonnet-4-5", "system": "Be brief.", "messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "One call.", "signature": "EqQB"},
        {"type": "text", "text": "Checking."},
        {"type": "tool_use", "id": "toolu_A1", "name": "get_weather", "input": {"city": "Paris"}}]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_A1", "content": "18C", "is_error": false}]}],
 "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}],
 "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}}
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import Message, Part, ToolChoice, ToolDeclaration, Transcript
from toolfmt.dialect import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import ANTHROPIC, ANTHROPIC_STRICT, ANY
from toolfmt.transcripts.anthropic_blocks import OWNER, TYPES, read_content, write_content
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.native import read_hosted, write_hosted
from toolfmt.transcripts.values import own, rest, text_at

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.chat import Mode

_REQUEST: Final = frozenset({"messages", "system", "tools", "tool_choice"})
_SERVER: Final = f"{OWNER}.server"
_SAID: Final = frozenset({"role", "content"})
_TOOL: Final = frozenset({"name", "description", "input_schema", "strict", "cache_control"})
_MODES: Final[dict[str, Mode]] = {"auto": "auto", "any": "required", "none": "none"}


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of messages."""
    if is_array(value):
        return Transcript(tuple(_read_message(item, at) for at, item in enumerate(value)))
    if not is_object(value) or not is_array(value.get("messages")):
        raise ParseError("anthropic: expected a list of messages, or an object with `messages`")
    messages = [_read_message(item, at) for at, item in enumerate(value["messages"])]
    if value.get("system"):
        first = Message("system", _read_content(value, "system", ""))
        first.origin, first.source, first.where = OWNER, value["system"], ("/system",)
        messages.insert(0, first)
    choice = value.get("tool_choice")
    read = _read_choice(choice)
    known = _REQUEST if read is not None or choice is None else _REQUEST - {"tool_choice"}
    tools, servers = _read_tools(value.get("tools")), value.get("mcp_servers")
    if is_array(servers) and servers and all(map(is_object, servers)):
        known |= {"mcp_servers"}
        tools = (tools or ()) + tuple(map(_read_server, servers))
    return Transcript(
        tuple(messages),
        tools,
        read,
        False if is_object(choice) and choice.get("disable_parallel_tool_use") else None,
        rest(value, known, OWNER),
    )


def _read_message(item: JsonValue, at: int) -> Message:
    if not is_object(item) or item.get("role") not in ("user", "assistant", "system"):
        raise ParseError(f"/messages/{at}: expected a message with the role user, assistant or system")
    extra = {} if item.keys() <= _SAID else rest(item, _SAID, OWNER)
    message = Message(item["role"], _read_content(item, "content", f"/messages/{at}"), extra=extra)
    message.origin, message.source, message.where = OWNER, item, ("/messages", at)
    return message


def _read_content(item: JsonObject, key: str, where: str) -> tuple[Part, ...]:
    try:
        return read_content(item.get(key))
    except ParseError as error:
        raise ParseError(f"{where}/{key}/{error}") from None


def _read_tools(items: JsonValue) -> tuple[ToolDeclaration, ...] | None:
    if items is None:
        return None
    if not is_array(items):
        raise ParseError(f"/tools: expected a list, not {type(items).__name__}")
    tools: list[ToolDeclaration] = []
    for at, item in enumerate(items):
        if not is_object(item):
            raise ParseError(f"/tools/{at}: a tool is an object, not {type(item).__name__}")
        try:
            tools.append(_read_tool(item))
        except ParseError as error:
            raise ParseError(f"/tools/{at}/{error}") from None
    return tuple(tools)


def _read_tool(item: JsonObject) -> ToolDeclaration:
    name = text_at(item, "name")
    if "input_schema" not in item:
        return read_hosted(item, OWNER, name or text_at(item, "type") or "")
    if name is None:
        raise ParseError("name: a tool has a name")
    mark: JsonObject = {"cache_control": item["cache_control"]} if "cache_control" in item else {}
    strict = item.get("strict")
    known = _TOOL if strict is None or isinstance(strict, bool) else _TOOL - {"strict"}
    return ToolDeclaration(
        name,
        text_at(item, "description"),
        item["input_schema"],
        strict=strict if isinstance(strict, bool) else None,
        extra=mark | rest(item, known, OWNER),
    )


def _read_server(item: JsonObject) -> ToolDeclaration:
    """Read a server of MCP's, which a request names beside its tools."""
    tool = read_hosted(item, OWNER, str(item.get("name", "")))
    tool.extra[_SERVER] = tool.extra.pop(f"{OWNER}.hosted")
    return tool


def _read_choice(value: JsonValue) -> ToolChoice | None:
    if not is_object(value):
        return None
    if value.get("type") == "tool":
        name = value.get("name")
        return ToolChoice("required", (name,)) if isinstance(name, str) else None
    mode = _MODES.get(str(value.get("type")))
    return None if mode is None else ToolChoice(mode)


def write(transcript: Transcript) -> JsonObject:
    """Write a request's object; leading instructions stand in `system`."""
    value: JsonObject = own(transcript.extra, OWNER)
    messages = list(transcript.messages)
    leading = 0
    while leading < len(messages) and messages[leading].role in ("system", "developer"):
        leading += 1
    system = [part for message in messages[:leading] for part in message.parts]
    if leading == 1 and messages[0].where == ("/system",) and messages[0].origin == OWNER:
        value["system"] = messages[0].source
    elif system:
        value["system"] = write_content(system)
    value["messages"] = [written for message in messages[leading:] if (written := _write_message(message)) is not None]
    if transcript.tools is not None:
        _write_tools(transcript.tools, value)
    choice = _write_choice(transcript)
    if choice is not None:
        value["tool_choice"] = choice
    return value


def _write_message(message: Message) -> JsonObject | None:
    if message.origin == OWNER:
        return message.source
    role = "system" if message.role == "developer" else "user" if message.role == "tool" else message.role
    content = write_content(message.parts)
    return {"role": role, "content": content, **own(message.extra, OWNER)} if content else None


def _write_tools(tools: tuple[ToolDeclaration, ...], value: JsonObject) -> None:
    """Write declarations, and the servers of MCP's beside them; one that is new is a set of tools too."""
    servers: list[JsonValue] = []
    written: list[JsonValue] = []
    for tool in tools:
        item = tool.extra.get(_SERVER) or _write_tool(tool)
        if item is None:
            continue
        if item.get("type") != "url":
            written.append(item)
            continue
        servers.append(item)
        if _SERVER not in tool.extra:
            written.append({"type": "mcp_toolset", "mcp_server_name": item.get("name")})
    if written or not servers:
        value["tools"] = written
    if servers:
        value["mcp_servers"] = servers


def _write_tool(tool: ToolDeclaration) -> JsonObject | None:
    if tool.kind == "hosted":
        return write_hosted(tool, OWNER)
    item: JsonObject = {"name": tool.name}
    if tool.description is not None:
        item["description"] = tool.description
    schema = tool.parameters if is_object(tool.parameters) else {}
    item["input_schema"] = schema if "type" in schema else {"type": "object", **schema}
    if tool.strict is not None:
        item["strict"] = tool.strict
    mark = {"cache_control": tool.extra["cache_control"]} if "cache_control" in tool.extra else {}
    return item | own(tool.extra, OWNER) | mark


def _write_choice(transcript: Transcript) -> JsonObject | None:
    choice = transcript.tool_choice
    if choice is None and transcript.parallel is not False:
        return None
    mode = choice.mode if choice is not None else "auto"
    written: JsonObject = {"type": {"auto": "auto", "required": "any", "none": "none"}[mode]}
    if choice is not None and choice.names and mode == "required" and len(choice.names) == 1:
        written = {"type": "tool", "name": choice.names[0]}
    if transcript.parallel is False and mode != "none":
        written["disable_parallel_tool_use"] = True
    return written


def recognise(value: JsonValue) -> bool:
    """Tell a request by its blocks (`tool_use`, `tool_result`, ...) or its tools' `input_schema`."""
    messages = value.get("messages") if is_object(value) else value
    if not is_array(messages):
        return False
    if is_object(value) and (_instructs(value.get("system")) or any("input_schema" in tool for tool in _tools(value))):
        return True
    return any(
        is_object(block) and (block.get("type") in _TELLING or _signed(block) or is_object(block.get("source")))
        for item in messages
        if is_object(item) and is_array(item.get("content"))
        for block in item["content"]
    )


_TELLING: Final = ("tool_use", "tool_result", "redacted_thinking")


def _signed(block: JsonObject) -> bool:
    return "signature" in block and isinstance(block.get("thinking"), str)


def _instructs(system: JsonValue) -> bool:
    return isinstance(system, str) or (
        is_array(system) and any(is_object(block) and "type" in block for block in system)
    )


def _tools(value: JsonObject) -> list[JsonObject]:
    tools = value.get("tools")
    return [tool for tool in tools if is_object(tool)] if is_array(tools) else []


_RULES: Final = Rules(
    roles=frozenset({"system", "user", "assistant"}),
    call_id=r"[a-zA-Z0-9_-]",
    fresh_ids=True,
    tool_name=r"[a-zA-Z0-9_-]",
    tool_name_length=128,
    results_in="user",
    result_kinds=frozenset({"text", "image", "document"}),
    user_kinds=frozenset({"text", "image", "document"}),
    media_types=TYPES,
    owners=frozenset({OWNER}),
    unsigned=False,
    alternate=True,
    neighbours="joined",
    blank_text="refused",
    empty_messages=False,
    instructions_alone=False,
    ends_in_space=False,
    arguments="object",
    schema=ANTHROPIC,
    strict_schema=ANTHROPIC_STRICT,
)

FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="Anthropic Messages: content blocks, tool_use and tool_result.",
    read=read,
    write=write,
    recognise=recognise,
    common=2,
    rules=_RULES,
    models=r".*claude",
    copies=replace(_RULES, unsigned=True, schema=ANY, strict_schema=None),
    aliases=("claude", "anthropic-messages"),
    sources=(
        Provenance(reference="anthropic-sdk-python, anthropic.types", revision="2.11.0", kind="source", license="MIT"),
        Provenance(reference="Anthropic API reference, Messages", kind="documentation"),
    ),
)
