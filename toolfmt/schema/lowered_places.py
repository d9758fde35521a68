"""Lowers each place of a schema: respells keywords, moves them to the description, closes objects. See `lowering`."""

from __future__ import annotations

from typing import Any, Final

from toolfmt import jsontext
from toolfmt.errors import UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.places import kind_of
from toolfmt.schema.refs import MAX_SCHEMAS
from toolfmt.schema.rules import SchemaRules
from toolfmt.schema.spelling import is_type, one_type, type_list, united, whole_bounds, with_null
from toolfmt.schema.walk import SchemaPlace, map_subschemas, pointer, without

_SILENT: Final = frozenset({"$schema", "$id", "$anchor", "$dynamicAnchor", "$comment", "$vocabulary"})
"""Keywords that mean nothing to a model."""
_QUIET: Final[JsonObject] = {"default": None, "additionalProperties": False, "uniqueItems": False}
"""Values that say nothing new in a description."""


def describe(node: JsonObject, moved: JsonObject) -> JsonObject:
    """Add what a schema can't say to its description, as JSON."""
    kept = {key: value for key, value in moved.items() if key not in _QUIET or value is not _QUIET[key]}
    kept = without(kept, _SILENT)
    if not kept:
        return node
    description = node.get("description")
    text = jsontext.dumps(kept)
    return node | {"description": f"{description}\n\n{text}" if isinstance(description, str) and description else text}


