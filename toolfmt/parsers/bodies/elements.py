"""Reads arguments written as elements: a tree of members, items and text.

    <arguments>
        <arg name="path">a.txt</arg>
        <arg name="tags"><item>x</item><item>y</item></arg>
    </arguments>

or, with the key as the element's name, `<path>a.txt</path>`. What a place may
contain comes from the tool's schema: in a string, markup is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

import regex

from toolfmt.dialect.record import Limits
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.parsers.bodies.claims import Strays
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.bodies.element_values import ArgumentStream, Children, Repeated, Untyped, leaf
from toolfmt.parsers.bodies.raw_text import RawText
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.damage import misread
from toolfmt.parsers.scanning.patterns import NOTE, attributes, cut_off, decode_entities, match_next, strip_groups
from toolfmt.parsers.scanning.pieces import Pieces, Taker
from toolfmt.parsers.scanning.raw_ends import Closer, Opening
from toolfmt.parsers.scanning.sink import Draft
from toolfmt.schema import declares, property_names, property_schema, takes_none, types

_LAYOUT = regex.compile(rf"\s{{1,256}}|{NOTE}")
_NAME = re.compile(r"<([A-Za-z_][\w.\-]*)[\s/>]").match
_QUOTED_NAME = re.compile(
    r"(?:&quot;|[\"'`\u201c\u201d]{1,2})([^\"'`\u201c\u201d&]+)(?:&quot;|[\"'`\u201c\u201d]{1,2})"
).fullmatch
_EDGES = re.compile(r"\A[\s,;:]+|[\s,;:]+\Z")
_QUOTE = regex.compile("[\"']")
_NOTES = frozenset({"!", "?", ""})  # what follows the `<` of a note; "" at the end of the text
_ESCAPED_TAG = re.compile("&(?:lt;|#)")
_STRING = frozenset({"string"})
_TEXT = frozenset({"string", "text"})
BY_FLAG = {"true": "text", "false": "json"}
_CONTAINERS = frozenset({"object", "array"})
WRAPPERS = frozenset({"arguments", "args", "input", "kwargs", "parameters", "params", "properties"})
"""Names of a single argument in which models wrap all arguments."""
KNOWN = _TEXT | _CONTAINERS | {"integer", "number", "boolean", "null", "json", ""}


@dataclass(slots=True)
class Spot:
    """The place of a value: its key, its own and its parent's closer, its schema."""

    key: str
    closer: Closer
    parent: Closer
    schema: JsonObject | None
    type: str
    depth: int
    later: bool = False
    """Whether its text is typed only when all arguments are known."""
    siblings: JsonObject | None = None
    """The schema of the arguments, if the value is directly in them."""


@dataclass(slots=True)
class Opened:
    """An opening tag: the child's kind, its key and type, and its text if it has no content."""

    kind: str
    key: str
    type: str
    text: str | None
    odd: bool
    """Whether its key contains markup or is not delimited."""
    unquoted: bool
    """Whether a quote in it is missing."""


