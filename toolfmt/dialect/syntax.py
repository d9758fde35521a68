r"""The declarative description of a text format: data that both renders and parses.

One template per level. Slots stand in braces, everything else is literal:

    section   "<tool_call>\n{calls}\n</tool_call>"
    call      "{call}"                                 a JSON object, described by `JsonCall`
    call      '<tool name="{name}">\n{members}</tool>'  elements, described by `Elements`
    call      "Action: {name}\nAction Input: {args}"    literals around a bare arguments object
    call      "<{name}>\n{yaml}</{name}>"              the tool's name is the element's

A part between `{?` and `?}` is written only when its slots have values and may
be missing when read. `{any}` stands for whatever a model may write between two
markers, `{plain}` for the same without `<`; nothing is written there. Literals are exact when written; when read, their
whitespace is soft and a quote may be single, double or absent.

The description is plain data: `syntax_records` writes it as JSON and reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from toolfmt.dialect.frames import Frame  # noqa: TC001 - pydantic reads the annotations
from toolfmt.dialect.literals import Literals  # noqa: TC001 - pydantic reads the annotations

TAG_NAME = r"[\p{L}_][\p{L}\p{M}\p{N}_.\-]{0,255}"
"""What may be an element's name, for the `regex` module; other keys go into an attribute."""

PLAIN_NAME = r"[\w.:/\-]{1,256}"
"""A tool's name where no marker comes before it."""

ANY_KEY = "*"
"""A key of a JSON template that stands for every further key."""

