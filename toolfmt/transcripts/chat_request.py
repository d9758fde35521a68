r"""The request around chat messages: tools, the choice among them, and the flag for parallel calls.

{"messages": [...],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": {"type": "function", "function": {"name": "get_weather"}}, "parallel_tool_calls": true}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import ToolChoice, ToolDeclaration, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat_messages import messages_of
from toolfmt.transcripts.hosted import read_hosted, write_hosted
from toolfmt.transcripts.request import ChoicePlace, RequestTable, ToolsPlace, objects_in
from toolfmt.transcripts.values import located, own, rest, text_at

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.chat import ChatShape

_FUNCTION: Final = frozenset({"name", "description", "parameters", "strict"})
_PARALLEL: Final = "parallel_tool_calls"
_STRICT: Final = "strict_tools"


def read_request(value: JsonValue, shape: ChatShape) -> Transcript:
    """Read a request's object or a list of messages."""
    older = is_object(value) and value.get("tools") is None and value.get("functions") is not None
    found = _table(shape, older=older).read(value)
    if shape.parallel and isinstance(found.extra.get(f"{shape.owner}.{_PARALLEL}"), bool):
        found.parallel = found.extra.pop(f"{shape.owner}.{_PARALLEL}")
    if found.tools and shape.strict == "request" and isinstance(found.extra.get(f"{shape.owner}.{_STRICT}"), bool):
        strict = found.extra.pop(f"{shape.owner}.{_STRICT}")
        for tool in found.tools:
            tool.strict = strict
    return found


def write_request(transcript: Transcript, shape: ChatShape) -> JsonObject:
    """Write a request's object."""
    tools = transcript.tools or ()
    older = any(tool.extra.get(f"{shape.owner}.legacy") for tool in tools)
    value: JsonObject = _table(shape, older=older).write(transcript)
    strict = {tool.strict for tool in tools}
    if shape.strict == "request" and len(strict) == 1 and None not in strict:
        value[_STRICT] = strict.pop()
    if transcript.parallel is not None and shape.parallel:
        value[_PARALLEL] = transcript.parallel
    return value


@cache
def _table(shape: ChatShape, *, older: bool) -> RequestTable:
    """Make the table of a request; the older kind has bare `functions` and `function_call`."""
    if older:
        tools = ToolsPlace(
            "functions",
            lambda value: list_tools(value, shape.owner, bare={f"{shape.owner}.legacy": True}),
            lambda tools: [item["function"] for item in write_tools(tools, shape)],
        )
    else:
        tools = tools_place(shape)

    def write_choice(choice: ToolChoice, tools: Sequence[ToolDeclaration]) -> JsonValue:
        written = _write_choice(choice, tools, shape)
        return written.get("function") if older and is_object(written) else written

    key = "function_call" if older else "tool_choice"
    choice = ChoicePlace(key, lambda value: _read_choice(value, shape), write_choice)
    return replace(messages_of(shape), tools=tools, choice=choice)


def tools_place(shape: ChatShape) -> ToolsPlace:
    """Make the place of the tools."""
    return ToolsPlace("tools", lambda value: list_tools(value, shape.owner), lambda tools: write_tools(tools, shape))


def write_tools(tools: Sequence[ToolDeclaration], shape: ChatShape) -> list[JsonObject]:
    """Write the declarations of functions and custom tools, and of those of the provider's that there are words for."""
    return [found for tool in tools if (found := _write_tool(tool, shape)) is not None]


def list_tools(items: JsonValue, owner: str, *, bare: JsonObject | None = None) -> tuple[ToolDeclaration, ...]:
    """Read a list of declarations.

    `bare` says that they have no type around them, and what is noted of each.
    """
    if not is_array(items):
        raise ParseError(f": expected a list, not {type(items).__name__}")
    tools: list[ToolDeclaration] = []
    for at, item in enumerate(items):
        try:
            if not is_object(item):
                raise ParseError(f": a tool is an object, not {type(item).__name__}")  # noqa: TRY301 - at its place
            tools.append(_read_tool(item, owner) if bare is None else _function(item, owner, bare))
        except ParseError as error:
            raise located(f"/{at}", error) from None
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


def _read_choice(found: JsonValue, shape: ChatShape) -> ToolChoice | None:
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


def _write_choice(choice: ToolChoice, tools: Sequence[ToolDeclaration], shape: ChatShape) -> JsonValue:
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
