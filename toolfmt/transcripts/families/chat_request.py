r"""The request around chat messages: tools, the choice among them, and the flag for parallel calls.

{"messages": [...],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": {"type": "function", "function": {"name": "get_weather"}}, "parallel_tool_calls": true}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from toolfmt.conversation import Message, ToolChoice, ToolDeclaration, Transcript
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_messages import messages_of
from toolfmt.transcripts.parts.hosted import COMMON, read_hosted
from toolfmt.transcripts.parts.values import inner
from toolfmt.transcripts.tables.choosing import openai
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.request import ChoicePlace, RequestTable, ToolsPlace, objects_in

_STRICT: Final = "strict_tools"
_SEARCH: Final = "web_search_options"


def read_request(value: JsonValue, shape: ChatShape, sent: Sequence[Message] = ()) -> Transcript:
    """Read a request's object or a list of messages; plain ones of those just `sent` are not read again."""
    older = is_object(value) and value.get("tools") is None and value.get("functions") is not None
    found = _table(shape, older=older).read(value, sent)
    if shape.searches and is_object(options := found.extra.get(f"{shape.owner}.{_SEARCH}")):
        extra = {key: item for key, item in found.extra.items() if key != f"{shape.owner}.{_SEARCH}"}
        found = replace(found, tools=(*(found.tools or ()), _search(options, shape.owner)), extra=extra)
    if found.tools and shape.strict == "request" and isinstance(found.extra.get(f"{shape.owner}.{_STRICT}"), bool):
        strict = found.extra.pop(f"{shape.owner}.{_STRICT}")
        for tool in found.tools:
            tool.strict = strict
    return found


def write_request(transcript: Transcript, shape: ChatShape) -> JsonObject:
    """Write a request's object."""
    key = f"{shape.owner}.{_SEARCH}"
    searches = [tool.extra[key] for tool in transcript.tools or () if key in tool.extra]
    if searches:
        functions = tuple(tool for tool in transcript.tools or () if key not in tool.extra)
        transcript = replace(transcript, tools=functions or None)
    tools = transcript.tools or ()
    older = any(tool.extra.get(f"{shape.owner}.legacy") for tool in tools)
    value: JsonObject = _table(shape, older=older).write(transcript)
    strict = {tool.strict for tool in tools}
    if shape.strict == "request" and len(strict) == 1 and None not in strict:
        value[_STRICT] = strict.pop()
    if searches:
        (value[_SEARCH],) = searches
    messages: list[JsonObject] = value["messages"]
    last = messages[-1] if len(messages) > 1 else {}
    if shape.prefix and last.get("role") == "assistant" and not last.get("tool_calls"):
        messages[-1] = {**last, "prefix": True}
    return value


def _search(options: JsonObject, owner: str) -> ToolDeclaration:
    """Declare the provider's web search; its location is flat in all other APIs."""
    place = inner(options, "user_location")
    flat = {"user_location": {"type": place.get("type"), **inner(place, "approximate")}} if place else {}
    declared = read_hosted({"type": "web_search", **options, **flat}, owner, "web_search", kind="web_search")
    own = {f"{owner}.{_SEARCH}": options}
    return replace(declared, extra={COMMON: declared.extra[COMMON], **own})


@cache
def _table(shape: ChatShape, *, older: bool) -> RequestTable:
    """Build the table of a request; the older kind has bare `functions` and `function_call`."""
    choice = openai(shape.choices, named=shape.named, custom=shape.custom)
    tools = functions_of(shape).listed()
    if older:
        choice, tools = _older_choice(choice), _older(shape)
    parallel = "parallel_tool_calls" if shape.parallel else ""
    return replace(messages_of(shape), tools=tools, choice=choice, parallel=parallel)


def functions_of(shape: ChatShape) -> Declaring:
    """Build the table of declarations."""
    return Declaring(
        owner=shape.owner,
        under=("function", "custom"),
        custom="format",
        form=(_flat, _nested),
        typed=True,
        refuses=True,
        strict=True,
        states_strict=shape.strict == "tool",
        marks="kept" if shape.gateways else "read",
        bare={"type": "object"} if shape.parameters else None,
    )


def _older(shape: ChatShape) -> ToolsPlace:
    """Describe the place of bare functions; each records that it was read there."""
    functions = functions_of(shape)

    def read(value: JsonValue) -> list[ToolDeclaration]:
        if not is_array(value) or not all(map(is_object, value)):
            raise ParseError(": expected a list of functions")
        tools = [*functions.read_list([{"function": item} for item in value])]
        for tool in tools:
            tool.extra[f"{shape.owner}.legacy"] = True
        return tools

    return ToolsPlace("functions", read, lambda tools: list(map(_bare, functions.write_list(tools))))


def _older_choice(choice: ChoicePlace) -> ChoicePlace:
    def write(one: ToolChoice, tools: Sequence[ToolDeclaration]) -> JsonValue:
        return _bare(choice.write(one, tools))

    return ChoicePlace("function_call", choice.read, write)


def _bare(item: JsonValue) -> JsonValue:
    return item.get("function") if is_object(item) else item


def _flat(value: JsonValue) -> JsonValue:
    """Unwrap a grammar from the object that only this format has."""
    match value:
        case {"type": "grammar", "grammar": {**inside}} if len(value) == 2 and "type" not in inside:  # noqa: PLR2004
            return {"type": "grammar", **inside}
        case _:
            return value


def _nested(value: JsonValue) -> JsonValue:
    if not is_object(value) or value.get("type") != "grammar" or "grammar" in value:
        return value
    return {"type": "grammar", "grammar": {key: found for key, found in value.items() if key != "type"}}


def messages_in(value: JsonValue) -> list[JsonObject]:
    """List the messages of a request, or of a list, that are objects with a role."""
    return [item for item in objects_in(value) if "role" in item]


def parts_in(value: JsonValue) -> list[JsonObject]:
    """List the content parts of all messages that are objects."""
    return [part for message in messages_in(value) for part in objects_in(message, "content")]
