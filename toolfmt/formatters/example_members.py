"""Objects and lists for example values: which members an object has and how long a list is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Final, cast

from toolfmt import jsontext
from toolfmt.formatters.example_scalars import MOST, Builder, Fits, Stream, kinds, size
from toolfmt.formatters.flat_schema import Flat, flatten, merge, objects, subschema
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.walk import as_object, names

_TRIALS: Final = 8
"""The number of values tried for a member that does not fit together with the others."""
_MORE: Final = 20


class ExampleMembers:
    """The members of one object; those of `suggested` objects come first, `above` are the enclosing references."""

    def __init__(
        self, builder: Builder, flat: Flat, suggested: Sequence[JsonObject], above: tuple[str, ...], *, at_root: bool
    ) -> None:
        """Read the object's schema; `at_root` marks the tool's arguments object."""
        self.builder = builder
        self.suggested = suggested
        self.above = above
        self.at_root = at_root
        self.own = flat.own
        self.dependents = dict(flat.dependents)
        self.streams: dict[str, Stream] = {}

    def values(self, fits: Fits) -> Iterator[JsonObject]:
        """Yield objects; if the fullest one does not fit, build one up from the required members."""
        required = self.closure(names(self.own.get("required")))
        keys = self.filled(self.closure([*required, *self.wanted()]))
        keys = keys[: max(size(self.own, "maxProperties", MOST, MOST), len(required))]
        if not self.builder.guess and not all(self.stream(key).has(0) for key in required):
            return
        value = self.variant(keys, 0)
        yield value if fits(value) else self.grown(required, keys, fits)
        misses = 0
        for index in range(1, MOST):
            before, value = value, self.variant(keys, index)
            misses = 0 if fits(value) else misses + 1
            if value == before or misses > _MORE:
                break
            yield value
        yield self.variant(required, 0)
        # A list may need several different objects.
        for name in islice(chain(self.declared, self.invented()), _MORE):
            yield self.variant([*required, name], 0)

    @property
    def declared(self) -> JsonObject:
        """Return the schemas of the properties."""
        return as_object(self.own.get("properties"))

    @property
    def patterns(self) -> JsonObject:
        """Return the schemas of properties whose names match a pattern."""
        return as_object(self.own.get("patternProperties"))

    def wanted(self) -> list[str]:
        """Name the wanted members that are not required."""
        suggested = [name for value in self.suggested[:1] for name in value if name not in self.declared]
        if self.builder.optional:
            return [*self.declared, *suggested]
        return [] if self.declared else suggested

    def filled(self, keys: list[str]) -> list[str]:
        """Add members up to the minimum; a nested object gets at least one, since `{}` is not instructive."""
        missing = max(size(self.own, "minProperties", 0, MOST), int(not self.at_root)) - len(keys)
        present = {*keys}
        more = dict.fromkeys(islice(chain(self.declared, self.invented()), len(keys) + max(missing, 0) * 2))
        return keys + [name for name in more if name not in present][: max(missing, 0)]

    def invented(self) -> Iterator[str]:
        """Invent names for undeclared members."""
        if self.own.get("additionalProperties") is not False:
            if "propertyNames" in self.own:
                names_schema = {"type": "string", **subschema(self.own["propertyNames"])}
                yield from map(str, self.builder.values(names_schema, "key"))
            yield from ("key", *(f"key{number}" for number in range(2, MOST)))
        for pattern in self.patterns:
            yield from self.builder.matching(pattern)

    def closure(self, wanted: Iterable[str]) -> list[str]:
        """Add the members that others depend on, and put declared ones in declared order."""
        there = dict.fromkeys(wanted)
        pending = [*there]
        for name in pending:
            needs: list[str] = []
            if name in self.dependents:
                # The merge order determines the order of the properties.
                self.own = merge(self.own, flatten(self.dependents.pop(name), self.builder.root).own)
                needs += names(self.own.get("required"))
            needs += names(as_object(self.own.get("dependentRequired")).get(name))
            pending += [other for other in needs if other not in there]
            there.update(dict.fromkeys(needs))
        return [name for name in self.declared if name in there] + [name for name in there if name not in self.declared]

    def stream(self, name: str) -> Stream:
        """Return the values of one member."""
        if name not in self.streams:
            suggested: list[JsonValue] = [value[name] for value in self.suggested if name in value]
            if name not in self.declared:
                suggested.append("value")
            self.streams[name] = Stream(self.builder.values(self.schema(name), name, suggested, self.above))
        return self.streams[name]

    def schema(self, name: str) -> JsonValue:
        """Return the schema of a declared or undeclared member."""
        applying = [self.declared[name]] if name in self.declared else []
        for pattern, schema in self.patterns.items():
            if self.builder.check({"type": "string", "pattern": pattern})(name):
                applying.append(schema)
        if len(applying) > 1:
            return {"allOf": applying}
        return applying[0] if applying else self.own.get("additionalProperties", True)

    def variant(self, keys: Iterable[str], index: int) -> JsonObject:
        """Build the object from each member's value at `index`."""
        return {key: self.stream(key).at(index) for key in keys if self.stream(key).has(0)}

    def grown(self, required: list[str], keys: list[str], fits: Fits) -> JsonObject:
        """Start with the required members and add each further member that fits."""
        value = self.variant(required, 0)
        fit = fits(value)
        for key in keys:
            for index in range(_TRIALS):
                if key in value or not self.stream(key).has(index):
                    break
                trial = {**value, key: self.stream(key).at(index)}
                trial = {name: trial[name] for name in keys if name in trial}
                if not fit or fits(trial):
                    value, fit = trial, fits(trial)
        return value


