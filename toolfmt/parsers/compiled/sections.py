"""A compiled syntax: its forms, the sections in which they are, and the patterns of their markers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import regex

from toolfmt.dialect.literals import KEYWORD
from toolfmt.dialect.syntax import BODY_SLOTS, PLAIN_NAME, Form, JsonCall, Pair
from toolfmt.parsers.bodies.element_grammar import ElementGrammar
from toolfmt.parsers.bodies.json_shapes import JsonNode
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar
from toolfmt.parsers.compiled.head_parts import HeadParts
from toolfmt.parsers.compiled.payload import PayloadEnds
from toolfmt.parsers.scanning.cursor import WHITE, Cursor
from toolfmt.parsers.scanning.patterns import FENCE, GAP, LAYOUT, Head, cut_off, literal, plain_start, strip_groups
from toolfmt.parsers.scanning.resuming import Nesting, Resync

_PARTS = re.compile(r"<[^<>]+>|\w+")
"""The tags of a closer, and the words between them."""


_WORD = re.compile(r"[A-Za-z]{3}").search
_LONGEST = 512
"""Characters of a text's end in which its last marker is."""


@dataclass(slots=True)
class FormGrammar:
    """One form, compiled."""

    form: Form
    head: Head | None
    head_pattern: regex.Pattern[str]
    parts: HeadParts | None
    """The head in parts, where it is not one whole."""
    escaped: bool
    """Slots of the head are read with entities."""
    body: str
    middle: regex.Pattern[str] | None
    """What comes between a JSON body and the raw text after it."""
    payload: PayloadEnds | None
    tail: regex.Pattern[str] | None
    whole_tail: regex.Pattern[str]
    """The tail with all of its tags."""
    extra_tail: regex.Pattern[str]
    """The tail after surplus closing brackets."""
    shape: JsonNode | None
    elements: ElementGrammar | None
    json: JsonCall | None
    literals: LiteralGrammar | None
    begins: str
    """What may begin the next call."""

    @property
    def quotes(self) -> bool:
        """Whether the body is JSON, in whose strings no marker counts."""
        return self.body in {"call", "args"} and self.literals is None

    @property
    def own(self) -> str:
        """All its markers, as the format writes them."""
        return self.form.section + self.form.call

    @property
    def endless(self) -> bool:
        """Whether no marker ends the calls, which are JSON: their last braces do."""
        return self.quotes and self.tail is None and not self.form.section.partition("{calls}")[2].strip()

    @property
    def openers(self) -> tuple[regex.Pattern[str], ...]:
        """What may open inside the body instead of the tail."""
        elements = self.elements
        if elements is None:
            return ()
        return tuple(filter(None, (elements.opener, elements.loose, elements.wrapper, elements.wrapper_end)))


@dataclass(slots=True)
class Section:
    """Forms that share their outer markers; `opener` is empty for forms that have none."""

    opener: str
    closer: regex.Pattern[str] | None
    ends: tuple[regex.Pattern[str], ...]
    """The closers but the last of them, which may be cut off."""
    closers: list[str]
    """The closer's spellings, the longest first."""
    forms: list[FormGrammar]
    next: tuple[regex.Pattern[str], ...]
    """What may be in the section, first come first: `again`, a call of form `f0`, `f1`, ..., or the `close`."""
    marked: tuple[regex.Pattern[str], ...]
    """The calls among them that begin with a marker."""
    bare: bool
    """The opening marker is ordinary punctuation, so that the calls may also be text."""
    resync: Resync
    """Where reading goes on after a broken call."""
    nesting: Nesting
    """Where it goes on after a broken section in which others may be quoted."""
    inner: Nesting
    """The same of one of its calls."""

    @property
    def closing(self) -> str:
        """The closing marker, as the format writes it."""
        return self.forms[0].form.section.partition("{calls}")[2]

    @property
    def own(self) -> str:
        """All markers of the calls, as the format writes them."""
        return "".join([form.own for form in self.forms])

    @property
    def bracketed(self) -> bool:
        """Whether a bracket alone may close the calls, so that no other one is looked for before it."""
        shortest = with_and_without(self.closing)[-1].strip()
        return shortest in {"]", "}"} or (not shortest and self.forms[0].form.array)

    @property
    def heads(self) -> list[tuple[int, str]]:
        """The numbers and heads of the forms whose calls may also begin without the section's marker."""
        forms = ((at, form) for at, form in unsure_first(self.forms) if form.form.alone or not self.opener)
        return [(at, form.head.source) for at, form in forms if form.head is not None]

    def ends_whole(self, text: str) -> bool:
        """Whether a text ends with a closing marker of the calls, or of one of them, so that it was not cut off."""
        tails = [form.tail.pattern for form in self.forms if form.tail is not None]
        last = text[-_LONGEST:].rstrip(WHITE)
        return any(_WORD(end) and regex.search(rf"(?:{end})\Z", last) for end in (*self.closers, *tails))

    def cuts_head(self, cur: Cursor, found: regex.Match[str] | None) -> bool:
        """Whether the input ends in the beginning of a further call's marker."""
        if found is not None:
            return found.lastgroup != "close" and cut_off(cur, self.next[0])
        left = bool(self.marked and cur.buf[cur.pos :].strip(WHITE))
        return left and cut_off(cur, *self.marked) and not cut_off(cur, self.next[-1])


