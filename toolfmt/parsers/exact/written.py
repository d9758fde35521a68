r"""Readers of exactly written calls, for texts that contain the whole call.

    <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>
    ^ before the arguments ------------------^        ^ after them

Two patterns of a form and a reader of its arguments. They accept text with only one reading; whatever
differs from the written form, such as a blank in a tag, is left to the tolerant reader. Both
emit the same events for the same text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import ParserOptions
from toolfmt.dialect.syntax import BODY_SLOTS, Maybe, Piece, Verbatim, pieces, split
from toolfmt.jsontext import MAX_DIGITS, encodable, is_object, try_value
from toolfmt.model import CallProvenance, JsonObject, JsonValue, ToolDefinition, ToolInvocation
from toolfmt.parsers.bodies.claims import misnamed
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.bodies.element_values import leaf, plain
from toolfmt.parsers.bodies.elements import BY_FLAG, KNOWN, WRAPPERS, meant
from toolfmt.parsers.bodies.json_shapes import KEY_IS_NAME
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.parsers.scanning.damage import misread, part_of
from toolfmt.parsers.scanning.patterns import decode_entities
from toolfmt.parsers.scanning.sink import invocation
from toolfmt.parsers.scanning.value_text import object_text
from toolfmt.schema import declares, depends, plain_type, property_schema, types

_Arguments: TypeAlias = tuple[JsonObject, int]
ReadCall: TypeAlias = tuple[ToolInvocation, str | None, int]
_Reader: TypeAlias = Callable[[str, int, ParserOptions, ToolDefinition | None], _Arguments | None]

SPACE = r"[ \t\r\n]{0,64}"
_BLANK = r"[ \t\r\n]{1,64}"
_LABELS = "name", "id", "server", "agent", "key", "type", "string"
_SLOTS = {name: rf"(?P<{name}>[A-Za-z0-9_.\-]{{1,256}})" for name in _LABELS} | {"index1": "[0-9]{1,9}"}
_OTHERS = ("payload", "name", "name_in_id")
"""Slots that exclude a form from the fast path."""
_OPTIONAL = ("{id}", "{server}", "{agent}")
_STRING = frozenset({"string"})
_INTEGER = re.compile(r"-?[1-9][0-9]{0,16}|0").fullmatch
_DOUBT = object()
_TAG_END = r"[A-Za-z_][\w.\-]*+(?=[\s/>])|/[A-Za-z_][\w.\-]*+>|(?=[\s=])"
_OTHER_ELEMENTS = re.compile(rf"[^<]*+(?:<(?:{_TAG_END})[^<]*+)*+").fullmatch
"""Text in which every `<` begins an element's tag."""
_ELEMENT_NAME = re.compile(r"</?([A-Za-z_][\w.\-]*+)").findall


class NotAtOnce(Exception):  # noqa: N818 - control flow while a grammar is compiled
    """The form has to be read by the tolerant reader."""


