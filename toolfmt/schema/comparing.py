r"""Compares what two schemas demand, place by place and in any spelling.

differences({"type": "integer", "minimum": 1}, {"type": "integer", "description": "{\"minimum\": 1}"})
Difference("/minimum", "moved", "minimum")
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.refs import NOTES, resolve
from toolfmt.schema.spelling import modern, one_type, type_list, type_of, united, whole_bounds
from toolfmt.schema.walk import DEFINITIONS, LISTED, NAMED, SINGLE, as_object, names, subschemas, without

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
    """Spells each place of a schema in one way, and knows where each place is.

    {"$ref": "#/$defs/N", "$defs": {"N": {"anyOf": [{"const": 1}, {"type": "null"}]}}}
    {"enum": [1], "nullable": true}
    """

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
    return {
        key: value
        for key, value in without(node, _ASIDE).items()
        if key in kept or not any(type(value) is type(void) and value == void for void in _VOID.get(key, ()))
    }


Change: TypeAlias = Literal["dropped", "changed", "moved", "added"]


class Difference(NamedTuple):
    """One difference: its place in the first schema, what happened there, and what it is."""

    pointer: str
    action: Change
    detail: str


class _Pair(NamedTuple):
    old: JsonValue
    place: str
    new: JsonValue
    there: str
    bound: bool = False
    """What was optional is required."""


_WORDS: Final = frozenset({"description", "required", "properties", "nullable"})
_MOST: Final = 10_000
"""Pairs of places that are compared; types that lead to one another make many of few."""
_UNIONS: Final = frozenset({"anyOf", "oneOf", "allOf"})


def differences(before: JsonValue, after: JsonValue) -> Iterator[Difference]:
    """Yield what the second schema demands in another way than the first, and what it adds."""
    if jsontext.equal(before, after):
        return
    if any(jsontext.too_deep(one, jsontext.MAX_DEPTH) for one in (before, after)):
        yield Difference("", "changed", f"nested more than {jsontext.MAX_DEPTH} levels deep")
        return
    old, new = Meaning(before), Meaning(after)
    pending = [_Pair(before, "", after, "")]
    seen: set[tuple[str, str, bool]] = set()
    while pending:
        if len(seen) > _MOST:
            yield Difference("", "changed", f"more than {_MOST:,} places: the others were not compared")
            return
        pair = pending.pop()
        a, place = old.at(pair.old, pair.place)
        b, there = new.at(pair.new, pair.there)
        if pair.bound:
            null = b.get("nullable") or None in b.get("enum", ())
            yield Difference(
                pair.place, "changed", "may be null instead of being left out" if null else "may not be left out"
            )
        if (place, there, pair.bound) in seen:
            continue
        seen.add((place, there, pair.bound))
        inside: list[_Pair] = []
        yield from _place(a, b, pair._replace(place=place, there=there), inside)
        pending.extend(
            _Pair(sub.old, old.place(sub.old, sub.place), sub.new, new.place(sub.new, sub.there), sub.bound)
            for sub in reversed(inside)
        )


def _place(a: JsonObject, b: JsonObject, pair: _Pair, inside: list[_Pair]) -> Iterator[Difference]:
    """Compare one place, and add the places inside it to `inside`."""
    place = pair.place
    moved, described = _moved(a, b)
    if not described:
        yield Difference(f"{place}/description", "changed" if b.get("description") else "dropped", "description")
    if a.get("nullable") and not b.get("nullable"):
        yield Difference(place, "changed", "null is not allowed any more")
    if b.get("nullable") and not a.get("nullable") and not pair.bound and a:
        yield Difference(place, "changed", "null is allowed")
    yield from _members(a, b, pair, moved, inside)
    spread = {"items", "maxItems"} if "prefixItems" in moved else set[str]()
    for key in (key for key in a if key not in _WORDS | spread):
        if key == "oneOf" and key not in b and "anyOf" in b and "anyOf" not in a:
            yield Difference(f"{place}/oneOf", "changed", "oneOf -> anyOf")
            inside.extend(_within("oneOf", a[key], b["anyOf"], pair) or ())
        elif key not in b:
            yield Difference(f"{place}/{key}", "moved" if key in moved else "dropped", key)
        elif not jsontext.equal(a[key], b[key]):
            held = _within(key, a[key], b[key], pair)
            if held is None:
                yield Difference(f"{place}/{key}", "moved" if key in moved else "changed", key)
            else:
                inside.extend(held)
    made = {"type"} if "enum" in moved or not place else set[str]()
    made |= {"anyOf"} if "oneOf" in a or "enum" in moved else set()
    for key in (key for key in b if key not in a.keys() | _WORDS | made | spread):
        yield Difference(f"{place}/{key}", "added", key)


def _moved(a: JsonObject, b: JsonObject) -> tuple[JsonObject, bool]:
    """Return the keywords that moved into a description, and whether its own text is still there."""
    mine, other = a.get("description", ""), b.get("description", "")
    if mine == other:
        return {}, True
    if not (isinstance(mine, str) and isinstance(other, str) and other.startswith(mine)):
        return {}, False
    try:
        found = jsontext.loads(other[len(mine) :])
    except ParseError:
        return {}, False
    if not is_object(found):
        return {}, False
    listed = {key: value for key, value in found.items() if key in ("enum", "const")}
    return found | ({"enum": listed, "const": listed} if listed else {}), True


def _members(a: JsonObject, b: JsonObject, pair: _Pair, moved: JsonObject, inside: list[_Pair]) -> Iterator[Difference]:
    """Compare the members of objects: their names, and which are required."""
    place = pair.place
    old, new = as_object(a.get("properties")), as_object(b.get("properties"))
    needed, wanted = names(a.get("required")), names(b.get("required"))
    aside = as_object(moved.get("properties"))
    unions = bool(_UNIONS & moved.keys())
    for name, sub in old.items():
        at = f"{place}/properties/{token(name)}"
        if name not in new:
            yield Difference(at, "moved" if name in aside else "dropped", name)
            continue
        bound = name in wanted and name not in needed
        inside.append(_Pair(sub, at, new[name], f"{pair.there}/properties/{token(name)}", bound))
    if not unions:
        yield from (Difference(f"{place}/properties/{token(name)}", "added", name) for name in new if name not in old)
    gone = [name for name in needed if name not in wanted and name not in aside]
    if gone:
        yield Difference(f"{place}/required", "dropped", ", ".join(gone))
    fresh = [name for name in wanted if name not in needed and name not in old]
    if fresh and not unions:
        yield Difference(f"{place}/required", "added", ", ".join(fresh))


def _within(key: str, old: JsonValue, new: JsonValue, pair: _Pair) -> list[_Pair] | None:
    """Pair the schemas under a keyword; None if it holds none, or not as many."""
    place, there = f"{pair.place}/{key}", f"{pair.there}/{key}"
    if key in NAMED and is_object(old) and is_object(new):
        if old.keys() != new.keys():
            return None
        subs = [(token(name), old[name], new[name]) for name in old]
    elif key in LISTED and is_array(old) and is_array(new):
        if len(old) != len(new):
            return None
        subs = [(str(at), sub, new[at]) for at, sub in enumerate(old)]
    else:
        return [_Pair(old, place, new, there)] if key in SINGLE and is_object(old) and is_object(new) else None
    return [_Pair(sub, f"{place}/{at}", other, f"{there}/{at}") for at, sub, other in subs]