Pair: TypeAlias = tuple[str, str]
"""An opening and a closing marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCall:
    """A call written as a JSON object.

    `template` is the object as written, with the slots `{name}`, `{arguments}`,
    `{arguments_text}` (a JSON string of them), `{id}`, `{server}`, `{agent}`,
    `{text}` and `{reasoning}` as values; a list of one template holds any number
    of calls; any other value is a constant that must be there. The key `{name}`
    stands for the tool's name, the key `*` for every further key, which are then
    arguments. `accepts` are further templates for reading; `{any}` stands for a
    value of no interest.
    """

    template: Mapping[str, object]
    accepts: tuple[Mapping[str, object], ...] = ()
    prose: Mapping[str, object] = field(default_factory=dict[str, object])
    """Constants of an object after which text follows, no call: `{"type": "text"}`."""
    arguments_required: bool = False
    closed: bool = False
    """Keys that no template names make the object no call."""
    indent: int | None = None
    meant_by: str = ""
    """A key that shows an object was meant as a call, so that a slip in it is a failure and not text."""
    tolerant: bool = True
    """Small slips (a trailing comma, single quotes, `True`) are read, with a notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """Arguments written as nested elements.

    `member` is one argument or object member, with `{key}` and `{value}`; where
    it cannot hold a key, `odd_member` is written; `loose_member` is another
    spelling of an argument (not of what is nested in one) that is read. `item` is one
    list item; with a key as the element's name, items may also be repeated members;
    without `item`, lists and objects are JSON text. `{type}` names a value's JSON
    type, in `{? ?}` only where the tool's schema would not tell it; `{string}` says
    whether it is a string. A line break beside `{value}` belongs to the markers.
    `wrapper` is the element around all arguments, which may be missing.
    `escape` says how text is protected: `xml` by entities, `none` not at all;
    `keys` is for raw text with entities in keys and names.
    `quotes` are pairs around text that is taken as it is; the first is also
    written, around text that would not be read back otherwise.
    """

    member: str
    item: str = ""
    odd_member: str = ""
    loose_member: str = ""
    wrapper: str = ""
    escape: Literal["xml", "keys", "none"] = "xml"
    quotes: tuple[Pair, ...] = ()
    quoted: str = ""
    """Characters that put a text in quotes when written, instead of being escaped."""
    indent: str = "    "
    separator: str = "\n"
    """What follows each member when written."""
    type_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the format calls a JSON type, where that differs: `{"integer": "number"}`."""
    declared: tuple[str, ...] = ()
    """Attributes that only a tool's definition has: a call with one is a quoted definition, no call."""
    typed: bool = False
    """The type is written even where the schema tells it."""
    closers_optional: bool = False
    """A value whose closer is missing ends with its call."""
    inferred: bool = False
    """Text that is a JSON value stands for it where no schema says otherwise."""
    repeats: bool = False
    """An argument that is given several times is a list, as it always is with a key as the element's name."""

    @property
    def keyed_by_tag(self) -> bool:
        """Whether an argument's key is the element's name."""
        return "</{key}>" in self.member

    @property
    def item_tag(self) -> str:
        """The name of an item's element."""
        found = re.search(r"<([\w:.\-]+)", self.item)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to write calls; a syntax writes its first form and reads them all."""

    call: str
    section: str = "{calls}"
    ends: tuple[str, ...] = ()
    """Other markers that are read in place of the closing one: the call's, or the section's where a call has none."""
    separator: str = "\n"
    each: bool = True
    """Every call is written in a section of its own."""
    array: bool = False
    """The calls stand in a JSON list."""
    indent: str = "  "
    """How the calls of a list are indented where `separator` puts each on a line."""
    alone: bool = False
    """A call is also read where the section's opening marker is missing."""
    tentative: bool = False
    """The marker before the calls may also be plain text: it counts only right before a JSON value."""
    id_if_missing: str = ""
    """The id that is written for a call without one, where the format demands it; `{index}` counts from 0."""
    name_in_id: str = ""
    """How the id holds the tool's name: `functions.{name}:{index}`; what is around the name may be missing."""
    parts: tuple[str, ...] = ()
    """The head's elements, read in any order and also after the arguments: `<server_name>{server}</server_name>`."""
    json: JsonCall | None = None
    elements: Elements | None = None
    literals: Literals | None = None
    """The arguments at `{args}` are literals of a language, not JSON."""
    bare: bool = False
    """A section without a marker of its own: a list of calls that may also be ordinary text."""
    name: str = ""
    """The tool's name where the markers imply it; slots of other names are its parameters."""
    payload: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which parameter of which tool the raw text at `{payload}` is."""
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    """What a slot means when it is absent: `{"server": "local"}`."""
    offered: bool = False
    """Nothing but the tool's name tells the call from text, `<{name}>` or `{name}` on a line: only an offered
    tool's counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """A text format: its forms, the markers around them, and how results are written."""

    forms: tuple[Form, ...]
    frame: Frame | None = None
    """The headers of a format whose answers are rows of messages; then forms describe the bodies of calls."""
    reasoning: tuple[Pair, ...] = ()
    """Where a marker has a blank beside the reasoning or the text, any blank there belongs to it.

    Of pairs with the same opening marker, any one's closing marker ends the block; so of `unwrap`.
    """
    starts_in_reasoning: bool = False
    """The answer begins in its reasoning, which only the prompt opens."""
    leading: tuple[Pair, ...] = (("<think>", "</think>"),)
    """Blocks that are reasoning where a closed one begins an answer, as models write them in any format."""
    before_calls: str = ""
    """What is between the text and the calls: if it is blank, any blank there is no text."""
    hidden: tuple[Pair, ...] = ()
    """Blocks that only the runtime may write; from a model they are kept out of the text."""
    unwrap: tuple[Pair, ...] = ()
    """Markers around text that are dropped; the closer may be empty."""
    wrapped: Literal["mixed", "verbatim"] = "mixed"
    """What `unwrap` holds: anything, or text alone, in which no marker counts but the closing one."""
    unclaimed: Literal["text", "hidden"] = "text"
    """What is outside all markers: text, or nobody's, which a notice reports."""
    stop: tuple[str, ...] = ()
    """Markers that end the turn; what follows is not part of the answer."""
    special: tuple[str, ...] = ()
    """Further tokens of the model's template: they begin turns, and no untrusted text may contain one."""
    bare: bool = False
    """Calls may stand in prose or a code fence without a marker."""
    single: bool = False
    """A message holds one call at most."""
    ends_after_calls: bool = False
    """A closed section of calls ends the turn."""
    calls_in_reasoning: Literal["defer", "call", "draft"] = "defer"
    """A call in a reasoning block is a draft if the block is closed, else real; or always one of the two."""
    lines: bool | Literal["steps"] = False
    """Markers stand at the beginning of a line; `steps` are those of labelled lines such as ReAct's, read as small
    models write them: in bold, numbered, the tool's name in quotes, its input in any form with one reading."""
    ignore_case: bool = False
    tools: str = "{tools}"
    """What is around the tools' definitions in a manifest."""
    tool_separator: str = "\n"
    result: str = "{content}"
    """One result: `{name}`, `{id}`, `{content}`, `{status}`, `{index1}`; as JSON text `{id_json}`, `{content_json}`."""
    results: str = "{results}"
    result_separator: str = "\n"
    result_json: Mapping[str, object] = field(default_factory=dict[str, object])
    """One result as a JSON object, with `{name}`, `{status}`, `{content}`, `{id}` as values."""
    error: str = "{content}"
    """A failed result's content in words."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text of a template that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """Pieces that may be missing together."""

    pieces: tuple[Piece, ...]


Piece: TypeAlias = Verbatim | Slot | Maybe

_PIECE = re.compile(r"\{\?|\?\}|\{([a-z_]+1?)\}")
BODY_SLOTS = frozenset({"call", "args", "members", "payload", "yaml"})
"""Slots that hold a call's arguments; everything before one is the head, everything after it the tail."""


