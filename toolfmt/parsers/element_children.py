"""The children of one element: whether they are members, items, or the members of an only item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.parsers.cursor import Malformed
from toolfmt.parsers.element_values import Repeated, gather, lists_only, may_list, objects_only, plain, plural
from toolfmt.schema import declares, item_schema, property_schema

if TYPE_CHECKING:
    from toolfmt.events import Span
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.parsers.element_grammar import ElementGrammar
    from toolfmt.parsers.sink import Draft


class Children:
    """Collects the content of a key's element, whose schema and wire type are known or not."""

    __slots__ = (
        "_as_list",
        "_found",
        "_given",
        "_grammar",
        "_items",
        "_key",
        "_member_of",
        "_members",
        "_numbers",
        "_schema",
        "_single",
        "_type",
    )

    def __init__(self, grammar: ElementGrammar, key: str, schema: JsonObject | None, wire_type: str) -> None:
        """Begin with none."""
        self._grammar, self._key, self._schema, self._type = grammar, key, schema, wire_type
        self._as_list = wire_type == "array" or (wire_type != "object" and lists_only(schema))
        self._member_of = item_schema(schema, 0) if self._as_list and schema else None
        self._found: list[tuple[str, JsonValue]] = []
        self._given: JsonObject = {}
        self._numbers: list[str] = []
        self._items = self._members = self._single = False

    def place(self, kind: str, key: str) -> JsonObject | None:
        """What the next child, an `item`, a `number` or else a member, may be."""
        objects = objects_only(self._schema)
        if kind == "number":
            self._numbers.append(key)
        item = self._as_list if kind == "number" else kind == "item" and not (self._grammar.keyed_by_tag and objects)
        self._items = self._items or item
        inner, listed = None, item
        if not item and not self._items and declares(self._member_of, key):
            self._members = True  # the members of one item stand where its element was left out
            inner = property_schema(self._member_of, key)
        elif self._schema:
            listed = item or (self._as_list and self._grammar.keyed_by_tag)
            inner = item_schema(self._schema, len(self._found)) if listed else property_schema(self._schema, key)
        self._single = not (listed or (self._grammar.repeats and may_list(inner)))
        return inner

    def add(self, key: str, value: JsonValue, draft: Draft, span: Span) -> None:
        """Add the child that was placed last, which is at `span`."""
        if self._single and key in self._given:
            if not jsontext.equal(self._given[key], plain(value)):
                raise Malformed("duplicate_key", f"the member {key!r} is given twice, and not alike", *span)
            draft.note("duplicate_key", f"the member {key!r} is given twice", *span)
            return
        self._given[key] = plain(value)
        self._found.append((key, value))

    def value(self, at: int) -> JsonValue:
        """The list or the object that they are, which ends at `at`."""
        grammar, schema, found = self._grammar, self._schema, self._found
        counted = bool(self._numbers) and self._numbers == [str(place) for place in range(len(found))]
        if self._numbers and self._as_list and not counted:
            raise Malformed("malformed", f"the items of {self._key!r} are not numbered from 0 on", at)
        if self._members and not self._items:
            return Repeated([gather(found, repeats=grammar.repeats)])
        untyped = grammar.keyed_by_tag and self._type != "object"
        counted = counted and untyped and not objects_only(schema)
        if self._items or self._as_list or counted or (untyped and not schema and plural(self._key, found)):
            values = [plain(value) for _, value in found]
            lists = item_schema(schema, 0) if schema else None
            return Repeated(values) if grammar.keyed_by_tag and self._as_list and not lists_only(lists) else values
        return gather(found, repeats=grammar.repeats)
