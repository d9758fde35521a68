r"""Counts the work that a schema takes before it is done.

    {"$defs": {"d1": {"allOf": [{"$ref": "#/$defs/d0"}, {"$ref": "#/$defs/d0"}]}, "d2": ..., "d40": ...}}

A validator visits a subschema once for each way that leads to it on the same value: 2^40 visits here, for any
value. So a schema is refused where one value takes more than `MAX_VISITS`, whichever keywords cause them. Further
visits grow with the value: a recursive schema with alternatives may take more with every level. So the visits of a
call's arguments are counted too; beyond `MAX_WORK` the arguments are not checked and do not pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Any, Final, NamedTuple

from toolfmt.errors import SchemaError, UnresolvableReferenceError
from toolfmt.jsontext import MAX_NESTING, is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.costs import CHUNK, Cost, cost_of, keys_of, length_of, patterns, size_of
from toolfmt.schema.patterns import compile_time
from toolfmt.schema.refs import resolve
from toolfmt.schema.walk import SchemaPlace, as_list, as_object, pointer, subschemas, values_in

MAX_VISITS: Final = 10_000
"""Visits of subschemas that one value may take, not counting those of the values inside it."""
MAX_WORK: Final = 1_000_000
"""Visits that a call's arguments may take."""
_MAX_COUNTED: Final = 250_000
"""Steps that counting the visits of a schema's places may take."""

MAX_COMPILING: Final = 2_000_000
"""Microseconds that the patterns of a schema may take to be compiled, by the estimate of `compile_time`."""

_LISTED: Final = ("allOf", "anyOf", "oneOf")
_SINGLE: Final = ("not", "if", "then", "else")
_LATE: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
"""What asks all that is combined again, to find what it left."""
_OF_MEMBERS: Final = frozenset({"properties", "patternProperties", "additionalProperties", "unevaluatedProperties"})
_OF_ITEMS: Final = frozenset({"prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"})
_LONG_NUMBER: Final = re.compile(r"\d{19}")
_DEEPEST: Final = 50
"""Levels of a schema at which its visits are worked out beforehand."""


class Visits(NamedTuple):
    """The subschemas that one value is held against, each with how often, from the same starting point."""

    nodes: tuple[tuple[JsonObject, int], ...]
    total: int


