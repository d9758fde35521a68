"""One spelling for what schemas say in several, so that two can be compared.

{"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"const": 1}, {"type": "null"}]}}}
{"enum": [1], "nullable": true}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt.errors import UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.refs import NOTES, resolve
from toolfmt.schema.respelling import one_type, type_list, united, whole_bounds
from toolfmt.schema.spelling import type_of
from toolfmt.schema.walk import DEFINITIONS, SUBSCHEMAS, token

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_ROUNDS: Final = 50
"""References to references that are followed."""
_NOTHING: Final[dict[str, tuple[JsonValue, ...]]] = {
    "properties": ({},),
    "required": ([],),
    "items": (True, {}),
    "additionalProperties": (True, {}),
    "description": ("",),
    "minItems": (0,),
    "minLength": (0,),
    "nullable": (False,),
    "uniqueItems": (False,),
}
"""Values that say as much as nothing."""
_ASIDE: Final = DEFINITIONS | {"$schema"}


class Meaning:
    """A schema to be read place by place; knows where each place is."""

    def __init__(self, root: JsonValue, kept: frozenset[str] = frozenset()) -> None:
        """Take the whole schema; keywords that are `kept` are given even where they say as much as nothing."""
        self._root = root
        self._kept = kept
        self._places: dict[int, str] = {id(root): ""}

    def place(self, node: JsonValue, otherwise: str) -> str:
        """Give the JSON pointer of a subschema that was met; of one that was made up, that of its origin."""
        return self._places.get(id(node), otherwise) if is_object(node) else otherwise

    def at(self, node: JsonValue, place: str) -> tuple[JsonObject, str]:
        """Spell a place in one way, references followed; also give where it is itself."""
        if not is_object(node):
            return ({"not": {}} if node is False else {}), place
        for _ in range(_ROUNDS):
            self._meet(node, place)
            if "$ref" in node:
                node, place = self._followed(node, place)
                continue
            found = _unified(node)
            if found.keys().isdisjoint(("$ref", "const", "allOf")) or found == node:
                return _telling(found, self._kept), place
            node = found
        return {}, place

    def _followed(self, node: JsonObject, place: str) -> tuple[JsonObject, str]:
        siblings = {key: value for key, value in node.items() if key != "$ref"}
        try:
            target = resolve(self._root, node["$ref"])
        except UnresolvableReferenceError:
            return siblings | {"x-ref": node["$ref"]}, place
        if not is_object(target):
            return (siblings if target else {"not": {}, **siblings}), place
        self._places.setdefault(id(target), str(node["$ref"])[1:])
        there = self._places[id(target)]
        self._meet(target, there)
        if siblings.keys() - NOTES - _ASIDE and target.keys() & siblings.keys() - NOTES:
            return siblings | {"allOf": [*siblings.get("allOf", []), target]}, place
        return target | siblings, there if siblings.keys() <= NOTES | _ASIDE else place

    def _meet(self, node: JsonObject, place: str) -> None:
        """Remember where the schemas inside a schema stand."""
        for key in node.keys() & SUBSCHEMAS:
            held = node[key]
            if SUBSCHEMAS[key] and is_object(held):
                inside: list[tuple[str, JsonValue]] = list(held.items())
            elif is_array(held):
                inside = [(str(number), sub) for number, sub in enumerate(held)]
            else:
                self._places.setdefault(id(held), f"{place}/{key}")
                continue
            for name, sub in inside:
                self._places.setdefault(id(sub), f"{place}/{key}/{token(name)}")
                if key == "allOf" and is_object(sub):
                    self._meet(sub, f"{place}/allOf/{name}")


def _unified(node: JsonObject) -> JsonObject:
    """Choose one of the spellings that mean the same."""
    found = _current(node)
    if is_array(found.get("allOf")):
        found, left = united(found)
        if left:
            found["allOf"] = left
    if "const" in found and "enum" not in found:
        found["enum"] = [found.pop("const")]
    types = type_list(found)
    if types:
        words = dict.fromkeys(word if (known := type_of(word)) is None else known for word in types)
        found["type"] = list(words) if len(words) > 1 else next(iter(words))
        if "" in words:
            del found["type"]
    return one_type(whole_bounds(found))


def _current(node: JsonObject) -> JsonObject:
    """Spell the keywords of older drafts as the current one does."""
    found = dict(node)
    if is_array(found.get("items")):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(found.get(exclusive), bool) and found.pop(exclusive) and bound in found:
            found[exclusive] = found.pop(bound)
    dependencies = found.pop("dependencies", None)
    for name, value in dependencies.items() if is_object(dependencies) else ():
        key = "dependentRequired" if is_array(value) else "dependentSchemas"
        found[key] = {**found.get(key, {}), name: value}
    return found


def _telling(node: JsonObject, kept: frozenset[str]) -> JsonObject:
    if is_array(node.get("enum")) and len(node["enum"]) == 1:
        node = {"const" if key == "enum" else key: value[0] if key == "enum" else value for key, value in node.items()}
    stated = {key: value for key, value in node.items() if key not in _ASIDE}
    return {key: value for key, value in stated.items() if key in kept or not _says_nothing(key, value)}


def _says_nothing(key: str, value: Any) -> bool:
    return any(type(value) is type(other) and value == other for other in _NOTHING.get(key, ()))
