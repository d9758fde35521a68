"""Which alternatives of a schema the arguments choose.

The type of one argument may depend on another one, by values that the alternatives of the root list:

    {"oneOf": [{"properties": {"kind": {"const": "text"}, "value": {"type": "string"}}},
               {"properties": {"kind": {"const": "count"}, "value": {"type": "integer"}}}]}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.places import COMBINED, UNIONS, Rooted, property_schema, reach, root_of, shape
from toolfmt.schema.walk import as_list, as_object, without

_MOST_BRANCHES: Final = 64
"""Alternatives whose listed values are compared; of more, all count."""


def depends(schema: JsonObject | None) -> bool:
    """Whether what an argument may be depends on the value of another one."""
    if not schema or schema.keys().isdisjoint(COMBINED):
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
        part = without(node, COMBINED)
        for key in UNIONS:
            branches = node.get(key)
            if is_array(branches):
                fitting = [branch for branch in branches if _chosen(Rooted({"allOf": [branch]}, root), values)]
                part[key] = fitting or branches
        parts.append(part)
    return Rooted({"allOf": parts}, root)


def _alternatives(schema: JsonObject) -> Iterator[list[JsonObject]]:
    root = root_of(schema)
    for node, optional in reach(schema):
        for key in () if optional else UNIONS:
            if branches := as_list(node.get(key)):
                yield [Rooted({"allOf": [branch]}, root) for branch in branches]


def _listed(branch: JsonObject) -> Iterator[tuple[str, tuple[JsonValue, ...]]]:
    """The arguments for which a branch lists the values, and these."""
    for name in dict.fromkeys(name for node, _ in reach(branch) for name in as_object(node.get("properties"))):
        allowed, members = shape(property_schema(branch, name))
        if members and not allowed and allowed is not None:
            yield name, members


def _chosen(branch: JsonObject, values: Mapping[str, JsonValue]) -> bool:
    return all(
        name not in values or any(jsontext.equal(values[name], member) for member in members)
        for name, members in _listed(branch)
    )
