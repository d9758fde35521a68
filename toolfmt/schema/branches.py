"""Arguments whose schema depends on another argument: alternatives at the root, told apart by listed values.

    {"oneOf": [{"properties": {"kind": {"const": "text"}, "value": {"type": "string"}}},
               {"properties": {"kind": {"const": "count"}, "value": {"type": "integer"}}}]}

Of `value` alone nothing is certain; with `kind` known, its type is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolfmt import jsontext
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.places import Rooted, property_schema, reach, root_of, shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from toolfmt.model import JsonObject, JsonValue

_COMBINED = ("anyOf", "oneOf")
_MOST_BRANCHES = 64
"""Alternatives that are looked at; of more, all count."""


def depends(schema: JsonObject | None) -> bool:
    """Whether what an argument may be depends on the value of another one."""
    if not schema or schema.keys().isdisjoint((*_COMBINED, "allOf", "$ref")):
        return False
    return any(
        1 < len(branches) <= _MOST_BRANCHES and any(any(_listed(branch)) for branch in branches)
        for branches in _alternatives(schema)
    )


def chosen(schema: JsonObject, values: Mapping[str, JsonValue]) -> JsonObject:
    """Leave of a schema's alternatives those whose listed values the arguments have; all where none fits."""
    root = root_of(schema)
    parts: list[Any] = []
    for node, optional in reach(schema):
        if optional:
            continue
        part = {key: value for key, value in node.items() if key not in {*_COMBINED, "allOf", "$ref"}}
        for key in _COMBINED:
            branches = node.get(key)
            if is_array(branches):
                fitting = [branch for branch in branches if _fits(Rooted({"allOf": [branch]}, root), values)]
                part[key] = fitting or branches
        parts.append(part)
    return Rooted({"allOf": parts}, root)


def _alternatives(schema: JsonObject) -> Iterator[list[JsonObject]]:
    root = root_of(schema)
    for node, optional in reach(schema):
        for key in () if optional else _COMBINED:
            branches = node.get(key)
            if is_array(branches):
                yield [Rooted({"allOf": [branch]}, root) for branch in branches]


def _listed(branch: JsonObject) -> Iterator[tuple[str, tuple[JsonValue, ...]]]:
    """The arguments for which a branch lists the values, and these."""
    names = {
        name: None for node, _ in reach(branch) if is_object(node.get("properties")) for name in node["properties"]
    }
    for name in names:
        allowed, members = shape(property_schema(branch, name))
        if members and not allowed and allowed is not None:
            yield name, members


def _fits(branch: JsonObject, values: Mapping[str, JsonValue]) -> bool:
    return all(
        name not in values or any(jsontext.equal(values[name], member) for member in members)
        for name, members in _listed(branch)
    )
