r"""The calls of a dialect as nodes, from its syntax: one node per tool, and the markers around and between them.

    <tool_call>\n{"name": "f", "arguments": ...}\n</tool_call>

The grammar has the form that the dialect writes: the first of its syntax, with members in the schema's order. Only
white space is free.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import regex

from toolfmt import jsontext
from toolfmt.dialect.literals import KEYWORD, Literals
from toolfmt.dialect.syntax import BODY_SLOTS, TAG_NAME, Maybe, Piece, Slot, Syntax, Verbatim, split
from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.syntax_calls import slot_text
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.workshop.grammars import shapes
from toolfmt.workshop.grammars.elements import ElementNodes
from toolfmt.workshop.grammars.nodes import (
    DIGIT,
    NOTHING,
    GrammarRules,
    Json,
    Lit,
    Node,
    Repeat,
    Space,
    branches,
    chars,
    either,
    maybe,
    sequence,
)
from toolfmt.workshop.grammars.reading import SchemaShapes, argument_lists
from toolfmt.workshop.grammars.spelling import pattern_text
from toolfmt.workshop.grammars.values import JSON, Notation, QuotedValues, ValueNodes, literal_quote

_ID: Final = Repeat(chars("_-.:", (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)), 1, 64)
_INDEX: Final = Repeat(DIGIT, 1, 4)
_KEYWORD: Final = regex.compile(KEYWORD)
_OPTIONAL: Final = ("{id}", "{agent}")


@dataclass
class CallNodes:
    """Makes the nodes of calls in a syntax's first form; recursive values become `rules`."""

    dialect: str
    syntax: Syntax
    rules: GrammarRules
    offered: Sequence[str]
    """The names of all tools."""
    only_named: bool

    def __post_init__(self) -> None:
        """Begin without a call."""
        self._form = self.syntax.forms[0]
        self.relaxed: dict[str, None] = {}
        """The constraints that the nodes do not enforce."""
        self.narrowed: dict[str, None] = {}
        """What the parser reads and the nodes do not allow."""
        self.closed: dict[str, None] = {}
        """The part of it that is left out because the answer is to be `closed`."""

    def all_calls(self, tools: Sequence[ToolDefinition], *, most: int | None) -> tuple[Node, Node]:
        """Return the nodes of all calls of an answer, `most` at most, with their sections, and of one section."""
        frame, form = self.syntax.frame, self._form
        found = [self._call(tool, f"t{at}") for at, tool in enumerate(tools)]
        further = 0 if self.syntax.single else None if most is None else most - 1

        def repeated(node: Node) -> Node:
            return Repeat(node, 0, further) if further != 0 else NOTHING

        section, _, end = form.section.replace("{?", "").replace("?}", "").partition("{calls}")
        opener, between, closer = Lit(section), _between(form.separator), Lit(end)
        if frame is not None:
            headers = [Lit(frame.call.replace("{name}", tool.name)) for tool in tools]
            found = list(map(sequence, headers, found))
            opener, between, closer = NOTHING, Lit(frame.between), Lit(frame.last)
        elif form.array:
            opener, closer = sequence(Lit(f"{section}["), Space()), sequence(Space(), Lit(f"]{end}"))
            between = sequence(Space(), Lit(","), Space(form.separator.removeprefix(",")))
        call = branches(found)
        if form.each and frame is None and not form.array:
            call = sequence(opener, call, closer)
            return sequence(call, repeated(sequence(between, call))), call
        made = sequence(opener, call, repeated(sequence(between, call)), closer)
        return made, made

    def output(self, tool: ToolDefinition) -> Node:
        """Return the node of a JSON value that fits the tool's `parameters`, instead of an answer's text."""
        schema = SchemaShapes(tool, closed=self.only_named)
        self._note(schema, set())
        values = ValueNodes(JSON, self.rules, schema.named, "o")
        return Json(native_schema([schema.root], schema.named), values.value(schema.root))

    def _note(self, schema: SchemaShapes, closed: Collection[str]) -> None:
        self.relaxed |= schema.left_out(closed)
        self.narrowed |= schema.narrowed
        self.closed |= schema.narrowed

    def _call(self, tool: ToolDefinition, prefix: str) -> Node:
        form = self._form
        schema = SchemaShapes(tool, closed=self.only_named)
        closed: set[str] = set()
        roots = argument_lists(schema, tool.name)
        head, body, tail = split(form.call, BODY_SLOTS)
        if form.json is not None:
            node = self._template(form.json.template, self._arguments(roots, schema, prefix), tool)
        elif form.elements is not None:
            writer = ElementNodes(
                self.dialect, self.syntax, form.elements, self.rules, schema.named, prefix, self.offered
            )
            node = either(*map(writer.arguments, roots))
            self.narrowed |= writer.narrowed
            closed = writer.closed
        elif body == "yaml":
            raise UnrepresentableError(
                self.dialect, "/arguments", "arguments in YAML: a grammar cannot count their indentation"
            )
        elif form.literals is not None:
            node = self._literals(form.literals, roots, schema, prefix)
            closed = {root.place for root in roots} if form.literals.keywords else set()
        else:
            node = self._arguments(roots, schema, prefix)
        self._note(schema, closed)
        return sequence(self._pieces(head, tool), node, self._pieces(tail, tool))

    def _arguments(self, roots: list[shapes.Members], schema: SchemaShapes, prefix: str) -> Node:
        values = ValueNodes(JSON, self.rules, schema.named, prefix)
        return Json(native_schema(roots, schema.named), either(*map(values.members, roots)))

    def _literals(self, literals: Literals, roots: list[shapes.Members], schema: SchemaShapes, prefix: str) -> Node:
        quotes = tuple(literal_quote(mark, escapes=literals.escapes) for mark in literals.quotes)
        words = {value: word for word, value in literals.words.items()}
        notation = Notation("literal", quotes, words, literals.bare_keys, literals.spaced, literals.sorted_keys)
        writer = QuotedValues if literals.typed_by_schema else ValueNodes
        values = writer(notation, self.rules, schema.named, prefix)
        if not literals.keywords:
            return either(*map(values.members, roots))
        if any(root.rest is not None for root in roots):
            self.narrowed["members that the schema does not name are left out"] = None

        def key(name: str) -> Node:
            if _KEYWORD.fullmatch(name) is None:
                raise UnrepresentableError(self.dialect, f"/{name}", f"{name!r} cannot be a keyword")
            return Lit(name)

        return either(*(values.keywords(root, key) for root in roots))

    def _template(self, template: object, arguments: Node, tool: ToolDefinition) -> Node:
        """A call's JSON object, with the members in the template's order."""
        match template:
            case dict():
                return self._members(cast("Mapping[str, object]", template), arguments, tool)
            case "{arguments}":
                return arguments
            case "{arguments_text}":
                raise UnrepresentableError(
                    self.dialect, "/arguments", "JSON inside a JSON string has no form in a grammar"
                )
            case "{id}" | "{agent}":
                return sequence(Lit('"'), _ID, Lit('"'))
            case _:
                known: dict[object, object] = {"{name}": tool.name, "{server}": self._server(tool)}
                return Lit(jsontext.dumps(cast("str", known.get(template, template))))

    def _members(self, template: Mapping[str, object], arguments: Node, tool: ToolDefinition) -> Node:
        parts: list[Node] = []
        first = True
        comma = sequence(Space(), Lit(","), Space(" "))
        for key, value in template.items():
            if value == "{server}" and not self._server(tool):
                continue
            written = Lit(jsontext.dumps(tool.name if key == "{name}" else key))
            pair = sequence(written, Space(), Lit(":"), Space(" "), self._template(value, arguments, tool))
            optional = value in _OPTIONAL and self._form.id_if_missing == ""
            part = sequence(pair, comma) if first and optional else pair if first else sequence(comma, pair)
            parts.append(maybe(part) if optional else part)
            first = first and optional
        return sequence(Lit("{"), Space(), *parts, Space(), Lit("}"))

    def _server(self, tool: ToolDefinition) -> str | None:
        return tool.server or self._form.defaults.get("server")

    def _pieces(self, parts: tuple[Piece, ...], tool: ToolDefinition) -> Node:
        found: list[Node] = []
        for part in parts:
            match part:
                case Verbatim(text):
                    found.append(Lit(text))
                case Slot(name):
                    found.append(self._slot(name, tool))
                case Maybe(inner):
                    names = {one.name for one in inner if isinstance(one, Slot)}
                    if "server" not in names or self._server(tool):
                        node = self._pieces(inner, tool)
                        found.append(maybe(node) if names & {"id", "agent", "index1"} else node)
        return sequence(*found)

    def _slot(self, name: str, tool: ToolDefinition) -> Node:
        form = self._form
        match name:
            case "name":
                return Lit(self._name(tool.name))
            case "server":
                return Lit(slot_text(self.dialect, form, "server", self._server(tool) or ""))
            case "id" if form.name_in_id:
                known = {"{index}": _INDEX, "{index1}": _INDEX, "{name}": Lit(self._name(tool.name))}
                return sequence(*(known.get(part) or Lit(part) for part in re.split(r"(\{\w+\})", form.name_in_id)))
            case "id":
                return _ID
            case "index" | "index1":
                return _INDEX
            case _:
                return NOTHING

    def _name(self, name: str) -> str:
        form = self._form
        if form.offered and form.call.startswith("<") and not regex.fullmatch(TAG_NAME, name):
            raise UnrepresentableError(self.dialect, "/name", f"{name!r} is no name of a tag")
        return slot_text(self.dialect, form, "name", name)


