"""Arguments for an example call: values that fit the tool's schema.

A builder walks the schema and yields candidates for each node: first the author's own (`examples`, `default`, an "e.g."
in the description), then enum members, then samples. Each candidate is checked against its node; if none fits, the
parent tries its next possibility. Recursion ends where the schema allows it.

Limits protect against hostile schemas: 1,000 items in a list, 10,000 characters in a text, a number of steps for all
values. If they are exceeded, or if a schema allows no value at all, the best guess is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from typing import Final, cast

from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.example_members import ExampleMembers, Lists
from toolfmt.formatters.example_scalars import MOST, Builder, Fits, authored, is_empty, kinds, numbers, strings
from toolfmt.formatters.flat_schema import Flat, flatten, listed, subschema
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema import inline_refs, normalise

_STEPS: Final = 1_000_000
_OF_A_NODE: Final = 50
"""Steps for a node."""
_BRANCHES: Final = 200
"""Combinations of alternatives tried at one node."""
_FEW: Final = 30
"""Values tried of each combination before further values of any."""


def example_arguments(schema: JsonObject, *, optional: bool, suggestions: Sequence[JsonObject] = ()) -> JsonObject:
    """Make an arguments object that fits a tool's schema.

    With `optional` it has every property that is possible, without only those that are required, at every depth.
    Values of the argument objects in `suggestions` are preferred. Raises `SchemaError` for an invalid schema.
    """
    root = inline_refs(normalise(schema))
    node = {"type": "object", **{key: value for key, value in root.items() if key != "$defs"}}
    for turn, (repeats, guess) in enumerate(((2 if optional else 1, False), (1, False), (3, False), (1, True))):
        room = _STEPS >> turn
        builder = _Values(root, optional=optional and not guess, repeats=repeats, guess=guess, room=room)
        for value in builder.values(node, "", suggestions):
            if isinstance(value, dict):
                return cast("JsonObject", value)
    return {}


class _Values(Builder):
    def values(
        self, schema: JsonValue, name: str, suggestions: Iterable[JsonValue] = (), above: tuple[str, ...] = ()
    ) -> Iterator[JsonValue]:
        """Yield different values that fit a node, the best first."""
        self.nodes += 1
        self._room -= _OF_A_NODE
        if self.is_over or schema is False:
            return
        node = subschema(schema)
        fits = self.check(node)
        seen: set[str] = set()
        guess: list[JsonValue] = []
        for value in islice(self.candidates(flatten(node, self.root), name, tuple(suggestions), above, fits), MOST * 4):
            try:
                key = self.key(value)
            except UnrepresentableError:  # a default that is not JSON, such as NaN
                continue
            if not fits(value):
                guess = guess or [value]
            elif key not in seen:
                seen.add(key)
                yield value
        if self.guess and not seen:
            yield from guess

    def candidates(
        self, flat: Flat, name: str, suggestions: tuple[JsonValue, ...], above: tuple[str, ...], fits: Fits
    ) -> Iterator[JsonValue]:
        """Yield values that may fit a flattened node; `fits` checks against the original node."""
        above = (*above, *flat.references)
        if any(above.count(reference) > self.repeats for reference in flat.references):
            return
        suggested = sorted((*suggestions, *authored(flat.own)), key=is_empty)
        yield from (value for value in suggested if not isinstance(value, (dict, list)) and not is_empty(value))
        if flat.choices:
            alternatives = [self.ordered(choice, suggested) for choice in flat.choices]
            # An alternative may have many values that do not fit the node.
            for few, combination in product((_FEW, MOST), islice(product(*alternatives), _BRANCHES)):
                branch = flatten({"allOf": [flat.own, *combination]}, self.root)
                branch = branch._replace(dependents={**branch.dependents, **flat.dependents})
                yield from islice(self.candidates(branch, name, suggestions, above, fits), few)
            return
        if (members := listed(flat.own)) is not None:
            yield from members
            return
        for kind in kinds(flat.own):
            yield from islice(self.sample(kind, flat, name, suggested, above, fits), MOST)
        yield from suggested

    def ordered(self, choice: list[JsonObject], suggested: list[JsonValue]) -> list[JsonObject]:
        """Order alternatives: first those that a suggestion fits, null last."""

        def rank(branch: JsonObject) -> tuple[bool, bool]:
            fits = self.check(branch)
            is_null = branch.get("type") == "null" or branch.get("const", 0) is None
            return not any(fits(value) for value in suggested if not is_empty(value)), is_null

        return sorted(choice, key=rank)

    def sample(  # noqa: PLR0913, PLR0917 - what `candidates` knows, and the type
        self, kind: str, flat: Flat, name: str, suggested: list[JsonValue], above: tuple[str, ...], fits: Fits
    ) -> Iterator[JsonValue]:
        """Yield values of one JSON type."""
        match kind:
            case "string":
                pattern = flat.own.get("pattern")
                yield from strings(
                    flat.own, name or "value", self.matching(pattern) if isinstance(pattern, str) else ()
                )
            case "integer" | "number":
                yield from numbers(flat.own, whole=kind == "integer")
            case "boolean":
                yield from (True, False)
            case "array":
                items = next((cast("list[JsonValue]", value) for value in suggested if isinstance(value, list)), None)
                yield from Lists(self, flat.own, name, items or [], above).values()
            case "object":
                dicts = [cast("JsonObject", value) for value in suggested if isinstance(value, dict)]
                yield from ExampleMembers(self, flat, dicts, above, at_root=not name).values(fits)
            case _:
                yield None