class WrittenForm:
    """One compiled form."""

    def __init__(self, compiled: FormGrammar, *, bare: bool) -> None:
        """Compile a form; raises `NotAtOnce` for a form that is not supported here."""
        form = compiled.form
        if form.offered and not form.call.startswith("<"):
            raise NotAtOnce
        if any(getattr(form, name) for name in _OTHERS) or set(form.defaults) - {"server"}:
            raise NotAtOnce
        before, slot, after = split(form.call, BODY_SLOTS)
        begin, end = _pattern(before), _pattern(after)
        self._braces, self._offered = 0, form.offered
        if slot == "call" and form.json is not None:
            opening, closing = _object(form.json.template)
            begin, end = f"{begin}{SPACE}{opening}", closing + (SPACE + end if end else "")
            self._braces = closing.count(r"\}")
        self._arguments = self._reader(compiled, slot)
        self._as_is = self._arguments == self._json
        if "(?P<name>" not in begin:
            raise NotAtOnce
        self._begin = re.compile(f"{SPACE}{begin}{SPACE}").match
        self._end = re.compile(SPACE + end if end else "").match
        self._labelled = f"{begin}{end}".count("(?P<") > 1
        """Whether more is written than the tool's name."""
        self._server = form.defaults.get("server")
        self._provenance: CallProvenance = "bare" if bare else "marker"
        self._template = form.call.lstrip()

    def begins_with(self, char: str) -> bool:
        """Whether a call may begin with a character."""
        if self._template.startswith(("{call}", "{name}")):
            return char.isalnum() or char in "_.-{"
        return self._template[:1] in {char, "{"}

    def _reader(self, compiled: FormGrammar, slot: str) -> _Reader:
        """Return the reader of the arguments; raises `NotAtOnce`."""
        elements = compiled.form.elements
        if slot == "members" and compiled.elements is not None and elements is not None:
            if elements.item and not elements.tags_only:
                raise NotAtOnce  # a value without `<` may contain items
            return _WrittenMembers(compiled.elements, elements.member, elements.wrapper).read
        if slot == "yaml":
            from toolfmt.parsers.bodies.yaml_body import written_yaml

            return written_yaml
        if slot not in {"args", "call"}:
            raise NotAtOnce
        if compiled.literals is None:
            return self._json
        if not (compiled.literals.literals.keywords or compiled.literals.literals.bare_keys):
            raise NotAtOnce
        from toolfmt.parsers.exact.written_literals import WrittenLiterals

        return WrittenLiterals(compiled.literals).read

    def _json(self, text: str, at: int, options: ParserOptions, _: ToolDefinition | None) -> _Arguments | None:
        limits = options.limits
        if not text.startswith("{", at) or limits.digits < MAX_DIGITS:
            return None
        return try_value(text, at, outer=self._braces, max_depth=limits.depth)

    def read(self, text: str, at: int, options: ParserOptions) -> ReadCall | None:
        """Read the call at `at`, after white space; return None if it differs from the written form.

        Returns the call, its id if that is written before the name, and its end.
        """
        begun = self._begin(text, at)
        if begun is None:
            return None
        name, body = begun["name"], begun.end()
        tool = options.tools.get(name)
        read = None if self._offered and tool is None else self._arguments(text, body, options, tool)
        ended = self._end(text, read[1]) if read is not None else None
        if read is None or ended is None or misnamed(read[0], tool):
            return None
        written = text[body : read[1]] if self._as_is else object_text(read[0])
        early = identity = agent = None
        server = self._server
        if self._labelled:
            labels: dict[str, str | None] = begun.groupdict()
            early = labels.get("id")
            labels |= ended.groupdict()
            if labels["name"] != name:
                return None
            identity, server, agent = labels.get("id"), labels.get("server") or server, labels.get("agent")
        call = invocation(name, read[0], identity, written, server, agent, self._provenance, "exact")
        return call, early, ended.end()


