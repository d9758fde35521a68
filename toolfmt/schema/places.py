"""What a place in a value may hold, read from a schema without unfolding it.

A parser asks about one argument at a time, so references and combinations are followed only as far as the question
goes. A subschema that is returned remembers its document (it is a `Rooted`), so that its own references still resolve.
A reference that does not resolve allows anything.

The type of one argument may depend on another one, by values that the alternatives of the root list:

    {"oneOf": [{"properties": {"kind": {"const": "text"}, "value": {"type": "string"}}},
               {"properties": {"kind": {"const": "count"}, "value": {"type": "integer"}}}]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.errors import UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.refs import resolve
from toolfmt.schema.spelling import ANYTHING, JSON_TYPES, type_of
from toolfmt.schema.walk import as_list, as_object, without

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from toolfmt.model import JsonObject, JsonValue

Schema: TypeAlias = "JsonObject | bool | None"
"""A JSON Schema; None is the same as `{}` and `True`, and allows anything."""
_MAX_NESTING: Final = 64
"""Combinations inside combinations; beyond, anything is allowed."""


class Rooted(dict[str, Any]):
    """A subschema together with the document that its references point into."""

    __slots__ = ("root",)

    def __init__(self, schema: JsonObject, root: JsonObject) -> None:
        """Copy the schema's top level."""
        super().__init__(schema)
        self.root = root


class ValueShape(NamedTuple):
    """What a schema allows: all values of some `types` (None: any value) and the `members` that it lists."""

    types: frozenset[str] | None
    members: tuple[JsonValue, ...] = ()


_COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
"""Keywords of a schema that is made of others."""
_COMBINING: Final = _COMBINED | {"const", "enum", "nullable"}
"""Keywords beside `type` of which the types depend."""
ANY: Final = ValueShape(None)
NOTHING: Final = ValueShape(frozenset())
_SINGLE: Final = {kind: frozenset({kind}) for kind in JSON_TYPES}
_UNIONS: Final = ("anyOf", "oneOf")
_MOST_BRANCHES: Final = 64
"""Alternatives whose listed values are compared; of more, all count."""
_KINDS: Final = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def kind_of(value: JsonValue) -> str:
    """Return the JSON Schema type of a value; a whole float is a `number`."""
    return _KINDS.get(value.__class__, ANYTHING)


def types(schema: Schema) -> frozenset[str] | None:
    """Return the JSON types that a schema allows, enum and const members included; None for any."""
    if schema is None:
        return None
    if is_object(schema) and _COMBINING.isdisjoint(schema):
        return _stated(schema)
    allowed, members = shape(schema)
    return allowed if allowed is None or not members else allowed | {kind_of(member) for member in members}


def property_schema(schema: JsonObject | None, key: str) -> JsonObject | None:
    """Return the schema of an object's member; None if the schema doesn't speak of it.

    Looks through `$ref`, `allOf`, `anyOf` and `oneOf`; `additionalProperties`
    count only if none of them names the member. Patterns are not run: where
    `patternProperties` may apply, all of them count as alternatives.
    """
    if schema is None:
        return None
    if is_object(schema) and not is_combined(schema) and is_object(own := _object(schema, "properties").get(key)):
        return Rooted(own, root_of(schema))  # by far the most common case
    named = _inside(schema, lambda node: _schema(_object(node, "properties").get(key)))
    return _inside(schema, _further) if named is None else named


def declares(schema: JsonObject | None, key: str) -> bool:
    """Whether a schema names this member of an object."""
    if is_object(schema) and not is_combined(schema):
        return key in _object(schema, "properties")
    return any(key in _object(node, "properties") for node, _ in reach(schema))


def plain_type(schema: JsonObject | None, key: str) -> str:
    """Return the type of an object's member where two plain schemas state one; "" where it takes more to know it."""
    if schema is None or not _COMBINED.isdisjoint(schema):
        return ""
    own = _object(schema, "properties").get(key)
    stated = own.get("type") if is_object(own) and _COMBINING.isdisjoint(own) else None
    return stated if isinstance(stated, str) and stated in _SINGLE else ""


def property_names(schema: JsonObject | None) -> Iterator[str]:
    """Yield the members that a schema names for certain, in its order."""
    names = (key for node, optional in reach(schema) if not optional for key in _object(node, "properties"))
    yield from dict.fromkeys(names)


