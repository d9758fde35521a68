"""Values of the right shape with something wrong in them.

    {"role": "user", "content": "Hi"}  ->  {"role": {}, "content": "Hi"}, {"role": "user"}, {"content": [[[[...]]]]}, ...

All chance comes from the `Random` that is given, so that a case can be made again.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

DEEP = (40, 130, 250, 1_100, 3_000)
"""Levels of nesting: some, more than is read, more than a decoder takes, more than Python's stack."""
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 0.0, -0.0, 1.5, 1e308, -1e308, 10**30, -(10**1000), float("inf"), float("nan")),
    *("", " ", "x", "\ud800", "a\x00b", "\u2028", "null", "{}", "[]", '{"a": ', "\\", "0", "x" * 5_000, "%s{x}$"),
    *([], [[]], [None], ["x"], {}, {"": None}, {"type": ["x"]}, {"x": {}}, [{}], [1, "a", None], {"\ud800": 1}),
)
KEYS = ("", "type", "role", "content", "id", "name", "x", "$ref", "__class__", "\ud800", "a.b", "a/b~")


def deep(levels: int, chance: random.Random) -> Any:
    """Nest lists and objects."""
    value: Any = copied(chance.choice(ODD))
    kind = chance.randrange(3)
    for level in range(levels):
        value = {"a": value} if kind == 0 or (kind == 1 and level % 2) else [value]
    return value


def places(value: Any) -> list[tuple[Any, Any]]:
    """List the places in a value, as a container and a key or index each."""
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending and len(found) < 5_000:  # noqa: PLR2004 - enough to choose among
        node = pending.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            found.append((node, key))
            pending.append(node[key])
    return found


def copied(value: Any) -> Any:
    """Copy a JSON value of any depth."""
    holder = [value]
    pending: list[tuple[Any, Any]] = [(holder, 0)]
    while pending:
        node, key = pending.pop()
        old = node[key]
        if isinstance(old, dict | list):
            new = node[key] = old.copy()
            pending += [(new, one) for one in (new if isinstance(new, dict) else range(len(new)))]
    return holder[0]


def mutated(value: Any, others: Sequence[Any], chance: random.Random) -> Any:  # noqa: C901 - one case for each change
    """Copy a value with one to four changes."""
    holder = [copied(value)]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        found = places(holder)
        node, key = chance.choice(found)
        old = node[key]
        match chance.randrange(11):
            case 0 if node is not holder:
                del node[key]
            case 1:
                node[key] = deep(chance.choice(DEEP), chance)
            case 2:
                other, place = chance.choice(found)
                node[key] = copied(other[place])
            case 3 if isinstance(node, dict):
                node[chance.choice(KEYS)] = node.pop(key)
            case 4 if isinstance(node, list) and node is not holder:
                node.insert(key, copied(old))
            case 5 if isinstance(old, str):
                node[key] = text(old, chance)
            case 6:
                node[key] = chance.choice(
                    ([old], {"x": old}, "1" if isinstance(old, dict | list) else str(old)[:5_000])
                )
            case 7 if isinstance(node, dict):
                node[chance.choice(KEYS)] = copied(chance.choice(ODD))
            case 8 if others:
                donors = places([chance.choice(others)])
                other, place = chance.choice(donors)
                node[key] = copied(other[place])
            case _:
                node[key] = copied(chance.choice(ODD))
    return holder[0]


UNITS = (
    "\ud800",
    "\x00",
    '"',
    "\\",
    "{",
    "[",
    "}",
    "<",
    "</",
    "&",
    "\n",
    " ",
    "é",
    "😀",
    "\u2028",
    "null",
    "1e999",
    "[" * 300,
)


def text(old: str, chance: random.Random, others: Sequence[str] = ("",), units: Sequence[str] = UNITS) -> str:
    """Change a text a little: cut, double, repeat, insert, or join it with another."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        start, end = sorted(chance.randint(0, len(old)) for _ in range(2))
        near = min(end, start + chance.choice((1, 4, 32, 4_096)))
        other = chance.choice(others)
        old = chance.choice(
            (
                old[:start] + old[near:],
                old[:near] + old[start:],
                old[:start] + old[start:near] * chance.randint(2, 40) + old[near:],
                old[:start] + chance.choice(units) + old[start:],
                old[:start] + chance.choice(units) * chance.choice((1, 2, 200)) + old[near:],
                old[:start] + chr(chance.choice((chance.randrange(128), chance.randrange(0x11000)))) + old[start + 1 :],
                old[:start] + other[chance.randint(0, len(other)) :],
                old[:near],
            )
        )[:8_192]
    return old
