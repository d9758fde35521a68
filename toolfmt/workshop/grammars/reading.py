"""Reads a tool's JSON Schema as the shapes of its values, for all targets.

    {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    Members((Member("n", Number(whole=True, low=(1, False)), required=True),), rest=None)

Constraints that no grammar can express are left out and listed in `relaxed`, each with its place. Members that the
schema does not name are allowed where it says so explicitly, or names none; the same rule decides about extra arguments
elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Final

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.comparing import Meaning
from toolfmt.schema.expressions import ExpressionError
from toolfmt.schema.refs import NOTES, recursive_refs
from toolfmt.schema.spelling import modernise, type_list
from toolfmt.schema.validation import Validator
from toolfmt.schema.walk import values_in
from toolfmt.workshop.grammars import shapes
from toolfmt.workshop.grammars.patterns import pattern_node

LONGEST: Final = 1000
"""The largest count in a grammar; engines refuse more."""
LARGEST: Final = 10**19
"""Bounds of numbers are smaller than this: each digit needs a state."""
_DEEPEST: Final = 64
_MOST_MEMBERS: Final = 200
"""Properties of one object."""
_MOST_SHAPES: Final = 2_000
_OF_A_SHAPE: Final = 20
"""Values of an enumeration that count for a shape."""
_UNSAID: Final = (
    "not", "if", "contains", "uniqueItems", "dependentRequired", "dependentSchemas", "propertyNames", "multipleOf",
    "minProperties", "maxProperties", "unevaluatedProperties", "unevaluatedItems", "patternProperties", "allOf",
)  # fmt: skip
_LEFT_OUT: Final = "members that the schema does not name are left out, as the target has no form for their values"
_SAME: Final = {"oneOf": "more than one alternative may fit"}


class SchemaShapes:
    """Reads one tool's schema."""

    def __init__(self, tool: ToolDefinition, *, closed: bool = False) -> None:
        """Read it; raises `SchemaError`, with the place, for a schema that cannot be used.

        `closed` leaves out members that the schema does not name and whose values are unbounded.
        """
        Validator(tool)  # raises for an invalid schema
        schema = modernise(tool.parameters)
        self._tool = tool.name
        self._meaning = Meaning(schema, frozenset({"additionalProperties"}))
        self._recursive = recursive_refs(schema)
        self._count = 0
        self._closed = closed
        self.relaxed: dict[str, None] = {}
        """The constraints that the grammar does not enforce."""
        self.narrowed: dict[str, None] = {}
        """What the schema allows and the grammar does not."""
        self.empty: list[str] = []
        """The places where no value fits, the innermost first."""
        self.twice: dict[str, None] = {}
        """The places of objects with members that the schema does not name."""
        self.named: dict[str, shapes.Shape] = {}
        """The recursive shapes by reference."""
        self.root = self._read(schema, "", 0)

    def _read(self, schema: JsonValue, place: str, depth: int) -> shapes.Shape:
        if is_object(schema) and schema.get("$ref") in self._recursive and schema.keys() <= {"$ref"} | NOTES:
            return self._reference(str(schema["$ref"]), schema, place, depth)
        return self._unified(*self._meaning.at(schema, place), depth)

    def _reference(self, name: str, schema: JsonObject, place: str, depth: int) -> shapes.Shape:
        if name not in self.named:
            self.named[name] = shapes.Anything()  # holds the name while the shape is read
            self.named[name] = self._unified(*self._meaning.at(schema, place), depth)
        return shapes.Named(name)

    def _unified(self, node: JsonObject, place: str, depth: int) -> shapes.Shape:
        self._add(1 if depth <= _DEEPEST else _MOST_SHAPES, place)
        if node.get("not") == {}:
            self.empty.append(place or "/")
            return shapes.OneOf(())
        optional = node.get("nullable") is True
        shape = self._alternatives({key: value for key, value in node.items() if key != "nullable"}, place, depth)
        shape = shapes.union([shape, shapes.Null()]) if optional else shape
        if not shapes.empty(shape):
            return shape
        self.empty.append(place or "/")
        return shapes.OneOf(())

    def _add(self, count: int, place: str) -> None:
        self._count += count
        if self._count > _MOST_SHAPES:
            raise UnsupportedSchemaError(
                f"the schema of tool {self._tool!r} is too large for a grammar, at {place or '/'}"
            )

    def _alternatives(self, node: JsonObject, place: str, depth: int) -> shapes.Shape:
        if "const" in node or is_array(node.get("enum")):
            return self._listed(node, place)
        for key in ("anyOf", "oneOf"):
            branches = node.get(key)
            if is_array(branches):
                rest = {name: value for name, value in node.items() if name != key}
                found = [self._branch(rest, branch, f"{place}/{key}/{at}", depth) for at, branch in enumerate(branches)]
                if key in _SAME and len({kind for one in found for kind in shapes.kinds(one)}) < sum(
                    len(shapes.kinds(one)) for one in found
                ):
                    self._relax(place, key, _SAME[key])
                return shapes.union(found)
        for key in _UNSAID:
            if key in node and (key != "multipleOf" or node[key] != 1):
                self._relax(place, key)
        types = type_list(node)
        if not types:
            return self._untyped(node, place, depth)
        return shapes.union([self._typed(word, node, place, depth) for word in types])

    def _branch(self, rest: JsonObject, branch: JsonValue, place: str, depth: int) -> shapes.Shape:
        if not rest.keys() - NOTES:
            return self._read(branch, place, depth + 1)
        return self._read({**rest, "allOf": [*rest.get("allOf", []), branch]}, place, depth + 1)

    def _listed(self, node: JsonObject, place: str) -> shapes.Shape:
        values: list[JsonValue] = [node["const"]] if "const" in node else node["enum"]
        inside = sum(1 for value in values for _ in values_in(value)) - len(values)  # each is a shape
        self._add(len(values) // _OF_A_SHAPE + inside, place)
        if node.keys() - NOTES - {"const", "enum"} and "$ref" not in str(node):
            probe = ToolDefinition(name=self._tool, parameters={"type": "object", "properties": {"value": node}})
            check = Validator(probe)
            values = [value for value in values if not check.problems({"value": value})]
        return shapes.union([shapes.Listed(value) for value in values])

    def _untyped(self, node: JsonObject, place: str, depth: int) -> shapes.Shape:
        """Read a schema without a type: its keywords constrain one type, and all other values fit."""
        words = [word for word, keys in _SPOKEN_OF.items() if node.keys() & keys]
        if not words:
            return shapes.Anything()
        if words == ["object"]:  # a tool's arguments, or an object without its type
            return self._typed("object", node, place, depth)
        return shapes.union([self._typed(word, node, place, depth) for word in _TYPES])

    def _typed(self, word: str, node: JsonObject, place: str, depth: int) -> shapes.Shape:
        match word:
            case "string":
                return self._text(node, place)
            case "integer" | "number":
                low, high = (self._bound(node, place, key, whole=word == "integer") for key in ("minimum", "maximum"))
                return shapes.Number(word == "integer", low, high)
            case "boolean":
                return shapes.Truth()
            case "null":
                return shapes.Null()
            case "array":
                return self._items(node, place, depth)
            case _:
                return self._members(node, place, depth)

    def _text(self, node: JsonObject, place: str) -> shapes.Text:
        least, most = self._counts(node, place, "minLength", "maxLength")
        pattern = None
        if isinstance(node.get("pattern"), str):
            try:
                pattern = pattern_node(node["pattern"])
            except ExpressionError as error:
                self._relax(place, "pattern", str(error))
        return shapes.Text(least, most, pattern)

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

    def _bound(self, node: JsonObject, place: str, key: str, *, whole: bool) -> shapes.Bound | None:
        """Return the tightest bound of a keyword and its exclusive form that a grammar can express."""
        lower = key == "minimum"
        found: list[tuple[float, bool]] = []
        for name, past in ((key, False), (f"exclusive{key.capitalize()}", True)):
            value = node.get(name)
            if not isinstance(value, int | float) or isinstance(value, bool):
                continue
            if abs(value) < LARGEST:
                found.append((value, past))
            else:
                self._relax(place, name, f"bounds are less than {LARGEST:.0e}")
        if not found:
            return None
        value, past = max(found) if lower else min(found, key=lambda bound: (bound[0], not bound[1]))
        exact = int(value) == value
        near = int(value) if exact else math.ceil(value) if lower == whole else math.floor(value)
        if not exact and not whole:
            self._relax(place, key, f"{near} is the bound")
        if whole and exact and past:
            near += 1 if lower else -1
        return near, past and exact and not whole

    def _items(self, node: JsonObject, place: str, depth: int) -> shapes.Items:
        least, most = self._counts(node, place, "minItems", "maxItems")
        first = node.get("prefixItems")
        held = [self._read(one, f"{place}/prefixItems/{at}", depth + 1) for at, one in enumerate(first or ())]
        rest = self._read(node.get("items", {}), f"{place}/items", depth + 1)
        return shapes.Items(tuple(held), None if rest == shapes.OneOf(()) else rest, least, most)

    def _members(self, node: JsonObject, place: str, depth: int) -> shapes.Members:
        properties = node.get("properties")
        properties = properties if is_object(properties) else {}
        required = dict.fromkeys(name for name in node.get("required", ()) if isinstance(name, str))
        count = len(properties.keys() | required)
        if count > _MOST_MEMBERS:
            raise UnsupportedSchemaError(
                f"the schema of tool {self._tool!r}, at {place or '/'}: {count} properties, and a grammar "
                f"holds at most {_MOST_MEMBERS} of one object"
            )
        further = node.get("additionalProperties")
        patterns = node.get("patternProperties")
        rest: shapes.Shape | None = None
        if further is not None and further is not False:
            rest = self._read(further, f"{place}/additionalProperties", depth + 1)
        elif further is None and not properties:
            rest = shapes.Anything()
        if is_object(patterns) and patterns:
            held = [self._read(one, f"{place}/patternProperties", depth + 1) for one in patterns.values()]
            rest = shapes.union([*held, *([rest] if rest is not None else [])])
        if self._closed and rest is not None and shapes.endless(rest):
            self.narrowed[_LEFT_OUT] = None
            rest = None
        if rest is not None:
            self.twice.setdefault(place, None)
        members = [
            shapes.Member(name, self._read(one, f"{place}/properties/{name}", depth + 1), name in required)
            for name, one in properties.items()
        ]
        members += [
            shapes.Member(name, rest or shapes.Anything(), required=True) for name in required if name not in properties
        ]
        fit = [one for one in members if one.shape != shapes.OneOf(()) or one.required]
        return shapes.Members(tuple(fit), rest, place)

    def left_out(self, closed: Collection[str]) -> dict[str, None]:
        """Return the constraints that the grammar does not enforce if the objects at these places are closed."""
        for place in self.twice:
            if place not in closed:
                self._relax(place, "additionalProperties", "the same further member may come twice")
        return self.relaxed

    def _relax(self, place: str, keyword: str, why: str = "") -> None:
        where = f"{self._tool}: {place or ''}/{keyword}"
        self.relaxed[f"{where} is not held to" + (f" ({why})" if why else "")] = None


_TYPES: Final = ("string", "number", "boolean", "null", "array", "object")
_SPOKEN_OF: Final = {
    "string": {"minLength", "maxLength", "pattern"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    "array": {"items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "patternProperties"},
}


def argument_lists(schema: SchemaShapes, tool: str) -> list[shapes.Members]:
    """Return the shapes of a call's arguments: the objects that the schema's root allows."""
    roots = [
        one
        for one in shapes.alternatives(schema.root, schema.named)
        if isinstance(one, shapes.Members | shapes.Anything)
    ]
    if not roots:
        why = f" (no value fits at {schema.empty[0]})" if schema.empty else ""
        raise UnsupportedSchemaError(f"the schema of tool {tool!r} allows no object, but arguments are one{why}")
    return [one if isinstance(one, shapes.Members) else shapes.Members((), shapes.Anything()) for one in roots]
