"""JSON values out of element text, and the arguments' JSON text as they grow.

Text is typed by the wire's own mark, else by the schema, else it stays text.
"""

from __future__ import annotations

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.events import ArgumentsDelta, Event, Span
from toolfmt.jsontext import escape
from toolfmt.model import JsonObject, JsonValue
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.scanning.cursor import WHITE, Malformed
from toolfmt.parsers.scanning.damage import broken_list
from toolfmt.parsers.scanning.pieces import Pieces, Taker
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import chosen, coerce, declares, depends, infer, item_schema, property_schema, types

_LONG = 512
"""Characters of a piece that is better not escaped twice."""


class Untyped(str):
    """An argument's text as it is, to be typed once all arguments are known."""

    __slots__ = ("verbatim",)

    verbatim: bool


class Repeated(list["JsonValue"]):
    """The values of a repeated element, as distinct from one value that is a list."""


def leaf(  # noqa: PLR0911, PLR0913 - one per rule
    text: str,
    schema: JsonObject | None,
    wire_type: str,
    *,
    verbatim: bool,
    repeats: bool = False,
    inferred: bool = False,
) -> JsonValue:
    """Type an element's text.

    With `repeats`, text in place of a list is its first item; with
    `inferred`, untyped text gets the type that it looks like.
    """
    permitted = types(schema)
    if inferred and permitted is None and not wire_type and not verbatim:
        return infer(text)
    if wire_type == "string":
        return text
    if wire_type == "text":  # models set this flag wrongly: the schema decides
        return text if permitted is None or "string" in permitted else coerce(text, schema)[0]
    if verbatim and not wire_type and not repeats:
        return text
    if wire_type:
        try:
            return jsontext.loads(text)
        except ParseError:
            return coerce(text, schema if wire_type == "json" else {"type": wire_type})[0]
    value = text if verbatim else coerce(text, schema)[0]
    if repeats and isinstance(value, str) and lists_only(schema) and not broken_list(text.strip(WHITE)):
        return Repeated([text if verbatim else coerce(text, item_schema(schema or {}, 0))[0]])
    return value


def lists_only(schema: JsonObject | None) -> bool:
    """Whether a schema allows a list and no object."""
    allowed = types(schema)
    return allowed is not None and "array" in allowed and "object" not in allowed


def may_list(schema: JsonObject | None) -> bool:
    """Whether a schema allows a list."""
    allowed = types(schema)
    return allowed is None or "array" in allowed


def objects_only(schema: JsonObject | None) -> bool:
    """Whether a schema allows an object and no list."""
    allowed = types(schema)
    return allowed is not None and "object" in allowed and "array" not in allowed


def plural(key: str, found: list[tuple[str, JsonValue]]) -> bool:
    """Whether children look like a list by their names: `<edits><edit>` or `<x><item>`."""
    names = {name for name, _ in found}
    return len(names) == 1 and bool(names & ({"item", key.removesuffix("s"), key.removesuffix("es")} - {key}))


def merge(values: JsonObject, key: str, value: JsonValue) -> None:
    """Add a named child; a repeated name makes a list."""
    if key not in values:
        values[key] = value
        return
    earlier = values[key]
    joined = Repeated(earlier if isinstance(earlier, Repeated) else [earlier])
    joined.extend(value if isinstance(value, Repeated) else [value])
    values[key] = joined


def plain(value: JsonValue) -> JsonValue:
    """Turn repeated values into a plain list."""
    return list(value) if isinstance(value, Repeated) else value


def settle(values: JsonObject) -> JsonObject:
    """Turn the repeated values of an object into plain lists."""
    return {key: plain(value) for key, value in values.items()}


def gather(found: list[tuple[str, JsonValue]], *, repeats: bool) -> JsonObject:
    """Make an object of named children."""
    values: JsonObject = {}
    for key, value in found:
        if repeats:
            merge(values, key, value)
        else:
            values[key] = value
    return settle(values)