class _WrittenMembers:
    """Reads arguments that are elements whose values contain nothing like the format's markup."""

    def __init__(self, grammar: ElementGrammar, member: str, wrapper: str) -> None:
        opening, _, closing = member.partition("{value}")
        self._closer = closing.strip()
        plain = self._closer.replace("{key}", "key")
        if not plain or re.search(r"[\s{]", plain) or (grammar.keyed_by_tag and grammar.flags):
            raise NotAtOnce
        marks = [pair for pair in grammar.quotes if not (pair[0][0].isalnum() or pair[0][0] == "_")]
        self._quote = marks[0] if marks and not grammar.padded else ("", "")
        self._grammar = grammar
        ends = grammar.ends(grammar.closer("member", "").source, grammar.tail)
        self._ends, self._hint, self._words = ends, ends.hint, ends.words
        around = grammar.around
        markers = "".join((*around.begins, around.begin, around.tail, around.section, around.section_end, wrapper))
        named = grammar.keyed_by_tag and not grammar.special
        self._own_names = {*grammar.own_tags, *re.findall(r"[\w.\-]+", markers.replace("\\", ""))} if named else None
        """Names of the format's own elements; every other element is text unless the tool declares it."""
        opening = opening.removesuffix("\n") if grammar.padded else opening
        found = re.compile(SPACE + _pattern(pieces(opening)))
        self._member, self._marked = found.match, not found.groupindex.keys() <= {"key"}
        self._keyed = "{key}" in self._closer
        self._wrapper = re.compile(f"{SPACE}<{re.escape(wrapper)}>").match if wrapper else None
        self._wrapper_end = re.compile(f"{SPACE}</{re.escape(wrapper)}>").match

    def read(self, text: str, at: int, options: ParserOptions, tool: ToolDefinition | None) -> _Arguments | None:
        """Read the arguments at `at`; return the values and where they end."""
        schema = tool.parameters if tool else None
        if depends(schema):
            return None
        wrapper = self._wrapper(text, at) if self._wrapper else None
        values: JsonObject = {}
        begun = at if wrapper is None else wrapper.end()
        end = self._read_all(text, begun, options, schema, values)
        closed = self._wrapper_end(text, end) if wrapper is not None and end >= 0 else None
        if end < 0 or (wrapper is not None and closed is None) or not encodable(text[begun:end]):
            return None
        return values, end if closed is None else closed.end()

    def _read_all(
        self, text: str, at: int, options: ParserOptions, schema: JsonObject | None, values: JsonObject
    ) -> int:
        """Read the elements in turn into `values`; return their end, or -1 if one is in doubt."""
        closer, (quote, ending) = self._closer, self._quote
        while (opened := self._member(text, at)) is not None:
            key, at = opened["key"], opened.end()
            if key in values or (self._words is not None and self._words.match(text, at)):
                return -1
            kind = plain_type(schema, key)
            if not (kind or declares(schema, key)) and (key in WRAPPERS or self._no_key(text, opened, schema)):
                return -1
            quoted = bool(quote) and text.startswith(quote, at)
            if quoted:
                at += len(quote)
                end = after = text.find(ending, at)
                after += len(ending)
            else:
                near = self._hint(text, at)
                end = after = -1 if near is None else near.start()
            if self._keyed:
                closer = self._closer.replace("{key}", key)
            if not quoted and end >= 0 and not text.startswith(closer, end) and _is_text(kind, schema, key):
                end = after = self._past_elements(text, at, closer, schema, options)
            if (
                end < 0
                or not text.startswith(closer, after)
                or not (quoted or self._is_plain(text, at, end, key, schema))
            ):
                return -1
            value = self._value(text[at:end], opened, kind, schema, options, verbatim=quoted)
            if value is _DOUBT:
                return -1
            values[key], at = value, after + len(closer)
        return at

    def _past_elements(self, text: str, at: int, closer: str, schema: JsonObject | None, options: ParserOptions) -> int:
        """Return the end of the text at `at` if all markup in it is foreign to the format, else -1."""
        end = text.find(closer, at)
        if end < 0 or self._own_names is None or schema is None or _OTHER_ELEMENTS(text, at, end) is None:
            return -1
        names = set(_ELEMENT_NAME(text, at, end))
        meant = not names.isdisjoint(self._own_names) or any(name in options.tools for name in names)
        return -1 if meant or any(declares(schema, name) for name in names) else end

    def _no_key(self, text: str, opened: re.Match[str], schema: JsonObject | None) -> bool:
        """Whether an element that its tool does not declare may be something other than an argument."""
        grammar, key = self._grammar, opened["key"]
        if meant(key, schema) != key or not grammar.keyed_by_tag:
            return meant(key, schema) != key
        odd = key in grammar.own_tags or not (key[0].isalpha() or key[0] == "_")
        return odd or grammar.after.match(text, opened.start(), partial=True) is not None

    def _is_plain(self, text: str, at: int, end: int, key: str, schema: JsonObject | None) -> bool:
        """Whether an unquoted text contains neither a quote's mark, nor a marker, nor a part of its closer."""
        grammar = self._grammar
        doubtful = text.find("<", at, end) >= 0 or text.find(grammar.left_sign, at, end) >= 0
        if doubtful and grammar.left_in(text[at:end], self._closer, key, schema):
            return False
        if text.startswith(">", at) or (
            text.endswith(("<", ">", "]"), at, end) and part_of(text[at:end], self._closer)
        ):
            return False
        ends = self._ends
        near = ends.near_quote is not None and ends.near_quote.match(text, at) is not None
        return not near and not text.endswith(ends.quote_ends, at, end)

    def _value(  # noqa: PLR0913 - what is known of it
        self,
        text: str,
        opened: re.Match[str],
        kind: str,
        arguments: JsonObject | None,
        options: ParserOptions,
        *,
        verbatim: bool,
    ) -> JsonValue:
        """Type the text of one value; return `_DOUBT` if more than its text decides."""
        grammar = self._grammar
        wire_type = self._wire_type(opened) if self._marked else ""
        marked = grammar.nested and ("<" in text or (not grammar.item_tag and grammar.item_marks.search(text)))
        nested = marked and not verbatim and (wire_type or kind != "string")
        if nested or wire_type not in KNOWN or (grammar.padded and text.startswith(("\r", "&"))):
            return _DOUBT
        if grammar.escaped and not verbatim:
            text = decode_entities(text) if "&" in text else text
            text = text if text.strip(WHITE) else ""
        if grammar.padded:
            text = text.removeprefix("\n").removesuffix("\n")
        if not wire_type and kind == "string":
            return text
        if not wire_type and kind == "integer" and not verbatim and _INTEGER(text):
            return int(text)
        schema = property_schema(arguments, opened["key"])
        permitted, inferred = types(schema), options.infer_types
        untyped = permitted is None and not (inferred or grammar.inferred)
        if not wire_type and (permitted == _STRING or untyped):
            return text
        typed = wire_type or ("json" if grammar.inferred and permitted is None else "")
        value = leaf(text, schema, typed, verbatim=verbatim, repeats=grammar.repeats, inferred=inferred)
        return _DOUBT if isinstance(value, str) and misread(value, schema, wire_type) else plain(value)

    def _wire_type(self, opened: re.Match[str]) -> str:
        """Return the type that the element itself names."""
        slots = opened.re.groupindex
        flag = (opened["string"] or "") if "string" in slots else ""
        named = (opened["type"] or "") if "type" in slots else ""
        return self._grammar.types.get(named, named) or BY_FLAG.get(flag, flag)