class ElementReader:
    """Reads one call's arguments."""

    def __init__(self, grammar: ElementGrammar, draft: Draft, tail: Closer, limits: Limits, strays: Strays) -> None:
        """Read the arguments before `tail` into `draft`; `strays` are the attributes of the call's tag."""
        self.grammar = grammar
        self.strays = strays
        self.given: JsonObject = {}
        self.enclosing = ""
        """The undeclared argument that contained others, if there was one."""
        self.tail = tail
        self.draft = draft
        self.limits = limits

    def arguments(self, cur: Cursor, schema: JsonObject | None, *, empty: bool) -> Reading[JsonObject]:
        """Read the arguments up to the call's tail."""
        grammar = self.grammar
        members = ArgumentStream(self.draft, schema, repeats=grammar.repeats)
        self.given = members.values
        if not empty:
            yield from self._arguments(cur, schema, members)
        self.strays.settle(members, schema, cur.at)
        beside = (key for key in members.values if not declares(schema, key)) if self.enclosing else ()
        for key in beside:
            detail = f"{key!r} is no argument, and others were given in one named {self.enclosing!r}"
            raise Malformed("unclaimed", detail, cur.at, whole=True)
        return members.close()

    def _arguments(self, cur: Cursor, schema: JsonObject | None, members: ArgumentStream) -> Reading[None]:
        grammar = self.grammar
        yield from skip_layout(cur, self.strays)
        wrapper = (yield from match_next(cur, grammar.wrapper)) if grammar.wrapper else None
        if wrapper is not None:
            for key, text in attributes(wrapper["attributes"]):
                self.strays.add(key, decode_entities(text), (cur.at, cur.base + wrapper.end()))
            cur.pos = wrapper.end()
        if wrapper is None or not wrapper["empty"]:
            parent = self.tail if wrapper is None else Closer(grammar.inside_wrapper)
            while True:
                yield from skip_layout(cur, self.strays)
                opener = yield from self._opener(cur, schema)
                inside = parent
                if opener is None and grammar.loose is not None:
                    opener = yield from match_next(cur, grammar.loose)
                    inside = Closer(f"{strip_groups(grammar.heads['loose'].source)}|{parent.source}")
                if opener is None:
                    break
                yield from self._member(cur, opener, inside, schema, members)
            if wrapper is not None:
                end = yield from match_next(cur, grammar.wrapper_end)
                if end is not None:
                    cur.pos = end.end()

    def _member(
        self, cur: Cursor, opener: regex.Match[str], parent: Closer, schema: JsonObject | None, members: ArgumentStream
    ) -> Reading[None]:
        start = cur.base + opener.start()
        opened = self._opened(cur, opener)
        kind, key, wire_type = opened.kind, opened.key, opened.type
        if kind in {"item", "number"}:
            if kind == "number" or not self.grammar.keyed_by_tag:
                raise Malformed("malformed", "a list item where an argument was due", cur.at)
            key = self.grammar.item_tag
        if opened.unquoted and (yield from match_next(cur, _QUOTE)) is not None:
            raise Malformed("malformed", "a quote after a tag that lacks one", cur.at, inside=True)
        given = key
        key = self._meant(kind, key, schema, start, cur.at)
        odd = opened.odd or given != key or (schema is not None and key[-1:] in {"[", "{", "("})
        if odd and not declares(schema, key):
            detail = f"the name of an argument holds markup or is not closed: {key[:60]!r}"
            raise Malformed("malformed", detail, cur.at, inside=True)
        inner = property_schema(schema, key) if schema else None
        odd = schema is not None and not declares(schema, key)
        if opened.text == "" and odd and self.grammar.keyed_by_tag and not takes_none(schema):
            raise Malformed("malformed", f"{key!r} is empty, and no argument of the tool", cur.at)
        if opened.text is not None:
            members.add(key, leaf(opened.text, inner, wire_type, verbatim=False), (start, cur.at))
            return
        closer = self.grammar.closer(kind, given)
        if (key in WRAPPERS and odd) or (kind == "loose" and key == self.grammar.wrapper_name):
            yield from self._wrapped(cur, Spot(key, closer, parent, schema, "", 1, siblings=schema), members, start)
            return
        allowed = types(inner)
        text = (
            allowed == _STRING if wire_type == "" else wire_type in _TEXT and (allowed is None or "string" in allowed)
        )
        if text and key not in members.values:
            spot = Spot(key, closer, parent, inner, wire_type, 1, siblings=schema)
            raw = yield from self._raw(cur, members.string(key), spot)
            members.end_string(key)
            self._refuse_marks(cur, str(members.values[key]), raw, spot)
        else:
            value = yield from self.value(cur, Spot(key, closer, parent, inner, wire_type, 1, members.later, schema))
            members.add(key, value, (start, cur.at))

    def _meant(self, kind: str, key: str, schema: JsonObject | None, start: int, end: int) -> str:
        found = meant(key, schema)
        if self.grammar.heads[kind].attributes and not declares(schema, found):
            return key  # the attribute's quotes delimit it, whatever it contains
        if found != key and declares(schema, found):
            self.draft.note("alias_used", f"the name {found!r} was written as {key[:60]!r}", start, end)
        return found

    def _wrapped(self, cur: Cursor, spot: Spot, members: ArgumentStream, start: int) -> Reading[None]:
        """Read an undeclared argument whose name means arguments, and which contains them."""
        if (yield from match_next(cur, self.grammar.child)) is not None:
            while True:
                yield from skip_layout(cur, self.strays)
                opener = yield from match_next(cur, self.grammar.opener)
                if opener is None:
                    break
                yield from self._member(cur, opener, spot.closer, spot.schema, members)
            yield from self._close(cur, spot.closer)
        else:
            value = yield from self.value(cur, spot)
            if not is_object(value):
                members.add(spot.key, value, (start, cur.at))
                return
            for key, inner in value.items():
                members.add(key, inner, (start, cur.at))
        self.enclosing = spot.key
        self.draft.note("misplaced", f"the arguments were given in one named {spot.key!r}", start, cur.at)

    def _close(self, cur: Cursor, expected: Closer) -> Reading[None]:
        """Read the closer of an element after its children."""
        closer = self.grammar.pattern(expected.source)
        end = yield from match_next(cur, closer)
        if end is None or not expected.ends(end.group()):
            if end is None and cut_off(cur, self.grammar.opener, closer):
                raise Truncated
            raise Malformed("malformed", f"text beside elements: {cur.buf[cur.pos]!r}", cur.at)
        cur.pos = end.end()

    def _opened(self, cur: Cursor, opener: regex.Match[str]) -> Opened:
        groups = opener.groupdict()
        kind = next(name for name in self.grammar.heads if groups.get(name) is not None)
        tag = self.grammar.heads[kind].read(opener, escaped=self.grammar.keys_escaped)
        if tag is None and self.grammar.unnamed is not None:
            kind, tag = "item", self.grammar.unnamed.read(opener, escaped=self.grammar.keys_escaped)
        if tag is None or (kind == "loose" and tag.slots["key"] == self.grammar.member_tag):
            detail = f"an argument without a name: {opener.group()[:60]!r}"
            raise Malformed("malformed", detail, cur.at, inside=True)
        if self.grammar.declared and self.grammar.declared.search(groups.get("attributes") or ""):
            raise Malformed("malformed", "a tool's definition, not a call", cur.at)
        span = cur.base + opener.start(), cur.base + opener.end()
        cur.pos = opener.end()
        if tag.unquoted:
            self.draft.note("missing_close", "a quote in a tag is missing or of another kind", *span)
        unclosed = groups.get("unclosed") is not None
        if unclosed:
            self.draft.note("missing_close", "a closing tag before an argument's value is missing", *span)
        if groups.get("unclosed"):
            self.draft.note("unclaimed", f"no part of the format: {groups['unclosed'][:60]!r}", *span)
        value: str | None = None
        for name, given in tag.strays:
            if tag.empty and value is None and name == "value":
                value = given
                self.draft.note("misplaced", "an argument's value was given as an attribute", *span)
            else:
                self.strays.add(name, given, span)
        wire_type = tag.slots.get("type", "")
        flag = tag.slots.get("string", "")
        found = self.grammar.types.get(wire_type, wire_type) or BY_FLAG.get(flag.lower(), flag)
        if found not in KNOWN:
            self.strays.ignore(found, span)
        text = (value or "") if tag.empty else None
        return Opened(kind, tag.slots.get("key", ""), found, text, tag.odd or unclosed, tag.unquoted)

    def value(self, cur: Cursor, spot: Spot) -> Reading[JsonValue]:
        """Read one value and its closer: children, or raw text typed by the schema."""
        grammar = self.grammar
        if spot.depth > self.limits.depth:
            raise Malformed("limit", f"nested deeper than {self.limits.depth} levels", cur.at)
        declared = types(spot.schema)
        if grammar.nested and (spot.type in _CONTAINERS or (not spot.type and declared != _STRING)):
            child = yield from match_next(cur, grammar.child)
            if child is not None and declared and not declared & {*_CONTAINERS, "string"}:
                raise Malformed("malformed", f"elements in {spot.key!r}, which holds none", cur.at)
            if child is not None:
                return (yield from self._children(cur, spot))
        pieces = Pieces()
        at = cur.at
        raw = yield from self._raw(cur, pieces, spot)
        self._refuse_marks(cur, pieces.text(), raw, spot)
        if spot.later and not spot.type:
            text = Untyped(pieces.text())
            text.verbatim = raw.verbatim
            return text
        value = leaf(
            pieces.text(),
            spot.schema,
            spot.type or ("json" if grammar.inferred and types(spot.schema) is None else ""),
            verbatim=raw.verbatim,
            repeats=grammar.repeats,
            inferred=self.draft.sink.options.infer_types,
        )
        broken = isinstance(value, str) and misread(value, spot.schema, spot.type)
        if broken or (declared != _STRING and not raw.verbatim and self._holds_items(value, pieces.text(), cur, at)):
            raise Malformed("malformed", f"the JSON of {spot.key!r} is broken", at, cur.at)
        return value

    def _holds_items(self, value: JsonValue, text: str, cur: Cursor, at: int) -> bool:
        """Whether text was meant as a list: it begins with an item, or contains unbalanced items."""
        if not self.grammar.nested or not isinstance(value, str | Repeated):
            return False
        marks = [*self.grammar.item_marks.finditer(text)]
        closers = sum(mark["close"] is not None for mark in marks)
        odd = 2 * closers != len(marks) or (bool(marks) and not text[: marks[0].start()].strip(WHITE))
        escaped = closers > 0 and self.grammar.escaped and _ESCAPED_TAG.search(cur.since(at))
        return closers > 0 and not escaped and (isinstance(value, Repeated) or odd)

    def _children(self, cur: Cursor, spot: Spot) -> Reading[JsonValue]:
        grammar = self.grammar
        children = Children(grammar, spot.key, spot.schema, spot.type)
        while True:
            yield from skip_layout(cur, self.strays)
            opener = yield from match_next(cur, grammar.opener)
            if opener is None:
                break
            at = cur.at
            opened = self._opened(cur, opener)
            named = opened.kind == "member" and not children.as_list
            key = self._meant(opened.kind, opened.key, spot.schema, at, cur.at) if named else opened.key
            inner = children.place(opened.kind, key)
            key = grammar.item_tag if opened.kind == "item" else key
            if opened.kind == "member" and children.refuses(key, spot.siblings):
                raise Malformed("malformed", f"the argument {key!r} is in the list {spot.key!r}", at)
            if opened.odd and not declares(spot.schema, key):
                raise Malformed("malformed", f"the name of a member holds markup: {key[:60]!r}", cur.at)
            if opened.text is not None:
                value = leaf(opened.text, inner, opened.type, verbatim=False)
            else:
                closer = grammar.closer(opened.kind, opened.key)
                child = Spot(opened.key, closer, spot.closer, inner, opened.type, spot.depth + 1)
                value = yield from self.value(cur, child)
            children.add(key, value, self.draft, (at, cur.at))
        end = cur.at
        yield from self._close(cur, spot.closer)
        return children.value(end)

    def _raw(self, cur: Cursor, out: Taker, spot: Spot) -> Reading[RawText]:
        nested, padded = spot.depth > 1, self.grammar.padded
        opens = partial(self._opens, spot=spot)
        again = self.grammar.again
        if again is not None and (yield from match_next(cur, again)) is not None:
            raise Malformed("malformed", "the tag before a value is there twice", cur.at, inside=True)
        raw = RawText(out, spot.closer, spot.parent, opens, nested=nested, padded=padded)
        yield from raw.read(cur, self.grammar.ends(spot.closer.source, spot.parent.source))
        if raw.unclosed:
            self.draft.note("missing_close", "an argument's closing marker is missing", cur.at)
        if raw.misspelt is not None:
            self.draft.note("missing_close", "an argument's closing marker is misspelt", *raw.misspelt)
            self.draft.note("unclaimed", "a misspelt closing marker is not part of the format", *raw.misspelt)
        if raw.ambiguous is not None:
            detail = "a closing tag without structure after it was read as text"
            self.draft.note("ambiguous_closer", detail, *raw.ambiguous)
        return raw

    def _refuse_marks(self, cur: Cursor, text: str, raw: RawText, spot: Spot) -> None:
        """Refuse a value in which a slip left a marker."""
        if raw.bare and (mark := self.grammar.left_in(text, spot.closer.text, spot.key, spot.siblings)):
            raise Malformed("malformed", f"{mark[:60]!r} is left in the value of {spot.key[:60]!r}", cur.at)

    def _opener(self, cur: Cursor, schema: JsonObject | None) -> Reading[regex.Match[str] | None]:
        """Match an argument's tag; None also before the next call, if this one's closer is missing."""
        opener = yield from match_next(cur, self.grammar.opener)
        if opener is None or not self.grammar.keyed_by_tag or declares(schema, self.grammar.key(opener)):
            return opener
        if (yield from match_next(cur, self.grammar.after)) is not None:
            return None
        return (yield from match_next(cur, self.grammar.opener))  # more text may have moved the cursor's window

    def _opens(self, found: regex.Match[str], spot: Spot) -> Opening | None:
        """Classify an argument's tag inside a value; if its name is the key, only a declared key counts."""
        if self._other(found, spot):
            return None
        key = self.grammar.key(self.grammar.opener.match(found.string, found.start()))
        declared = declares(spot.siblings, key)
        if spot.closer.name and not (declared or self.grammar.special or spot.siblings is None):
            return None
        again, named = key == spot.key or key in self.given, bool(spot.closer.name)
        certain = declared or (
            self.grammar.special and (not spot.closer.name or declares(spot.siblings, spot.closer.name))
        )
        return Opening(certain, again and named, again and self.grammar.padded, spot.closer.name in {"", key})

    def _other(self, found: regex.Match[str], spot: Spot) -> bool:
        """Whether a tag is plainly not an argument's, like most markup in text."""
        if not spot.closer.name or self.grammar.special or spot.siblings is None:
            return False
        tag = _NAME(found.string, found.start())
        name = "" if tag is None else tag[1]
        own = name == self.grammar.member_tag or name in self.grammar.own_tags
        return bool(name) and not own and not declares(spot.siblings, name)


def meant(key: str, schema: JsonObject | None) -> str:
    """Return the declared key that differs only in case or at its edges, or else the key without quotes."""
    if schema is None or declares(schema, key):
        return key
    quoted = _QUOTED_NAME(key)
    name = quoted[1] if quoted else key
    word = _EDGES.sub("", name).casefold()
    alike = [one for one in property_names(schema) if one.casefold() in {name.strip().casefold(), word}]
    return alike[0] if len(alike) == 1 else name


def skip_layout(cur: Cursor, strays: Strays) -> Reading[None]:
    """Skip white space and notes between elements; the notes are reported."""
    while not (cur.buf.startswith("<", cur.pos) and cur.buf[cur.pos + 1 : cur.pos + 2] not in _NOTES):
        layout = yield from match_next(cur, _LAYOUT)
        if layout is None:
            return
        if layout.group().startswith("<"):
            strays.ignore(layout.group(), (cur.at, cur.base + layout.end()))
        cur.pos = layout.end()
