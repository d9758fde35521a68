"""Values of a shape as nodes, in a dialect's notation: JSON, or the literals of a language.

    {"city": "Paris", "days": 3}        JSON
    city='Paris', days=3                Python's literals, as keywords
    {city:<|"|>Paris<|"|>,days:3}       bare keys, a token as the quote

Members are in the order in which the schema names them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import regex

from toolfmt import jsontext
from toolfmt.dialect.literals import BARE_KEY
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonValue
from toolfmt.workshop.grammars import shapes
from toolfmt.workshop.grammars.nodes import (
    ANY,
    ANYTHING,
    NOTHING,
    SPACES,
    Alt,
    Chars,
    GrammarRules,
    Lit,
    Meet,
    Node,
    Ref,
    Repeat,
    Space,
    chars,
    containing,
    either,
    encoded,
    escaping,
    joined,
    maybe,
    others,
    sequence,
)
from toolfmt.workshop.grammars.numbers import decimals, integers

_BARE_KEY: Final = regex.compile(BARE_KEY)
_BARE: Final = others(
    Chars(joined([(0, 0x23), (0x25, 0x2C), (0x3A, 0x3F), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0xA9), *SPACES.ranges]))
)
"""Characters of a key without quotes: the ASCII ones of `BARE_KEY`, and all others except white space."""
_CONTROLS: Final = "".join(map(chr, range(0x20)))
_HEX: Final = chars((0x30, 0x39), "abcdefABCDEF")
_SHORT: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_JSON_SPECIAL: Final = {char: f"\\u{ord(char):04x}" for char in _CONTROLS} | _SHORT
_CODE: Final = sequence(  # four digits that are no half of a pair
    either(
        sequence(chars((0x30, 0x39), "abcefABCEF"), Repeat(_HEX, 3, 3)),
        sequence(chars("dD"), chars((0x30, 0x37)), Repeat(_HEX, 2, 2)),
    )
)


@dataclass(frozen=True, slots=True)
class Quote:
    """How a dialect quotes text: the quotation mark, and how characters are escaped."""

    mark: str
    write: Callable[[Chars], Node] | None
    """Writes a set of characters with escapes; None if text is verbatim up to the mark."""
    free: Node
    """A grammar node for any single character, in every spelling."""

    def within(self, write: Callable[[Chars], Node]) -> Quote:
        """Apply a second escaping, such as XML entities in JSON text."""
        inner = self.write
        assert inner is not None  # noqa: S101 - only escaped text is escaped again
        return Quote(self.mark, lambda node: encoded(inner(node), write), encoded(self.free, write))


def json_quote() -> Quote:
    """Return the quoting of JSON strings."""
    free = either(
        others(chars('"\\' + _CONTROLS)), sequence(Lit("\\"), either(chars('"\\/bfnrt'), sequence(Lit("u"), _CODE)))
    )
    return Quote('"', escaping(_JSON_SPECIAL), free)


def literal_quote(mark: str, *, escapes: bool) -> Quote:
    """Return the quoting of a language's literals."""
    if not escapes:
        return Quote(mark, None, ANY)
    special = {char: f"\\u{ord(char):04x}" for char in [*_CONTROLS, "\x7f"]}
    special |= {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", mark: f"\\{mark}"}
    free = either(
        others(chars(f"{mark}\\\x7f{_CONTROLS}")),
        sequence(Lit("\\"), either(chars(f"{mark}\\nrt"), sequence(Lit("u"), _CODE))),
    )
    return Quote(mark, escaping(special), free)


@dataclass(frozen=True, slots=True)
class Notation:
    """How values are written."""

    name: str
    quotes: tuple[Quote, ...] = field(default_factory=lambda: (json_quote(),))
    words: Mapping[bool | None, str] = field(default_factory=lambda: {True: "true", False: "false", None: "null"})
    bare_keys: bool = False
    spaced: bool = True
    sorted_keys: bool = False
    never: tuple[Node, ...] = ()
    """What text may not contain, as it is written."""


JSON: Final = Notation("json")


class ValueNodes:
    """Makes nodes of shapes; recursive shapes become rules."""

    def __init__(self, notation: Notation, rules: GrammarRules, named: Mapping[str, shapes.Shape], prefix: str) -> None:
        """Write in this notation; rules of recursive shapes are added to `rules`, with names after the `prefix`."""
        self._notation = notation
        self._rules = rules
        self._named = named
        self._prefix = f"{prefix}-{notation.name}"
        after = Space(" " if notation.spaced else "")
        self._comma = sequence(Space(), Lit(","), after)
        self._colon = sequence(Lit("") if notation.bare_keys else Space(), Lit(":"), after)

    def value(self, shape: shapes.Shape) -> Node:  # noqa: C901, PLR0911 - one per kind
        """Return the node of one value."""
        match shape:
            case shapes.Anything():
                return self._anything()
            case shapes.Null():
                return Lit(self._notation.words[None])
            case shapes.Truth():
                return either(Lit(self._notation.words[True]), Lit(self._notation.words[False]))
            case shapes.Number(whole, low, high):
                if whole:
                    return integers(low and low[0], high and high[0])
                return decimals(low, high)
            case shapes.Text():
                return self.text(shape)
            case shapes.Listed(value):
                return self.listed(value)
            case shapes.Items():
                return self._items(shape)
            case shapes.Members():
                return self.members(shape)
            case shapes.OneOf(options):
                return either(*map(self.value, options)) if options else Alt(())
            case shapes.Named(name):
                return self._rule(name, lambda: self.value(self._named[name]))

    def _rule(self, name: str, make: Callable[[], Node]) -> Ref:
        safe = "".join(char if char.isascii() and char.isalnum() else "-" for char in name).strip("-").lower()
        number = list(self._named).index(name) if name in self._named else ""
        rule = f"{self._prefix}-{safe or 'root'}{number}"
        if rule not in self._rules:
            self._rules[rule] = NOTHING  # holds the name while the body is made
            self._rules[rule] = make()
        return Ref(rule)

    def _anything(self) -> Node:
        scalars = (shapes.Text(), shapes.Number(), shapes.Truth(), shapes.Null())
        containers = (shapes.Items((), shapes.Anything()), shapes.Members((), shapes.Anything()))
        return self._rule("any value", lambda: either(*map(self.value, (*scalars, *containers))))

    def text(self, shape: shapes.Text) -> Node:
        """Return the node of a quoted text."""
        return either(*(self._quoted(quote, shape) for quote in self._notation.quotes))

    def _quoted(self, quote: Quote, shape: shapes.Text) -> Node:
        if quote.write is None:
            body = text_node(shape, (*self._notation.never, self._ending(quote)))
        elif shape.pattern is None:
            body = Repeat(quote.free, shape.least, shape.most)
        else:
            every = [encoded(shape.pattern, quote.write)]
            if shape.least or shape.most is not None:
                every.append(encoded(Repeat(ANY, shape.least, shape.most), quote.write))
            body = every[0] if len(every) == 1 else Meet(tuple(every))
        whole = sequence(Lit(quote.mark), body, Lit(quote.mark))
        if self._notation.never and quote.write is not None:
            return Meet((whole,), tuple(map(containing, self._notation.never)), whole=True)
        return whole

    def _ending(self, quote: Quote) -> Node:
        """Return a quote with structure after it: it ends a text without escapes."""
        return sequence(Lit(quote.mark), Repeat(chars(" \t\r\n")), chars(",:}])"))

    def listed(self, value: JsonValue) -> Node:
        """Return the node of exactly this value."""
        if isinstance(value, str):
            jsontext.dumps(value)  # raises for a text that no JSON can hold
            return either(*(self._quoted_text(quote, value) for quote in self._notation.quotes))
        if isinstance(value, dict | list):
            return self.value(container(value))
        if value is None or isinstance(value, bool):
            return Lit(self._notation.words[value])
        return Lit(jsontext.dumps(value))

    def _quoted_text(self, quote: Quote, value: str) -> Node:
        body = Lit(value) if quote.write is None else encoded(Lit(value), quote.write)
        return sequence(Lit(quote.mark), body, Lit(quote.mark)) if quote.mark not in value or quote.write else Alt(())

    def _items(self, shape: shapes.Items) -> Node:
        first = [self.value(item) for item in shape.first][: shape.most]
        rest = None if shape.rest is None else self.value(shape.rest)
        head = first[0] if first else rest if shape.most != 0 else None
        if head is None:
            return Alt(()) if shape.least else sequence(Lit("["), Space(), Lit("]"))
        further = [sequence(self._comma, item) for item in first[1:]]
        row = items_from(1, shape, further, None if rest is None else sequence(self._comma, rest))
        body = sequence(head, row, Space())
        return sequence(Lit("["), Space(), body if shape.least else maybe(body), Lit("]"))

    def members(self, shape: shapes.Members) -> Node:
        """Return the node of an object in braces."""
        if self._notation.sorted_keys:
            shape = replace(shape, named=tuple(sorted(shape.named, key=lambda member: member.name)))
        return sequence(Lit("{"), Space(), self._listed_members(shape, self._pair, self._further), Lit("}"))

    def keywords(self, shape: shapes.Members, key: Callable[[str], Node]) -> Node:
        """Return the node of arguments as `key=value`, without members that the schema does not name."""

        def pair(name: str, value: shapes.Shape) -> Node:
            return sequence(key(name), Lit("="), self.value(value))

        return self._listed_members(shapes.Members(shape.named, None), pair, lambda _: NOTHING)

    def _pair(self, name: str, value: shapes.Shape) -> Node:
        return sequence(self._key(name), self._colon, self.value(value))

    def _key(self, name: str) -> Node:
        bare = self._notation.bare_keys and _BARE_KEY.fullmatch(name) is not None
        return Lit(name) if bare else self.listed(name)

    def _further(self, shape: shapes.Members) -> Node:
        """Return the node of a member that the schema does not name."""
        assert shape.rest is not None  # noqa: S101 - asked by the caller
        if self._notation.bare_keys:
            key = _but(Repeat(_BARE, 1, 64), [Lit(member.name) for member in shape.named])
        else:
            quote = self._notation.quotes[0]
            body = Repeat(others(chars(f"{quote.mark[0]}\\\x7f{_CONTROLS}")))
            names = [Lit(member.name) for member in shape.named]
            key = sequence(Lit(quote.mark), _but(body, names, self._notation.never), Lit(quote.mark))
        return sequence(key, self._colon, self.value(shape.rest))

    def _listed_members(
        self,
        shape: shapes.Members,
        pair: Callable[[str, shapes.Shape], Node],
        further: Callable[[shapes.Members], Node],
    ) -> Node:
        """Return members in order, with commas between those that are present."""
        comma = self._comma
        rest = further(shape) if shape.rest is not None else None
        pairs = [pair(member.name, member.shape) for member in shape.named]
        steps = [
            sequence(comma, node) if member.required else maybe(sequence(comma, node))
            for member, node in zip(shape.named, pairs, strict=True)
        ]
        after = Repeat(sequence(comma, rest)) if rest is not None else NOTHING
        first: list[Node] = []
        for at, member in enumerate(shape.named):
            first.append(sequence(pairs[at], *steps[at + 1 :], after))
            if member.required:
                return sequence(either(*first), Space())
        if rest is not None:
            first.append(sequence(rest, after))
        return maybe(sequence(either(*first), Space())) if first else NOTHING


class QuotedValues(ValueNodes):
    """Makes nodes of arguments that are all quoted text; values that are not strings are JSON in quotes."""

    def value(self, shape: shapes.Shape) -> Node:
        """Return the node of one argument."""
        (quote, *_) = self._notation.quotes
        ending = self._ending(quote)
        inner = ValueNodes(Notation("text", never=(ending,)), self._rules, self._named, f"{self._prefix}-quoted")
        parts = shapes.alternatives(shape, self._named)
        texts = [
            shapes.Text() if isinstance(part, shapes.Anything) else part
            for part in parts
            if isinstance(part, shapes.Text | shapes.Anything)
        ]
        found = [text_node(part, (ending,)) for part in texts]
        for part in parts:
            if isinstance(part, shapes.Listed) and isinstance(part.value, str):
                found.append(Lit(part.value))
            elif not texts:
                found.append(inner.value(part))
        return sequence(Lit(quote.mark), either(*found), Lit(quote.mark))


def _but(node: Node, names: Sequence[Node], never: Sequence[Node] = ()) -> Node:
    return Meet((node,), (*names, *map(containing, never))) if names or never else node


def text_node(shape: shapes.Text, never: Sequence[Node] = ()) -> Node:
    """Return the node of a verbatim text that may not contain some others."""
    every: list[Node] = []
    if shape.least or shape.most is not None:
        every.append(Repeat(ANY, shape.least, shape.most))
    if shape.pattern is not None:
        every.append(shape.pattern)
    if not never:
        return every[0] if len(every) == 1 else Meet(tuple(every)) if every else ANYTHING
    return Meet(tuple(every) or (ANYTHING,), tuple(map(containing, never)))


def items_from(number: int, shape: shapes.Items, first: Sequence[Node], rest: Node | None) -> Node:
    """Return the items of a list from a number on; the nodes of `first` and `rest` bring their separators."""
    count = number + len(first)
    if rest is None and shape.least > count:
        return Alt(())
    row: Node = NOTHING
    if rest is not None:
        row = Repeat(rest, max(shape.least - count, 0), None if shape.most is None else shape.most - count)
    needed = max(shape.least - number, 0)
    for node in reversed(first[needed:]):
        row = maybe(sequence(node, row))
    return sequence(*first[:needed], row)


def container(value: JsonValue) -> shapes.Items | shapes.Members:
    """Return the shape of exactly this list or object."""
    if is_array(value):
        return shapes.Items(tuple(shapes.Listed(inner) for inner in value), None, len(value))
    assert is_object(value)  # noqa: S101 - asked by the callers
    return shapes.Members(
        tuple(shapes.Member(key, shapes.Listed(inner), required=True) for key, inner in value.items()), None
    )