_LONGER: Final = 20


class Lists:
    """The lists of one schema; `suggested` items are preferred, `above` are the enclosing references."""

    def __init__(
        self, builder: Builder, own: JsonObject, name: str, suggested: list[JsonValue], above: tuple[str, ...]
    ) -> None:
        self.builder = builder
        self.name = name or "item"
        self.suggested = suggested
        self.above = above
        self.unique = own.get("uniqueItems") is True
        self.prefix = objects(own.get("prefixItems"))
        self.rest: JsonValue = own.get("items", True)
        if isinstance(self.rest, list):  # a tuple, as written before draft 2020-12
            self.prefix, self.rest = objects(cast("JsonValue", self.rest)), own.get("additionalItems", True)
        self.contained = objects([own["contains"]]) * size(own, "minContains", 1, MOST) if "contains" in own else []
        self.low, self.high = size(own, "minItems", 0, MOST), size(own, "maxItems", MOST, MOST)

    def values(self) -> Iterator[list[JsonValue]]:
        """Yield lists: first as long as the suggested one, or of two scalars or one container; then shorter ones."""
        usual = 1 if self._holds_containers() else 2
        length = len(self.suggested) or max(len(self.prefix), len(self.contained)) or usual
        for offset in range(len(self.prefix) + 1 if self.contained else 1):
            items = self._items(min(max(self.low, length, offset + len(self.contained)), self.high), offset)
            for shorter in dict.fromkeys((len(items), self.low, 0)):
                yield items[:shorter]
        # A list may need several different lists.
        for longer in range(length + 1, min(length + _LONGER, self.high) + 1):
            yield self._items(longer, 0)

    def _items(self, length: int, offset: int) -> list[JsonValue]:
        """Fill a list; the items that `contains` requires start at `offset`."""
        items: list[JsonValue] = []
        taken: set[str] = set()
        streams: dict[int, _Fresh] = {}
        special = max(len(self.suggested), len(self.prefix))
        contained = offset + len(self.contained)
        for index in range(length):
            # All items of a schema share one stream, so that their values differ.
            shared = -1 if index >= contained else -2
            stream = streams.setdefault(index if index < special else shared, self._stream(index, offset))
            if self.builder.is_over or not stream.has(0):
                break
            repeats = index < len(self.suggested) and not self.unique
            items.append(stream.at(0) if repeats else stream.next(taken))
            taken.add(self.builder.key(items[-1]))
        return items

    def _stream(self, index: int, offset: int) -> _Fresh:
        schema: JsonValue = self.prefix[index] if index < len(self.prefix) else self.rest
        if offset <= index < offset + len(self.contained):
            schema = {"allOf": [self.contained[0], schema]}
        return _Fresh(self.builder.values(schema, self.name, self.suggested[index : index + 1], self.above))

    def _holds_containers(self) -> bool:
        kind = kinds(flatten(subschema(self.rest), self.builder.root).own)[:1]
        return kind in (["object"], ["array"])


class _Fresh(Stream):
    """Values that are each used once."""

    def __init__(self, values: Iterator[JsonValue]) -> None:
        super().__init__(values)
        self._index = 0

    def next(self, taken: set[str]) -> JsonValue:
        """Return the next unused value, or the first one if all are used."""
        while self.has(self._index):
            value = self.at(self._index)
            self._index += 1
            if jsontext.canonical(value) not in taken:
                return value
        return self.at(0)
