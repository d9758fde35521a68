"""A tool's JSON Schema as the values it allows, read once for all targets.

    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    Members((Member("n", Number(whole=True, low=(1, False)), required=True),), rest=None)

What no grammar can say is left out and told in `relaxed`, each with its place.
Members that the schema does not name are allowed where it says so in so many
words, or names none; the same rule decides about surplus arguments elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.grammars.patterns import NotRegularError, pattern_node
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import ToolDefinition
from toolfmt.schema.drafts import modernise
from toolfmt.schema.meaning import Meaning
from toolfmt.schema.refs import NOTES, recursive_refs
from toolfmt.schema.respelling import type_list
from toolfmt.schema.spelling import normalise
from toolfmt.schema.validation import Validator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.grammars.nodes import Node
    from toolfmt.model import JsonObject, JsonValue

Bound: TypeAlias = tuple[int, bool]
"""A whole number, and whether it is itself excluded."""


@dataclass(frozen=True, slots=True)
class Anything:
    """Any JSON value."""


@dataclass(frozen=True, slots=True)
class Null:
    """Nothing."""


@dataclass(frozen=True, slots=True)
class Truth:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    whole: bool = False
    low: Bound | None = None
    high: Bound | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A text; `pattern` is a node for the whole of it."""

    least: int = 0
    most: int | None = None
    pattern: Node | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One value, as it is."""

    value: JsonValue


@dataclass(frozen=True, slots=True)
class Items:
    """A list: its first items, all others (None: there are none), and how many."""

    first: tuple[Shape, ...]
    rest: Shape | None
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A named member of an object."""

    name: str
    shape: Shape
    required: bool


@dataclass(frozen=True, slots=True)
class Members:
    """An object: its named members in order, and what others may be (None: there are none)."""

    named: tuple[Member, ...]
    rest: Shape | None


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of several; none at all if empty."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A shape that holds itself, by its reference."""

    name: str


Shape: TypeAlias = Anything | Null | Truth | Number | Text | Listed | Items | Members | OneOf | Named

LONGEST: Final = 1000
"""Repetitions that a grammar counts; engines refuse more."""
_DEEPEST: Final = 64
_MOST_SHAPES: Final = 20_000
_UNSAID: Final = (
    "not", "if", "contains", "uniqueItems", "dependentRequired", "dependentSchemas", "propertyNames", "multipleOf",
    "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "patternProperties", "allOf",
)  # fmt: skip
_SAME: Final = {"oneOf": "more than one alternative may fit"}