def _between(separator: str) -> Node:
    """Return the separator of two calls: white space after a comma is free."""
    mark = separator.rstrip()
    return sequence(Lit(mark), Space(separator[len(mark) :])) if mark else Lit(separator)


def native_schema(roots: Sequence[shapes.Shape], named: Mapping[str, shapes.Shape]) -> JsonObject:
    """Write a schema of alternatives, with recursive shapes in `$defs`."""
    names = {name: f"n{at}" for at, name in enumerate(named)}
    schema = _schema(roots[0] if len(roots) == 1 else shapes.OneOf(tuple(roots)), names)
    used = {name: shape for name, shape in named.items() if f"#/$defs/{names[name]}" in str(schema) or len(names) > 1}
    if used:
        schema["$defs"] = {names[name]: _schema(shape, names) for name, shape in used.items()}
    return schema


def _schema(shape: shapes.Shape, names: Mapping[str, str]) -> JsonObject:  # noqa: C901, PLR0911 - one per kind
    match shape:
        case shapes.Anything():
            return {}
        case shapes.Null():
            return {"type": "null"}
        case shapes.Truth():
            return {"type": "boolean"}
        case shapes.Number(whole, low, high):
            return {"type": "integer" if whole else "number", **_bound("minimum", low), **_bound("maximum", high)}
        case shapes.Text(least, most, pattern):
            found = {"type": "string", **_counts("Length", least, most)}
            return found if pattern is None else {**found, "pattern": f"^(?:{pattern_text(pattern)})$"}
        case shapes.Listed(value):
            return {"const": value}
        case shapes.Items(first, rest, least, most):
            begun = {"prefixItems": [_schema(one, names) for one in first]} if first else {}
            rest_of = False if rest is None else _schema(rest, names)
            return {"type": "array", **begun, "items": rest_of, **_counts("Items", least, most)}
        case shapes.Members(members, rest):
            return {
                "type": "object",
                "properties": {member.name: _schema(member.shape, names) for member in members},
                "required": [member.name for member in members if member.required],
                "additionalProperties": False if rest is None else _schema(rest, names),
            }
        case shapes.OneOf(options):
            listed: list[JsonValue] = [one.value for one in options if isinstance(one, shapes.Listed)]
            if listed and len(listed) == len(options):
                return {"enum": listed}
            return {"anyOf": [_schema(one, names) for one in options]} if options else {"not": {}}
        case shapes.Named(name):
            return {"$ref": f"#/$defs/{names[name]}"}


def _bound(key: str, bound: shapes.Bound | None) -> JsonObject:
    if bound is None:
        return {}
    value, past = bound
    return {f"exclusive{key.capitalize()}" if past else key: value}


def _counts(what: str, least: int, most: int | None) -> JsonObject:
    return ({f"min{what}": least} if least else {}) | ({f"max{what}": most} if most is not None else {})
