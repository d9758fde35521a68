"""What a place in a value may hold, read from a schema without unfolding it.

A parser asks about one argument at a time, so references and combinations are followed only as far as the question
goes. A subschema that is returned remembers its document (it is a `Rooted`), so that its own references still resolve.
A reference that does not resolve allows anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from toolfmt.errors import UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.refs import resolve
from toolfmt.schema.spelling import ANYTHING, JSON_TYPES, type_of
from toolfmt.schema.walk import as_list, as_object

Schema: TypeAlias = "JsonObject | bool | None"
"""A JSON Schema; None is the same as `{}` and `True`, and allows anything."""
_T = TypeVar("_T")
_MAX_STEPS: Final = 4_000_000
"""Characters and members of listed values that are compared to find what a schema allows."""
_MAX_NESTING: Final = 64
"""Combinations inside combinations; beyond, anything is allowed."""


class Rooted(dict[str, Any]):
    """A subschema together with the document that its references point into, and what is known of it."""

    __slots__ = ("known", "root")

    def __init__(self, schema: JsonObject, root: JsonObject) -> None:
        super().__init__(schema)
        self.root = root
        self.known: dict[object, Any] = {}
        """What `once` has worked out."""


def once(schema: Schema, key: object, make: Callable[[], _T]) -> _T:
    """Work something out about a schema: only once if it is `Rooted`, so that a list's items share it."""
    if not isinstance(schema, Rooted):
        return make()
    if key not in schema.known:
        schema.known[key] = make()
    return schema.known[key]


class ValueShape(NamedTuple):
    """What a schema allows: all values of some `types` (None: any value) and the `members` that it lists."""

    types: frozenset[str] | None
    members: tuple[JsonValue, ...] = ()


COMBINED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
"""Keywords of a schema that is made of others."""
_COMBINING: Final = COMBINED | {"const", "enum", "nullable"}
"""Keywords beside `type` of which the types depend."""
ANY: Final = ValueShape(None)
NOTHING: Final = ValueShape(frozenset())
_NULL: Final = ValueShape(frozenset({"null"}))
_SINGLE: Final = {kind: frozenset({kind}) for kind in JSON_TYPES}
UNIONS: Final = ("anyOf", "oneOf")
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
    return once(schema, "types", lambda: _types(*shape(schema)))


def _types(allowed: frozenset[str] | None, members: tuple[JsonValue, ...]) -> frozenset[str] | None:
    return allowed if allowed is None or not members else allowed | set(map(kind_of, members))


def property_schema(schema: JsonObject | None, key: str) -> JsonObject | None:
    """Return the schema of an object's member; None if the schema does not mention it.

    Looks through `$ref`, `allOf`, `anyOf` and `oneOf`; `additionalProperties` count only if none of them names the
    member. Patterns are not run: where `patternProperties` may apply, all of them count as alternatives.
    """
    if schema is None:
        return None
    if not is_combined(schema) and is_object(own := _object(schema, "properties").get(key)):
        return once(schema, ("member", key), lambda: Rooted(own, root_of(schema)))  # by far the most common case
    if not isinstance(schema, Rooted):  # which cannot keep what is found
        named = _inside(schema, lambda node: _schema(_object(node, "properties").get(key)))
        return _inside(schema, _further) if named is None else named
    named = once(schema, "named", lambda: _named(schema)).get(key)
    return once(schema, "further", lambda: _inside(schema, _further)) if named is None else named


def _named(schema: JsonObject) -> dict[str, JsonObject]:
    """Return the schema of each member that a schema names."""
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for node, optional in reach(schema):
        for key, sub in _object(node, "properties").items():
            if is_object(sub) or sub is True:
                found.setdefault(key, ([], []))[optional].append({} if sub is True else sub)
    root = root_of(schema)
    return {key: _combined(*subs, root) for key, subs in found.items()}


def declares(schema: JsonObject | None, key: str) -> bool:
    """Whether a schema names this member of an object."""
    if not is_object(schema):
        return False
    if COMBINED.isdisjoint(schema):
        return key in _object(schema, "properties")
    return any(key in _object(node, "properties") for node, _ in reach(schema))


def declares_all(schema: JsonObject | None, value: JsonObject) -> bool:
    """Whether a schema names every member of an object."""
    if is_object(schema) and not is_combined(schema):
        return value.keys() <= as_object(schema.get("properties")).keys()
    return all(declares(schema, key) for key in value)


def plain_type(schema: JsonObject | None, key: str) -> str:
    """Return the type of an object's member where two plain schemas state one; "" where it takes more to know it."""
    if schema is None or not COMBINED.isdisjoint(schema):
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
    """Return the schema of an array's item; None if the schema does not mention it."""
    last = once(schema, "prefix", lambda: max((len(_prefix(node)) for node, _ in reach(schema)), default=0))
    at = min(index, last)
    return once(schema, at, lambda: _inside(schema, lambda node: _item(node, at)))