def takes_none(schema: JsonObject | None) -> bool:
    """Whether a schema names no member at all, not even in an alternative."""
    return not any(_object(node, "properties") for node, _ in reach(schema))


def item_schema(schema: JsonObject | None, index: int) -> JsonObject | None:
    """Return the schema of an array's item; None if the schema doesn't speak of it."""
    return _inside(schema, lambda node: _item(node, index))


def is_combined(schema: JsonObject) -> bool:
    """Whether a schema is made of others."""
    return not _COMBINED.isdisjoint(schema)


def reach(schema: JsonObject | None) -> Iterator[tuple[JsonObject, bool]]:
    """Yield each object schema that a schema combines, itself first, and whether it is one of alternatives."""
    if is_object(schema) and not is_combined(schema):
        yield schema, False
        return
    pending: list[tuple[Any, bool]] = [(schema, False)]
    root = root_of(schema)
    seen: set[int] = set()
    for node, optional in pending:
        if not is_object(node) or id(node) in seen:
            continue
        seen.add(id(node))
        yield node, optional
        if _COMBINED.isdisjoint(node):
            continue
        if "$ref" in node:
            pending.append((_follow(root, node["$ref"]), optional))
        pending.extend((sub, optional) for sub in _list(node, "allOf"))
        pending.extend((sub, True) for key in _UNIONS for sub in _list(node, key))


def shape(schema: Schema) -> ValueShape:
    """Return what a schema allows at its top level."""
    if is_object(schema) and _COMBINING.isdisjoint(schema):
        return ValueShape(_stated(schema))
    return _shape(schema, root_of(schema), {}, 0)


def _shape(node: Any, root: Any, seen: dict[str, ValueShape | None], nesting: int) -> ValueShape:
    if node is False:
        return NOTHING
    if not is_object(node) or nesting > _MAX_NESTING:
        return ANY
    result = ValueShape(_stated(node))
    if "const" in node:
        result = _meet(result, ValueShape(frozenset(), (node["const"],)))
    if "enum" in node:
        result = _meet(result, ValueShape(frozenset(), tuple(_list(node, "enum"))))
    if "$ref" in node:
        target = _shape_of_target(str(node["$ref"]), root, seen, nesting)
        result = result if target is None else _meet(result, target)
    for sub in _list(node, "allOf"):
        result = _meet(result, _shape(sub, root, seen, nesting + 1))
    for key in _UNIONS:
        if branches := _list(node, key):
            union = NOTHING
            for branch in branches:
                union = _join(union, _shape_of_branch(branch, root, seen, nesting + 1))
            result = _meet(result, union)
    return _join(result, ValueShape(frozenset({"null"}))) if node.get("nullable") is True else result


def _shape_of_target(reference: str, root: Any, seen: dict[str, ValueShape | None], nesting: int) -> ValueShape | None:
    """Return the shape of a reference, worked out once; None while it is being worked out (it leads to itself)."""
    if reference not in seen:
        seen[reference] = None
        seen[reference] = _shape(_follow(root, reference), root, seen, nesting + 1)
    return seen[reference]


def _shape_of_branch(branch: Any, root: Any, seen: dict[str, ValueShape | None], nesting: int) -> ValueShape:
    """As `_shape`, but an alternative that only leads back to itself adds nothing."""
    if is_object(branch) and seen.get(str(branch.get("$ref")), ANY) is None:
        return NOTHING
    return _shape(branch, root, seen, nesting)


def _stated(node: JsonObject) -> frozenset[str] | None:
    """Return the types that `type` states. Without one, `properties` means an object and `items` an array."""
    if "type" not in node:
        if "properties" in node:
            return frozenset({"object"})
        return frozenset({"array"}) if "items" in node or "prefixItems" in node else None
    spelled = node["type"]
    if isinstance(spelled, str) and spelled in _SINGLE:
        return _SINGLE[spelled]
    kinds = [type_of(word) for word in (spelled if is_array(spelled) else [spelled])]
    return None if ANYTHING in kinds else frozenset(filter(None, kinds)) if all(kinds) else None


