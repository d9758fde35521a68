"""Which dialects a run tests: with `--all` every one, else the fewest that show every part a record can have.

Dozens of dialects differ in the words of their markers alone. What the code sees of a record are its parts: which
fields are set, where the slots of a template stand, whether a marker touches a blank. Each such part of any dialect
is in one of the representatives. They are computed from the records, so a dialect with a new part is one of them
from its first run. `pytest --dialect NAME` tests one dialect alone, which is then what every function here gives.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, TypeAlias, TypeVar

import pytest

from toolfmt.dialect.record import Dialect
from toolfmt.dialect.records import dump
from toolfmt.dialect.syntax import BODY_SLOTS, Maybe, Piece, Slot, pieces
from toolfmt.errors import UnknownDialectError
from toolfmt.lookup.registry import default_registry

T = TypeVar("T")
Part: TypeAlias = tuple[str, object]
"""A field's path in the record, and what of its value the code sees."""

ALL = "TOOLFMT_TEST_ALL"
"""The environment variable by which workers know of `--all`."""
everything = ALL in os.environ
"""Whether this run leaves no dialect out: set by `--all`, before any test file is imported."""
ONLY = "TOOLFMT_TEST_DIALECT"
"""The environment variable by which workers know of `--dialect`."""
only = os.environ.get(ONLY, "")
"""The one dialect to test: set by `--dialect`, like `everything`."""


def check_only() -> None:
    """Raise UsageError if there is no dialect of the name in `only`."""
    try:
        default_registry().dialect(only)
    except UnknownDialectError as error:
        raise pytest.UsageError(str(error)) from None


def dialects() -> list[Dialect[str]]:
    """Give the text dialects to test, by name."""
    known = [dialect for dialect in default_registry() if dialect.syntax is not None]
    if only:
        return [dialect for dialect in known if dialect.name == only]
    if everything:
        return known
    chosen = _chosen()
    return [dialect for dialect in known if dialect.name in chosen]


def kinds() -> list[Dialect[str]]:
    """Give fewer of them, for tests that take long: of each field, one that has it and one that has not."""
    return [dialect for dialect in dialects() if everything or only or dialect.name in _kinds()]


def bodies() -> list[Dialect[str]]:
    """Give one of each kind of reader, for tests that give a dialect megabytes or cut a text everywhere."""
    known = {dialect.name: dialect for dialect in kinds()}
    return [known[name] for name in sorted(representatives({name: _readers(one) for name, one in known.items()}))]


def _readers(dialect: Dialect[str]) -> frozenset[Part]:
    """What reads the arguments of a dialect's calls, and what else decides how far it looks ahead."""
    syntax = dialect.syntax
    assert syntax is not None
    form = syntax.forms[0]
    read = [
        ("json", form.json is not None),
        ("elements", form.elements and (form.elements.escape, form.elements.keyed_by_tag, bool(form.elements.quotes))),
        ("literals", form.literals and (form.literals.keywords, form.literals.escapes)),
        *((slot, True) for slot in BODY_SLOTS if f"{{{slot}}}" in form.call),
    ]
    return frozenset({*read, ("frame", syntax.frame is not None), ("bare", syntax.bare), ("lines", syntax.lines)})


def names() -> list[str]:
    """Give the names of the dialects to test."""
    return [dialect.name for dialect in dialects()]


def partners(one: T, known: Sequence[T], count: int = 4) -> list[T]:
    """Give the others of `known`; without `--all` the next `count`, in a ring, so that each is as often a partner."""
    at = known.index(one)
    rest = [*known[at + 1 :], *known[:at]]
    return rest if everything else rest[:count]


def share(items: Sequence[T], turn: int, count: int) -> Sequence[T]:
    """Give every item with `--all`; else those of one of `count` turns, which share the items."""
    return items if everything else items[turn % count :: count]


@cache
def _parts_of_all() -> dict[str, frozenset[Part]]:
    return {dialect.name: parts(dialect) for dialect in default_registry() if dialect.syntax is not None}


@cache
def _chosen() -> frozenset[str]:
    return frozenset(representatives(_parts_of_all()))


@cache
def _kinds() -> frozenset[str]:
    known = {name: parts for name, parts in _parts_of_all().items() if name in _chosen()}
    fields = {name: frozenset((path, bool(value)) for path, value in parts) for name, parts in known.items()}
    return frozenset(representatives(fields))


def representatives(parts: Mapping[str, frozenset[Part]]) -> list[str]:
    """Choose few names that have all parts among them, those with the most new parts first."""
    missing = frozenset[Part]().union(*parts.values())
    chosen: list[str] = []
    while missing:
        best = max(sorted(parts), key=lambda name: len(parts[name] & missing))
        chosen.append(best)
        missing -= parts[best]
    return chosen


def parts(dialect: Dialect[str]) -> frozenset[Part]:
    """List the parts of a dialect's record, with the words of its markers left out."""
    assert dialect.syntax is not None
    return frozenset({*_parts("syntax", dump(dialect.syntax)), *_parts("traits", asdict(dialect.traits))})


def _parts(path: str, value: Any) -> Iterator[Part]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _parts(f"{path}.{key}", inner)
        case list() | tuple():
            yield path, min(len(value), 2)
            for inner in value:
                yield from _parts(f"{path}[]", inner)
        case str():
            yield path, _skeleton(pieces(value))
        case _:
            yield path, value


def _skeleton(template: Iterable[Piece]) -> tuple[object, ...]:
    """The slots of a template, and of the text between them whether a blank begins and ends it."""
    return tuple(
        _skeleton(piece.pieces)
        if isinstance(piece, Maybe)
        else piece.name
        if isinstance(piece, Slot)
        else (piece.text[0].isspace(), piece.text[-1].isspace())
        for piece in template
    )
