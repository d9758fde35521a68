r"""Counts the work that a schema takes before it is done.

    {"$defs": {"d1": {"allOf": [{"$ref": "#/$defs/d0"}, {"$ref": "#/$defs/d0"}]}, "d2": ..., "d40": ...}}

A validator visits a subschema once for each way that leads to it on the same value: 2^40 visits here, for any
value. So a schema is refused where one value takes more than `MAX_VISITS`, whichever keywords cause them. Further
visits grow with the value: a recursive schema with alternatives may take more with every level. So the visits of a
call's arguments are counted too; beyond `MAX_WORK` the arguments are not checked and do not pass.

    [a-z]{1,64}         64 sets of one range
    \p{L}{100}          100 sets of some hundred ranges, in bytes of UTF-8: 25 ms
    (\p{L}{5}|a){20}    as many: counts multiply

Patterns are compiled, and their time is estimated before. The engine refuses a single pattern that is too large, so
that each takes some 40 ms at most; but a schema may hold ten thousand of them.
"""

from __future__ import annotations

import re
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from toolfmt.errors import SchemaError, UnresolvableReferenceError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.refs import resolve
from toolfmt.schema.walk import SchemaPlace, as_list, as_object, pointer, subschemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolfmt.model import JsonObject, JsonValue

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
_STEPS: Final = 2_000
"""What a pattern that has to be backtracked counts for; others take their time by the text's length."""
_BACKTRACKED: Final = re.compile(r"\(\?<?[=!]|\\[1-9k]")

_DEEPEST: Final = 50
"""Levels of a schema at which its visits are worked out beforehand."""

_Node: TypeAlias = "JsonObject"


class Visits(NamedTuple):
    """The subschemas that one value is held against, each with how often, from the same starting point."""

    nodes: tuple[tuple[_Node, int], ...]
    total: int


