r"""The declarative description of a text format: data that both renders and parses.

One template per level. Slots are in braces, everything else is literal:

    section   "<tool_call>\n{calls}\n</tool_call>"
    call      "{call}"                                 a JSON object, described by `JsonCall`
    call      '<tool name="{name}">\n{members}</tool>'  elements, described by `Elements`
    call      "Action: {name}\nAction Input: {args}"    literals around a bare arguments object
    call      "<{name}>\n{yaml}</{name}>"              the tool's name is the element's

A part between `{?` and `?}` is written only when its slots have values, and may be missing when read. `{any}` matches
any text between two markers, and `{plain}` any text without `<`; nothing is written there. Literals are exact when
written; when read, white space may differ and a quote may be single, double or absent.

The description is plain data: `syntax_records` writes it as JSON and reads it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, TypeAlias

from toolfmt.dialect.frames import Frame
from toolfmt.dialect.literals import Literals
from toolfmt.errors import DialectRecordError

TAG_NAME = r"[\p{L}_][\p{L}\p{M}\p{N}_.\-]{0,255}"
"""What may be an element's name, for the `regex` module; other keys go into an attribute."""

PLAIN_NAME = r"[\w.:/\-]{1,256}"
"""A tool's name where no marker comes before it."""

ANY_KEY = "*"
"""A key of a JSON template that matches every further key."""

