"""Values that say the right thing in the wrong type: a text for a number, a number for a truth value.

    {"days": "5", "dry": "yes", "n": "[1]"}   ->   {"days": 5, "dry": True, "n": [1]}

As pydantic's lax mode has it: text becomes what it spells, 0 and 1 become truth
values, and nothing becomes text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.branches import chosen, depends
from toolfmt.schema.coercion import coerce
from toolfmt.schema.places import item_schema, kind_of, property_schema, types
from toolfmt.schema.walk import token

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_LETTERS: Final = {"t": True, "f": False, "y": True, "n": False}


def relax(arguments: JsonObject, schema: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Give a call's arguments the types of their places: the arguments, and each change in words."""
    changes: list[str] = []
    if depends(schema):
        schema = chosen(schema, arguments)
    relaxed = {
        key: _value(value, property_schema(schema, key), f"/{token(key)}", changes) for key, value in arguments.items()
    }
    return relaxed, tuple(changes)


def _value(value: JsonValue, schema: JsonObject | None, where: str, changes: list[str]) -> JsonValue:
    allowed = types(schema)
    if allowed is None:
        return value
    found = value
    if isinstance(value, str) and "string" not in allowed and value.strip():
        found = _spelled(value, schema, allowed)
    elif type(value) in (int, float) and value in (0, 1) and not allowed & {"integer", "number", "string"}:
        found = bool(value) if "boolean" in allowed else value
    if found is not value:
        changes.append(f"{where}: {jsontext.dumps(value)[:60]} counts as {jsontext.dumps(found)[:60]}")
    if is_object(found):
        return {
            key: _value(item, property_schema(schema, key), f"{where}/{token(key)}", changes)
            for key, item in found.items()
        }
    if is_array(found):
        return [_value(item, item_schema(schema, at), f"{where}/{at}", changes) for at, item in enumerate(found)]
    return found


def _spelled(text: str, schema: JsonObject | None, allowed: frozenset[str]) -> JsonValue:
    """What a text spells, where that is of a type that is allowed."""
    value, changed = coerce(text, schema)
    kind = kind_of(value)
    if changed and (kind in allowed or (kind == "integer" and "number" in allowed)):
        return value
    return _LETTERS.get(text.strip().lower(), text) if allowed <= {"boolean", "null"} else text
