r"""The request around chat messages: tools, the choice among them, and the flag for parallel calls.

{"messages": [...],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": {"type": "function", "function": {"name": "get_weather"}}, "parallel_tool_calls": true}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.conversation import ToolChoice, ToolDeclaration, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat_read import read_messages
from toolfmt.transcripts.chat_write import write_messages
from toolfmt.transcripts.native import read_hosted, write_hosted
from toolfmt.transcripts.request import objects_in
from toolfmt.transcripts.values import own, rest, text_at

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.chat import ChatShape

_FUNCTION: Final = frozenset({"name", "description", "parameters", "strict"})


def read_request(value: JsonValue, shape: ChatShape) -> Transcript:
    """Read a request's object or a list of messages."""
    if is_array(value):
        return Transcript(read_messages(value, shape))
    if not is_object(value) or not is_array(value.get("messages")):
        raise ParseError(f"{shape.owner}: expected a list of messages, or an object with `messages`")
    tools = read_tools(value, shape)
    choice = _read_choice(value, shape)
    parallel = value.get("parallel_tool_calls")
    found: JsonObject = {"messages": value["messages"], _tools_key(value): tools, _choice_key(value): choice}
    if shape.parallel and isinstance(parallel, bool):
        found["parallel_tool_calls"] = parallel
    if tools and shape.strict == "request" and isinstance(value.get("strict_tools"), bool):
        found["strict_tools"] = strict = value["strict_tools"]
        for tool in tools:
            tool.strict = strict
    understood = {key for key, read in found.items() if read is not None or value.get(key) is None}
    return Transcript(
        read_messages(value["messages"], shape),
        tools,
        choice,
        found.get("parallel_tool_calls"),
        rest(value, understood, shape.owner),
    )


def write_request(transcript: Transcript, shape: ChatShape) -> JsonObject:
    """Write a request's object."""
    value: JsonObject = {**own(transcript.extra, shape.owner), "messages": write_messages(transcript.messages, shape)}
    tools = transcript.tools
    if tools is not None:
        write_tools(tools, value, shape)
    if transcript.tool_choice is not None:
        choice = _write_choice(transcript.tool_choice, tools or (), shape)
        if choice is not None and "functions" in value:
            value["function_call"] = choice["function"] if is_object(choice) else choice
        elif choice is not None:
            value["tool_choice"] = choice
    if transcript.parallel is not None and shape.parallel:
        value["parallel_tool_calls"] = transcript.parallel
    return value


def write_tools(tools: tuple[ToolDeclaration, ...], value: JsonObject, shape: ChatShape) -> None:
    """Put the declarations of functions and custom tools into a request."""
    legacy = any(tool.extra.get(f"{shape.owner}.legacy") for tool in tools)
    written = [found for tool in tools if (found := _write_tool(tool, shape)) is not None]
    value["functions" if legacy else "tools"] = [item["function"] for item in written] if legacy else written
    strict = {tool.strict for tool in tools}
    if shape.strict == "request" and len(strict) == 1 and None not in strict:
        value["strict_tools"] = strict.pop()


def _tools_key(value: JsonObject) -> str:
    return "functions" if value.get("tools") is None and value.get("functions") is not None else "tools"


def _choice_key(value: JsonObject) -> str:
    return "function_call" if _tools_key(value) == "functions" else "tool_choice"


def read_tools(value: JsonObject, shape: ChatShape) -> tuple[ToolDeclaration, ...] | None:
    """Read `tools`, or the older `functions`; None if there are none."""
    key = _tools_key(value)
    items = value.get(key)
    bare: JsonObject | None = {f"{shape.owner}.legacy": True} if key == "functions" else None
    return None if items is None else list_tools(items, f"/{key}", shape.owner, bare=bare)


def list_tools(
    items: JsonValue, where: str, owner: str, *, bare: JsonObject | None = None
) -> tuple[ToolDeclaration, ...]:
    """Read a list of declarations, which is at a JSON pointer.

    `bare` says that they have no type around them, and what is noted of each.
    """
    if not is_array(items):
        raise ParseError(f"{where}: expected a list, not {type(items).__name__}")
    tools: list[ToolDeclaration] = []
    for at, item in enumerate(items):
        if not is_object(item):
            raise ParseError(f"{where}/{at}: a tool is an object, not {type(item).__name__}")
        try:
            tools.append(_read_tool(item, owner) if bare is None else _function(item, owner, bare))
        except ParseError as error:
            raise ParseError(f"{where}/{at}/{error}") from None
    return tuple(tools)


