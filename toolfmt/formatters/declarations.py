'''Tools declared in a language or in tags, as some open models' prompts show them.

    // Get the weather.                            TypeScript
    type get_weather = (_: {
      // City name
      city: string,
      days?: number,
    }) => any;

    Function:                                      Python, as Seed-OSS has it
    def get_weather(city: str,days: int):
        """
        Get the weather.

        Args:
        - city (str) [必填]: City name
        - days (int) [选填]: Days

        """

In TypeScript, descriptions and defaults become comments. Constraints without a form in it, such as patterns and limits,
are left out; a recursive schema is `any` inside itself. The marks in Python are the model's own words for "required"
and "optional"; all other keywords of a schema follow as JSON.
'''

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.formatters.flat_schema import Flat, flatten, listed, subschema
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.formatters.signatures import one_line
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
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


_TYPES: Final = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}
_REQUIRED: Final = "必填"
_OPTIONAL: Final = "选填"


def python_function(tool: ToolDefinition) -> str:
    """Write a tool as a function without a body. Raises `SchemaError`."""
    schema = parameters_object(tool)
    needed = names(schema["required"])
    parameters = {name: subschema(one) for name, one in as_object(schema.get("properties")).items()}
    signature = ",".join(f"{name}: {_type(one)}" for name, one in parameters.items())
    lines = [tool.description.strip().replace("\n", "\n    "), ""]
    if parameters:
        lines.append("Args:")
        lines += [_parameter(name, one, required=name in needed) for name, one in parameters.items()]
        lines.append("")
    body = "\n".join(f"    {line}" if line else "" for line in ('"""', *lines, '"""'))
    return f"Function:\ndef {tool.name}({signature}):\n{body}"


def _parameter(name: str, schema: JsonObject, *, required: bool) -> str:
    rest = {key: value for key, value in schema.items() if key not in {"type", "description"}}
    notes = [one_line(str(schema.get("description") or "")), jsontext.dumps(rest) if rest else ""]
    mark = _REQUIRED if required else _OPTIONAL
    return f"- {name} ({_type(schema)}) [{mark}]: {' '.join(filter(None, notes))}"


def _type(schema: JsonObject) -> str:
    kinds = type_list(schema)
    return _TYPES.get(kinds[0], "Any") if len(kinds) == 1 else "Any"


_FIRST = ("type", "description")


def function_elements(tool: ToolDefinition) -> str:
    """Write a tool as a `<function>` element. Raises `SchemaError`."""
    return "\n".join(_function(tool))


def _function(tool: ToolDefinition) -> Iterator[str]:
    schema = parameters_object(tool)
    yield "<function>"
    yield _element("name", tool.name)
    yield _element("description", tool.description.strip())
    yield "<parameters>"
    for name, parameter in as_object(schema.get("properties")).items():
        yield "<parameter>"
        yield _element("name", name)
        yield from _keywords(subschema(parameter))
        yield "</parameter>"
    yield from _keywords({key: value for key, value in schema.items() if key not in {"type", "properties"}})
    yield "</parameters>"
    yield "</function>"


def _keywords(schema: JsonObject) -> Iterator[str]:
    for key in (*(key for key in _FIRST if key in schema), *(key for key in schema if key not in _FIRST)):
        value = schema[key]
        yield _element(key, value.strip() if key == "description" and isinstance(value, str) else value)


def _element(name: str, value: JsonValue) -> str:
    return f"<{name}>{value if isinstance(value, str) else jsontext.dumps(value)}</{name}>"