Pair: TypeAlias = tuple[str, str]
"""An opening and a closing marker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonCall:
    """A call written as a JSON object.

    `template` is the object as written, with the slots `{name}`, `{arguments}`, `{arguments_text}` (a JSON string of
    them), `{id}`, `{server}`, `{agent}`, `{text}` and `{reasoning}` as values. A list of one template holds any number
    of calls. Any other value is a required constant. The key `{name}` matches the tool's name, and the key `*` every
    further key, which is then an argument. `accepts` are further templates of the format, for reading; `{any}` matches
    any value. Arguments as JSON text in a string are read with a notice, unless a template has `{arguments_text}`.
    """

    template: Mapping[str, object]
    accepts: tuple[Mapping[str, object], ...] = ()
    slips: tuple[Mapping[str, object], ...] = ()
    """Templates of other formats, into which models slip: they are read with a notice."""
    prose: Mapping[str, object] = field(default_factory=dict[str, object])
    """Constants of an object that is text instead of a call: `{"type": "text"}`."""
    arguments_required: bool = False
    closed: bool = False
    """An object with keys that no template names is not a call."""
    indent: int | None = None
    meant_by: str = ""
    """A key that marks an object as a call, so that a slip in it is a failure and not text."""
    tolerant: bool = True
    """Small slips (a trailing comma, single quotes, `True`) are tolerated, with a notice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """Arguments written as nested elements.

    `member` is one argument or object member, with `{key}` and `{value}`. `odd_member` is written for keys that it
    cannot hold. `loose_member` is another spelling of an argument, but not of nested members, that is only read.
    `item` is one list item; if keys are element names, items may also be repeated members. Without `item`, lists and
    objects are JSON text. `{type}` is a value's JSON type, in `{? ?}` only if the tool's schema does not imply it;
    `{string}` says whether it is a string. A line break beside `{value}` belongs to the markers. `wrapper` is the
    optional element around all arguments. `escape` says how text is escaped: `xml` with entities, `none` not at all,
    `keys` only in keys and names. `quotes` are pairs around verbatim text; the first is also written, around text that
    would not be read back otherwise.
    """

    member: str
    item: str = ""
    odd_member: str = ""
    loose_member: str = ""
    wrapper: str = ""
    escape: Literal["xml", "keys", "none"] = "xml"
    quotes: tuple[Pair, ...] = ()
    quoted: str = ""
    """Characters for which text is written in quotes instead of being escaped."""
    indent: str = "    "
    separator: str = "\n"
    """The text written after each member."""
    type_names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The format's names of JSON types, if they differ: `{"integer": "number"}`."""
    declared: tuple[str, ...] = ()
    """Attributes that only a tool's definition has. An element with one of them is a definition, not a call."""
    typed: bool = False
    """The type is written even if the schema implies it."""
    closers_optional: bool = False
    """A value without a closing tag ends with its call."""
    inferred: bool = False
    """Text that is JSON is read as its value unless the schema says otherwise."""
    repeats: bool = False
    """A repeated argument is a list; this is always so if keys are element names."""

    @property
    def keyed_by_tag(self) -> bool:
        """Whether an argument's key is the element's name."""
        return "</{key}>" in self.member

    @property
    def tags_only(self) -> bool:
        """Whether every marker contains `<`, so that escaped text contains none."""
        templates = filter(None, (self.member, self.item, self.odd_member, self.loose_member))
        return all("<" in part for template in templates for part in template.split("{value}"))

    @property
    def holds_all(self) -> bool:
        """Whether escaping makes any text and any key readable: keys are in attributes, and all else is tags."""
        return self.escape == "xml" and self.tags_only and '="{key}"' in (self.odd_member or self.member)

    @property
    def item_tag(self) -> str:
        """The name of an item's element."""
        found = re.search(r"<([\w:.\-]+)", self.item)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One way to write calls; a syntax writes its first form and reads all forms."""

    call: str
    section: str = "{calls}"
    ends: tuple[str, ...] = ()
    """Alternatives to the closing marker of the call, or of the section if calls have none."""
    separator: str = "\n"
    each: bool = True
    """Every call is written in its own section."""
    array: bool = False
    """The calls are in a JSON list."""
    indent: str = "  "
    """The indentation of a list's calls if `separator` puts each on a line."""
    alone: bool = False
    """A call is also read if the section's opening marker is missing."""
    tentative: bool = False
    """The marker before the calls counts only directly before a JSON value; elsewhere it is text."""
    id_if_missing: str = ""
    """The id written for a call without one, if the format requires ids; `{index}` counts from 0."""
    name_in_id: str = ""
    """How the id contains the tool's name: `functions.{name}:{index}`; the text around the name may be missing."""
    parts: tuple[str, ...] = ()
    """Elements of the head, in any order and also after the arguments: `<server_name>{server}</server_name>`."""
    json: JsonCall | None = None
    elements: Elements | None = None
    literals: Literals | None = None
    """The arguments at `{args}` are literals of a language, not JSON."""
    bare: bool = False
    """A section without a marker: a list of calls that may also be ordinary text."""
    name: str = ""
    """The tool's name if the markers imply it; other slots are its parameters."""
    payload: Mapping[str, str] = field(default_factory=dict[str, str])
    """The parameter that gets the raw text at `{payload}`, by tool name."""
    defaults: Mapping[str, str] = field(default_factory=dict[str, str])
    """The values of absent slots: `{"server": "local"}`."""
    offered: bool = False
    """Only the tool's name identifies the call (`<{name}>`, or `{name}` on a line), so only offered tools count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """A text format: its forms, the markers around them, and how results are written."""

    forms: tuple[Form, ...]
    frame: Frame | None = None
    """The headers of a format whose answers are several messages; forms then describe the bodies of calls."""
    reasoning: tuple[Pair, ...] = ()
    """If a marker is written with white space next to it, all white space found there belongs to the marker.

    If several pairs have the same opening marker, the closing marker of any of them ends the block. The same holds for
    `unwrap`.
    """
    starts_in_reasoning: bool = False
    """The answer begins inside the reasoning, which the prompt has opened."""
    leading: tuple[Pair, ...] = (("<think>", "</think>"),)
    """Blocks that are reasoning if a closed one begins an answer, as models write them in any format."""
    before_calls: str = ""
    """The text written between text and calls: if it is blank, any blank there is not text."""
    hidden: tuple[Pair, ...] = ()
    """Blocks that only the runtime may write; a model's are removed from the text."""
    unwrap: tuple[Pair, ...] = ()
    """Markers around text that are dropped; the closing marker may be empty."""
    wrapped: Literal["mixed", "verbatim"] = "mixed"
    """What the markers in `unwrap` contain: `mixed` text and calls, or `verbatim` text up to the closing marker."""
    unclaimed: Literal["text", "hidden"] = "text"
    """Text outside all markers: ordinary text, or hidden and reported in a notice."""
    stop: tuple[str, ...] = ()
    """Markers that end the turn; text after them is not part of the answer."""
    special: tuple[str, ...] = ()
    """Further tokens of the model's template: they begin turns, and no untrusted text may contain one."""
    bare: bool = False
    """Calls may appear in prose or a code fence without a marker."""
    single: bool = False
    """A message holds at most one call."""
    ends_after_calls: bool = False
    """A closed section of calls ends the turn."""
    calls_in_reasoning: Literal["defer", "call", "draft"] = "defer"
    """What a call in a reasoning block is: always a `call`, always a `draft`, which does not count, or with `defer` a
    draft if the block is closed and a call if it is not."""
    lines: bool | Literal["steps"] = False
    """Markers stand at the beginning of a line; `steps` are those of labelled lines such as ReAct's, read as small
    models write them: in bold, numbered, the tool's name in quotes, its input in any form with one reading."""
    ignore_case: bool = False
    tools: str = "{tools}"
    """The text around the tools' definitions in a manifest."""
    tool_separator: str = "\n"
    result: str = "{content}"
    """One result: `{name}`, `{id}`, `{content}`, `{status}`, `{index1}`; as JSON text `{id_json}`, `{content_json}`."""
    results: str = "{results}"
    result_separator: str = "\n"
    result_json: Mapping[str, object] = field(default_factory=dict[str, object])
    """One result as a JSON object, with `{name}`, `{status}`, `{content}`, `{id}` as values."""
    error: str = "{content}"
    """The content of a failed result."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Literal text of a template."""

    text: str


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional group of pieces."""

    pieces: tuple[Piece, ...]


Piece: TypeAlias = Verbatim | Slot | Maybe
"""A part of a template: text as it is, a place for a value, or parts that may be absent."""

_PIECE = re.compile(r"\{\?|\?\}|\{([a-z_]+1?)\}")
BODY_SLOTS = frozenset({"call", "args", "members", "payload", "yaml"})
"""Slots that hold a call's arguments; everything before one is the head, everything after it the tail."""


