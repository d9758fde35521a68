"""Sample strings and numbers for a schema, the most recognisable first.

Every function returns candidates; the caller checks them against the schema.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import chain, count, islice, takewhile
from typing import Any, Final, TypeAlias, cast

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.formatters.pattern_text import LONGEST, matching
from toolfmt.jsontext import loads, raw_value
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.spelling import type_list
from toolfmt.schema.walk import as_object

Fits: TypeAlias = Callable[[JsonValue], bool]


_SAMPLES: Final = 490
"""Samples of each kind: two kinds suffice for a list of nearly a thousand different items."""
_FORMATS: Final = {
    "date": "2025-01-{n:02}",
    "date-time": "2025-01-{n:02}T12:00:00Z",
    "duration": "P{n}D",
    "email": "user{n}@example.com",
    "hostname": "host{n}.example.com",
    "idn-email": "user{n}@example.com",
    "idn-hostname": "host{n}.example.com",
    "ipv4": "192.0.2.{n}",
    "ipv6": "2001:db8::{n}",
    "iri": "https://example.com/{n}",
    "iri-reference": "https://example.com/{n}",
    "json-pointer": "/example/{n}",
    "regex": "^example{n}$",
    "relative-json-pointer": "{n}/example",
    "time": "12:{n:02}:00Z",
    "uri": "https://example.com/{n}",
    "uri-reference": "https://example.com/{n}",
    "uri-template": "https://example.com/{{id}}/{n}",
    "url": "https://example.com/{n}",
    "uuid": "123e4567-e89b-12d3-a456-4266141740{n:02}",
}
_NUMBERED: Final = range(1, 29)  # every format above has a valid 1 to 28
_BASE64: Final = ("ZXhhbXBsZQ==", "ZXhhbXBsZTI=")
_HINT: Final = re.compile(r"\be\.\s?g\.[,:]?\s*(?:(['\"`])(.{1,200}?)\1(?!\w))?", re.IGNORECASE)
_HALF: Final = Fraction(1, 2)
_EXACT: Final = 2**53
"""From here on, a float may be less exact than an integer."""


def hints(description: object, *, text: bool) -> Iterator[JsonValue]:
    """Yield the values that a description names after "e.g.".

    A quoted value is text if the schema takes `text`, and JSON otherwise; an unquoted one must be JSON.
    """
    for match in _HINT.finditer(description) if isinstance(description, str) else ():
        quoted: str | None = match[2]
        if text:
            if quoted is not None:
                yield quoted
            continue
        try:
            yield loads(quoted) if quoted is not None else raw_value(match.string, match.end())[0]
        except ParseError:
            continue  # prose


def strings(schema: JsonObject, name: str, matches: Iterable[str] = ()) -> Iterator[str]:
    """Yield strings for a schema: for its format, words with the parameter's name, `matches` of its pattern."""
    low, high = size(schema, "minLength", 0, LONGEST), size(schema, "maxLength", LONGEST, LONGEST)
    if form := _FORMATS.get(str(schema.get("format"))):
        yield from (form.format(n=n) for n in _NUMBERED)
    if schema.get("contentEncoding") == "base64" or schema.get("format") == "byte":
        yield from _BASE64
    if schema.get("contentMediaType") == "application/json":
        yield '{"key": "value"}'
    words = (f"example_{name}", *(f"example_{name}_{n}" for n in range(2, 10)))
    yield from _fitted((*words, "example", f"example-{name}", "Example", "EXAMPLE"), low, high)
    yield from _fitted(matches, low, high)
    if "pattern" not in schema:
        yield from _fitted((f"example_{name}_{n}" for n in range(10, _SAMPLES)), low, high)
    # If only a few characters are allowed, numbers still differ from each other.
    yield from _fitted(map(str, range(1, _SAMPLES)), low, high)


def _fitted(texts: Iterable[str], low: int, high: int) -> Iterator[str]:
    """Cut texts to `high` characters and pad them to `low`."""
    for text in texts:
        yield (text + "example" * (max(low - len(text), 0) // 7 + 1))[: min(max(low, len(text)), high)]


def size(schema: JsonObject, key: str, default: int, most: int) -> int:
    """Read a size keyword, which may be written as `3.0`; cap it at `most`."""
    value = _fraction(schema.get(key))
    return default if value is None else int(max(0, min(value, most)))


def numbers(schema: JsonObject, *, whole: bool) -> Iterator[int | float]:
    """Yield numbers within the schema's bounds, near 1 if possible; integers if `whole` is true."""
    low, high = _bound(schema, "minimum", "exclusiveMinimum"), _bound(schema, "maximum", "exclusiveMaximum")
    grid = _fraction(schema.get("multipleOf"))
    if whole:
        grid = Fraction(grid.numerator) if grid else Fraction(1)
    if not grid and low is not None and high is not None:
        grid = min((high - low) / 10, _HALF)
    grid = grid or _HALF  # also if the bounds are equal
    first = None if low is None else math.ceil(low / grid)
    last = None if high is None else math.floor(high / grid)
    start = math.ceil((Fraction(1) if whole else Fraction(3, 2)) / grid)
    start = start if first is None else max(start, first)
    start = start if last is None else min(start, last)
    # The middle of close bounds, not one of them: 0..1 gives 0.5.
    if not whole and first is not None and last is not None and start in {first, last}:
        start = (first + last) // 2
    top = start + _SAMPLES if last is None else min(last, start + _SAMPLES)
    bottom = start - _SAMPLES if first is None else max(first, start - _SAMPLES)
    steps = chain(range(start, top + 1), range(start - 1, bottom - 1, -1))
    for number in chain((step * grid for step in steps), filter(None, (low, high))):
        yield int(number) if whole or abs(number) > _EXACT else float(number)


def _bound(schema: JsonObject, closed: str, open_: str) -> Fraction | None:
    """Return the tighter of two bounds; the later check decides whether it is exclusive."""
    values = [bound for bound in (_fraction(schema.get(closed)), _fraction(schema.get(open_))) if bound is not None]
    return (max if closed == "minimum" else min)(values, default=None)


def _fraction(value: object) -> Fraction | None:
    """Convert a number exactly as written: 0.1 is one tenth."""
    if isinstance(value, float):
        return Fraction(str(value)) if math.isfinite(value) else None
    return Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else None


MOST: Final = 1_000
"""The largest number of items of a list, members of an object, or candidates of one type for a node."""
_BACKTRACK_LIMIT: Final = 10_000
_EMPTY: Final[tuple[JsonValue, ...]] = (None, "", [], {})
_EVERY: Final = ("string", "integer", "number", "boolean", "object", "array", "null")
_IMPLIED: Final = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "propertyNames"},
    "array": {"items", "prefixItems", "minItems", "contains", "uniqueItems", "maxItems"},
    "number": {"minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"},
}
"""The type that a keyword suggests for a schema without `type`."""


