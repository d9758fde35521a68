"""Markers as the parser accepts them: what text must not contain.

    <tool name="{name}">    ->    "<tool" and one of the characters that continue a tag

The parser accepts white space inside a marker and quotes around names. So text may not contain the beginning of a
marker in any of these spellings, up to the marker's first slot.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from toolfmt.dialect.syntax import Form, Syntax
from toolfmt.workshop.grammars.nodes import (
    BLANK,
    Chars,
    Lit,
    Node,
    Repeat,
    chars,
    either,
    folded,
    joined,
    maybe,
    sequence,
    words,
)

BLANKS: Final = Repeat(BLANK)
_LETTER: Final = chars("_", (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0x10FFFF))
_TOKEN: Final = re.compile(
    r"\{\?.*|\{(?P<slot>[a-z_]+1?)\}|(?P<space>\s+)|(?P<quote>[\"'])|(?P<mark>[=>])|[^\s\"'=>{]+|\{", re.DOTALL
)


_ATTRIBUTED: Final = re.compile(r"<[^\s<>={}\"'/?|]+(?=(?:\{\?)?\s+[\w:.\-]+=\"\{)")
"""The name of an element that has attributes."""
_TAG: Final = re.compile(r"<[^\s<>={}\"'/]+")
_TAG_GOES_ON: Final = Chars(joined([*BLANK.ranges, *chars("=/>").ranges]))
_TAG_NAME: Final = sequence(_LETTER, Repeat(Chars(joined([*_LETTER.ranges, *chars("-.", (0x30, 0x39)).ranges]))))
_NAMED: Final = ("<", "</")


def loosely(template: str, tools: Iterable[str] = (), *, ignore_case: bool = False) -> Node | None:
    """Return a marker up to its first slot, in every spelling that is read; None if nothing precedes the slot.

    With `tools`, a name that follows directly is one of theirs.
    """
    template = template.strip()
    parts: list[Node] = []
    tag = _ATTRIBUTED.match(template)
    if tag is not None:  # with any attributes it is read as this marker, whole or broken
        return _tag(tag.group(), ignore_case=ignore_case)
    for token in _TOKEN.finditer(template):
        if token["space"] or token["mark"]:
            parts += [BLANKS, Lit(token["mark"]), BLANKS] if token["mark"] else [BLANKS]
        elif token["quote"]:
            parts.append(maybe(chars("\"'")))
        elif token.group().startswith("{?") or token["slot"]:
            if token["slot"] == "key" and template[: token.start()] in _NAMED:
                parts.append(_TAG_NAME)
            elif token["slot"] == "name" and tools:
                parts.append(words(tools))
            else:
                break
            if template[: token.start()] == "<":
                parts.append(_TAG_GOES_ON)
                break
        else:
            parts.append(folded(token.group()) if ignore_case else Lit(token.group()))
    while parts and parts[-1] == BLANKS:
        parts.pop()
    return sequence(*parts) if any(part != BLANKS for part in parts) else None


def _tag(begin: str, *, ignore_case: bool) -> Node:
    return sequence(folded(begin) if ignore_case else Lit(begin), _TAG_GOES_ON)


def member_begins(template: str, *, ignore_case: bool = False) -> Node | None:
    """Return the beginning of an argument, whole or broken; None if the template begins with a slot."""
    tag = _TAG.match(template)
    return loosely(template, ignore_case=ignore_case) if tag is None else _tag(tag.group(), ignore_case=ignore_case)


def call_openers(syntax: Syntax, tools: Iterable[str]) -> list[Node]:
    """Return the beginnings of calls and of sections of calls."""
    return [
        node for template, offered in _openings(syntax) if (node := _opener(syntax, template, tools, offered=offered))
    ]


def _opener(syntax: Syntax, template: str, tools: Iterable[str], *, offered: bool) -> Node | None:
    if offered and template.startswith("{name}\n"):  # a line of its own, with any blanks at its end
        return sequence(words(tools), Repeat(chars(" \t")), Lit("\n"))
    return loosely(template, tools if offered else (), ignore_case=syntax.ignore_case)


def _openings(syntax: Syntax) -> Iterable[tuple[str, bool]]:
    for form in syntax.forms:
        section = form.section.partition("{calls}")[0]
        if section.strip():
            yield section, False
        if form.alone or not section.strip():
            yield _head(form), form.offered or form.call.startswith("{name}")
    if syntax.bare:
        yield from (("[", False), ("{", False))


def _head(form: Form) -> str:
    if form.parts:
        return form.call.replace("{?", "").partition("{")[0]
    return (
        "[" if form.array and form.call.startswith("{call}") else "{" if form.call.startswith("{call}") else form.call
    )


def text_markers(syntax: Syntax, tools: Iterable[str]) -> list[Node]:
    """Return what a text beside calls may not contain: the beginnings of calls, reasoning and blocks, and stops."""
    templates = [opener for opener, _ in (*syntax.reasoning, *syntax.hidden)] + list(syntax.stop)
    found = call_openers(syntax, tools)
    found += [node for template in templates if (node := loosely(template, ignore_case=syntax.ignore_case)) is not None]
    return found


def any_of(templates: Iterable[str], tools: Collection[str] = (), *, ignore_case: bool = False) -> Node | None:
    """Return the beginning of any of several markers; None if there are none."""
    found = [loosely(one, tools, ignore_case=ignore_case) for one in templates if one.strip()]
    nodes = [node for node in found if node is not None]
    return either(*nodes) if nodes else None
