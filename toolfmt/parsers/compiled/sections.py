"""The parts of a compiled syntax: forms, sections, and the patterns of their markers."""

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
"""Characters at a text's end that contain its last marker."""


@dataclass(slots=True)
class FormGrammar:
    """One compiled form."""

    form: Form
    head: Head | None
    head_pattern: regex.Pattern[str]
    parts: HeadParts | None
    """The head's parts, if it has several."""
    escaped: bool
    """Whether slots of the head are decoded from entities."""
    body: str
    middle: regex.Pattern[str] | None
    """Matches what comes between a JSON body and the raw text after it."""
    payload: PayloadEnds | None
    tail: regex.Pattern[str] | None
    whole_tail: regex.Pattern[str]
    """Matches the tail with all of its tags."""
    extra_tail: regex.Pattern[str]
    """Matches the tail after surplus closing brackets."""
    shape: JsonNode | None
    elements: ElementGrammar | None
    json: JsonCall | None
    literals: LiteralGrammar | None
    begins: str
    """The pattern of the next call's possible beginnings."""

    @property
    def quotes(self) -> bool:
        """Whether the body is JSON, in whose strings markers do not count."""
        return self.body in {"call", "args"} and self.literals is None

    @property
    def own(self) -> str:
        """All markers of the form as written."""
        return self.form.section + self.form.call

    @property
    def endless(self) -> bool:
        """Whether the calls are JSON that ends with its last brace, without a marker."""
        return self.quotes and self.tail is None and not self.form.section.partition("{calls}")[2].strip()

    @property
    def openers(self) -> tuple[regex.Pattern[str], ...]:
        """The patterns of what may open inside the body instead of the tail."""
        elements = self.elements
        if elements is None:
            return ()
        return tuple(filter(None, (elements.opener, elements.loose, elements.wrapper, elements.wrapper_end)))


@dataclass(slots=True)
class Section:
    """Forms with the same outer markers; `opener` is empty for forms without any."""

    opener: str
    closer: regex.Pattern[str] | None
    ends: tuple[regex.Pattern[str], ...]
    """The closers except the last one, which may be cut off."""
    closers: list[str]
    """The closer's spellings, the longest first."""
    forms: list[FormGrammar]
    next: tuple[regex.Pattern[str], ...]
    """What may be in the section, by precedence: `again`, a call of form `f0`, `f1`, ..., or the `close`."""
    marked: tuple[regex.Pattern[str], ...]
    """Those of them that are calls with a marker."""
    bare: bool
    """Whether the opening marker is ordinary punctuation, so that the calls may also be text."""
    resync: Resync
    """Finds where reading resumes after a broken call."""
    nesting: Nesting
    """Finds where reading resumes after a broken section that may quote others."""
    inner: Nesting
    """The same for one of its calls."""

    @property
    def closing(self) -> str:
        """The closing marker as written."""
        return self.forms[0].form.section.partition("{calls}")[2]

    @property
    def one(self) -> bool:
        """Whether the format writes one JSON call between these markers."""
        form = self.forms[0]
        return form.body == "call" and form.form.each and bool(self.opener) and self.closer is not None

    @property
    def own(self) -> str:
        """All markers of the calls as written."""
        return "".join([form.own for form in self.forms])

    @property
    def bracketed(self) -> bool:
        """Whether a single bracket may close the calls, so that surplus brackets are not skipped before it."""
        shortest = with_and_without(self.closing)[-1].strip()
        return shortest in {"]", "}"} or (not shortest and self.forms[0].form.array)

    @property
    def heads(self) -> list[tuple[int, str]]:
        """The numbers and heads of forms whose calls may begin without the section's marker."""
        forms = ((at, form) for at, form in unsure_first(self.forms) if form.form.alone or not self.opener)
        return [(at, form.head.source) for at, form in forms if form.head is not None]

    def ends_whole(self, text: str) -> bool:
        """Whether a text ends with a closing marker of the calls or of one call, and so was not cut off."""
        tails = [form.tail.pattern for form in self.forms if form.tail is not None]
        last = text[-_LONGEST:].rstrip(WHITE)
        return any(_WORD(end) and regex.search(rf"(?:{end})\Z", last) for end in (*self.closers, *tails))

    def cuts_head(self, cur: Cursor, found: regex.Match[str] | None) -> bool:
        """Whether the input ends inside a further call's opening marker."""
        if found is not None:
            return found.lastgroup != "close" and cut_off(cur, self.next[0])
        left = bool(self.marked and cur.buf[cur.pos :].strip(WHITE))
        return left and cut_off(cur, *self.marked) and not cut_off(cur, self.next[-1])


