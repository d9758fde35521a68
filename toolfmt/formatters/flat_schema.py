"""Flatten a schema's node: follow references, merge `allOf`, collect alternatives.

Writers of examples and of XML descriptions need all constraints of a node in one place.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from toolfmt import jsontext
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.refs import resolve
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_list, as_object

_MERGED: Final = ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies", "$defs")
_LOWEST: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_HIGHEST: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_BY_NAME: Final = ("properties", "patternProperties", "dependentRequired")
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
    for key, value in as_object(schema.get("dependencies")).items():
        if is_array(value):
            own["dependentRequired"] = {**as_object(own.get("dependentRequired")), key: value}
        else:
            dependents[key] = subschema(value)
    dependents |= {key: subschema(value) for key, value in as_object(schema.get("dependentSchemas")).items()}
    parts = objects(schema.get("allOf"))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in followed:
        followed = (*followed, reference)
        parts.insert(0, subschema(resolve(root, reference)))
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
    kinds = type_list(merged.own)
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
        pair = as_object(left), as_object(right)
        join = _union if key == "dependentRequired" else _conjunction
        common = {name: join(pair[0][name], pair[1][name]) for name in pair[0] if name in pair[1]}
        return {**pair[0], **pair[1], **common}
    return _JOINS.get(key, lambda left, _: left)(left, right)


def _conjunction(left: Any, right: Any) -> Any:
    """Combine two subschemas, which are flattened when needed."""
    if left is True or left == right:
        return right
    return left if right is True else {"allOf": [left, right]}


def _union(left: Any, right: Any) -> Any:
    return [*dict.fromkeys(left + right)] if is_array(left) and is_array(right) else left


def _common(left: Any, right: Any) -> Any:
    """Intersect two `enum` keywords."""
    if not is_array(left) or not is_array(right):
        return left
    others = set(map(jsontext.canonical, right))
    return [one for one in left if jsontext.canonical(one) in others]


def _types(left: Any, right: Any) -> list[str]:
    """Intersect two `type` keywords; an integer is a number too."""
    ones, others = (type_list({"type": one}) for one in (left, right))
    kept = [kind for kind in ones if kind in others or (kind == "integer" and "number" in others)]
    return kept + [kind for kind in others if kind == "integer" and kind not in ones and "number" in ones]


def _multiple(left: Any, right: Any) -> Any:
    whole = isinstance(left, int) and isinstance(right, int) and max(left, right) < _LARGE
    return math.lcm(left, right) if whole else max(left, right)


_LARGE: Final = 1 << 256
"""From here on, two multiples have none in common that an example could be."""


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


def subschema(schema: JsonValue) -> JsonObject:
    """Return a subschema as an object: true allows anything, false nothing."""
    return {"not": {}} if schema is False else as_object(schema)


def objects(value: JsonValue) -> list[JsonObject]:
    """Return a list of subschemas as objects; anything else counts as empty."""
    return [*map(subschema, as_list(value))]


def listed(own: JsonObject) -> list[JsonValue] | None:
    """Return the values that `const` or `enum` lists; None without such a list."""
    members: JsonValue = [own["const"]] if "const" in own else own.get("enum")
    return members if is_array(members) else None
