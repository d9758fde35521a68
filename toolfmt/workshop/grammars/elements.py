"""Arguments written as elements, as nodes.

    <parameter=city>
    Paris
    </parameter>

Text without escapes ends at a closer only where structure follows it. So it may contain the closer, but not the closer
with structure after it. It may not contain the beginning of a call with something inside either: no grammar can count
how many calls an example opens and closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.syntax import Elements, Syntax
from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.element_tree import member_template
from toolfmt.schema.places import kind_of
from toolfmt.workshop.grammars import shapes
from toolfmt.workshop.grammars.markers import BLANKS, any_of, member_begins
from toolfmt.workshop.grammars.nodes import (
    ANYTHING,
    BLANK,
    NOTHING,
    Alt,
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
    maybe,
    others,
    sequence,
)
from toolfmt.workshop.grammars.spelling import pattern_text
from toolfmt.workshop.grammars.values import Notation, ValueNodes, container, items_from, json_quote, text_node

_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FREE: Final = either(others(chars("&<")), *map(Lit, (*_ENTITIES.values(), "&quot;", "&apos;")))
_ENTITY: Final = escaping(_ENTITIES)
_ENTITY_QUOTE: Final = json_quote().within(_ENTITY)
_INDENT: Final = Repeat(chars(" \t"), 0, 64)
_ATTRIBUTE: Final = re.compile(r"\{\?.*?\?\}")
_PLAIN_KEY: Final = re.compile(r"[^<>{\"'\n\s](?:[^<>{\"'\n]{0,510}[^<>{\"'\n\s])?")


@dataclass
class ElementNodes:
    """Makes nodes of the arguments of calls in a syntax's first form; rules get names with the `prefix`."""

    dialect: str
    syntax: Syntax
    elements: Elements
    rules: GrammarRules
    named: Mapping[str, shapes.Shape]
    prefix: str
    offered: Sequence[str]
    """The names of all tools."""

    def __post_init__(self) -> None:
        """Read the description."""
        elements = self.elements
        self._form = self.syntax.forms[0]
        self._made: dict[tuple[str | None, shapes.Shape], Node] = {}
        self._ending: dict[str, tuple[Node, ...]] = {}
        self._patterns: dict[tuple[Node, ...], tuple[re.Pattern[str], ...]] = {}
        self._escaped = elements.escape == "xml"
        self._nested = bool(elements.item)
        optional = "".join(_ATTRIBUTE.findall(elements.member))
        self._mark = next((slot for slot in ("{string}", "{type}") if slot in elements.member), "")
        self._always = bool(self._mark) and (elements.typed or self._mark == "{string}" or self._mark not in optional)
        self.closed: set[str] = set()
        """The places of objects whose further members are left out."""
        self.narrowed: dict[str, None] = {}
        """What the parser reads and the grammar does not allow."""

    def arguments(self, shape: shapes.Members) -> Node:
        """All arguments, in their wrapper if the format has one."""
        self._closed(shape)
        inner = self._steps(shape.named)
        wrapper = self.elements.wrapper
        if not wrapper:
            return inner
        body = sequence(_INDENT, Lit(f"<{wrapper}>"), Space("\n"), inner, _INDENT, Lit(f"</{wrapper}>"))
        return sequence(body, Space("\n"))

    def _closed(self, shape: shapes.Members) -> None:
        if shape.rest is not None:
            self.closed.add(shape.place)
            self.narrowed["members that the schema does not name are left out"] = None

    def _steps(self, members: Iterable[shapes.Member]) -> Node:
        steps = ((self._step(member.name, member.shape), member.required) for member in members)
        return sequence(*(step if required else maybe(step) for step, required in steps))

    def _step(self, key: str | None, shape: shapes.Shape) -> Node:
        pad = _INDENT if self.elements.indent else NOTHING
        return sequence(pad, self._child(key, shape), Space(self.elements.separator))

    def _child(self, key: str | None, shape: shapes.Shape) -> Node:
        """One argument, or one item without a key; a rule where the value may be nested in itself."""
        known = (key, shape)
        if self._nested and known not in self._made and _is_recursive(shape):
            name = f"{self.prefix}-element{sum(isinstance(one, Ref) for one in self._made.values())}"
            self._made[known] = Ref(name)
            self.rules[name] = NOTHING  # holds the name while the body is made
            self.rules[name] = self._element(key, shape)
        elif known not in self._made:  # an item is in the value, and once more in the value with its type
            self._made[known] = self._element(key, shape)
        return self._made[known]

    def _element(self, key: str | None, shape: shapes.Shape) -> Node:
        """One element, with and without its type."""
        template, key = self._template(key)
        closer = template.partition("{value}")[2].replace("{key}", key)
        found: list[Node] = []
        parts = shapes.alternatives(shape, self.named)
        if not self._always:
            bare = _ATTRIBUTE.sub("", template)
            tight = bare.replace("\n{value}\n", "{value}")  # children bring their own layout
            held = [part for part in parts if self._has_children(part)] if tight != bare else []
            plain = self._plain(parts, closer, held)
            found += [self._written(bare, key, plain, "")] if plain != Alt(()) else []
            for part in held:
                value = self._value(part, closer)
                found.append(
                    self._written(tight, key, either(value, Lit("\n\n")) if _may_be_empty(part) else value, "")
                )
        if self._mark:
            found += [self._written(template, key, node, kind) for kind, node in self._marked(parts, closer)]
        return either(*found)

    def _template(self, key: str | None) -> tuple[str, str]:
        template, written = member_template(self.elements, key)
        if key is not None and not template:
            raise UnrepresentableError(self.dialect, f"/arguments/{key}", f"{key!r} cannot name an element")
        plain = self.elements.keyed_by_tag or self.elements.escape != "none" or _PLAIN_KEY.fullmatch(written)
        if key is not None and not plain:
            raise UnrepresentableError(
                self.dialect, f"/arguments/{key}", f"{key!r} cannot be written between the markers"
            )
        return template, written

    def _written(self, template: str, key: str, value: Node, kind: str) -> Node:
        """Put a value into a template; `kind` replaces the mark: its type, or whether it is a string."""
        template = template.replace("{?", "").replace("?}", "").replace(self._mark or "{type}", kind)
        head, _, tail = template.replace("{key}", key).partition("{value}")
        return sequence(Lit(head), value, Lit(tail))

    def _has_children(self, shape: shapes.Shape) -> bool:
        listed = isinstance(shape, shapes.Listed) and isinstance(shape.value, dict | list)
        return self._nested and (listed or isinstance(shape, shapes.Items | shapes.Members))

    def _plain(self, parts: list[shapes.Shape], closer: str, held: list[shapes.Shape]) -> Node:
        """A value typed by the schema alone, without those in `held`: where any text fits, all text is text."""
        texts = [part for part in parts if isinstance(part, shapes.Text | shapes.Anything)]
        if any(isinstance(part, shapes.Anything) for part in parts):
            self.narrowed["a value of no stated type is a text unless its type is written beside it"] = None
            return self._text(shapes.Text(), closer, mixed=self._nested)
        mixed = len(texts) < len(parts) and self._nested
        found = [self._text(part, closer, mixed=mixed) for part in parts if isinstance(part, shapes.Text)]
        found += [self._text(part, closer) for part in parts if _is_listed_text(part)]
        for part in parts:
            if isinstance(part, shapes.Text) or _is_listed_text(part) or part in held:
                continue
            if not texts or (self._nested and isinstance(part, shapes.Items | shapes.Members)):
                found.append(self._value(part, closer))
        return either(*found)

    def _marked(self, parts: list[shapes.Shape], closer: str) -> Iterator[tuple[str, Node]]:
        """Yield each type that a value may have, as the mark writes it, with the nodes of its values."""
        names = self.elements.type_names
        if self._nested and any(isinstance(part, shapes.Anything) for part in parts):
            self.narrowed["a value of no stated type is no list and no object"] = None
        found: dict[str, list[Node]] = {}
        scalars = (shapes.Text(), shapes.Number(whole=True), shapes.Number(), shapes.Truth(), shapes.Null())
        open_parts = (
            *scalars,
            *(() if self._nested else (shapes.Items((), shapes.Anything()), shapes.Members((), shapes.Anything()))),
        )
        for part in (
            inner for one in parts for inner in (open_parts if isinstance(one, shapes.Anything) else _typed(one))
        ):
            for kind in _kinds(part):
                text = kind == "string"
                mark = ("true" if text else "false") if self._mark == "{string}" else names.get(kind, kind)
                found.setdefault(mark, []).append(self._text(part, closer) if text else self._value(part, closer))
        for mark, nodes in found.items():
            yield mark, either(*nodes)

    def _value(self, shape: shapes.Shape, closer: str) -> Node:
        """A value that is not text."""
        if self._nested and isinstance(shape, shapes.Items | shapes.Members):
            return self._children(shape)
        if isinstance(shape, shapes.Listed) and self._has_children(shape):
            return self._children(container(shape.value))
        if self._escaped:
            notation = Notation("entities", (_ENTITY_QUOTE,))
        else:
            notation = Notation("text", never=self._ends(closer))
        return ValueNodes(notation, self.rules, self.named, f"{self.prefix}-raw").value(shape)

    def _children(self, shape: shapes.Items | shapes.Members) -> Node:
        if isinstance(shape, shapes.Members):
            self._closed(shape)
            return sequence(Space(self.elements.separator), self._steps(shape.named))
        first = [self._step(None, item) for item in shape.first][: shape.most]
        rest = None if shape.rest is None else self._step(None, shape.rest)
        return sequence(Space(self.elements.separator), items_from(0, shape, first, rest))

    def _text(self, shape: shapes.Shape, closer: str, *, mixed: bool = False) -> Node:
        """A text, or a listed one; `mixed` where elements are possible too."""
        never = () if self._escaped else self._ends(closer)
        if isinstance(shape, shapes.Listed):
            return self._listed(str(shape.value), never)
        assert isinstance(shape, shapes.Text)  # noqa: S101 - asked by the callers
        if not self._escaped:
            node = text_node(shape, never)
            opener = any_of([self.elements.member.partition("{")[0], self.elements.item]) if mixed else None
            return node if opener is None else Meet((node,), (sequence(BLANKS, opener, ANYTHING),))
        return self._escaped_text(shape)

    def _listed(self, value: str, never: tuple[Node, ...]) -> Node:
        jsontext.dumps(value)  # raises for a text that no JSON can hold
        if not self._escaped:
            if never not in self._patterns:
                self._patterns[never] = tuple(re.compile(pattern_text(one)) for one in never)
            return Alt(()) if any(one.search(value) for one in self._patterns[never]) else Lit(value)
        if value and not value.strip():
            return self._verbatim(Lit(value))
        special = set(value) & {*_ENTITIES, *self.elements.quoted, "\n"}
        return either(encoded(Lit(value), _ENTITY), *([self._verbatim(Lit(value))] if special else []))

    def _escaped_text(self, shape: shapes.Text) -> Node:
        free = not shape.least and shape.most is None and shape.pattern is None
        blank = Repeat(BLANK, 1)
        word_quotes = [opener for opener, _ in self.elements.quotes if opener[0].isalnum() or opener[0] == "_"]
        never = [blank, *(sequence(BLANKS, Lit(word), ANYTHING) for word in word_quotes)]
        if free:
            return either(Meet((Repeat(_FREE),), tuple(never)), self._verbatim(ANYTHING))
        plain = text_node(shape)
        return either(Meet((encoded(plain, _ENTITY),), tuple(never)), self._verbatim(plain))

    def _verbatim(self, node: Node) -> Node:
        """Text in the first pair of markup quotes, if the dialect has any."""
        for opener, closer in self.elements.quotes[:1]:
            quoted = sequence(Lit(opener), Meet((node,), (containing(Lit(closer)),)), Lit(closer))
            return Repeat(quoted, 1) if node == ANYTHING else quoted
        return Alt(())

    def _ends(self, closer: str) -> tuple[Node, ...]:
        """Return what would end a text, or begin a call inside it; made once for each closer."""
        if closer not in self._ending:
            self._ending[closer] = self._made_ends(closer)
        return self._ending[closer]

    def _made_ends(self, closer: str) -> tuple[Node, ...]:
        elements, form = self.elements, self._form
        tail = form.call.rpartition("{members}")[2]
        section, _, section_end = form.section.partition("{calls}")
        frame = self.syntax.frame
        outer = [tail or section_end] if tail or section_end else []
        if not outer and frame is not None:
            outer = [*frame.ends, frame.start]
        openers = [elements.item, elements.odd_member]
        parents = [
            template.partition("{value}")[2] for template in [elements.member, *openers] if self._nested and template
        ]
        member = member_begins(elements.member, ignore_case=self.syntax.ignore_case)
        follow = self._any_of([*openers, *parents, *outer], member)
        end, tails = self._any_of([closer]), self._any_of(outer)
        head = form.call.partition("{members}")[0]
        begin = self._any_of([head or section])
        begins = self._any_of([section, head, section_end] if elements.closers_optional else [section, head])
        inside = self._any_of(outer, member)
        found: list[Node] = []
        if end is not None and follow is not None:
            found.append(sequence(end, BLANKS, follow))
        if begin is not None and inside is not None and frame is None:
            between = ANYTHING if "<" in head[1:] else Repeat(others(chars("<")))
            found.append(sequence(begin, between, inside))
        if tails is not None and begins is not None:
            found.append(sequence(tails, BLANKS, begins))
        return tuple(found)

    def _any_of(self, templates: Iterable[str], *more: Node | None) -> Node | None:
        tools = self.offered if self._form.offered else ()
        found = any_of(templates, tools, ignore_case=self.syntax.ignore_case)
        nodes = [node for node in (*more, found) if node is not None]
        return either(*nodes) if nodes else None