def _read_tool(item: JsonObject, owner: str) -> ToolDeclaration:
    function, custom = item.get("function"), item.get("custom")
    mark: JsonObject = {"cache_control": item["cache_control"]} if "cache_control" in item else {}
    extra = mark | rest(item, {"type", "function", "custom", "cache_control"}, owner)
    if is_object(function):
        return _function(function, owner, extra)
    if is_object(custom):
        body = rest(custom, {"name", "description", "format"}, f"{owner}.custom")
        return ToolDeclaration(
            _name(custom), text_at(custom, "description"), _flat(custom.get("format")), "custom", extra=extra | body
        )
    named = text_at(item, "name") or text_at(item, "type") or ""
    return read_hosted(item, owner, named)


def _name(item: JsonObject) -> str:
    name = text_at(item, "name")
    if name is None:
        raise ParseError("name: a tool has a name")
    return name


def _function(item: JsonObject, owner: str, extra: JsonObject) -> ToolDeclaration:
    strict = item.get("strict")
    known = _FUNCTION if strict is None or isinstance(strict, bool) else _FUNCTION - {"strict"}
    return ToolDeclaration(
        _name(item),
        text_at(item, "description"),
        item.get("parameters"),
        strict=strict if isinstance(strict, bool) else None,
        extra=extra | rest(item, known, f"{owner}.function"),
    )


def _flat(value: JsonValue) -> JsonValue:
    """Take a grammar out of the object around it, which only this format has."""
    inside = value.get("grammar") if is_object(value) and value.keys() == {"type", "grammar"} else None
    return {"type": value["type"], **inside} if is_object(inside) and "type" not in inside else value


def _nested(value: JsonValue) -> JsonValue:
    if not is_object(value) or value.get("type") != "grammar" or "grammar" in value:
        return value
    return {"type": "grammar", "grammar": {key: found for key, found in value.items() if key != "type"}}


def _write_tool(tool: ToolDeclaration, shape: ChatShape) -> JsonObject | None:
    if tool.kind == "hosted":
        return write_hosted(tool, shape.owner)
    kind = tool.kind
    body: JsonObject = {"name": tool.name}
    if tool.description is not None:
        body["description"] = tool.description
    if tool.parameters is not None:
        body.update({"parameters": tool.parameters} if kind == "function" else {"format": _nested(tool.parameters)})
    elif kind == "function" and shape.parameters:
        body["parameters"] = {"type": "object"}
    if tool.strict is not None and shape.strict == "tool":
        body["strict"] = tool.strict
    item: JsonObject = {"type": kind, kind: body | own(tool.extra, f"{shape.owner}.{kind}")}
    marked = shape.gateways and "cache_control" in tool.extra
    mark = {"cache_control": tool.extra["cache_control"]} if marked else {}
    return item | {key: found for key, found in own(tool.extra, shape.owner).items() if "." not in key} | mark


def _read_choice(value: JsonObject, shape: ChatShape) -> ToolChoice | None:
    found = value.get(_choice_key(value))
    if isinstance(found, str):
        mode = shape.choices.get(found)
        return None if mode is None else ToolChoice(mode)
    if not is_object(found):
        return None
    if found.get("type") == "allowed_tools":
        inside = found.get("allowed_tools")
        return _allowed(inside if is_object(inside) else found, shape)
    name = _chosen(found)
    return None if name is None else ToolChoice("required", (name,))


def _allowed(value: JsonObject, shape: ChatShape) -> ToolChoice | None:
    tools, mode = value.get("tools"), value.get("mode", "auto")
    names = [_chosen(item) for item in tools] if is_array(tools) else []
    known = shape.choices.get(mode) if isinstance(mode, str) else None
    if known is None or not names or None in names:
        return None
    return ToolChoice(known, tuple(name for name in names if name is not None))


def _chosen(item: JsonValue) -> str | None:
    if not is_object(item):
        return None
    named = item.get("function") or item.get("custom") or item
    name = named.get("name") if is_object(named) else None
    return name if isinstance(name, str) else None


def _write_choice(choice: ToolChoice, tools: tuple[ToolDeclaration, ...], shape: ChatShape) -> JsonValue:
    """Write `tool_choice`; one required tool is named, several are allowed tools."""
    word = next((word for word, mode in shape.choices.items() if mode == choice.mode), None)
    one = len(choice.names) == 1 and choice.mode == "required"
    if word is None or not choice.names or not shape.named or (shape.named == "one" and not one):
        return word
    custom = {tool.name for tool in tools if tool.kind == "custom" and shape.custom}
    kinds = ("custom" if name in custom else "function" for name in choice.names)
    entries: list[JsonValue] = [
        {"type": kind, kind: {"name": name}} for kind, name in zip(kinds, choice.names, strict=True)
    ]
    return entries[0] if one else {"type": "allowed_tools", "allowed_tools": {"mode": word, "tools": entries}}


def messages_in(value: JsonValue) -> list[JsonObject]:
    """List the messages of a request, or of a list, that are objects with a role."""
    return [item for item in objects_in(value) if "role" in item]


def parts_in(value: JsonValue) -> list[JsonObject]:
    """List the content parts of all messages that are objects."""
    return [part for message in messages_in(value) for part in objects_in(message, "content")]
