"""Objects for example values: which members there are, and what they hold."""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from toolfmt.formatters.example_scalars import MOST, Stream, names, size
from toolfmt.formatters.flat_schema import Flat, as_object, flatten, mapping, merge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from toolfmt.formatters.example_scalars import Builder, Check
    from toolfmt.model import JsonObject, JsonValue

_TRIALS: Final = 8
"""Values tried for a member that does not fit beside the others."""
_MORE: Final = 20


class ExampleMembers:
    """The members of one object. `suggested` are objects whose members come first, `above` the references above."""

    def __init__(
        self, builder: Builder, flat: Flat, suggested: Sequence[JsonObject], above: tuple[str, ...], *, at_root: bool
    ) -> None:
        """Take what is known of the object; the tool's arguments themselves are `at_root`."""
        self.builder = builder
        self.suggested = suggested
        self.above = above
        self.at_root = at_root
        self.own = flat.own
        self.dependents = dict(flat.dependents)
        self.streams: dict[str, Stream] = {}

    def values(self, fits: Check) -> Iterator[JsonObject]:
        """Give objects; if the fullest one does not fit, one that is grown from what is required."""
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
        # A list of objects may want more that differ.
        for name in islice(chain(self.declared, self.invented()), _MORE):
            yield self.variant([*required, name], 0)

    @property
    def declared(self) -> JsonObject:
        """The schemas of the properties."""
        return mapping(self.own.get("properties"))

    @property
    def patterns(self) -> JsonObject:
        """The schemas of the properties whose names match a pattern."""
        return mapping(self.own.get("patternProperties"))

    def wanted(self) -> list[str]:
        """Name the members that should be there beside the required ones."""
        suggested = [name for value in self.suggested[:1] for name in value if name not in self.declared]
        if self.builder.optional:
            return [*self.declared, *suggested]
        return [] if self.declared else suggested

    def filled(self, keys: list[str]) -> list[str]:
        """Add members up to the least number; a free object has at least one, which shows what it is."""
        free = not self.at_root and not self.declared
        missing = max(size(self.own, "minProperties", 0, MOST), int(free)) - len(keys)
        more = dict.fromkeys(islice(chain(self.declared, self.invented()), len(keys) + max(missing, 0) * 2))
        return keys + [name for name in more if name not in keys][: max(missing, 0)]

    def invented(self) -> Iterator[str]:
        """Make up names of members that are not declared."""
        if self.own.get("additionalProperties") is not False:
            if "propertyNames" in self.own:
                names_schema = {"type": "string", **as_object(self.own["propertyNames"])}
                yield from map(str, self.builder.values(names_schema, "key"))
            yield from ("key", *(f"key{number}" for number in range(2, MOST)))
        for pattern in self.patterns:
            yield from self.builder.matching(pattern)

    def closure(self, wanted: Iterable[str]) -> list[str]:
        """Add what the named members bring with them, and put declared ones in declared order."""
        there = list(dict.fromkeys(wanted))
        for name in there:
            if name in self.dependents:
                # The order in which the two are merged is the order of the properties.
                self.own = merge(self.own, flatten(self.dependents.pop(name), self.builder.root).own)
                there.extend(other for other in names(self.own.get("required")) if other not in there)
            needs = names(mapping(self.own.get("dependentRequired")).get(name))
            there.extend(other for other in needs if other not in there)
        return [name for name in self.declared if name in there] + [name for name in there if name not in self.declared]

    def stream(self, name: str) -> Stream:
        """Give the values of one member."""
        if name not in self.streams:
            suggested: list[JsonValue] = [value[name] for value in self.suggested if name in value]
            if name not in self.declared:
                suggested.append("value")
            self.streams[name] = Stream(self.builder.values(self.schema(name), name, suggested, self.above))
        return self.streams[name]

    def schema(self, name: str) -> JsonValue:
        """Find the schema of a member, declared or not."""
        applying = [self.declared[name]] if name in self.declared else []
        for pattern, schema in self.patterns.items():
            if self.builder.check({"type": "string", "pattern": pattern})(name):
                applying.append(schema)
        if len(applying) > 1:
            return {"allOf": applying}
        return applying[0] if applying else self.own.get("additionalProperties", True)

    def variant(self, keys: Iterable[str], index: int) -> JsonObject:
        """Build the object of every member's value at `index`."""
        return {key: self.stream(key).at(index) for key in keys if self.stream(key).has(0)}

    def grown(self, required: list[str], keys: list[str], fits: Check) -> JsonObject:
        """Start from what is required and add each further member that fits."""
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