class SchemaShapes:
    """Reads one tool's schema."""

    def __init__(self, tool: ToolDefinition) -> None:
        """Read it; raises `SchemaError` for a schema that cannot be used."""
        Validator(tool)  # says what is wrong with a schema, and where
        schema = modernise(normalise(tool.parameters))
        self._tool = tool.name
        self._meaning = Meaning(schema)
        self._recursive = recursive_refs(schema)
        self._count = 0
        self.relaxed: dict[str, None] = {}
        """What the grammar does not hold a value to."""
        self.named: dict[str, Shape] = {}
        """The shapes that hold themselves."""
        self.root = self._read(schema, "", 0)

    def _read(self, schema: JsonValue, place: str, depth: int) -> Shape:
        if is_object(schema) and schema.get("$ref") in self._recursive and schema.keys() <= {"$ref"} | NOTES:
            return self._reference(str(schema["$ref"]), schema, place, depth)
        return self._unified(*self._meaning.at(schema, place), depth)

    def _reference(self, name: str, schema: JsonObject, place: str, depth: int) -> Shape:
        if name not in self.named:
            self.named[name] = Anything()  # holds the name while the shape is read
            self.named[name] = self._unified(*self._meaning.at(schema, place), depth)
        return Named(name)

    def _unified(self, node: JsonObject, place: str, depth: int) -> Shape:
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST_SHAPES:
            raise UnsupportedSchemaError(
                f"the schema of tool {self._tool!r} is too large for a grammar, at {place or '/'}"
            )
        if node.get("not") == {}:
            return OneOf(())
        optional = node.get("nullable") is True
        shape = self._alternatives({key: value for key, value in node.items() if key != "nullable"}, place, depth)
        return union([shape, Null()]) if optional else shape

    def _alternatives(self, node: JsonObject, place: str, depth: int) -> Shape:
        if "const" in node or is_array(node.get("enum")):
            return self._listed(node)
        for key in ("anyOf", "oneOf"):
            branches = node.get(key)
            if is_array(branches):
                rest = {name: value for name, value in node.items() if name != key}
                found = [self._branch(rest, branch, f"{place}/{key}/{at}", depth) for at, branch in enumerate(branches)]
                if key in _SAME and len({kind for one in found for kind in kinds(one)}) < sum(
                    len(kinds(one)) for one in found
                ):
                    self._relax(place, key, _SAME[key])
                return union(found)
        for key in _UNSAID:
            if key in node and (key != "multipleOf" or node[key] != 1):
                self._relax(place, key)
        types = type_list(node)
        found = (
            [self._typed(word, node, place, depth) for word in types] if types else [self._untyped(node, place, depth)]
        )
        return union(found)

    def _branch(self, rest: JsonObject, branch: JsonValue, place: str, depth: int) -> Shape:
        told = rest.keys() - NOTES
        if not told:
            return self._read(branch, place, depth + 1)
        return self._read({**rest, "allOf": [*rest.get("allOf", []), branch]}, place, depth + 1)

    def _listed(self, node: JsonObject) -> Shape:
        values: list[JsonValue] = [node["const"]] if "const" in node else node["enum"]
        if node.keys() - NOTES - {"const", "enum"} and "$ref" not in str(node):
            probe = ToolDefinition(name=self._tool, parameters={"type": "object", "properties": {"value": node}})
            check = Validator(probe)
            values = [value for value in values if not check.problems({"value": value})]
        return union([Listed(value) for value in values])

    def _untyped(self, node: JsonObject, place: str, depth: int) -> Shape:
        """A schema without a type holds what its keywords speak of, and all other values too."""
        words = [word for word, keys in _SPOKEN_OF.items() if node.keys() & keys]
        if not words:
            return Anything()
        if words == ["object"]:  # a tool's arguments, or what is meant as an object
            return self._typed("object", node, place, depth)
        return union(
            [
                self._typed(word, node, place, depth)
                for word in ("string", "number", "boolean", "null", "array", "object")
            ]
        )

    def _typed(self, word: str, node: JsonObject, place: str, depth: int) -> Shape:
        match word:
            case "string":
                return self._text(node, place)
            case "integer" | "number":
                return self._number(node, place, whole=word == "integer")
            case "boolean":
                return Truth()
            case "null":
                return Null()
            case "array":
                return self._items(node, place, depth)
            case _:
                return self._members(node, place, depth)

    def _text(self, node: JsonObject, place: str) -> Text:
        least, most = self._counts(node, place, "minLength", "maxLength")
        pattern = None
        if isinstance(node.get("pattern"), str):
            try:
                pattern = pattern_node(node["pattern"])
            except NotRegularError as error:
                self._relax(place, "pattern", str(error))
        return Text(least, most, pattern)

    def _counts(self, node: JsonObject, place: str, least: str, most: str) -> tuple[int, int | None]:
        low, high = node.get(least, 0), node.get(most)
        low = int(low) if isinstance(low, int | float) else 0
        high = int(high) if isinstance(high, int | float) else None
        if low > LONGEST:
            self._relax(place, least, f"more than {LONGEST} are not counted")
            low = LONGEST
        if high is not None and high > LONGEST:
            self._relax(place, most, f"more than {LONGEST} are not counted")
            high = None
        return low, high

    def _number(self, node: JsonObject, place: str, *, whole: bool) -> Number:
        low = [(node[key], key.startswith("ex")) for key in ("minimum", "exclusiveMinimum") if _real(node.get(key))]
        high = [(node[key], key.startswith("ex")) for key in ("maximum", "exclusiveMaximum") if _real(node.get(key))]
        found = Number(whole)
        if low:
            found = replace(found, low=self._bound(max(low), place, up=whole, whole=whole, key="minimum"))
        if high:
            value, past = min(high, key=lambda bound: (bound[0], not bound[1]))
            found = replace(found, high=self._bound((value, past), place, up=not whole, whole=whole, key="maximum"))
        return found

    def _bound(self, bound: tuple[float, bool], place: str, *, up: bool, whole: bool, key: str) -> Bound:
        value, past = bound
        exact = int(value) == value
        near = int(value) if exact else math.ceil(value) if up else math.floor(value)
        if not exact and not whole:
            self._relax(place, key, f"{near} is the bound")
        if whole and exact and past:
            near += 1 if key == "minimum" else -1
        return near, past and exact and not whole

    def _items(self, node: JsonObject, place: str, depth: int) -> Items:
        least, most = self._counts(node, place, "minItems", "maxItems")
        first = node.get("prefixItems")
        held = [self._read(one, f"{place}/prefixItems/{at}", depth + 1) for at, one in enumerate(first or ())]
        rest = self._read(node.get("items", {}), f"{place}/items", depth + 1)
        return Items(tuple(held), None if rest == OneOf(()) else rest, least, most)

    def _members(self, node: JsonObject, place: str, depth: int) -> Members:
        properties = node.get("properties")
        properties = properties if is_object(properties) else {}
        required = [name for name in node.get("required", ()) if isinstance(name, str)]
        further = node.get("additionalProperties")
        patterns = node.get("patternProperties")
        rest: Shape | None = None
        if further is not None and further is not False:
            rest = self._read(further, f"{place}/additionalProperties", depth + 1)
        elif further is None and not properties:
            rest = Anything()
        if is_object(patterns) and patterns:
            held = [self._read(one, f"{place}/patternProperties", depth + 1) for one in patterns.values()]
            rest = union([*held, *([rest] if rest is not None else [])])
        if rest is not None:
            self._relax(place, "additionalProperties", "the same further member may come twice")
        members = [
            Member(name, self._read(one, f"{place}/properties/{name}", depth + 1), name in required)
            for name, one in properties.items()
        ]
        members += [Member(name, rest or Anything(), required=True) for name in required if name not in properties]
        fit = [one for one in members if one.shape != OneOf(()) or one.required]
        return Members(tuple(fit), rest)

    def _relax(self, place: str, keyword: str, why: str = "") -> None:
        where = f"{self._tool}: {place or ''}/{keyword}"
        self.relaxed[f"{where} is not held to" + (f" ({why})" if why else "")] = None


