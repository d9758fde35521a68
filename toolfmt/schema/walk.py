"""Where a JSON Schema holds further schemas: visiting those, and copying a schema with those changed.

Only these places are schemas. A property that happens to be called `items` or `$ref`, an enum's member, a default: all
of that is data and stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any, Final, TypeAlias

from toolfmt.errors import SchemaError
from toolfmt.jsontext import MAX_DEPTH, is_array, is_object, token, too_deep
from toolfmt.model import JsonObject, JsonValue

SchemaPlace: TypeAlias = tuple[str, ...]
"""The way from the root to a subschema, one token of the JSON pointer each."""
Rewrite: TypeAlias = "Callable[[Any, SchemaPlace], Any]"
"""Returns what the copy holds for the subschema at a place."""

MAX_PLACE: Final = 200
"""Tokens in the pointer of the deepest subschema; deeper schemas are refused rather than overflow the stack."""

DEFINITIONS: Final = frozenset({"$defs", "definitions"})
NAMED: Final = DEFINITIONS | {"properties", "patternProperties", "dependentSchemas"}
LISTED: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
SINGLE: Final = frozenset(
    {
        *("additionalItems", "additionalProperties", "contains", "else", "if", "items"),
        *("not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    }
)


def subschemas(schema: JsonObject) -> Iterator[tuple[SchemaPlace, Any]]:
    """Yield each schema directly inside a schema, with the way to it; a value of the wrong type may be among them."""
    for key, value in schema.items():
        if key in NAMED:
            yield from (((key, str(name)), sub) for name, sub in as_object(value).items())
        elif key in LISTED and is_array(value):
            yield from (((key, str(number)), sub) for number, sub in enumerate(value))
        elif key in SINGLE:
            yield (key,), value


def as_object(value: Any) -> JsonObject:
    """Return a value that should be an object; empty for any other."""
    return value if is_object(value) else {}


def as_list(value: Any) -> list[Any]:
    """Return a value that should be a list; empty for any other."""
    return value if is_array(value) else []


def is_number(value: Any) -> bool:
    """Whether a value is a JSON number, which a flag is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def names(value: Any) -> list[str]:
    """Return a list of names; empty for any other value."""
    return [name for name in as_list(value) if isinstance(name, str)]


def without(schema: JsonObject, keys: Container[str]) -> JsonObject:
    """Copy a schema's top level without some keywords."""
    return {key: value for key, value in schema.items() if key not in keys}


def map_subschemas(schema: JsonObject, change: Rewrite, place: SchemaPlace) -> JsonObject:
    """Copy a schema with `change` applied to each schema directly inside it; everything else is copied deeply.

    Key order is kept. Raises `SchemaError` past `MAX_PLACE`.
    """
    if len(place) > MAX_PLACE:
        raise SchemaError(f"the schema is nested too deeply, from {pointer(place[:6])} on")
    copy: JsonObject = {}
    for key, value in schema.items():
        if key in NAMED and is_object(value):
            copy[key] = {name: change(sub, (*place, key, name)) for name, sub in value.items()}
        elif key in LISTED and is_array(value):
            copy[key] = [change(sub, (*place, key, str(i))) for i, sub in enumerate(value)]
        elif key in SINGLE and isinstance(value, (dict, bool)):
            copy[key] = change(value, (*place, key))
        else:
            copy[key] = _copied(value, place)
    return copy


def _copied(value: Any, place: SchemaPlace) -> Any:
    """Copy values that are not schemas: an enum, a default."""
    if not (is_object(value) or is_array(value)):
        return value
    if too_deep(value, MAX_DEPTH):
        raise SchemaError(f"a value is nested too deeply, in {pointer(place[:6])}")
    return copied(value)


def copied(value: JsonValue) -> JsonValue:
    """Copy the lists and objects of a JSON value."""
    if is_object(value):
        return {key: copied(item) for key, item in value.items()}
    return list(map(copied, value)) if is_array(value) else value


def values_in(value: JsonValue) -> Iterator[JsonValue]:
    """Yield a value and all values inside it, at any depth."""
    pending = [value]
    for one in pending:
        yield one
        if is_object(one) or is_array(one):
            pending += one.values() if is_object(one) else one


def pointer(place: SchemaPlace) -> str:
    """Write a place as a URI fragment: `#/properties/a~1b`."""
    return "#" + "".join(f"/{token(name)}" for name in place)
