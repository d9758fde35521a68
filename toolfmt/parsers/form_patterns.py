"""Patterns of a form's markers, from its templates alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolfmt.dialect.literals import KEYWORD
from toolfmt.dialect.syntax import BODY_SLOTS, PLAIN_NAME
from toolfmt.parsers.patterns import GAP, literal
from toolfmt.parsers.sieves import plain_start

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import regex

    from toolfmt.dialect.syntax import Form, Pair

BODY = re.compile(r"\{(" + "|".join(sorted(BODY_SLOTS)) + r")\}")
_WORD_LEAD = re.compile(r"[A-Z]\w{1,64}:")  # markers that no text begins with; a word is one before literals
_LEAD = re.compile(r"(?=[^{]*[^\w\s\"'{=:])[^{]{3,}")


def any_of(names: Iterable[str]) -> str:
    """Match any of some names, the longest first."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or r"(?!)"


def first_of_body(form: Form, body: str, end: str) -> str:
    """What a call's arguments, or its end where there are none, begin with."""
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
    """Give the pattern of what ends a block: the closers of all pairs with its opener, or of all where it is ""."""
    return "|".join(literal(closer) for begin, closer in pairs if opener in {begin, ""} and closer)


def lead_of(form: Form) -> re.Match[str] | None:
    """The marker that a call of the form begins with, unless it may as well be text."""
    opening = BODY.split(form.call, maxsplit=1)[0].strip()
    word = _WORD_LEAD.match(opening) if form.literals is not None else None
    return None if form.offered else word or _LEAD.match(opening)


def is_named(found: regex.Match[str]) -> bool:
    """Whether a part of a call's head holds the tool's name and something after it."""
    return found.groupdict().get("name") is not None and bool(found.string[found.end("name") :].strip())