class SchemaWork:
    """One schema, whose visits can be counted."""

    def __init__(self, schema: JsonObject) -> None:
        """Take a schema."""
        self._root = schema
        self._visits: dict[int, Visits] = {}
        self._beside: dict[int, tuple[_Node, ...]] = {}
        self._names: dict[str, list[_Node]] | None = None

    def check(self) -> None:
        """Raise `SchemaError` with the place of a subschema at which one value takes too many visits."""
        pending: list[tuple[Any, SchemaPlace]] = [(self._root, ())]
        seen: set[int] = set()
        total = compiling = 0
        for start, place in pending:
            if not is_object(start) or id(start) in seen:
                continue
            seen.add(id(start))
            compiling += sum(map(compile_time, _patterns(start)))
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
        """Whether a value takes no more than `most` visits; quick where that is plain from its size."""
        try:
            text = repr(value)
        except RecursionError:
            return self.of(value, most) <= most
        values = 1 + sum(map(text.count, ",[{"))
        return self._each * values <= most or self.of(value, most) <= most

    @cached_property
    def _each(self) -> float:
        """Visits for each value inside one at the most; infinite for a schema where that is not plain."""
        return self._most(self._root, 0, {})

    def _most(self, start: _Node, level: int, known: dict[int, float]) -> float:
        if id(start) not in known:
            known[id(start)] = inf  # where it holds itself
            known[id(start)] = inf if level > _DEEPEST else self._counted(start, level, known)
        return known[id(start)]

    def _counted(self, start: _Node, level: int, known: dict[int, float]) -> float:
        nodes = self.visits(start).nodes
        keys: dict[Any, None] = {None: None}
        for node, _ in nodes:
            keys.update(dict.fromkeys(as_object(node.get("properties"))))
        indices = range(1 + _special(nodes))
        if (len(keys) + len(indices)) * len(nodes) > MAX_VISITS or any(
            _BACKTRACKED.search(pattern) for node, _ in nodes for pattern in _patterns(node)
        ):
            return inf

        def inner(subs: Iterable[tuple[Any, int]]) -> float:
            return sum(self._most(sub, level + 1, known) * times for sub, times in subs if is_object(sub))

        return max(
            sum(times * (_weight(node, None) + len(node) + self._of_names(node)) for node, times in nodes),
            *(inner((sub, times) for node, times in nodes for sub in _member(node, key)) for key in keys),
            *(inner((sub, times) for node, times in nodes for sub in _item(node, index)) for index in indices),
        )

    def of(self, value: JsonValue, most: int = MAX_WORK) -> int:
        """Count the visits that a value takes, values inside it included; stops at the first sum above `most`."""
        total = 0
        pending: list[tuple[JsonValue, int, dict[int, tuple[_Node, int]]]] = [
            (value, 1, {id(self._root): (self._root, 1)})
        ]
        while pending and total <= most:
            value, count, starts = pending.pop()
            nodes = [
                (node, times * each) for start, times in starts.values() for node, each in self.visits(start).nodes
            ]
            total += count * sum(times * _weight(node, value) for node, times in nodes)
            if is_object(value):
                total += len(value) * sum(times * self._of_names(node) for node, times in nodes)
                for key, item in value.items():
                    pending.append(
                        (item, 1, _merged((sub, times) for node, times in nodes for sub in _member(node, key)))
                    )
            elif is_array(value):
                pending.extend(self._items(value, nodes))
        return total

    def visits(self, start: _Node) -> Visits:
        """Count the visits of one value from a subschema on; raises OverflowError beyond `MAX_VISITS`."""
        known = self._visits.get(id(start))
        if known is not None:
            return known
        found: dict[int, tuple[_Node, int]] = {}
        total = 0
        path: set[int] = set()
        # How often a node is checked, and how often it is asked what it has checked, as `unevaluated…` does.
        stack: list[tuple[_Node | None, Iterator[_Node], int, int]] = [(None, iter((start,)), 1, 0)]
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
                inner = iter(self._combined(node))
                stack.append((node, inner, checked * (1 + late) + asked, checked * late + asked))
        made = self._visits[id(start)] = Visits(tuple(found.values()), total)
        return made

    def _items(
        self, value: list[JsonValue], nodes: Sequence[tuple[_Node, int]]
    ) -> Iterator[tuple[JsonValue, int, dict[int, tuple[_Node, int]]]]:
        """Give the items of a list with what they are held against; plain ones at the end of it together."""
        special = _special(nodes)
        for index, item in enumerate(value[:special]):
            yield item, 1, _merged((sub, times) for node, times in nodes for sub in _item(node, index))
        rest = value[special:]
        starts = _merged((sub, times) for node, times in nodes for sub in _item(node, special))
        plain = [item for item in rest if not isinstance(item, (dict, list))]
        if plain:
            longest = max((item for item in plain if isinstance(item, str)), key=len, default=plain[0])
            yield longest, len(plain), starts
        yield from ((item, 1, starts) for item in rest if isinstance(item, (dict, list)))

    def _of_names(self, node: _Node) -> int:
        names = node.get("propertyNames")
        return self.visits(names).total if is_object(names) else 0

    def _combined(self, node: _Node) -> tuple[_Node, ...]:
        """Give the subschemas that the same value is held against."""
        known = self._beside.get(id(node))
        if known is None:
            known = self._beside[id(node)] = tuple(sub for sub in self._applied(node) if is_object(sub))
        return known

    def _applied(self, node: _Node) -> Iterator[Any]:
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
        try:
            return [resolve(self._root, reference)]
        except UnresolvableReferenceError:
            pass
        if self._names is None:
            self._names = {}
            for node in _all(self._root):
                for key in ("$id", "$anchor", "$dynamicAnchor"):
                    if isinstance(node.get(key), str):
                        self._names.setdefault(_last(node[key]), []).append(node)
        url, hash_, fragment = str(reference).partition("#")
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


def _patterns(node: _Node) -> list[str]:
    patterns = [node.get("pattern"), *as_object(node.get("patternProperties"))]
    return [one for one in patterns if isinstance(one, str)]


