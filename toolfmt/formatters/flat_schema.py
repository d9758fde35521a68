"""Flatten a schema's node: follow references, merge `allOf`, collect alternatives.

Writers of examples and of XML descriptions need all constraints of a node in one place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from toolfmt import jsontext
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.refs import resolve

_MERGED: Final = ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies", "$defs")
_LOWEST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_HIGHEST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_BY_NAME: Final = ("properties", "patternProperties", "dependentRequired")
_NEVER: Final[JsonObject] = {"not": {}}
_BARE: Final = frozenset({"type", "title"})
"""Keywords of an alternative that says nothing but its type."""


class Flat(NamedTuple):
    """The constraints of a node: its own keywords, alternatives, and schemas that apply if a member is present.

    Each entry of `choices` is a list of schemas of which one applies. `references` are the followed `$ref`s, outermost
    first.
    """

    own: JsonObject
    choices: list[list[JsonObject]]
    dependents: dict[str, JsonObject]
    references: tuple[str, ...]


def flatten(schema: JsonObject, root: JsonObject) -> Flat:
    """Flatten one node but not its children. Raises `UnresolvableReferenceError`."""
    return _flatten(schema, root, ())


def _flatten(schema: JsonObject, root: JsonObject, followed: tuple[str, ...]) -> Flat:
    own = {key: value for key, value in schema.items() if key not in _MERGED}
    choices = [objects(schema[key]) for key in ("anyOf", "oneOf") if objects(schema.get(key))]
    if "if" in schema and ("then" in schema or "else" in schema):
        condition = schema["if"]
        choices.append(
            [{"allOf": [condition, schema.get("then", {})]}, {"allOf": [{"not": condition}, schema.get("else", {})]}]
        )
    dependents: dict[str, JsonObject] = {}
    for key, value in mapping(schema.get("dependencies")).items():
        if isinstance(value, list):
            own["dependentRequired"] = {**mapping(own.get("dependentRequired")), key: value}
        else:
            dependents[key] = as_object(value)
    dependents |= {key: as_object(value) for key, value in mapping(schema.get("dependentSchemas")).items()}
    parts = objects(schema.get("allOf"))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in followed:
        followed = (*followed, reference)
        parts.insert(0, as_object(resolve(root, reference)))
    owns = [own]
    for part in parts:
        inner = _flatten(part, root, followed)
        owns.append(inner.own)
        choices += inner.choices
        dependents |= inner.dependents
        followed = inner.references
    while len(owns) > 1:  # in pairs, since a growing one would be copied at each step
        owns = [merge(*owns[at : at + 2]) if at + 1 < len(owns) else owns[at] for at in range(0, len(owns), 2)]
    return Flat(owns[0], choices, dependents, followed)


def without_null(flat: Flat, root: JsonObject) -> Flat:
    """Merge the other alternative of `anyOf: [something, null]` into the node, and null into its types."""
    branches = [flatten(branch, root) for choice in flat.choices for branch in choice]
    others = [branch for branch in branches if branch.own.get("type") != "null" or branch.own.keys() - _BARE]
    if len(flat.choices) != 1 or len(others) != 1 or len(branches) == 1:
        return flat
    merged = flatten({"allOf": [flat.own, flat.choices[0][branches.index(others[0])]]}, root)
    kinds = as_types(merged.own.get("type"))
    return Flat(
        {**merged.own, "type": [*kinds, "null"]} if kinds else merged.own,
        merged.choices,
        {**flat.dependents, **merged.dependents},
        (*flat.references, *merged.references),
    )


def merge(left: JsonObject, right: JsonObject) -> JsonObject:
    """Merge two schemas; annotations, and keywords that cannot be merged, are taken from the left one."""
    merged = dict(left)
    for key, value in right.items():
        merged[key] = _both(key, left[key], value) if key in left else value
    return merged


def _both(key: str, left: Any, right: Any) -> Any:
    if key in _LOWEST or key in _HIGHEST:
        numeric = all(isinstance(bound, (int, float)) for bound in (left, right))
        return (min if key in _LOWEST else max)(left, right) if numeric else left
    if key in _BY_NAME:
        pair = mapping(left), mapping(right)
        common = {name: _both_named(key, pair[0][name], pair[1][name]) for name in pair[0] if name in pair[1]}
        return {**pair[0], **pair[1], **common}
    return _JOINS.get(key, lambda left, _: left)(left, right)


def _both_named(key: str, left: Any, right: Any) -> Any:
    return _union(left, right) if key == "dependentRequired" else _conjunction(left, right)


def _conjunction(left: Any, right: Any) -> Any:
    """Combine two subschemas, which are flattened when needed."""
    if left is True or left == right:
        return right
    return left if right is True else {"allOf": [left, right]}


def _union(left: Any, right: Any) -> Any:
    both = isinstance(left, list) and isinstance(right, list)
    return [*dict.fromkeys(cast("list[Any]", left + right))] if both else cast("Any", left)


def _common(left: Any, right: Any) -> Any:
    """Intersect two `enum` keywords."""
    if not isinstance(left, list) or not isinstance(right, list):
        return cast("Any", left)
    others = set(map(jsontext.canonical, cast("list[Any]", right)))
    return [one for one in cast("list[Any]", left) if jsontext.canonical(one) in others]


def _types(left: Any, right: Any) -> list[str]:
    """Intersect two `type` keywords; an integer is a number too."""
    ones, others = as_types(left), as_types(right)
    kept = [kind for kind in ones if kind in others or (kind == "integer" and "number" in others)]
    return kept + [kind for kind in others if kind == "integer" and kind not in ones and "number" in ones]


def _multiple(left: Any, right: Any) -> Any:
    if isinstance(left, int) and isinstance(right, int):
        return math.lcm(left, right)
    return max(left, right)


_JOINS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "additionalProperties": _conjunction,
    "contains": _conjunction,
    "enum": _common,
    "items": _conjunction,
    "multipleOf": _multiple,
    "propertyNames": _conjunction,
    "required": _union,
    "type": _types,
    "uniqueItems": lambda left, right: left or right,
}
"""How two keywords of the same name are joined."""


def as_types(value: JsonValue) -> list[str]:
    """Return the names in a `type` keyword."""
    words = cast("list[object]", value) if isinstance(value, list) else [value]
    return [word for word in words if isinstance(word, str)]


def as_object(schema: JsonValue) -> JsonObject:
    """Return a subschema as an object: true allows anything, false nothing."""
    if isinstance(schema, dict):
        return cast("JsonObject", schema)
    return dict(_NEVER) if schema is False else {}


def objects(value: JsonValue) -> list[JsonObject]:
    """Return a list of subschemas as objects; anything else counts as empty."""
    return [as_object(item) for item in cast("list[Any]", value)] if isinstance(value, list) else []


def listed(own: JsonObject) -> list[JsonValue] | None:
    """Return the values that `const` or `enum` lists; None without such a list."""
    members: JsonValue = [own["const"]] if "const" in own else own.get("enum")
    return cast("list[JsonValue]", members) if isinstance(members, list) else None


def mapping(value: JsonValue) -> JsonObject:
    """Return an object; anything else counts as empty."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}