def _meet(a: ValueShape, b: ValueShape) -> ValueShape:
    """Return what both allow."""
    in_a, in_b = {repr(member) for member in a.members}, {repr(member) for member in b.members}
    kept = [member for member in a.members if repr(member) in in_b or _fits(b.types, member)]
    kept += [member for member in b.members if repr(member) not in in_a and _fits(a.types, member)]
    if a.types is None or b.types is None:
        return ValueShape(b.types if a.types is None else a.types, tuple(kept))
    shared = {kind for one, other in ((a.types, b.types), (b.types, a.types)) for kind in one if _covers(other, kind)}
    return ValueShape(frozenset(shared), tuple(kept))


def _join(a: ValueShape, b: ValueShape) -> ValueShape:
    """Return what either allows."""
    return ValueShape(None if a.types is None or b.types is None else a.types | b.types, (*a.members, *b.members))


def _covers(allowed: frozenset[str], kind: str) -> bool:
    return kind in allowed or (kind == "integer" and "number" in allowed)


def _fits(allowed: frozenset[str] | None, value: JsonValue) -> bool:
    if allowed is None or _covers(allowed, kind_of(value)):
        return True
    return type(value) is float and value.is_integer() and "integer" in allowed


def _inside(schema: JsonObject | None, pick: Callable[[JsonObject], Any]) -> JsonObject | None:
    """Combine what `pick` finds in every part of a schema: all of the sure ones and any of the alternatives."""
    sure: list[Any] = []
    alternatives: list[Any] = []
    for node, optional in reach(schema):
        found = pick(node)
        if found is not None and found is not False:
            (alternatives if optional else sure).append({} if found is True else found)
    if len(alternatives) > 1:
        sure.append({"anyOf": alternatives})
    else:
        sure += alternatives
    if not sure:
        return None
    return Rooted(sure[0] if len(sure) == 1 else {"allOf": sure}, cast("JsonObject", root_of(schema)))


def _further(node: JsonObject) -> Any:
    """Return what a schema says of the members that it does not name."""
    patterns = [*_object(node, "patternProperties").values()]
    return {"anyOf": patterns} if patterns else _schema(node.get("additionalProperties"))


def _item(node: JsonObject, index: int) -> Any:
    items = node.get("items")
    listed = is_array(items)
    prefix = _list(node, "items" if listed else "prefixItems")
    return _schema(prefix[index] if index < len(prefix) else node.get("additionalItems") if listed else items)


def _schema(value: Any) -> Any:
    return value if is_object(value) or isinstance(value, bool) else None


def _object(node: JsonObject, key: str) -> JsonObject:
    return as_object(node.get(key))


def _list(node: JsonObject, key: str) -> list[Any]:
    return as_list(node.get(key))


def root_of(schema: object) -> Any:
    """Return the document that a schema's references point into."""
    return schema.root if isinstance(schema, Rooted) else schema


def _follow(root: Any, reference: object) -> Any:
    try:
        return resolve(root, reference)
    except UnresolvableReferenceError:
        return {}


def depends(schema: JsonObject | None) -> bool:
    """Whether what an argument may be depends on the value of another one."""
    if not schema or schema.keys().isdisjoint(_COMBINED):
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
        part = without(node, _COMBINED)
        for key in _UNIONS:
            branches = node.get(key)
            if is_array(branches):
                fitting = [branch for branch in branches if _chosen(Rooted({"allOf": [branch]}, root), values)]
                part[key] = fitting or branches
        parts.append(part)
    return Rooted({"allOf": parts}, root)


def _alternatives(schema: JsonObject) -> Iterator[list[JsonObject]]:
    root = root_of(schema)
    for node, optional in reach(schema):
        for key in () if optional else _UNIONS:
            if branches := _list(node, key):
                yield [Rooted({"allOf": [branch]}, root) for branch in branches]


def _listed(branch: JsonObject) -> Iterator[tuple[str, tuple[JsonValue, ...]]]:
    """The arguments for which a branch lists the values, and these."""
    for name in dict.fromkeys(name for node, _ in reach(branch) for name in _object(node, "properties")):
        allowed, members = shape(property_schema(branch, name))
        if members and not allowed and allowed is not None:
            yield name, members


def _chosen(branch: JsonObject, values: Mapping[str, JsonValue]) -> bool:
    return all(
        name not in values or any(jsontext.equal(values[name], member) for member in members)
        for name, members in _listed(branch)
    )