class StringText:
    """Emits a text as the content of a JSON string."""

    def __init__(self, draft: Draft) -> None:
        """Write into `draft`."""
        self._draft = draft
        self._last = ("", "")  # the last long piece, and its escaped form
        self.pieces = Pieces()

    def add(self, text: str) -> None:
        """Add a piece."""
        self.pieces.add(text)
        escaped = escape(text)
        self._draft.sink.events += self._draft.show(escaped, 0)
        if len(text) >= _LONG:
            self._last = (text, escaped)

    def show(self, text: str, _: int) -> list[Event]:
        """Return the event of a piece; `keep` receives it later."""
        index = self._draft.index
        return [ArgumentsDelta(index, escape(text))] if index >= 0 else []

    def keep(self, text: str) -> None:
        """Store pieces whose events were already emitted."""
        self.pieces.add(text)

    def close(self) -> str:
        """Return the whole text, which is now part of the arguments' JSON."""
        text, (last, escaped) = self.pieces.text(), self._last
        self._draft.keep(escaped if len(last) == len(text) else escape(text))
        return text


class ArgumentStream:
    """Emits the arguments as JSON text as soon as they are certain.

    If repeated elements make a list (`repeats`), a value that is not a plain string by
    the schema is certain only at the end, and is held back with everything after it. So
    is text in place of a list, of which it may be the first item, and
    everything if the type of one argument depends on another (`later`).
    """

    def __init__(self, draft: Draft, schema: JsonObject | None, *, repeats: bool) -> None:
        """Write arguments, typed by a tool's `schema`, into `draft`."""
        self.values: JsonObject = {}
        self.later = depends(schema)
        self._schema = schema
        self._draft = draft
        self._repeats = repeats
        self._pending: list[str] = []
        self._text = StringText(draft)
        self._started = False

    def add(self, key: str, value: JsonValue, span: Span) -> None:
        """Add a complete argument, at `span`."""
        known = key in self.values
        inner = property_schema(self._schema, key)
        listed = isinstance(value, str) and not self._repeats and lists_only(inner)
        if known and self._repeats and key in self._pending and may_list(inner):
            merge(self.values, key, value)
            return
        if listed:
            value = Repeated([value])
        if known and listed and isinstance(self.values[key], Repeated):
            self._draft.note("coerced", f"the argument {key!r} is given several times: a list by its schema", *span)
            merge(self.values, key, value)
            return
        if known and not jsontext.equal(plain(self.values[key]), plain(value)):
            raise Malformed("duplicate_key", f"{key!r} appears twice, with different values", *span)
        if known:
            self._draft.note("duplicate_key", f"the argument {key!r} is given twice", *span)
            return
        self.values[key] = value
        if self._repeats or self.later or self._pending or listed:
            self._pending.append(key)
        else:
            self._write(key, value)

    def string(self, key: str) -> Taker:
        """Begin a string argument; return the receiver of its text."""
        text = self._text = StringText(self._draft)
        if self._pending:
            return text.pieces
        self._draft.add(f'{self._lead()}{jsontext.dumps(key)}: "')
        return text

    def end_string(self, key: str) -> None:
        """End the argument begun by `string`."""
        if self._pending:
            self.values[key] = self._text.pieces.text()
            self._pending.append(key)
        else:
            self.values[key] = self._text.close()
            self._draft.add('"')

    def close(self) -> JsonObject:
        """Return all arguments, and emit what was held back."""
        if self.later and self._schema is not None:
            typed = {key: self._typed(value, self._schema, key) for key, value in self.values.items()}
            schema = chosen(self._schema, typed)
            self.values = {key: self._typed(value, schema, key) for key, value in self.values.items()}
        if not self._repeats:
            self.values = {key: self._items(key, value) for key, value in self.values.items()}
        values = settle(self.values)
        for key in dict.fromkeys(self._pending):
            self._write(key, values[key])
        self._draft.add("}" if self._started else "{}")
        return values

    def _typed(self, value: JsonValue, schema: JsonObject, key: str) -> JsonValue:
        if not isinstance(value, Untyped):
            return value
        inner = property_schema(schema, key)
        return leaf(
            str(value),
            inner,
            "",
            verbatim=value.verbatim,
            repeats=self._repeats,
            inferred=self._draft.sink.options.infer_types,
        )

    def _items(self, key: str, value: JsonValue) -> JsonValue:
        """Type the items of a repeated argument; a single one is not a list."""
        if not isinstance(value, Repeated) or key not in self._pending:
            return value
        if len(value) == 1:
            return value[0]
        inner = property_schema(self._schema, key)
        return [
            coerce(item, item_schema(inner, at))[0] if isinstance(item, str) else item for at, item in enumerate(value)
        ]

    def _write(self, key: str, value: JsonValue) -> None:
        self._draft.add(f"{self._lead()}{jsontext.dumps(key)}: {jsontext.dumps(value)}")

    def _lead(self) -> str:
        if self._started:
            return ", "
        self._started = True
        return "{"