def distinguished(forms: list[FormGrammar]) -> list[FormGrammar]:
    """Require JSON after the marker of a JSON call that another form shares."""
    for form in forms:
        begin = form.head
        others = [other.head.source for other in forms if other is not form and other.head is not None]
        if begin is not None and form.body == "call" and any(other.startswith(begin.source) for other in others):
            form.head = replace(begin, source=rf"{begin.source}(?={GAP}(?:{FENCE})?[\[{{])")
            form.head_pattern = regex.compile(form.head.source, form.head_pattern.flags)
    return forms


def in_part(end: str, tail: str, after: Sequence[str]) -> str:
    """Return a closer's pattern that may lack its first tag, or all but that if `after` follows."""
    parts = _PARTS.findall(tail.strip())
    if len(parts) < 2 or "".join(parts) != re.sub(r"\s", "", tail):  # noqa: PLR2004 - a part of one tag is no tag
        return end
    following = f"(?={GAP}(?:{'|'.join(filter(None, after))}))"
    last = literal("".join(parts[1:])) + ("" if parts[1][0] == "<" else following)
    return f"{end}|{last}|{literal(''.join(parts[:-1]))}{following}"


def unsure_first(forms: list[FormGrammar]) -> list[tuple[int, FormGrammar]]:
    """Number the forms; those that require their body come first, as another may have the same head."""
    return sorted(enumerate(forms), key=lambda numbered: not numbered[1].form.tentative)


def form_start(form: FormGrammar) -> str:
    """Return the beginning of a call: its head, if the form has one."""
    if form.head is not None:
        return strip_groups(form.head.source)
    return rf"(?:{FENCE})?" + (r"(?=\[)" if form.form.array else r"(?=[\[{])") if form.body == "call" else r"(?!)"


BODY = re.compile(r"\{(" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_WORD_LEAD = re.compile(r"[A-Z]\w{1,64}:")  # markers that text does not begin with; before literals, a word counts
_LEAD = re.compile(r"(?=[^{]*[^\w\s\"'{=:])[^{]{3,}")


def any_of(names: Iterable[str]) -> str:
    """Return a pattern of any of the names, the longest first."""
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
    """Return a closer with its optional part and, second, without it."""
    return [template.replace("{?", "").replace("?}", ""), re.sub(r"\{\?.*?\?\}", "", template)][
        : 1 + ("{?" in template)
    ]


def before_call(opening: str, form: Form) -> str:
    """Return the pattern that confirms a marker that may also be text: a call directly after it."""
    if form.literals is not None:
        return rf"(?={GAP}{PLAIN_NAME}\({GAP}(?:\)|{KEYWORD}\s{{0,64}}=|[rR]?['\"]|[\[{{\d\-]|True|False|None))"
    return r"(?=[\[{])" if opening[-1:].isalnum() else rf"(?={GAP}[\[{{])"


def section_opener(opening: str, forms: Sequence[Form]) -> str:
    """Return the pattern of a section's opener; if it may also be text, a call must directly follow."""
    unsure = opening and (forms[0].tentative or forms[0].bare)
    return literal(opening) + (before_call(opening, forms[0]) if unsure else "")


def closing(opener: str, pairs: tuple[Pair, ...]) -> str:
    """Return the pattern of what ends a block: the closers of all pairs with its opener, or of all where it is ""."""
    return "|".join(literal(closer) for begin, closer in pairs if opener in {begin, ""} and closer)


def lead_of(form: Form) -> re.Match[str] | None:
    """Return the first marker of the form's calls, unless it may also be text."""
    opening = BODY.split(form.call, maxsplit=1)[0].strip()
    word = _WORD_LEAD.match(opening) if form.literals is not None else None
    return None if form.offered else word or _LEAD.match(opening)


def is_named(found: regex.Match[str]) -> bool:
    """Whether part of a call's head contains the tool's name and something after it."""
    return found.groupdict().get("name") is not None and bool(found.string[found.end("name") :].strip())


def next_call(form: FormGrammar, group: str) -> str:
    """Return the beginning of a call in its section; for a head in parts, with the notes before them."""
    if form.parts:
        return rf"(?P<{group}>(?={LAYOUT}{form_start(form)}))"
    return rf"{GAP}(?:[,;]{GAP})?(?P<{group}>{form_start(form)})"