class SchemaWork:
    """One schema, whose visits can be counted."""

    def __init__(self, schema: JsonObject) -> None:
        self._root = schema
        self._visits: dict[int, Visits] = {}
        self._beside: dict[int, tuple[JsonObject, ...]] = {}
        self._costs: dict[int, Cost] = {}
        self._names: dict[str, list[JsonObject]] | None = None

    def check(self) -> None:
        """Raise `SchemaError` with the place of a subschema at which one value takes too many visits."""
        pending: list[tuple[Any, SchemaPlace]] = [(self._root, ())]
        seen: set[int] = set()
        total = compiling = 0
        for start, place in pending:
            if not is_object(start) or id(start) in seen:
                continue
            seen.add(id(start))
            compiling += sum(map(compile_time, patterns(start)))
            if compiling > MAX_COMPILING:
                raise SchemaError(
                    f"at {pointer(place)}: the patterns take too long to compile: shorten their repetitions"
                )
            try:
                nodes, total_here = self.visits(start)
                named = sum(len(as_object(node.get("properties"))) for node, _ in nodes)
                total += total_here * (1 + named // 2 * (len(nodes) > 1))  # each member is looked up in each of them
            except OverflowError:
                total = _MAX_COUNTED + 1
            if total > _MAX_COUNTED:
                raise SchemaError(
                    f"at {pointer(place)}: references and combinations take too many steps: "
                    "write alternatives once, and let them differ by a property"
                )
            pending.extend((sub, (*place, *way)) for way, sub in subschemas(start))

    def fits(self, value: JsonValue, most: int) -> bool:
        """Whether a value takes no more than `most` visits; quick if its size shows it."""
        text = repr(value)
        values = 1 + sum(map(text.count, ",[{")) + len(text) // CHUNK
        quick = self._each * values <= most and not _LONG_NUMBER.search(text)
        return quick or self.of(value, most) <= most

    @cached_property
    def _each(self) -> float:
        """Visits for each value inside one at the most; infinite for a schema where that is not plain."""
        return self._most(self._root, 0, {})

    def _most(self, start: JsonObject, level: int, known: dict[int, float]) -> float:
        if id(start) not in known:
            known[id(start)] = inf  # where it holds itself
            known[id(start)] = inf if level > _DEEPEST else self._counted(start, level, known)
        return known[id(start)]

    def _counted(self, start: JsonObject, level: int, known: dict[int, float]) -> float:
        nodes = self.visits(start).nodes
        keys: dict[Any, None] = {None: None}
        for node, _ in nodes:
            keys.update(dict.fromkeys(as_object(node.get("properties"))))
        indices = range(1 + _special(nodes))
        members = sum(1 + len(as_object(node.get("patternProperties"))) for node, _ in nodes)
        if (len(keys) + len(indices)) * members > MAX_VISITS:
            return inf

        def inner(subs: Iterable[tuple[Any, int]]) -> float:
            return sum(self._most(sub, level + 1, known) * times for sub, times in subs if is_object(sub))

        return max(
            sum(times * (self._at_most(node) + self._of_names(node)) for node, times in nodes),
            *(inner((sub, times) for node, times in nodes for sub in _member(node, key)) for key in keys),
            *(inner((sub, times) for node, times in nodes for sub in _item(node, index)) for index in indices),
        )

    def of(self, value: JsonValue, most: int = MAX_WORK) -> int:
        """Count the visits that a value takes, values inside it included; stops at the first sum above `most`.

        Also stops where finding what the values inside are held against takes more than `MAX_WORK` steps.
        """
        total = looked = 0
        pending: list[tuple[JsonValue, int, dict[int, tuple[JsonObject, int]]]] = [
            (value, 1, {id(self._root): (self._root, 1)})
        ]
        while pending:
            value, count, starts = pending.pop()
            nodes = [
                (node, times * each) for start, times in starts.values() for node, each in self.visits(start).nodes
            ]
            costs = [(self._cost(node), times) for node, times in nodes]
            whole = size_of(value) if any(cost.whole for cost, _ in costs) else 0
            total += count * sum(times * cost.of(value, whole) for cost, times in costs)
            if is_object(value):
                named = sum(times * self._of_names(node) for node, times in nodes)
                total += named and named * keys_of(value)
                nodes = [one for one in nodes if not _OF_MEMBERS.isdisjoint(one[0])]
                looked += len(value) * len(nodes)
            elif is_array(value):
                nodes = [one for one in nodes if not _OF_ITEMS.isdisjoint(one[0])]
                looked += min(len(value), _special(nodes)) * len(nodes)
            if total > most or looked > MAX_WORK:
                return max(total, most + 1)
            if is_object(value):
                for key, item in value.items():
                    pending.append(
                        (item, 1, _merged((sub, times) for node, times in nodes for sub in _member(node, key)))
                    )
            elif is_array(value):
                pending.extend(self._items(value, nodes))
        return total

    def _cost(self, node: JsonObject) -> Cost:
        known = self._costs.get(id(node))
        if known is None:
            known = self._costs[id(node)] = cost_of(node)
        return known

    def _at_most(self, node: JsonObject) -> int:
        """Return the cost of a visit for each value and chunk in what is checked."""
        cost = self._cost(node)
        return cost.always + len(node) + cost.text + cost.keys + int(cost.chunk) + cost.whole * MAX_NESTING

    def visits(self, start: JsonObject) -> Visits:
        """Count the visits of one value from a subschema on; raises OverflowError beyond `MAX_VISITS`."""
        known = self._visits.get(id(start))
        if known is not None:
            return known
        found: dict[int, tuple[JsonObject, int]] = {}
        total = looked = 0
        path: set[int] = set()
        # How often a node is checked, and how often it is asked what it has checked, as `unevaluated…` does.
        stack: list[tuple[JsonObject | None, Iterator[JsonObject], int, int]] = [(None, iter((start,)), 1, 0)]
        while stack:
            parent, below, checked, asked = stack[-1]
            node = next(below, None)
            if node is None:
                stack.pop()
                path.discard(id(parent))
            elif id(node) not in path:  # else a circle, which a validator does not go round
                total += checked + asked
                if total > MAX_VISITS:
                    raise OverflowError
                found[id(node)] = (node, found.get(id(node), (node, 0))[1] + checked + asked)
                late = not _LATE.isdisjoint(node)
                path.add(id(node))
                inner = self._combined(node)
                looked += len(inner)
                if looked > _MAX_COUNTED:
                    raise OverflowError
                stack.append((node, iter(inner), checked * (1 + late) + asked, checked * late + asked))
        made = self._visits[id(start)] = Visits(tuple(found.values()), total)
        return made

    def _items(
        self, value: list[JsonValue], nodes: Sequence[tuple[JsonObject, int]]
    ) -> Iterator[tuple[JsonValue, int, dict[int, tuple[JsonObject, int]]]]:
        """Return the items of a list with what they are held against; plain ones at the end of it together."""
        special = _special(nodes)
        for index, item in enumerate(value[:special]):
            yield item, 1, _merged((sub, times) for node, times in nodes for sub in _item(node, index))
        rest = value[special:]
        starts = _merged((sub, times) for node, times in nodes for sub in _item(node, special))
        plain = [item for item in rest if not isinstance(item, (dict, list))]
        texts = [item for item in plain if isinstance(item, str)]
        if texts:
            yield max(texts, key=len), len(texts), starts
        if len(plain) > len(texts):
            others = (item for item in plain if not isinstance(item, str))
            yield max(others, key=length_of), len(plain) - len(texts), starts
        yield from ((item, 1, starts) for item in rest if isinstance(item, (dict, list)))

    def _of_names(self, node: JsonObject) -> int:
        names = node.get("propertyNames")
        if not is_object(names):
            return 0
        costs = [(self._cost(each), times) for each, times in self.visits(names).nodes]
        return sum(times * (cost.always + cost.text + int(cost.chunk)) for cost, times in costs)

    def _combined(self, node: JsonObject) -> tuple[JsonObject, ...]:
        """Return the subschemas that the same value is held against."""
        known = self._beside.get(id(node))
        if known is None:
            known = self._beside[id(node)] = tuple(sub for sub in self._applied(node) if is_object(sub))
        return known

    def _applied(self, node: JsonObject) -> Iterator[Any]:
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if key in node:
                yield from self._targets(node[key])
        for key in _LISTED:
            yield from as_list(node.get(key))
        yield from (node[key] for key in _SINGLE if key in node)
        for key in ("dependentSchemas", "dependencies"):
            yield from as_object(node.get(key)).values()

    def _targets(self, reference: object) -> list[Any]:
        """Find what a reference may point to: a place, else whatever has a name of that ending."""
        if not isinstance(reference, str):
            return []
        try:
            return [resolve(self._root, reference)]
        except UnresolvableReferenceError:
            pass
        if self._names is None:
            self._names = {}
            for node in filter(is_object, values_in(self._root)):
                for key in ("$id", "$anchor", "$dynamicAnchor"):
                    if isinstance(node.get(key), str):
                        self._names.setdefault(_last(node[key]), []).append(node)
        url, hash_, fragment = reference.partition("#")
        found = self._names.get(_last(fragment if hash_ and not fragment.startswith("/") else url), [])
        if not fragment.startswith("/"):
            return list(found)
        inside: list[Any] = []
        for node in found:
            try:
                inside.append(resolve(node, f"#{fragment}"))
            except UnresolvableReferenceError:
                continue
        return inside


def check_work(name: str, schema: JsonObject) -> None:
    """Raise `SchemaError`, with the tool's name and the place, for a schema that asks for too much work."""
    try:
        SchemaWork(schema).check()
    except SchemaError as error:
        raise SchemaError(f"the schema of tool {name!r}, {error}") from None


def _member(node: JsonObject, key: str) -> Iterator[Any]:
    """Return the subschemas that an object's member is held against."""
    named = as_object(node.get("properties"))
    yield named[key] if key in named else node.get("additionalProperties")
    yield node.get("unevaluatedProperties")
    yield from as_object(node.get("patternProperties")).values()


def _item(node: JsonObject, index: int) -> Iterator[Any]:
    """Return the subschemas that an array's item is held against."""
    first, listed = as_list(node.get("prefixItems")), node.get("items")
    if index < len(first):
        yield first[index]
    elif is_array(listed):  # an older draft's
        yield listed[index] if index < len(listed) else node.get("additionalItems")
    else:
        yield listed
    yield node.get("contains")
    yield node.get("unevaluatedItems")


def _special(nodes: Iterable[tuple[JsonObject, int]]) -> int:
    """How many items at the beginning of a list have a schema of their own."""
    return max((len(as_list(node.get(key))) for node, _ in nodes for key in ("prefixItems", "items")), default=0)


def _merged(subs: Iterable[tuple[Any, int]]) -> dict[int, tuple[JsonObject, int]]:
    merged: dict[int, tuple[JsonObject, int]] = {}
    for sub, times in subs:
        if is_object(sub):
            merged[id(sub)] = (sub, times + (merged[id(sub)][1] if id(sub) in merged else 0))
    return merged


def _last(name: str) -> str:
    return name.rstrip("#/").rpartition("/")[2].rpartition("#")[2]
