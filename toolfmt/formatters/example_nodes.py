"""What the builders of example values share: values on demand, and what a flat node says."""

from __future__ import annotations

from itertools import count, islice, takewhile
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.formatters.example_scalars import hints
from toolfmt.formatters.flat_schema import as_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from toolfmt.model import JsonObject, JsonValue

    Check: TypeAlias = Callable[[JsonValue], bool]

MOST: Final = 1_000
"""Items of a list, members of an object, candidates of one type for one node."""
_BACKTRACK_LIMIT: Final = 10_000
_EMPTY: Final[tuple[JsonValue, ...]] = (None, "", [], {})
_EVERY: Final = ("string", "integer", "number", "boolean", "object", "array", "null")
_IMPLIED: Final = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"},
    "array": {"items", "prefixItems", "minItems", "contains", "uniqueItems", "maxItems"},
    "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
}
"""What a schema without `type` is probably about."""


class Builder(Protocol):
    """Who makes the values of a node's children."""

    @property
    def root(self) -> JsonObject:
        """The document that references point into."""
        ...

    @property
    def optional(self) -> bool:
        """Members that may be left out are wanted."""
        ...

    @property
    def guess(self) -> bool:
        """A value that does not fit is better than none."""
        ...

    def values(
        self, schema: JsonValue, name: str, suggestions: Iterable[JsonValue] = (), above: tuple[str, ...] = ()
    ) -> Iterator[JsonValue]:
        """Give different values that fit a schema, the best first."""
        ...

    def matching(self, pattern: str) -> Iterator[str]:
        """Give texts that are likely to match a pattern."""
        ...

    def check(self, node: JsonObject) -> Check:
        """Give the function that tells whether a value fits a schema."""
        ...


class Stream:
    """Values that are made when they are asked for, and kept."""

    def __init__(self, values: Iterator[Any]) -> None:
        """Take where the values come from."""
        self._values = values
        self._made: list[JsonValue] = []

    def __iter__(self) -> Iterator[JsonValue]:
        """Go through all of them."""
        return (self.at(index) for index in takewhile(self.has, count()))

    def has(self, index: int) -> bool:
        """Tell whether there are more than `index` values."""
        self._made.extend(islice(self._values, max(index + 1 - len(self._made), 0)))
        return index < len(self._made)

    def at(self, index: int) -> JsonValue:
        """Give a value; the last one for every index past the end. There must be one."""
        return self._made[index] if self.has(index) else self._made[-1]


def said(own: JsonObject) -> Iterator[JsonValue]:
    """Give the values that a schema's author wrote beside it, most deliberate first."""
    examples = own.get("examples")
    if isinstance(examples, list):
        yield from cast("list[JsonValue]", examples)
    yield from (own[key] for key in ("example", "default") if key in own)
    kinds = as_types(own.get("type"))
    if not kinds or "string" in kinds:
        yield from hints(own.get("description"), text=True)
    if kinds != ["string"]:
        yield from hints(own.get("description"), text=False)


def is_empty(value: JsonValue) -> bool:
    """Tell whether a value shows nothing: null, an empty text, list or object."""
    return any(jsontext.equal(value, empty) for empty in _EMPTY)


def kinds(own: JsonObject) -> list[str]:
    """Give the JSON types to try, null last."""
    if "type" in own:
        return sorted(as_types(own["type"]), key=lambda kind: kind == "null")
    return list(dict.fromkeys((*(kind for kind, words in _IMPLIED.items() if words & own.keys()), *_EVERY)))


def names(value: JsonValue) -> list[str]:
    """Give a list of names, empty if there is none."""
    return [name for name in cast("list[object]", value) if isinstance(name, str)] if isinstance(value, list) else []


def compiled(schema: JsonObject) -> Check:
    """Make the function that tells whether a value fits a schema; one that can't be used lets everything pass."""
    import jsonschema_rs as engine

    options: dict[str, Any] = {
        "offline": True,
        "validate_formats": True,
        "pattern_options": engine.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT),
    }
    for draft in (engine.Draft202012Validator, engine.Draft7Validator, engine.Draft4Validator):
        try:
            return draft(schema, **options).is_valid
        except ValueError:
            continue
    return lambda _: True