def distinguished(forms: list[FormGrammar]) -> list[FormGrammar]:
    """Let the marker of a JSON call that also begins another form's calls count only before JSON."""
    for form in forms:
        begin = form.head
        others = [other.head.source for other in forms if other is not form and other.head is not None]
        if begin is not None and form.body == "call" and any(other.startswith(begin.source) for other in others):
            form.head = replace(begin, source=rf"{begin.source}(?={GAP}(?:{FENCE})?[\[{{])")
            form.head_pattern = regex.compile(form.head.source, form.head_pattern.flags)
    return forms


def in_part(end: str, tail: str, after: Sequence[str]) -> str:
    """Let a call's closer of several tags also lack the first of them, or all others where `after` follows."""
    parts = _PARTS.findall(tail.strip())
    if len(parts) < 2 or "".join(parts) != re.sub(r"\s", "", tail):  # noqa: PLR2004 - a part of one tag is no tag
        return end
    following = f"(?={GAP}(?:{'|'.join(filter(None, after))}))"
    last = literal("".join(parts[1:])) + ("" if parts[1][0] == "<" else following)
    return f"{end}|{last}|{literal(''.join(parts[:-1]))}{following}"


def unsure_first(forms: list[FormGrammar]) -> list[tuple[int, FormGrammar]]:
    """Number the forms, first those that count only before their body: another may have the same head."""
    return sorted(enumerate(forms), key=lambda numbered: not numbered[1].form.tentative)


def form_start(form: FormGrammar) -> str:
    """How a call begins: with its head, if the form has one."""
    if form.head is not None:
        return strip_groups(form.head.source)
    return rf"(?:{FENCE})?" + (r"(?=\[)" if form.form.array else r"(?=[\[{])") if form.body == "call" else r"(?!)"


BODY = re.compile(r"\{(" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_WORD_LEAD = re.compile(r"[A-Z]\w{1,64}:")  # markers that no text begins with; a word is one before literals
_LEAD = re.compile(r"(?=[^{]*[^\w\s\"'{=:])[^{]{3,}")


def any_of(names: Iterable[str]) -> str:
    """Match any of some names, the longest first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or r"(?!)"


def first_of_body(form: Form, body: str, end: str) -> str:
    """The beginning of a call's arguments, or of its end if it has no arguments."""
    if body == "args":
        return "" if form.literals is not None and form.literals.keywords else r"(?=\{)"
    elements = form.elements
    starts = [elements.member, elements.item, elements.odd_member, elements.loose_member] if elements else []
    sources = [literal(start) for start in starts if start] + ([end] if end else [])
    return f"(?={'|'.join(sorted({re.escape(plain_start(source)[0]) for source in sources}))})" if sources else ""


def with_and_without(template: str) -> list[str]:
    """Spell a closer with its optional part and, second, without."""
    return [template.replace("{?", "").replace("?}", ""), re.sub(r"\{\?.*?\?\}", "", template)][
        : 1 + ("{?" in template)
    ]


def before_call(opening: str, form: Form) -> str:
    """What confirms a marker that may also be text: the call directly after it."""
    if form.literals is not None:
        return rf"(?={GAP}{PLAIN_NAME}\({GAP}(?:\)|{KEYWORD}\s{{0,64}}=|[rR]?['\"]|[\[{{\d\-]|True|False|None))"
    return r"(?=[\[{])" if opening[-1:].isalnum() else rf"(?={GAP}[\[{{])"


def section_opener(opening: str, forms: Sequence[Form]) -> str:
    """Compile a section's opening marker; where it may also be text, the call directly after it confirms it."""
    unsure = opening and (forms[0].tentative or forms[0].bare)
    return literal(opening) + (before_call(opening, forms[0]) if unsure else "")


def closing(opener: str, pairs: tuple[Pair, ...]) -> str:
    """Return the pattern of what ends a block: the closers of all pairs with its opener, or of all where it is ""."""
    return "|".join(literal(closer) for begin, closer in pairs if opener in {begin, ""} and closer)


def lead_of(form: Form) -> re.Match[str] | None:
    """The marker that a call of the form begins with, unless it may as well be text."""
    opening = BODY.split(form.call, maxsplit=1)[0].strip()
    word = _WORD_LEAD.match(opening) if form.literals is not None else None
    return None if form.offered else word or _LEAD.match(opening)


def is_named(found: regex.Match[str]) -> bool:
    """Whether a part of a call's head holds the tool's name and something after it."""
    return found.groupdict().get("name") is not None and bool(found.string[found.end("name") :].strip())


def next_call(form: FormGrammar, group: str) -> str:
    """How a call begins in its section; where its head is in parts, with the notes before them."""
    if form.parts:
        return rf"(?P<{group}>(?={LAYOUT}{form_start(form)}))"
    return rf"{GAP}(?:[,;]{GAP})?(?P<{group}>{form_start(form)})"
