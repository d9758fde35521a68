"""What one visit of a schema counts for, by what is held against it.

A visit takes a machine about a microsecond. A look at a long text, at a long number or at a whole list takes more.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.patterns import compile_time
from toolfmt.schema.walk import as_list, as_object, values_in

_STEPS: Final = 2_000
"""What a pattern that has to be backtracked counts for; others take their time by the text's length."""
CHUNK: Final = 64
"""Characters that are matched against a pattern in the time of a visit."""
_OF_PATTERN: Final = 16
"""What a pattern takes to be compiled, for each time that the matching of a chunk adds."""
_KEPT: Final = range(-(1 << 63), 1 << 63)
"""The numbers that a machine compares in one step."""
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const")
BACKTRACKED: Final = re.compile(r"\(\?<?[=!]|\\[1-9k]")
"""What a pattern has that does not run in linear time: look-around and back-references."""


def patterns(node: JsonObject) -> list[str]:
    """Return the patterns in one schema, of its text and of its keys."""
    return [one for one in (node.get("pattern"), *as_object(node.get("patternProperties"))) if isinstance(one, str)]


class Cost(NamedTuple):
    """What a visit of one schema counts for, by what is held against it."""

    always: int
    text: int
    """Added for a text."""
    chunk: float
    """Added for each `CHUNK` of a text."""
    keys: int
    """Added for each `CHUNK` of an object's keys."""
    whole: int
    """Added for each `CHUNK` of a list or an object: it is compared as a whole so often."""
    numbers: int
    """How often a number is compared."""
    unique: bool
    """Whether the items of a list are compared with one another, which takes one step for each, except long numbers."""

    def of(self, value: JsonValue, whole: int) -> int:
        """Return the cost for a value whose size is `whole`."""
        if isinstance(value, str):
            return self.always + self.text + int(len(value) * self.chunk) // CHUNK
        if is_object(value):
            return self.always + self.whole * whole + (self.keys and self.keys * keys_of(value))
        if is_array(value):
            return self.always + self.whole * whole + (_pairs(value) if self.unique else 0)
        return self.always + self.numbers * length_of(value)


def cost_of(node: JsonObject) -> Cost:
    """Work out what a visit of a schema counts for."""
    backtracked = [pattern for pattern in patterns(node) if BACKTRACKED.search(pattern)]
    own = node.get("pattern")
    matched = own is not None or "format" in node
    keys = as_object(node.get("patternProperties"))
    always = 1 + sum(len(as_list(node.get(key))) for key in ("enum", "required"))
    for key in ("dependentRequired", "dependencies"):
        always += sum(map(len, filter(is_array, as_object(node.get(key)).values())))
    numbers = [*(node[key] for key in _NUMBERS if key in node), *as_list(node.get("enum"))]
    return Cost(
        always=always + sum(map(length_of, numbers)),
        text=_STEPS * (own in backtracked),
        chunk=1 + _matching(own) if matched else 1 / CHUNK,
        keys=len(keys) + sum(map(_matching, keys)) + (_STEPS - 1) * sum(one in backtracked for one in keys),
        whole=sum(isinstance(one, (dict, list)) for one in (*as_list(node.get("enum")), node.get("const")))
        + ("uniqueItems" in node),
        numbers=1 + len(numbers),
        unique="uniqueItems" in node,
    )


def _matching(pattern: object) -> int:
    """Return what a pattern adds for each chunk of a text: a large one is in many states at once."""
    return compile_time(pattern) // _OF_PATTERN if isinstance(pattern, str) else 0


def length_of(value: object) -> int:
    """Return what a number adds where it is compared: long ones are read from their digits, in square time."""
    if not isinstance(value, int) or value in _KEPT:
        return 0
    words = value.bit_length() // 64
    return 1 + words * words // 40


def _pairs(items: list[JsonValue]) -> int:
    """Return what the long numbers in a list add where each item is compared with each other."""
    long = [length for item in items if (length := sum(map(length_of, values_in(item))))]
    return len(long) * sum(long) // 2


def keys_of(value: JsonObject) -> int:
    """Count the keys of an object, and the chunks of long ones."""
    return sum(1 + len(key) // CHUNK for key in value)


def size_of(value: JsonValue) -> int:
    """Count the values in a value, and the chunks of its texts."""
    return sum(
        1 + (keys_of(one) if is_object(one) else len(one) // CHUNK if isinstance(one, str) else 0)
        for one in values_in(value)
    )
