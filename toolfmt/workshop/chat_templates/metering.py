"""Counts the cost of a template's operations, so that no template runs without end or fills the memory.

    meter = Meter(steps=5_000_000, text=64_000_000)
    meter.deep({"a": ["text"]})               # one step per value and per 1024 characters
    meter.call("ljust", "x", (10**9,), {})    # raises Stopped before the text is made

Work is counted, not time: the same template with the same conversation has the same result on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any, Final, cast

TEXT: Final = 1024
"""Characters that are read, compared or copied for one step."""
_ITEM: Final = 8
"""Characters that an item of a list counts for."""
_BITS: Final = 4096
"""Bits of the largest number."""

_GROWING: Final = frozenset(
    {
        *("ljust", "rjust", "center", "zfill", "expandtabs", "to_bytes", "format", "format_map", "translate", "join"),
        *("indent", "batch", "slice", "round", "tojson", "wordwrap", "xmlattr"),
    }
)
"""Functions whose result is as long as an argument says: a width, an indent, a separator for each item."""
_POWERS: Final = frozenset({"round"})
"""Of these, those that compute ten to the power of their argument."""
_FORMATTING: Final = frozenset({"format", "format_map"})
"""Of these, those whose text holds the width."""
_SQUARE: Final = frozenset({"striptags", "sum", "unescape", "urlize", "wordwrap"})
"""Functions that pass through their value repeatedly."""
_AT_ONCE: Final = frozenset({"attr", "count", "d", "default", "first", "items", "last", "length"})
"""The filters that cost the same whatever their value holds."""
_BY_ITEM: Final = frozenset(
    ("batch", "list", "map", "reject", "rejectattr", "reverse", "select", "selectattr", "slice")
)
"""The filters that visit the items of their value, but not what is in them."""
_CONTAINERS: Final = (Mapping, list, tuple, AbstractSet, ValuesView)
_LISTS: Final = frozenset({list, tuple})
_DIGITS: Final = re.compile(r"\d+")
_NESTED: Final = re.compile(r"\{[^{}]*\{|\*")


class Stopped(Exception):  # noqa: N818 - not an error of the template
    """The template exceeded its limits."""


class Meter:
    """Counts steps and characters of text down from their limits; raises `Stopped` when none are left."""

    __slots__ = ("_limits", "steps", "text")

    def __init__(self, steps: int, text: int) -> None:
        self.steps, self.text = self._limits = steps, text

    def work(self, steps: int) -> None:
        """Count steps, at least one."""
        self.steps -= max(steps, 1)
        if self.steps < 0:
            raise Stopped(f"it takes more than {self._limits[0]} steps: it may have no end")

    def make(self, characters: int) -> None:
        """Count characters that are made."""
        self.text -= characters
        if self.text < 0:
            raise Stopped(f"it makes more than {self._limits[1]} characters of text")
        self.work(characters // TEXT)

    def deep(self, value: object) -> int:
        """Count a value and all that is in it, each time that it is in it; returns its characters."""
        size = 0
        stack = [value]
        while stack:
            one = stack.pop()
            if isinstance(one, str | bytes):
                size += len(one)
                if len(one) >= TEXT:
                    self.work(len(one) // TEXT)
                continue
            # Lists are most of what is counted: the checks in `_inside` are slow.
            inner = cast("list[object]", one) if type(one) in _LISTS else _inside(one)
            if isinstance(one, range):
                size += len(one)
                self.work(len(one))
            elif inner is None:
                size += 1 + (one.bit_length() // 3 if isinstance(one, int) else 0)
            else:
                self.work(len(inner))
                size += 2 * len(inner)
                stack.extend(chain.from_iterable(inner.items()) if isinstance(inner, Mapping) else inner)
        self.work(1)
        return size

    def made(self, value: object) -> None:
        """Count a new value, but not what is in it."""
        if isinstance(value, str | bytes):
            self.make(len(value))
        elif isinstance(value, list | tuple | dict | set):
            self.make(len(cast("list[Any]", value)) * _ITEM)

    def call(self, name: str, value: object, given: tuple[object, ...], named: dict[str, object]) -> None:
        """Count the cost of a method or filter with these arguments, before it runs."""
        own = _length(value) if name in _AT_ONCE or name in _BY_ITEM else self.deep(value)
        arguments = [*given, *named.values()]
        text = sum(map(self.deep, arguments))
        pairs = (own + 1) * (text + 1)
        self.work((own if name in _BY_ITEM else 0) + ((own * own if name in _SQUARE else 0) + pairs) // TEXT)
        if name == "replace" and isinstance(value, str) and len(given) > 1:
            old, new, *_ = map(str, given)
            self.make(value.count(old) * len(new))
        elif name in _GROWING:
            width = _written_width(str(value), arguments) if name in _FORMATTING else _width(arguments)
            if name in _POWERS and width > _BITS:
                raise Stopped(f"it makes a number of more than {_BITS} bits")
            self.make((own + 1) * (text + width + 1))

    def operator(self, sign: str, left: object, right: object) -> None:
        """Count the cost of `left sign right`, before it is computed."""
        if isinstance(left, int) and isinstance(right, int):
            bits = {"*": left.bit_length() + right.bit_length(), "**": left.bit_length() * max(right, 0)}
            if bits.get(sign, 0) > _BITS:
                raise Stopped(f"it makes a number of more than {_BITS} bits")
        elif sign == "%" and isinstance(left, str):
            self.call("format", left, (right,), {})
        elif sign == "*":
            for times, value in ((left, right), (right, left)):
                if isinstance(times, int) and isinstance(value, Sequence):
                    size = len(cast("Sequence[Any]", value)) * (1 if isinstance(value, str) else _ITEM)
                    self.make(max(times, 0) * size)
        else:
            self.made(left)
            self.made(right)


def _width(arguments: Iterable[object]) -> int:
    """Sum up the widths among arguments; a negative one pads the other side."""
    return sum(abs(one) for one in _flat(arguments) if isinstance(one, int))


def _written_width(text: str, arguments: list[object]) -> int:
    """Sum up the widths in a format string, and those that it takes from the arguments, numbers and texts."""
    taken = list(_flat(arguments)) if _NESTED.search(text) else []
    texts = [text, *(one for one in taken if isinstance(one, str))]
    return sum(int(found[:20]) for one in texts for found in _DIGITS.findall(one)) + _width(taken)


def _flat(arguments: Iterable[object]) -> Iterator[object]:
    """Yield the values in arguments, at any depth."""
    stack = list(arguments)
    while stack:
        inner = _inside(one := stack.pop())
        if inner is None:
            yield one
        else:
            stack.extend(inner.values() if isinstance(inner, Mapping) else inner)


def _inside(value: object) -> Mapping[object, object] | Sequence[object] | None:
    return cast("Sequence[object]", value) if isinstance(value, _CONTAINERS) else None


def _length(value: object) -> int:
    inner = value if isinstance(value, str | range) else _inside(value)
    return len(inner) if inner is not None else 1
