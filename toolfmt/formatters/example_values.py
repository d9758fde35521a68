"""Arguments for an example call: values that fit the tool's schema.

A builder walks the schema and gives candidates for each node, the author's own
words first (`examples`, `default`, an "e.g." in the description), then enum
members, then samples. Each candidate is verified against its node; a node that
finds none sends its parent to the next possibility. Recursion ends where the
schema lets it end.

Bounds keep a hostile schema from filling the memory: lists of 1,000 items,
texts of 10,000 characters, a number of steps for all values. Beyond them, and where a schema allows
no value at all, the best guess is returned.
"""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final, cast

from toolfmt import jsontext
from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.example_members import ExampleMembers, Lists
from toolfmt.formatters.example_scalars import (
    MOST,
    Stream,
    authored,
    compiled,
    is_empty,
    kinds,
    names,
    numbers,
    strings,
)
from toolfmt.formatters.flat_schema import Flat, as_object, flatten, mapping, objects
from toolfmt.formatters.pattern_text import matching
from toolfmt.schema import inline_refs, normalise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolfmt.formatters.example_scalars import Check
    from toolfmt.model import JsonObject, JsonValue

_ENOUGH: Final = 500
"""Nodes after which members that may be left out are: an example is to be read."""
_STEPS: Final = 1_000_000
_OF_A_NODE: Final = 50
_OF_A_SCHEMA: Final = 20
"""Steps of a node, and of each schema that is compiled; a character of a value is one."""
_BRANCHES: Final = 200
"""Combinations of alternatives that are tried at one node."""
_FEW: Final = 30
"""Values of each combination that are tried before the rest of any."""


def example_arguments(schema: JsonObject, *, optional: bool, suggestions: Sequence[JsonObject] = ()) -> JsonObject:
    """Make an arguments object that fits a tool's schema.

    With `optional`, every property that can be there is there; without, only
    what is required, at every depth. `suggestions` are argument objects whose
    values are preferred. Raises `SchemaError` for a schema that cannot be read.
    """
    root = inline_refs(normalise(schema))
    node = {"type": "object", **{key: value for key, value in root.items() if key != "$defs"}}
    for turn, (repeats, guess) in enumerate(((2 if optional else 1, False), (1, False), (3, False), (1, True))):
        room = _STEPS >> turn
        builder = _Builder(root, optional=optional and not guess, repeats=repeats, guess=guess, room=room)
        for value in builder.values(node, "", suggestions):
            if isinstance(value, dict):
                return cast("JsonObject", value)
    return {}


def has_optional(schema: JsonObject) -> bool:
    """Tell whether a call may leave out a property, at any depth. Raises `SchemaError`."""
    root = inline_refs(normalise(schema))
    pending: list[Any] = [root]
    seen: set[str] = set()
    for node in pending:
        if not isinstance(node, dict):
            continue
        own, choices, _, references = flatten(cast("JsonObject", node), root)
        if seen.intersection(references):
            continue
        seen.update(references)
        required = names(own.get("required"))
        properties = mapping(own.get("properties"))
        if any(sub is not False and name not in required for name, sub in properties.items()):
            return True
        pending += [*properties.values(), *mapping(own.get("patternProperties")).values()]
        pending += [own.get(key) for key in ("items", "additionalItems", "additionalProperties", "contains")]
        pending += [*objects(own.get("prefixItems")), *objects(own.get("items"))]
        pending += [branch for choice in choices for branch in choice]
    return False