def is_combined(schema: JsonObject) -> bool:
    """Whether a schema is made of others."""
    return not COMBINED.isdisjoint(schema)


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
        if COMBINED.isdisjoint(node):
            continue
        if "$ref" in node:
            pending.append((_follow(root, node["$ref"]), optional))
        pending.extend((sub, optional) for sub in _list(node, "allOf"))
        pending.extend((sub, True) for key in UNIONS for sub in _list(node, key))


def shape(schema: Schema) -> ValueShape:
    """Return what a schema allows at its top level."""
    if is_object(schema) and _COMBINING.isdisjoint(schema):
        return ValueShape(_stated(schema))
    return once(schema, "shape", lambda: _Shapes(root_of(schema)).of(schema))


class _Shapes:
    """Works out what the schemas of one document allow; a schema that takes too many steps allows anything."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._targets: dict[str, ValueShape | None] = {}
        self._steps = 0

    def of(self, node: Any, nesting: int = 0) -> ValueShape:
        if node is False:
            return NOTHING
        if not is_object(node) or nesting > _MAX_NESTING or self._steps > _MAX_STEPS:
            return ANY
        result = ValueShape(_stated(node))
        if "const" in node:
            result = self._meet(result, ValueShape(frozenset(), (node["const"],)))
        if "enum" in node:
            result = self._meet(result, ValueShape(frozenset(), tuple(_list(node, "enum"))))
        if isinstance(reference := node.get("$ref"), str):
            target = self._target(reference, nesting)
            result = result if target is None else self._meet(result, target)
        for sub in _list(node, "allOf"):
            result = self._meet(result, self.of(sub, nesting + 1))
        for key in UNIONS:
            if branches := _list(node, key):
                result = self._meet(result, self._join(self._branch(branch, nesting + 1) for branch in branches))
        return self._join((result, _NULL)) if node.get("nullable") is True else result

    def _target(self, reference: str, nesting: int) -> ValueShape | None:
        """Return the shape of a reference, worked out once; None while it is being worked out (it leads to itself)."""
        if reference not in self._targets:
            self._targets[reference] = None
            self._targets[reference] = self.of(_follow(self._root, reference), nesting + 1)
        return self._targets[reference]

    def _branch(self, branch: Any, nesting: int) -> ValueShape:
        """As `of`, but an alternative that only leads back to itself adds nothing."""
        reference = branch.get("$ref") if is_object(branch) else None
        if isinstance(reference, str) and self._targets.get(reference, ANY) is None:
            return NOTHING
        return self.of(branch, nesting)

    def _meet(self, a: ValueShape, b: ValueShape) -> ValueShape:
        if not a.members and not b.members:
            return ValueShape(_common(a.types, b.types))
        of_a, of_b = (dict(zip(map(repr, one.members), one.members, strict=True)) for one in (a, b))
        self._steps += 1 + sum(map(len, of_a)) + sum(map(len, of_b))
        if self._steps > _MAX_STEPS:
            return ANY
        kept = [member for text, member in of_a.items() if text in of_b or _fits(b.types, member)]
        kept += [member for text, member in of_b.items() if text not in of_a and _fits(a.types, member)]
        return ValueShape(_common(a.types, b.types), tuple(kept))

    def _join(self, shapes: Iterable[ValueShape]) -> ValueShape:
        types: frozenset[str] | None = frozenset()
        members: list[JsonValue] = []
        for one in shapes:
            types = None if types is None or one.types is None else types | one.types
            members += one.members
            self._steps += 1 + len(one.members)
        return ValueShape(types, tuple(members)) if self._steps <= _MAX_STEPS else ANY


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


def _common(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str] | None:
    if a is None or b is None:
        return b if a is None else a
    return frozenset(kind for one, other in ((a, b), (b, a)) for kind in one if _covers(other, kind))


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
    if not sure and not alternatives:
        return None
    return _combined(sure, alternatives, root_of(schema))


def _combined(sure: list[Any], alternatives: list[Any], root: JsonObject) -> JsonObject:
    parts = [*sure, {"anyOf": alternatives}] if len(alternatives) > 1 else [*sure, *alternatives]
    return Rooted(parts[0] if len(parts) == 1 else {"allOf": parts}, root)


def _further(node: JsonObject) -> Any:
    """Return what a schema says of the members that it does not name."""
    patterns = [*_object(node, "patternProperties").values()]
    return {"anyOf": patterns} if patterns else _schema(node.get("additionalProperties"))


def _item(node: JsonObject, index: int) -> Any:
    prefix, items = _prefix(node), node.get("items")
    further = node.get("additionalItems") if is_array(items) else items
    return _schema(prefix[index] if index < len(prefix) else further)


def _prefix(node: JsonObject) -> list[Any]:
    return _list(node, "items" if is_array(node.get("items")) else "prefixItems")


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
