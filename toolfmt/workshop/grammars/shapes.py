"""The values that a schema allows, as plain data.

{"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
Members((Member("n", Number(whole=True, low=(1, False)), required=True),), rest=None)
"""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from toolfmt.model import JsonValue
from toolfmt.workshop.grammars.nodes import Node

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
    """A text of `least` to `most` characters; `pattern` is a node for the whole of it."""

    least: int = 0
    most: int | None = None
    pattern: Node | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """One value; 1, 1.0 and true are three values."""

    value: JsonValue = field(compare=False)
    key: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the key by which values are compared."""
        object.__setattr__(self, "key", marshal.dumps(self.value, 2))


@dataclass(frozen=True, slots=True)
class Items:
    """A list: its first items, all others (None: there are none), and their number."""

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
    place: str = field(default="", compare=False)
    """Its JSON pointer in the schema."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """Any of several; without options no value fits."""

    options: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Named:
    """A recursive shape, by its reference."""

    name: str


Shape: TypeAlias = Anything | Null | Truth | Number | Text | Listed | Items | Members | OneOf | Named


TYPES: Final[Mapping[type[Shape], str]] = {
    Null: "null",
    Truth: "boolean",
    Number: "number",
    Text: "string",
    Items: "array",
    Members: "object",
}
"""The JSON type of a shape's values, where all have one."""


def endless(shape: Shape) -> bool:
    """Whether values of a shape may be nested without a bound."""
    match shape:
        case Anything() | Named():
            return True
        case Items(inner, rest):
            return any(map(endless, (*inner, *filter(None, [rest]))))
        case Members(members, rest):
            return any(map(endless, (*(member.shape for member in members), *filter(None, [rest]))))
        case OneOf(options):
            return any(map(endless, options))
        case _:
            return False


def empty(shape: Shape) -> bool:  # noqa: PLR0911 - one per kind
    """Whether no value has a shape."""
    match shape:
        case Text(least, most):
            return most is not None and least > most
        case Number(whole, low, high):
            if low is None or high is None:
                return False
            return low[0] > high[0] or (low[0] == high[0] and (low[1] or high[1]) and not whole)
        case Items(first, rest, least, most):
            short = (rest is None or empty(rest)) and least > len(first)
            return short or (most is not None and least > most) or any(map(empty, first[:least]))
        case Members(members):
            return any(member.required and empty(member.shape) for member in members)
        case OneOf(options):
            return all(map(empty, options))
        case _:
            return False


def union(shapes: list[Shape]) -> Shape:
    """Any of several shapes."""
    flat = [part for shape in shapes for part in (shape.options if isinstance(shape, OneOf) else (shape,))]
    if any(isinstance(part, Anything) for part in flat):
        return Anything()
    unique: dict[tuple[type[Shape], str], Shape] = {}
    for part in flat:
        unique.setdefault((type(part), repr(part)), part)  # by its text, as `1` equals `True`
    return next(iter(unique.values())) if len(unique) == 1 else OneOf(tuple(unique.values()))


def kinds(shape: Shape) -> frozenset[str]:
    """Return the JSON types of a shape's values; each listed value and each recursive shape counts as its own."""
    match shape:
        case Anything():
            return frozenset(TYPES.values())
        case Listed(value):
            return frozenset({f"={value!r}"})
        case OneOf(options):
            return frozenset[str]().union(*map(kinds, options))
        case Named(name):
            return frozenset({name})
        case _:
            return frozenset({TYPES[type(shape)]})


def alternatives(shape: Shape, named: Mapping[str, Shape]) -> list[Shape]:
    """Flatten a shape into alternatives that have none themselves."""
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
