r"""Patterns that distinguish a form of calls from others with the same opener, made from its templates.

    section "<tool_call>\n{calls}\n</tool_call>", call "<function={name}>\n{members}</function>"

begins with `<tool_call>`, as many do; it is this form if `<function=name>` and then `<parameter` or `</function>`
follow. A signature is a pattern for all of that. Each form has one as tolerant as its
parser, and, unless its body is JSON, an exact one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from toolfmt.dialect.syntax import (
    BODY_SLOTS,
    PLAIN_NAME,
    TAG_NAME,
    Elements,
    Form,
    Maybe,
    Piece,
    Slot,
    Syntax,
    Verbatim,
    pieces,
    split,
)
from toolfmt.parsers.scanning.patterns import SLOT, head, literal, strip_groups

GAP = r"\s{0,64}"
_SLOT = r"""[^\s<>{}"'\[\]()|]{1,256}"""
"""A name or an id: one word, since several words after a marker are not a call."""
_ENTRY = r"""\{\s{0,64}(?:["'}\u201c\u201d\u2018\u2019]|[A-Za-z_]\w{0,31}["'\u201d]?\s{0,8}:)"""
"""What an object begins with: a key, also in other quotation marks or none: its reader says what is wrong."""
_CALLED = rf"{GAP}(?:\)|[\w\"'\[{{(\-])"
OWN, OTHER, ALONE, LETTER = 5, 2, -1, 1
"""Scores: a form that is written, one that is only read, one without its section, an exact match."""


@dataclass(frozen=True, slots=True)
class FormSignature:
    """A pattern that identifies a form, with its score; `trigger` is the plain text that it begins with."""

    trigger: str
    source: str
    score: int
    lines: bool
    """It counts at the beginning of a line only."""
    offered: bool
    """Its group `name` must be an offered tool's."""
    evidence: str
    """Its meaning in words."""


def signatures(syntax: Syntax) -> Iterator[FormSignature]:
    """Yield the signatures of all marked forms."""
    for number, form in enumerate(syntax.forms):
        if syntax.frame is not None or (form.bare and form.section.startswith("[")):
            continue
        opening = form.section.partition("{calls}")[0]
        base = OTHER if number else OWN
        before, slot, after = _around(form)
        closing = form.section.partition("{calls}")[2]
        if not opening and not before:
            continue
        for with_section in (True, False) if opening and form.alone and before else (True,):
            start = opening if with_section else ""
            score = base + (0 if with_section else ALONE)
            trigger = _trigger(start + before)
            if not trigger and not form.offered:
                continue
            evidence = _evidence(form, trigger, slot)
            flags = bool(syntax.lines) or (form.offered and not trigger), form.offered
            loose = _loose(start, before, form) + _body(form, slot, after, closing)
            yield FormSignature(trigger, f"(?i:{loose})" if syntax.ignore_case else loose, score, *flags, evidence)
            if form.json is not None:
                continue  # white space beside JSON means nothing, so it does not tell formats apart
            exact = _letters(pieces(start)) + _letters(pieces(before), named=form.offered)
            exact += _exact_body(form, slot, after, closing)
            yield FormSignature(trigger, exact, score + LETTER, *flags, evidence)


def body_start(form: Form, ends: str) -> str:
    """Return a pattern for the beginning of a call after a header; `ends` ends a call without arguments."""
    before, slot, after = _around(form)
    start = GAP + _loose("", before, form) + _body(form, slot, after, "")
    return f"(?:{start}|{GAP}(?:{ends}))" if slot == "members" and not after and ends else start


def _around(form: Form) -> tuple[str, str, str]:
    """Split a form's call into the template before its body, the body's slot and the template after it."""
    _, slot, _ = split(form.call, BODY_SLOTS)
    before, _, after = form.call.partition(f"{{{slot}}}") if slot else (form.call, "", "")
    return before, slot, after


def _trigger(template: str) -> str:
    """Cut a template at the first white space, quote or slot, and after its first tag."""
    text = re.split(r"[{\n\"'=]", template.strip(), maxsplit=1)[0].strip()
    if text and not text[0].isalnum():
        text = re.split(r"(?<=>)|\s", text, maxsplit=1)[0]
    return text if len(text) > 1 else ""


def _loose(opening: str, before: str, form: Form) -> str:
    if form.offered:
        found = re.sub(r"\(\?P<(?!name>)\w+>", "(?:", head(before).source)
    elif before.startswith("{name}"):
        found = f"{PLAIN_NAME}{strip_groups(head(before.removeprefix('{name}')).source)}"
    else:
        found = strip_groups(head(before).source.replace(f"(?P<name>{SLOT})", f"(?:{_SLOT})"))
    if form.parts:
        found = rf"<(?:{'|'.join(re.escape(part[1:].split('>')[0]) for part in form.parts)})(?=[\s>])"
    return (literal(opening) + GAP if opening.strip() else "") + found


def _letters(parts: Iterable[Piece], *, named: bool = False) -> str:
    out = ""
    for piece in parts:
        match piece:
            case Verbatim(text):
                out += re.escape(text)
            case Slot(name):
                out += f"(?P<name>{TAG_NAME})" if named and name == "name" else f"(?:{_SLOT})"
            case Maybe(inner):
                out += f"(?:{_letters(inner)})?"
    return out


def _body(form: Form, slot: str, after: str, closing: str) -> str:
    """Return a pattern for the beginning of a call's body."""
    match slot:
        case "call":
            return GAP + (rf"\[\s{{0,64}}(?:{_ENTRY}|\])" if form.array else rf"(?:\[\s{{0,64}})?{_ENTRY}")
        case "args" if form.literals is not None and form.literals.keywords:
            return _CALLED
        case "args":
            return GAP + (r"\{" if form.literals is not None else _ENTRY)
        case "members" if form.elements is not None and not form.parts:
            starts = [*_member_starts(form.elements), literal(after) or literal(closing)]
            return rf"(?:(?<=/>)|{GAP}(?:{'|'.join(dict.fromkeys(filter(None, starts)))}))"
        case "yaml":
            return r"""(?:(?<=/>)|[ \t]{0,64}(?:\r?\n\s{0,64}(?:[\w"'\-]|</)|</))"""
        case _:
            return ""


def _member_starts(elements: Elements) -> Iterator[str]:
    for template in (elements.member, elements.loose_member, elements.odd_member):
        start = re.split(r"[{=\s]", template, maxsplit=1)[0]
        if start:
            yield re.escape(start) + (r"(?=[\s=])" if start[-1:].isalnum() else "")
    if elements.wrapper:
        yield re.escape(f"<{elements.wrapper}") + r"(?=[\s/>])"


def _exact_body(form: Form, slot: str, after: str, closing: str) -> str:
    if slot == "members" and form.elements is not None and not form.parts:
        member = _letters(pieces(form.elements.member.partition("{value}")[0]))
        wrapper = rf"(?:\s{{0,16}}<{form.elements.wrapper}>\s{{0,16}})?" if form.elements.wrapper else ""
        return f"{wrapper}[ ]{{0,16}}(?:{member}|{_letters(pieces(after)) or _letters(pieces(closing)) or '(?!)'})"
    return _body(form, slot, after, closing)


def _evidence(form: Form, trigger: str, slot: str) -> str:
    """Describe a form for a person."""
    bodies = {
        "call": "a list of JSON objects" if form.array else "a JSON object",
        "args": "a name and arguments",
        "members": "a name and elements",
        "yaml": "a tool's name and YAML",
        "payload": "text",
    }
    return f"`{trigger}` and {bodies.get(slot, 'a call')}" if trigger else f"a tool's name and {bodies.get(slot, '')}"
