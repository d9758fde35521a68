"""Tools in short form: one line each, or a Markdown list of parameters.

    signature             search(query, limit?) - Search the web.
    markdown_parameters   ## search

                          Search the web.

                          **Parameters:**

                          - `query` (string) (required): The words.
                          - `limit` (integer): How many. Default: `10`.

Text of a tool's author cannot break the layout: a description cannot begin a heading, a fence or a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, cast

from toolfmt import jsontext
from toolfmt.formatters.flat_schema import Flat, flatten, listed, subschema, without_null
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.places import kind_of
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_object, names

_STRUCTURE: Final = re.compile(r"^([ \t]*)(?=#|`{3}|~{3}|[-=*_][-=*_ \t]+$)", re.MULTILINE)
_TICKS: Final = re.compile(r"`+")
_NOTES: Final = {
    "minimum": "At least",
    "exclusiveMinimum": "More than",
    "maximum": "At most",
    "exclusiveMaximum": "Less than",
    "multipleOf": "A multiple of",
    "minLength": "Shortest length",
    "maxLength": "Longest length",
    "pattern": "Matches",
    "format": "Format",
    "minItems": "Fewest items",
    "maxItems": "Most items",
    "const": "Always",
    "default": "Default",
}


def signature(tool: ToolDefinition) -> str:
    """Write a tool on one line; `?` marks optional parameters. Raises `SchemaError`."""
    schema = parameters_object(tool)
    flat = flatten(schema, schema)
    required = names(flat.own.get("required"))
    arguments = (name if name in required else f"{name}?" for name in as_object(flat.own.get("properties")))
    call = f"{tool.name}({', '.join(map(one_line, arguments))})"
    return f"{call} - {one_line(tool.description)}" if tool.description.strip() else call


def markdown_parameters(tool: ToolDefinition) -> str:
    """Write a tool as a Markdown section with a list of its parameters. Raises `SchemaError`."""
    schema = parameters_object(tool)
    parameters = "\n".join(_parameters(flatten(schema, schema), schema, (), ""))
    blocks = (
        f"## {one_line(tool.name)}",
        _STRUCTURE.sub(r"\1\\", tool.description.strip()),
        f"**Parameters:**\n\n{parameters}" if parameters else "**Parameters:** none",
    )
    return "\n\n".join(filter(None, blocks))


def one_line(text: str) -> str:
    """Join lines and collapse white space."""
    return " ".join(text.split())


def code(text: str) -> str:
    """Write text as a Markdown code span, even if it contains backticks."""
    text = jsontext.dumps(text) if "\n" in text or "\r" in text else text
    ticks = "`" * (max((len(run) for run in _TICKS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") or not text else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _parameters(flat: Flat, root: JsonObject, above: tuple[str, ...], indent: str) -> Iterator[str]:
    """Write the members of an object, with nested members below each."""
    required = names(flat.own.get("required"))
    above = (*above, *flat.references)
    for name, schema in as_object(flat.own.get("properties")).items():
        if schema is False:
            continue
        member = without_null(flatten(subschema(schema), root), root)
        marks = f"({_type(member, root)})" + (" (required)" if name in required else "")
        text = " ".join(filter(None, (one_line(str(member.own.get("description") or "")), *_notes(member.own))))
        yield f"{indent}- {code(name)} {marks}" + (f": {text}" if text else "")
        yield from _below(member, root, above, indent + "  ")


def _below(member: Flat, root: JsonObject, above: tuple[str, ...], indent: str) -> Iterator[str]:
    """Write the nested members of a member: its own, and those of its items and alternatives."""
    item = without_null(flatten(subschema(member.own.get("items", {})), root), root)
    for inner in (member, item):
        # A recursive schema is written once.
        if not set(inner.references) & set(above):
            yield from _parameters(inner, root, (*above, *member.references), indent)
            for number, branch in enumerate((branch for choice in inner.choices for branch in choice), start=1):
                option = flatten(branch, root)
                if as_object(option.own.get("properties")) and not set(option.references) & set(above):
                    yield f"{indent}- option {number} ({_type(option, root)})"
                    yield from _parameters(option, root, (*above, *inner.references), indent + "  ")


def _type(flat: Flat, root: JsonObject, levels: int = 2) -> str:
    """Name the types, including those in lists, maps and alternatives down to a depth."""
    kinds = type_list(flat.own)
    if not kinds:
        kinds = list(map(kind_of, listed(flat.own) or ()))
    if not kinds and flat.choices and levels:
        kinds = [_type(flatten(branch, root), root, levels - 1) for branch in flat.choices[0]]
    held = flat.own.get("items" if kinds == ["array"] else "additionalProperties")
    if kinds in (["array"], ["object"]) and isinstance(held, dict) and levels:
        return f"{kinds[0]} of {_type(flatten(cast('JsonObject', held), root), root, levels - 1)}"
    return " or ".join(dict.fromkeys(kinds)) or "any"


def _notes(own: JsonObject) -> Iterator[str]:
    members = own.get("enum")
    if isinstance(members, list):
        yield f"One of: {', '.join(code(_plain(member)) for member in cast('list[JsonValue]', members))}."
    yield from (f"{words}: {code(_plain(own[key]))}." for key, words in _NOTES.items() if key in own)


def _plain(value: JsonValue) -> str:
    return value if isinstance(value, str) else jsontext.dumps(value)
