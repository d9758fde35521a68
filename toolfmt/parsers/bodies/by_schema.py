"""Uses a tool's schema to decide what a call's text leaves open: a missing last brace, a name that only an id contains.

    {"name": "f", "arguments": {"a": {"b": 1, "c": 2}}     is `c` beside `b` or beside `a`?
    functions.read:0    its name
    0, call_3           no name: it means the only tool that accepts the arguments and requires some of them

Without a schema, a last object with several members leaves the place of the brace open.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import regex

from toolfmt import jsontext
from toolfmt.dialect.record import Limits
from toolfmt.dialect.syntax import name_in_id
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.bodies.json_values import decode
from toolfmt.parsers.scanning.cursor import WHITE, Malformed
from toolfmt.parsers.scanning.resuming import Fault
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import accepts, declares, extra_arguments, property_schema


def has_one_reading(arguments: JsonObject, tool: ToolDefinition | None, outer: Collection[str] = ()) -> bool:
    """Whether the arguments have only this reading; `outer` are the call's keys beside them."""
    if _last(arguments).endswith(("}", "]", ")")):
        return False  # the missing bracket may be this one
    if tool is not None:
        return _fits(tool, arguments) and not may_belong_outside(arguments, tool.parameters)
    node: object = arguments
    while jsontext.is_object(node) and node:
        key = next(reversed(node))
        if key in outer or (node is not arguments and len(node) > 1):
            return False
        node = node[key]
    return True


def _fits(tool: ToolDefinition, arguments: JsonObject) -> bool:
    """Whether a tool accepts the arguments; False if its schema cannot be used."""
    return accepts(tool, arguments) and not extra_arguments(tool, arguments)


def _last(value: JsonValue) -> str:
    """Return the string at the end of a value, or "" if it ends with anything else."""
    while value:
        if jsontext.is_object(value):
            value = value[next(reversed(value))]
        elif jsontext.is_array(value):
            value = value[-1]
        else:
            return value if isinstance(value, str) else ""
    return ""


def may_belong_outside(arguments: JsonObject, schema: JsonObject) -> bool:
    """Whether the innermost last object contains a key that only an enclosing object declares."""
    inner: object = arguments
    place: JsonObject | None = schema
    outer: list[JsonObject] = []
    while jsontext.is_object(inner) and inner and place is not None:
        if any(not declares(place, key) and any(declares(each, key) for each in outer) for key in inner):
            return True
        last = next(reversed(inner))
        outer.append(place)
        inner, place = inner[last], property_schema(place, last)
    return False


def without_brace(text: str, tool: ToolDefinition | None, limits: Limits) -> JsonObject | None:
    """Return the arguments of JSON text without its last brace, or None if more may be missing.

    After a string nothing is certain, because a quote in its text may have ended it; an object that has only begun is
    empty.
    """
    fault = Fault(text)
    if fault.depth != 1 or fault.quoted or fault.after_string or not text.strip("{" + WHITE):
        return None
    try:
        arguments = decode(text + "}", 0, limits)
    except Malformed:
        return None
    return arguments if jsontext.is_object(arguments) and has_one_reading(arguments, tool) else None


_NUMBERED = regex.compile(r"(?:[A-Za-z]{1,16}[_\-]){0,4}[0-9a-f\-]{0,64}[0-9]").fullmatch


def held_name(template: str, text: str, tools: Mapping[str, ToolDefinition]) -> str:
    """Return the name in an id of this form, or "" if the id is only a number and tools are known."""
    name = name_in_id(template, text)
    held = name and (name in tools or text.startswith(template.partition("{")[0]) or not _NUMBERED(name))
    return name if held or not tools else ""


def name_by_fit(draft: Draft, arguments: JsonObject, at: int) -> None:
    """Name a call after the only tool that accepts its arguments; raises `Malformed` if there is none.

    A tool without required arguments cannot be identified by them.
    """
    tools = draft.sink.options.tools
    fits = [name for name, tool in tools.items() if _fits(tool, arguments)]
    if len(fits) != 1 or _fits(tools[fits[0]], {}):
        raise Malformed("missing_name", "the call names no tool", at)
    draft.name = fits[0]
    detail = f"the call names no tool; {draft.name!r} was guessed because only it accepts these arguments"
    draft.note("alias_used", detail, draft.start, guessed=True)
    draft.announce()