class Stream:
    """Values that are made on demand and kept."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values = values
        self._made: list[JsonValue] = []

    def __iter__(self) -> Iterator[JsonValue]:
        """Yield all values."""
        return (self.at(index) for index in takewhile(self.has, count()))

    def has(self, index: int) -> bool:
        """Whether there are more than `index` values."""
        self._made.extend(islice(self._values, max(index + 1 - len(self._made), 0)))
        return index < len(self._made)

    def at(self, index: int) -> JsonValue:
        """Return a value, for an index past the end the last one; there must be at least one."""
        return self._made[index] if self.has(index) else self._made[-1]


def authored(own: JsonObject) -> Iterator[JsonValue]:
    """Yield the values that the author of a schema suggests, the most explicit first."""
    examples = own.get("examples")
    if isinstance(examples, list):
        yield from cast("list[JsonValue]", examples)
    yield from (own[key] for key in ("example", "default") if key in own)
    kinds = type_list(own)
    if not kinds or "string" in kinds:
        yield from hints(own.get("description"), text=True)
    if kinds != ["string"]:
        yield from hints(own.get("description"), text=False)


def is_empty(value: JsonValue) -> bool:
    """Whether a value is null, or an empty text, list or object."""
    return any(jsontext.equal(value, empty) for empty in _EMPTY)


def kinds(own: JsonObject) -> list[str]:
    """Return the JSON types to try, null last."""
    if "type" in own:
        return sorted(type_list(own), key=lambda kind: kind == "null")
    return list(dict.fromkeys((*(kind for kind, words in _IMPLIED.items() if words & own.keys()), *_EVERY)))


def compiled(schema: JsonObject) -> Fits:
    """Return a function that checks whether a value fits a schema; an unusable schema accepts everything."""
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


_ENOUGH: Final = 500
"""The number of nodes after which optional members are left out, to keep the example readable."""
_OF_A_SCHEMA: Final = 20
"""Steps for each compiled schema; each character of a value takes one step."""


class Builder:
    """One attempt, which limits the repeats of a reference on one path and may accept a value that does not fit."""

    def __init__(self, root: JsonObject, *, optional: bool, repeats: int, guess: bool, room: int) -> None:
        """Begin an attempt that may take `room` steps."""
        self.root = root
        self._optional = optional
        self.guess = guess
        """Whether a value that does not fit is better than none."""
        self.repeats = repeats
        self.nodes = 0
        self._room = room
        self.definitions = as_object(root.get("$defs"))
        self.patterns: dict[str, Stream] = {}
        self.checks: dict[int, tuple[object, Fits]] = {}
        self._compiled: dict[str, Fits] = {}
        self._cost = _OF_A_SCHEMA * (1 + repr(self.definitions).count("{"))

    @property
    def is_over(self) -> bool:
        """Whether all steps are used up."""
        return self._room < 0

    def key(self, value: JsonValue) -> str:
        """Return a value's canonical text; it takes as many steps as it has characters."""
        key = jsontext.canonical(value)
        self._room -= len(key)
        return key

    @property
    def optional(self) -> bool:
        """Whether optional members are wanted."""
        return self._optional and self.nodes < _ENOUGH

    def check(self, node: JsonObject) -> Fits:
        """Compile a node's schema, at most once."""
        if id(node) not in self.checks:
            text = repr(node)  # many nodes are equal, such as references
            if text not in self._compiled:
                self._room -= self._cost
                whole = {**node, "$defs": self.definitions} if self.definitions else node
                self._compiled[text] = compiled(whole)
            # The node is kept alive, so that its id is not reused.
            self.checks[id(node)] = (node, self._compiled[text])
        return self.checks[id(node)][1]

    def matching(self, pattern: str) -> Iterator[str]:
        """Yield texts that are likely to match a pattern, which are made once."""
        return iter(self.patterns.setdefault(pattern, Stream(matching(pattern))))

    def values(
        self, schema: JsonValue, name: str, suggestions: Iterable[JsonValue] = (), above: tuple[str, ...] = ()
    ) -> Iterator[JsonValue]:
        """Yield different values that fit a schema, the best first.

        `name` is the property's name, "" at the root; `suggestions` come from the parent's schema, `above` are the
        enclosing references.
        """
        raise NotImplementedError