def _is_text(kind: str, schema: JsonObject | None, key: str) -> bool:
    """Whether an argument is a string, by its wire type `kind` or else by its schema."""
    return kind == "string" or (not kind and types(property_schema(schema, key)) == _STRING)


def as_written(text: str) -> str:
    """Return a pattern for a literal as written; a line break in it may be missing."""
    parts = re.split(r"(\s+)", text)
    return "".join(re.escape(part) if not part.isspace() else SPACE if "\n" in part else _BLANK for part in parts)


def _pattern(template: Iterable[Piece]) -> str:
    """Return a pattern for what a template writes."""
    parts: list[str] = []
    for piece in template:
        if isinstance(piece, Verbatim):
            parts.append(as_written(piece.text))
        elif isinstance(piece, Maybe):
            parts.append(f"(?:{_pattern(piece.pieces)})?")
        elif piece.name in _SLOTS:
            parts.append(_SLOTS[piece.name])
        else:
            raise NotAtOnce
    return "".join(parts)


def _object(template: Mapping[str, object]) -> tuple[str, str]:
    """Return the patterns for a JSON call up to its arguments, and for what comes after them."""
    members = [(re.escape(jsontext.dumps(key)) + f"{SPACE}:{SPACE}", key, value) for key, value in template.items()]
    before: list[str] = []
    for at, (name, key, value) in enumerate(members):
        if key == KEY_IS_NAME:
            raise NotAtOnce
        if value == "{arguments}" or is_object(value):
            opening, closing = _object(value) if is_object(value) else ("", "")
            after = [
                f"(?:{SPACE},{SPACE}{name}{_value_pattern(value)})" + "?" * (value in _OPTIONAL)
                for name, _, value in members[at + 1 :]
            ]
            begin = "".join((rf"\{{{SPACE}", *before, name, opening))
            return begin, "".join((closing, *after, rf"{SPACE}\}}"))
        before.append(f"(?:{name}{_value_pattern(value)}{SPACE},{SPACE})" + "?" * (value in _OPTIONAL))
    raise NotAtOnce


def _value_pattern(value: object) -> str:
    """Return a pattern for a member's value: a quoted label, or a constant."""
    slot = _SLOTS.get(value[1:-1]) if isinstance(value, str) and value[:1] == "{" else None
    if slot is None and isinstance(value, str) and value[:1] == "{":
        raise NotAtOnce
    return re.escape(jsontext.dumps(value)) if slot is None else f'"{slot}"'
