"""Tools as TypeScript types, as some open models' prompts declare them.

    // Get the weather.
    type get_weather = (_: {
      // City name
      city: string,
      // Days
      days?: number,
    }) => any;

Descriptions and defaults become comments. Constraints without a form in TypeScript, such as patterns and limits, are
left out; a recursive schema is `any` inside itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.formatters.flat_schema import Flat, flatten, listed, subschema
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.model import JsonObject, ToolDefinition
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_object, names

_NAMES: Final = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][\w$]*")


@dataclass(frozen=True, slots=True)
class TypeScript:
    """A schema formatter: a tool as a function type."""

    indent: str = "  "
    last_comma: bool = True
    """Whether the last member ends with a comma too."""

    def __call__(self, tool: ToolDefinition) -> str:
        """Write a tool. Raises `SchemaError`."""
        schema = parameters_object(tool)
        flat = flatten(schema, schema)
        body = self._object(flat, schema, (), "") if as_object(flat.own.get("properties")) else ""
        lines = [*comment(tool.description, ""), f"type {tool.name} = ({'_: ' if body else ''}{body}) => any;"]
        return "\n".join(lines)

    def _object(self, flat: Flat, root: JsonObject, above: tuple[str, ...], pad: str) -> str:
        members = list(self._members(flat, root, (*above, *flat.references), pad + self.indent))
        if not self.last_comma:
            members[-1] = members[-1][:-1]
        return "\n".join(("{", *members, f"{pad}}}"))

    def _members(self, flat: Flat, root: JsonObject, above: tuple[str, ...], pad: str) -> Iterator[str]:
        needed = names(flat.own.get("required"))
        for name, schema in as_object(flat.own.get("properties")).items():
            member = flatten(subschema(schema), root)
            yield from comment(str(member.own.get("description") or ""), pad)
            if "default" in member.own:
                yield f"{pad}// Default: {jsontext.dumps(member.own['default'])}"
            key = name if _PLAIN_KEY.fullmatch(name) else jsontext.dumps(name)
            yield f"{pad}{key}{'' if name in needed else '?'}: {self._type(member, root, above, pad)},"

    def _type(self, flat: Flat, root: JsonObject, above: tuple[str, ...], pad: str) -> str:
        if (members := listed(flat.own)) is not None:
            return " | ".join(map(jsontext.dumps, members)) or "any"
        if set(flat.references) & set(above):
            return "any"
        kinds = [self._kind(kind, flat, root, above, pad) for kind in type_list(flat.own)]
        if not kinds and flat.choices:
            inner = (*above, *flat.references)
            kinds = [self._type(flatten(branch, root), root, inner, pad) for branch in flat.choices[0]]
        return " | ".join(dict.fromkeys(kinds)) or "any"

    def _kind(self, kind: str, flat: Flat, root: JsonObject, above: tuple[str, ...], pad: str) -> str:
        if kind == "array":
            item = self._type(flatten(subschema(flat.own.get("items", {})), root), root, above, pad)
            return f"({item})[]" if " | " in item else f"{item}[]"
        if kind == "object":
            return self._object(flat, root, above, pad) if as_object(flat.own.get("properties")) else "object"
        return _NAMES.get(kind, "any")


def comment(text: str, pad: str) -> list[str]:
    """Write a text as comment lines."""
    return [f"{pad}// {line}".rstrip() for line in text.strip().splitlines()]