WILD = re.compile(r"\{(?:any|plain)\}")
"""Slots of nothing of interest, where nothing is written."""


def spelled(marker: str) -> str:
    """Spell a marker as it is written."""
    return WILD.sub("", marker.replace("{?", "").replace("?}", ""))


@lru_cache(maxsize=1024)
def pieces(template: str) -> tuple[Piece, ...]:
    """Split a template into literals, slots and optional parts."""
    stack: list[list[Piece]] = [[]]
    end = 0
    for match in _PIECE.finditer(template):
        if match.start() > end:
            stack[-1].append(Verbatim(template[end : match.start()]))
        end = match.end()
        if match.group() == "{?":
            stack.append([])
        elif match.group() == "?}":
            optional = Maybe(tuple(stack.pop()))
            stack[-1].append(optional)
        else:
            stack[-1].append(Slot(match[1]))
    if end < len(template):
        stack[-1].append(Verbatim(template[end:]))
    return tuple(stack[0])


def split(template: str, names: frozenset[str]) -> tuple[tuple[Piece, ...], str, tuple[Piece, ...]]:
    """Cut a template at its first slot among `names`: what precedes, the slot's name ("" if none), what follows."""
    parts = pieces(template)
    for at, piece in enumerate(parts):
        if isinstance(piece, Slot) and piece.name in names:
            return parts[:at], piece.name, parts[at + 1 :]
    return parts, "", ()


def template_slots(form: Form) -> frozenset[str]:
    """The slots that a form's templates name: `name`, `id`, `server`, ..."""
    found = set(re.findall(r"\{([a-z_]+)\}", form.call))
    if form.json is not None:
        found |= set(re.findall(r"\{([a-z_]+)\}", repr(dict(form.json.template))))
    return frozenset(found)


def member_slots(elements: Elements) -> frozenset[str]:
    """The slots that an argument's template names: `key`, `value`, `type`, ..."""
    return frozenset(re.findall(r"\{([a-z_]+1?)\}", elements.member))


def name_in_id(template: str, text: str) -> str:
    """Read the tool's name out of an id that holds it."""
    before, _, after = template.partition("{name}")
    ending = re.escape(after).replace(r"\{index\}", "[0-9]+")
    return re.sub(f"{ending}$", "", text.removeprefix(before)) if after else text.removeprefix(before)


def _first_marker(form: Form) -> list[str]:
    """What a call of the form begins with, as short as can still be distinguished from ordinary words."""
    opening = form.section.partition("{calls}")[0].strip() or form.call.partition("{")[0].strip()
    word = re.split(r"[\s=\"]", opening, maxsplit=1)[0]
    if word.isalnum():
        word = opening + ("[" if form.tentative else "")
    return [word] if len(word) > 1 else []


_MARKER = re.compile(r"</?[^<>\s=\"{]+|\[\[?/?[A-Z_]{2,}\]?\]?|[A-Z][a-z]+(?: [A-Z][a-z]+)?:")


def markers(syntax: Syntax) -> tuple[str, ...]:
    """The strings that are special in a format, longest first: what untrusted text may not contain as it is."""
    found: set[str] = set()
    for form in syntax.forms:
        elements = form.elements
        templates = [form.section, form.call, *form.ends]
        if elements is not None:
            templates += [elements.member, elements.item, f"<{elements.wrapper}></{elements.wrapper}>"]
        for template in templates:
            found.update(_MARKER.findall(re.sub(r"\{\??[a-z_]*\??\}?", " ", template)))
        found.update(_first_marker(form))
    for pair in (*syntax.reasoning, *syntax.leading, *syntax.hidden, *syntax.unwrap):
        found.update(part.strip() for marker in pair for part in WILD.split(marker) if part.strip())
    found.update(syntax.stop)
    if syntax.frame is not None:
        found.update((*syntax.frame.opens, *syntax.frame.ends, syntax.frame.start))
    return tuple(sorted(found - {"<", "</"}, key=lambda marker: (-len(marker), marker)))