def _weight(node: _Node, value: JsonValue) -> int:
    """What one visit counts for: more where texts are matched or values are compared."""
    weight = 1 + sum(len(as_list(node.get(key))) for key in ("enum", "required"))
    for key in ("dependentRequired", "dependencies"):
        weight += sum(map(len, filter(is_array, as_object(node.get(key)).values())))
    if isinstance(value, str) and ("pattern" in node or "format" in node):
        weight += len(value) // 64 + (_STEPS if _BACKTRACKED.search(str(node.get("pattern"))) else 0)
    elif is_object(value):
        patterns = as_object(node.get("patternProperties"))
        weight += len(value) * sum(_STEPS if _BACKTRACKED.search(one) else 1 for one in patterns)
    elif is_array(value) and "uniqueItems" in node:
        weight += len(value)
    return weight


def _member(node: _Node, key: str) -> Iterator[Any]:
    """Give the subschemas that an object's member is held against."""
    named = as_object(node.get("properties"))
    yield named[key] if key in named else node.get("additionalProperties")
    yield node.get("unevaluatedProperties")
    yield from as_object(node.get("patternProperties")).values()


def _item(node: _Node, index: int) -> Iterator[Any]:
    """Give the subschemas that an array's item is held against."""
    first, listed = as_list(node.get("prefixItems")), node.get("items")
    if index < len(first):
        yield first[index]
    elif is_array(listed):  # an older draft's
        yield listed[index] if index < len(listed) else node.get("additionalItems")
    else:
        yield listed
    yield node.get("contains")
    yield node.get("unevaluatedItems")


def _special(nodes: Iterable[tuple[_Node, int]]) -> int:
    """How many items at the beginning of a list have a schema of their own."""
    return max((len(as_list(node.get(key))) for node, _ in nodes for key in ("prefixItems", "items")), default=0)


def _merged(subs: Iterable[tuple[Any, int]]) -> dict[int, tuple[_Node, int]]:
    merged: dict[int, tuple[_Node, int]] = {}
    for sub, times in subs:
        if is_object(sub):
            merged[id(sub)] = (sub, times + (merged[id(sub)][1] if id(sub) in merged else 0))
    return merged


def _all(root: _Node) -> Iterator[_Node]:
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        if is_object(node):
            yield node
            pending.extend(node.values())
        elif is_array(node):
            pending.extend(node)


def _last(name: str) -> str:
    return name.rstrip("#/").rpartition("/")[2].rpartition("#")[2]


MOST: Final = 40_000
"""Microseconds of the largest pattern that the engine takes."""
_CATEGORY: Final = 250
_NEGATED: Final = 8
_PART: Final = re.compile(
    r"(?P<set>\[(?:\\[\s\S]|[^\]\\]){0,200}+\])|\\[pP](?:\{[^{}]{0,64}\})?|\\[\s\S]"
    r"|\{(?P<least>\d{1,9})(?:,(?P<most>\d{0,9}))?\}|[\s\S]"
)
_CATEGORIES: Final = re.compile(r"\\[pP]")


def compile_time(pattern: str) -> int:
    """Estimate the microseconds that a pattern takes, `MOST` for what takes longer."""
    groups = [0]
    total = last = 0  # `last`: of the part before a count
    for found in _PART.finditer(pattern):
        text = found.group()
        if found["least"]:
            last *= max(int(found["most"] or found["least"]), 1) - 1
        elif text == "(":
            groups.append(total)
            last = 1
        elif text == ")" and len(groups) > 1:
            last = total - groups.pop()
            continue  # which is in the total
        else:
            last = _part(text, inside=found["set"] is not None)
        total += last
        if total > MOST:
            return MOST
    return total


def _part(text: str, *, inside: bool) -> int:
    if inside or text[:2] in {r"\p", r"\P"}:
        return _CATEGORY * len(_CATEGORIES.findall(text)) + (_NEGATED if text.startswith("[^") else 1)
    return _NEGATED if text in {".", r"\S", r"\W", r"\D"} else 1
