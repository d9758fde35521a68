"""Spells each place of a schema in one way, so that two schemas can be compared.

{"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"const": 1}, {"type": "null"}]}}}
{"enum": [1], "nullable": true}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt.errors import UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.refs import NOTES, resolve
from toolfmt.schema.respelling import one_type, type_list, united, whole_bounds
from toolfmt.schema.spelling import modern, type_of
from toolfmt.schema.walk import DEFINITIONS, subschemas, token, without

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_ROUNDS: Final = 50
"""References to references that are followed."""
_VOID: Final[dict[str, tuple[JsonValue, ...]]] = {
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
"""Values that mean the same as no keyword."""
_ASIDE: Final = DEFINITIONS | {"$schema"}


class Meaning:
    """Reads a schema place by place, and knows where each place is."""

    def __init__(self, root: JsonValue, kept: frozenset[str] = frozenset()) -> None:
        """Take the whole schema; keywords in `kept` are returned even where their value means nothing."""
        self._root = root
        self._kept = kept
        self._places: dict[int, str] = {id(root): ""}

    def place(self, node: JsonValue, otherwise: str) -> str:
        """Return the JSON pointer of a known subschema; for one that was made here, `otherwise`."""
        return self._places.get(id(node), otherwise) if is_object(node) else otherwise

    def at(self, node: JsonValue, place: str) -> tuple[JsonObject, str]:
        """Return a place in the one spelling, references followed, and its JSON pointer."""
        if not is_object(node):
            return ({"not": {}} if node is False else {}), place
        for _ in range(_ROUNDS):
            self._meet(node, place)
            if "$ref" in node:
                node, place = self._followed(node, place)
                continue
            found = _unified(node)
            if found.keys().isdisjoint(("$ref", "const", "allOf")) or found == node:
                return _meaningful(found, self._kept), place
            node = found
        return {}, place

    def _followed(self, node: JsonObject, place: str) -> tuple[JsonObject, str]:
        siblings = without(node, {"$ref"})
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
        """Remember the places of the schemas inside a schema."""
        for way, sub in subschemas(node):
            if id(sub) not in self._places:
                self._places[id(sub)] = "".join([place, *(f"/{token(name)}" for name in way)])
            if way[0] == "allOf" and is_object(sub):
                self._meet(sub, self._places[id(sub)])


def _unified(node: JsonObject) -> JsonObject:
    """Choose one of the spellings that mean the same."""
    found = modern(node)
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


def _meaningful(node: JsonObject, kept: frozenset[str]) -> JsonObject:
    if is_array(node.get("enum")) and len(node["enum"]) == 1:
        node = {"const" if key == "enum" else key: value[0] if key == "enum" else value for key, value in node.items()}
    return {key: value for key, value in without(node, _ASIDE).items() if key in kept or not _is_void(key, value)}


def _is_void(key: str, value: Any) -> bool:
    return any(type(value) is type(other) and value == other for other in _VOID.get(key, ()))