class Children:
    """Collects the content of an element, with its schema and wire type if known."""

    def __init__(self, grammar: ElementGrammar, key: str, schema: JsonObject | None, wire_type: str) -> None:
        self._grammar, self._key, self._schema, self._type = grammar, key, schema, wire_type
        self.as_list = wire_type == "array" or (wire_type != "object" and lists_only(schema))
        self._member_of = item_schema(schema, 0) if self.as_list and schema else None
        self._found: list[tuple[str, JsonValue]] = []
        self._given: JsonObject = {}
        self._numbers: list[str] = []
        self._items = self._members = self._single = False

    def refuses(self, key: str, arguments: JsonObject | None) -> bool:
        """Whether a key is one of the tool's `arguments`, and does not belong in this list."""
        return self.as_list and declares(arguments, key) and not declares(self._member_of, key)

    def place(self, kind: str, key: str) -> JsonObject | None:
        """Return the schema of the next child: an `item`, a `number` or a member."""
        objects = objects_only(self._schema)
        if kind == "number":
            self._numbers.append(key)
        item = self.as_list if kind == "number" else kind == "item" and not (self._grammar.keyed_by_tag and objects)
        self._items = self._items or item
        inner, listed = None, item
        if not item and not self._items and declares(self._member_of, key):
            self._members = True  # the members of one item, whose element was omitted
            inner = property_schema(self._member_of, key)
        elif self._schema:
            listed = item or (self.as_list and self._grammar.keyed_by_tag)
            inner = item_schema(self._schema, len(self._found)) if listed else property_schema(self._schema, key)
        self._single = not (listed or (self._grammar.repeats and may_list(inner)))
        return inner

    def add(self, key: str, value: JsonValue, draft: Draft, span: Span) -> None:
        """Add the child, at `span`, of the last `place`."""
        if self._single and key in self._given:
            if not jsontext.equal(self._given[key], plain(value)):
                raise Malformed("duplicate_key", f"{key!r} appears twice, with different values", *span)
            draft.note("duplicate_key", f"the member {key!r} is given twice", *span)
            return
        self._given[key] = plain(value)
        self._found.append((key, value))

    def value(self, at: int) -> JsonValue:
        """Return the list or object of the children, which ends at `at`."""
        grammar, schema, found = self._grammar, self._schema, self._found
        counted = bool(self._numbers) and self._numbers == [str(place) for place in range(len(found))]
        if self._numbers and self.as_list and not counted:
            raise Malformed("malformed", f"the items of {self._key!r} are not numbered from 0 on", at)
        if self._members and not self._items:
            return Repeated([gather(found, repeats=grammar.repeats)])
        if self.as_list and not self._numbers and len({key for key, _ in found}) > 1:
            raise Malformed("malformed", f"the items of {self._key!r} have different names", at)
        untyped = grammar.keyed_by_tag and self._type != "object"
        counted = counted and untyped and not objects_only(schema)
        if self._items or self.as_list or counted or (untyped and not schema and plural(self._key, found)):
            values = [plain(value) for _, value in found]
            lists = item_schema(schema, 0) if schema else None
            return Repeated(values) if grammar.keyed_by_tag and self.as_list and not lists_only(lists) else values
        return gather(found, repeats=grammar.repeats)