WILD = re.compile(r"\{(?:any|plain)\}")
"""Slots of nothing of interest, where nothing is written."""


def spelled(marker: str) -> str:
    """Return a marker as it is written."""
    return WILD.sub("", marker.replace("{?", "").replace("?}", ""))


@lru_cache(maxsize=1024)
def pieces(template: str) -> tuple[Piece, ...]:
    """Split a template into literals, slots and optional parts; raises `DialectRecordError` for half a part."""
    stack: list[list[Piece]] = [[]]
    end = 0
    for match in _PIECE.finditer(template):
        if match.start() > end:
            stack[-1].append(Verbatim(template[end : match.start()]))
        end = match.end()
        if match.group() == "{?":
            stack.append([])
        elif match.group() == "?}" and len(stack) > 1:
            optional = Maybe(tuple(stack.pop()))
            stack[-1].append(optional)
        elif match.group() == "?}":
            raise DialectRecordError(f"`?}}` without `{{?` before it: {template!r}")
        else:
            stack[-1].append(Slot(match[1]))
    if end < len(template):
        stack[-1].append(Verbatim(template[end:]))
    if len(stack) > 1:
        raise DialectRecordError(f"`{{?` without `?}}` after it: {template!r}")
    return tuple(stack[0])


def verbatim(parts: Iterable[Piece]) -> Iterator[str]:
    """Yield the text between the slots, that of optional parts too."""
    for part in parts:
        if isinstance(part, Verbatim):
            yield part.text
        elif isinstance(part, Maybe):
            yield from verbatim(part.pieces)


def split(template: str, names: frozenset[str]) -> tuple[tuple[Piece, ...], str, tuple[Piece, ...]]:
    """Split a template at the first slot in `names`: the text before, the slot's name ("" if none), the text after."""
    parts = pieces(template)
    for at, piece in enumerate(parts):
        if isinstance(piece, Slot) and piece.name in names:
            return parts[:at], piece.name, parts[at + 1 :]
    return parts, "", ()


def template_slots(form: Form) -> frozenset[str]:
    """The slots in a form's templates: `name`, `id`, `server`, ..."""
    found = set(re.findall(r"\{([a-z_]+)\}", form.call))
    if form.json is not None:
        found |= set(re.findall(r"\{([a-z_]+)\}", repr(dict(form.json.template))))
    return frozenset(found)


def member_slots(elements: Elements) -> frozenset[str]:
    """The slots in an argument's template: `key`, `value`, `type`, ..."""
    return frozenset(re.findall(r"\{([a-z_]+1?)\}", elements.member))


def name_in_id(template: str, text: str) -> str:
    """Read the tool's name from an id that contains it."""
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
    """The strings that are special in a format, longest first; untrusted text must not contain them."""
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