class LoweredPlaces:
    """Lowers a schema place by place, outer places first: a place that is dropped is never visited."""

    def __init__(self, rules: SchemaRules) -> None:
        self._rules = rules
        self._root: JsonObject = {}
        self._count = 0

    def lower(self, schema: JsonObject) -> JsonObject:
        """Lower a whole schema."""
        self._root, self._count = schema, 0
        return self._place(schema, ())

    def _place(self, schema: Any, place: SchemaPlace) -> Any:
        rules = self._rules
        if not is_object(schema):
            schema = schema if not isinstance(schema, bool) or not rules.keywords else {} if schema else {"not": {}}
            if not is_object(schema):
                return schema
        self._count += 1
        if self._count > MAX_SCHEMAS:
            raise UnsupportedSchemaError(f"the schema unfolds to more than {MAX_SCHEMAS} schemas")
        moved: JsonObject = {}
        node = self._respelled(schema, moved)
        for key in [key for key in node if not rules.takes(key)]:
            moved.setdefault(key, node[key])
        node = {key: value for key, value in node.items() if rules.takes(key)}
        if rules.typed and not node.keys() & _SAYS:
            raise UnsupportedSchemaError(f"anything may stand at {pointer(place)}, which has no form here")
        types = type_list(node)
        if rules.items and "array" in types and "items" not in node:
            node["items"] = {}
        if rules.closed and ("object" in types or "properties" in node):
            node = _closed(node, moved, place)
        kept = {key: node[key] for key in node if key in _SWITCHES and isinstance(node[key], bool)}
        found = map_subschemas(without(node, kept), self._place, place)
        found = {key: kept.get(key, found.get(key)) for key in node}
        found = one_type(found) if rules.nullable else found
        return describe(_required(found) if rules.all_required and "properties" in found else found, moved)

    def _respelled(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Repeat all steps until none changes the schema: the result of one may need another."""
        while True:
            found = self._combined(node, moved)
            for step in (self._sized, self._listed, self._typed):
                found = step(found, moved)
            if found == node:
                return found
            node = found

    def _sized(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Keep the bounds and formats that are accepted."""
        rules = self._rules
        if not (rules.takes("exclusiveMinimum") or rules.keywords.isdisjoint(("minimum", "maximum"))):
            node = whole_bounds(node)
        for key, accepted in (("format", rules.formats), ("minItems", rules.min_items)):
            if accepted and key in node and (isinstance(node[key], (dict, list, bool)) or node[key] not in accepted):
                moved[key] = node[key]
                node = without(node, {key})
        return node

    def _listed(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Respell `const`, `enum` and `prefixItems` as the dialect has them."""
        rules = self._rules
        if "const" in node and not (rules.takes("const") and self._plain([node["const"]])):
            value = node["const"]
            node = without(node, {"const"})
            if "enum" not in node and self._plain([value]):
                node["enum"] = [value]
            else:
                moved["const"] = value
                node = _of_kinds(node, [value])
        values = node.get("enum")
        if is_array(values) and not self._plain(values):
            moved["enum"] = values
            node = _of_kinds(without(node, {"enum"}), values)
        if "prefixItems" in node and not rules.takes("prefixItems"):
            node = self._by_place(node, moved)
        return node

    def _plain(self, values: list[JsonValue]) -> bool:
        kinds = _LITERALS[self._rules.literals]
        nullable = self._rules.nullable
        return not kinds or all(type(value) in kinds or (nullable and value is None) for value in values)

    def _by_place(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Replace `prefixItems` by `items` that allow each of its schemas at any place."""
        prefix, rest = node["prefixItems"], node.get("items", True)
        moved["prefixItems"] = prefix
        found = without(node, {"prefixItems"})
        if rest is True or not is_array(prefix):
            found["items"] = {}
        else:
            kinds = [*prefix, *([] if rest is False else [rest])]
            found["items"] = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        if rest is False and is_array(prefix):
            most = found.get("maxItems", len(prefix))
            found["maxItems"] = min(most, len(prefix)) if type(most) is int else len(prefix)
        return found

    def _combined(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Merge the schemas of `allOf`, and write `oneOf` as `anyOf` where the dialect does not have it."""
        rules = self._rules
        parts = node.get("allOf")
        if is_array(parts) and (not rules.takes("allOf") or (rules.closed and len(parts) > 1)):
            node, left = united(node, self._root)
            if left:
                moved["allOf"] = [*moved.get("allOf", []), *left]
        if is_array(node.get("oneOf")) and not rules.takes("oneOf") and "anyOf" not in node:
            node = without(node, {"oneOf"}) | {"anyOf": node["oneOf"]}
        return node

    def _typed(self, node: JsonObject, moved: JsonObject) -> JsonObject:
        """Spell types as the dialect does; an unknown word moves to the description."""
        if "type" in node and not is_type(node["type"]):
            moved["type"] = node["type"]
            node = without(node, {"type"})
        return one_type(node) if self._rules.nullable else node


def _of_kinds(node: JsonObject, values: list[JsonValue]) -> JsonObject:
    """State the types of values that cannot be listed."""
    kinds = list(dict.fromkeys(map(kind_of, values)))
    return node if "type" in node or not kinds else node | {"type": kinds if len(kinds) > 1 else kinds[0]}


def _closed(node: JsonObject, moved: JsonObject, place: SchemaPlace) -> JsonObject:
    """Forbid members that are not named; raises for an object whose members may have any name."""
    named = node.get("properties", {})
    further = node.get("additionalProperties", False if named or not place else None)
    if further is not False or "patternProperties" in moved or not is_object(named):
        raise UnsupportedSchemaError(f"an object with members of any name has no form here: {pointer(place)}")
    return node | {"properties": named, "additionalProperties": False}


def _required(node: JsonObject) -> JsonObject:
    """Require every member; one that could be left out may be null instead."""
    stated = node.get("required")
    needed = [name for name in stated if name in node["properties"]] if is_array(stated) else []
    named = {name: sub if name in needed else with_null(sub) for name, sub in node["properties"].items()}
    return node | {"properties": named, "required": [*needed, *(name for name in named if name not in needed)]}


_LITERALS: Final[dict[str, tuple[type, ...]]] = {
    "any": (),
    "plain": (str, int, float, bool, type(None)),
    "text": (str,),
}
_SAYS: Final = frozenset({"type", "anyOf", "allOf", "enum", "const", "$ref"})


_SWITCHES: Final = frozenset({"additionalProperties", "unevaluatedProperties", "items", "additionalItems"})
"""Keywords where a bare true or false is no schema of a place."""