_SPOKEN_OF: Final = {
    "string": {"minLength", "maxLength", "pattern"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "patternProperties"},
}


def _real(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def union(shapes: list[Shape]) -> Shape:
    """Any of several shapes."""
    flat = [part for shape in shapes for part in (shape.options if isinstance(shape, OneOf) else (shape,))]
    if any(isinstance(part, Anything) for part in flat):
        return Anything()
    unique: list[Shape] = []
    for part in flat:
        if not any(part is other or (type(part) is type(other) and repr(part) == repr(other)) for other in unique):
            unique.append(part)
    return unique[0] if len(unique) == 1 else OneOf(tuple(unique))


def kinds(shape: Shape) -> frozenset[str]:  # noqa: C901, PLR0911 - one per kind
    """The JSON types that a shape's values have; a shape that holds itself counts as one of its own."""
    match shape:
        case Anything():
            return frozenset({"string", "number", "boolean", "null", "array", "object"})
        case Null():
            return frozenset({"null"})
        case Truth():
            return frozenset({"boolean"})
        case Number():
            return frozenset({"number"})
        case Text():
            return frozenset({"string"})
        case Listed(value):
            return frozenset({f"={value!r}"})
        case Items():
            return frozenset({"array"})
        case Members():
            return frozenset({"object"})
        case OneOf(options):
            return frozenset[str]().union(*map(kinds, options))
        case Named(name):
            return frozenset({name})


def alternatives(shape: Shape, named: Mapping[str, Shape]) -> list[Shape]:
    """A shape's alternatives, none of which has any itself."""
    found: list[Shape] = []
    pending: list[Shape] = [shape]
    seen: set[str] = set()
    while pending:
        one = pending.pop(0)
        if isinstance(one, OneOf):
            pending[:0] = one.options
        elif isinstance(one, Named) and one.name not in seen:
            seen.add(one.name)
            pending.insert(0, named[one.name])
        elif not isinstance(one, Named):
            found.append(one)
    return found


def argument_lists(shapes: SchemaShapes, tool: str) -> list[Members]:
    """What a call's arguments may be: the schema's root, as far as it allows objects."""
    roots = [one for one in alternatives(shapes.root, shapes.named) if isinstance(one, Members | Anything)]
    if not roots:
        raise UnsupportedSchemaError(f"the schema of tool {tool!r} allows no object, but arguments are one")
    return [one if isinstance(one, Members) else Members((), Anything()) for one in roots]
