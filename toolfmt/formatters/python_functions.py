'''Tools as Python functions with a docstring, as the prompt of Seed-OSS declares them.

    Function:
    def get_weather(city: str,days: int):
        """
        Get the weather.

        Args:
        - city (str) [必填]: City name
        - days (int) [选填]: Days

        """

The marks are the model's own words for "required" and "optional". All other keywords of a schema follow as JSON.
'''

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from toolfmt import jsontext
from toolfmt.formatters.flat_schema import subschema
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.formatters.signatures import one_line
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_object, names

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
