"""Tools declared in the literals that the calls are written in, as Gemma's prompts do.

    <|tool>declaration:get_weather{description:<|"|>Get the weather.<|"|>,parameters:{properties:{city:
    {type:<|"|>STRING<|"|>}},required:[<|"|>city<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>

Types are in capitals, keys sorted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.formatters.literal_text import LiteralWriter
from toolfmt.jsontext import is_array, is_object

if TYPE_CHECKING:
    from toolfmt.dialect.literals import Literals
    from toolfmt.model import JsonObject, JsonValue, ToolDefinition


@dataclass(frozen=True, slots=True)
class Declaration:
    """A schema formatter: a tool as one literal."""

    literals: Literals
    opener: str
    closer: str

    def __call__(self, tool: ToolDefinition) -> str:
        """Write a tool. Raises `SchemaError`."""
        body = {"description": tool.description, "parameters": _capitals(parameters_object(tool))}
        writer = LiteralWriter(replace(self.literals, sorted_keys=True, typed_by_schema=False))
        return f"{self.opener}declaration:{tool.name}{writer.arguments(body)}{self.closer}"


def _capitals(schema: JsonValue) -> JsonValue:
    """Write the types of a schema in capitals, wherever a schema is; values and names stay."""
    if is_array(schema):
        return [_capitals(item) for item in schema]
    if not is_object(schema):
        return schema
    found: JsonObject = {}
    for key, value in schema.items():
        if key in _NAMED and is_object(value):
            found[key] = {name: _capitals(inner) for name, inner in value.items()}
        else:
            found[key] = value if key in _VALUES else _capitals(value)
    kind = schema.get("type")
    if isinstance(kind, str):
        found["type"] = kind.upper()
    elif is_array(kind):
        found["type"] = [str(one).upper() for one in kind]
    return found


_VALUES = frozenset({"enum", "const", "default", "examples", "required", "description", "title", "type"})
_NAMED = frozenset({"properties", "$defs"})