class _Builder:
    """One attempt: how often a reference may be met on the way down, and whether a value that is unfit will do."""

    def __init__(self, root: JsonObject, *, optional: bool, repeats: int, guess: bool, room: int) -> None:
        self.root = root
        self._optional = optional
        self._guess = guess
        self.repeats = repeats
        self.nodes = 0
        self._room = room
        self.definitions = mapping(root.get("$defs"))
        self.patterns: dict[str, Stream] = {}
        self.checks: dict[int, tuple[object, Check]] = {}
        self._compiled: dict[str, Check] = {}
        self._cost = _OF_A_SCHEMA * (1 + repr(self.definitions).count("{"))

    @property
    def is_over(self) -> bool:
        """All steps were taken."""
        return self._room < 0

    def key(self, value: JsonValue) -> str:
        """Write a value in one way, in steps that its size decides."""
        key = jsontext.canonical(value)
        self._room -= len(key)
        return key

    @property
    def optional(self) -> bool:
        """Members that may be left out are wanted."""
        return self._optional and self.nodes < _ENOUGH

    @property
    def guess(self) -> bool:
        """A value that does not fit is better than none."""
        return self._guess

    def values(
        self, schema: JsonValue, name: str, suggestions: Iterable[JsonValue] = (), above: tuple[str, ...] = ()
    ) -> Iterator[JsonValue]:
        """Give different values that fit a node, the best first.

        `name` is the property's name, "" at the root; `suggestions` come from
        what was said about the parent, `above` are the references on the way.
        """
        self.nodes += 1
        self._room -= _OF_A_NODE
        if self.is_over or schema is False:
            return
        node = as_object(schema)
        fits = self.check(node)
        seen: set[str] = set()
        guess: list[JsonValue] = []
        for value in islice(self.candidates(flatten(node, self.root), name, tuple(suggestions), above, fits), MOST * 4):
            try:
                key = self.key(value)
            except UnrepresentableError:  # a default that is no JSON, such as NaN
                continue
            if not fits(value):
                guess = guess or [value]
            elif key not in seen:
                seen.add(key)
                yield value
        if self.guess and not seen:
            yield from guess

    def check(self, node: JsonObject) -> Check:
        """Compile a node's schema, once."""
        if id(node) not in self.checks:
            text = repr(node)  # others say the same, such as references
            if text not in self._compiled:
                self._room -= self._cost
                whole = {**node, "$defs": self.definitions} if self.definitions else node
                self._compiled[text] = compiled(whole)
            # The node is kept, so that its id stays its own.
            self.checks[id(node)] = (node, self._compiled[text])
        return self.checks[id(node)][1]

    def matching(self, pattern: str) -> Iterator[str]:
        """Give texts that are likely to match a pattern, made once."""
        return iter(self.patterns.setdefault(pattern, Stream(matching(pattern))))

    def candidates(
        self, flat: Flat, name: str, suggestions: tuple[JsonValue, ...], above: tuple[str, ...], fits: Check
    ) -> Iterator[JsonValue]:
        """Give what may fit a flattened node; `fits` is the check of the node that it comes from."""
        above = (*above, *flat.references)
        if any(above.count(reference) > self.repeats for reference in flat.references):
            return
        suggested = sorted((*suggestions, *authored(flat.own)), key=is_empty)
        yield from (value for value in suggested if not isinstance(value, (dict, list)) and not is_empty(value))
        if flat.choices:
            alternatives = [self.ordered(choice, suggested) for choice in flat.choices]
            # An alternative may have many values of which none fits the whole.
            for few, combination in product((_FEW, MOST), islice(product(*alternatives), _BRANCHES)):
                branch = flatten({"allOf": [flat.own, *combination]}, self.root)
                branch = branch._replace(dependents={**branch.dependents, **flat.dependents})
                yield from islice(self.candidates(branch, name, suggestions, above, fits), few)
            return
        listed: JsonValue = [flat.own["const"]] if "const" in flat.own else flat.own.get("enum")
        if isinstance(listed, list):
            yield from cast("list[JsonValue]", listed)
            return
        for kind in kinds(flat.own):
            yield from islice(self.sample(kind, flat, name, suggested, above, fits), MOST)
        yield from suggested

    def ordered(self, choice: list[JsonObject], suggested: list[JsonValue]) -> list[JsonObject]:
        """Put first the alternatives that a suggestion fits, and null last."""

        def rank(branch: JsonObject) -> tuple[bool, bool]:
            fits = self.check(branch)
            is_null = branch.get("type") == "null" or branch.get("const", 0) is None
            return not any(fits(value) for value in suggested if not is_empty(value)), is_null

        return sorted(choice, key=rank)

    def sample(  # noqa: PLR0913, PLR0917 - what `candidates` knows, and the type
        self, kind: str, flat: Flat, name: str, suggested: list[JsonValue], above: tuple[str, ...], fits: Check
    ) -> Iterator[JsonValue]:
        """Give values of one JSON type."""
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