def _is_recursive(shape: shapes.Shape) -> bool:
    return any(
        isinstance(one, shapes.Named) for one in (shape.options if isinstance(shape, shapes.OneOf) else (shape,))
    )


def _is_listed_text(shape: shapes.Shape) -> bool:
    return isinstance(shape, shapes.Listed) and isinstance(shape.value, str)


def _typed(shape: shapes.Shape) -> tuple[shapes.Shape, ...]:
    """Return a shape, and as a second one its whole numbers, which may be typed as integers."""
    if not isinstance(shape, shapes.Number) or shape.whole:
        return (shape,)
    low = None if shape.low is None else (shape.low[0] + shape.low[1], False)
    high = None if shape.high is None else (shape.high[0] - shape.high[1], False)
    return (shape, shapes.Number(whole=True, low=low, high=high))


def _may_be_empty(shape: shapes.Shape) -> bool:
    match shape:
        case shapes.Members(members):
            return not any(member.required for member in members)
        case shapes.Items(_, _, least):
            return not least
        case shapes.Listed(value):
            return value in ({}, [])
        case _:
            return False


def _kinds(shape: shapes.Shape) -> tuple[str, ...]:
    if isinstance(shape, shapes.Number):
        return ("integer", "number") if shape.whole else ("number",)
    return (kind_of(shape.value) if isinstance(shape, shapes.Listed) else shapes.TYPES[type(shape)],)
