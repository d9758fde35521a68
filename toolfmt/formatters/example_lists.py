"""Lists for example values: how long they are, and what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from toolfmt import jsontext
from toolfmt.formatters.example_scalars import MOST, Stream, kinds, size
from toolfmt.formatters.flat_schema import as_object, flatten, objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.formatters.example_scalars import Builder
    from toolfmt.model import JsonObject, JsonValue


_MORE: Final = 20


class Lists:
    """The lists of one schema. `suggested` are items that are preferred, `above` the references on the way."""

    def __init__(
        self, builder: Builder, own: JsonObject, name: str, suggested: list[JsonValue], above: tuple[str, ...]
    ) -> None:
        """Take what is known of the list."""
        self.builder = builder
        self.name = name or "item"
        self.suggested = suggested
        self.above = above
        self.unique = own.get("uniqueItems") is True
        self.prefix = objects(own.get("prefixItems"))
        self.rest: JsonValue = own.get("items", True)
        if isinstance(self.rest, list):  # a tuple as drafts before 2020 write it
            self.prefix, self.rest = objects(cast("JsonValue", self.rest)), own.get("additionalItems", True)
        self.contained = objects([own["contains"]]) * size(own, "minContains", 1, MOST) if "contains" in own else []
        self.low, self.high = size(own, "minItems", 0, MOST), size(own, "maxItems", MOST, MOST)

    def values(self) -> Iterator[list[JsonValue]]:
        """Give lists: as long as the suggested one, else of two scalars or one container; then shorter ones."""
        usual = 1 if self._holds_containers() else 2
        length = len(self.suggested) or max(len(self.prefix), len(self.contained)) or usual
        for offset in range(len(self.prefix) + 1 if self.contained else 1):
            items = self._items(min(max(self.low, length, offset + len(self.contained)), self.high), offset)
            for shorter in dict.fromkeys((len(items), self.low, 0)):
                yield items[:shorter]
        # A list of lists may want more that differ.
        for longer in range(length + 1, min(length + _MORE, self.high) + 1):
            yield self._items(longer, 0)

    def _items(self, length: int, offset: int) -> list[JsonValue]:
        """Fill a list; what it must contain is from `offset` on."""
        items: list[JsonValue] = []
        taken: set[str] = set()
        streams: dict[int, _Fresh] = {}
        special = max(len(self.suggested), offset + len(self.contained), len(self.prefix))
        for index in range(length):
            # One stream for all items of a schema, as its values differ.
            stream = streams.setdefault(index if index < special else -1, self._stream(index, offset))
            if not stream.has(0):
                break
            repeats = index < len(self.suggested) and not self.unique
            items.append(stream.at(0) if repeats else stream.next(taken))
            taken.add(jsontext.canonical(items[-1]))
        return items

    def _stream(self, index: int, offset: int) -> _Fresh:
        schema: JsonValue = self.prefix[index] if index < len(self.prefix) else self.rest
        if offset <= index < offset + len(self.contained):
            schema = {"allOf": [self.contained[0], schema]}
        return _Fresh(self.builder.values(schema, self.name, self.suggested[index : index + 1], self.above))

    def _holds_containers(self) -> bool:
        kind = kinds(flatten(as_object(self.rest), self.builder.root).own)[:1]
        return kind in (["object"], ["array"])


class _Fresh(Stream):
    """Values of which each is asked for once."""

    def __init__(self, values: Iterator[JsonValue]) -> None:
        super().__init__(values)
        self._index = 0

    def next(self, taken: set[str]) -> JsonValue:
        """Give the next value that is not taken; the first one if there is none."""
        while self.has(self._index):
            value = self.at(self._index)
            self._index += 1
            if jsontext.canonical(value) not in taken:
                return value
        return self.at(0)
