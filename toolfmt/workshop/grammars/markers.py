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
from toolfmt.workshop.grammars import nodes

BLANKS: Final = nodes.Repeat(nodes.BLANK)
_LETTER: Final = nodes.chars("_", (0x41, 0x5A), (0x61, 0x7A), (0xAA, 0x10FFFF))
_TOKEN: Final = re.compile(
    r"\{\?.*|\{(?P<slot>[a-z_]+1?)\}|(?P<space>\s+)|(?P<quote>[\"'])|(?P<mark>[=>])|[^\s\"'=>{]+|\{", re.DOTALL
)


_ATTRIBUTED: Final = re.compile(r"<[^\s<>={}\"'/?|]+(?=(?:\{\?)?\s+[\w:.\-]+=\"\{)")
"""The name of an element that has attributes."""
_TAG: Final = re.compile(r"<[^\s<>={}\"'/]+")
_TAG_GOES_ON: Final = nodes.Chars(nodes.joined([*nodes.BLANK.ranges, *nodes.chars("=/>").ranges]))
_TAG_NAME: Final = nodes.sequence(
    _LETTER, nodes.Repeat(nodes.Chars(nodes.joined([*_LETTER.ranges, *nodes.chars("-.", (0x30, 0x39)).ranges])))
)
_NAMED: Final = ("<", "</")


def loosely(template: str, tools: Iterable[str] = (), *, ignore_case: bool = False) -> nodes.Node | None:
    """Return a marker up to its first slot, in every spelling that is read; None if nothing precedes the slot.

    With `tools`, a name that follows directly is one of theirs.
    """
    template = template.strip()
    parts: list[nodes.Node] = []
    tag = _ATTRIBUTED.match(template)
    if tag is not None:  # with any attributes it is read as this marker, whole or broken
        return _tag(tag.group(), ignore_case=ignore_case)
    for token in _TOKEN.finditer(template):
        if token["space"] or token["mark"]:
            parts += [BLANKS, nodes.Lit(token["mark"]), BLANKS] if token["mark"] else [BLANKS]
        elif token["quote"]:
            parts.append(nodes.maybe(nodes.chars("\"'")))
        elif token.group().startswith("{?") or token["slot"]:
            if token["slot"] == "key" and template[: token.start()] in _NAMED:
                parts.append(_TAG_NAME)
            elif token["slot"] == "name" and tools:
                parts.append(nodes.words(tools))
            else:
                break
            if template[: token.start()] == "<":
                parts.append(_TAG_GOES_ON)
                break
        else:
            parts.append(nodes.folded(token.group()) if ignore_case else nodes.Lit(token.group()))
    while parts and parts[-1] == BLANKS:
        parts.pop()
    return nodes.sequence(*parts) if any(part != BLANKS for part in parts) else None


def _tag(begin: str, *, ignore_case: bool) -> nodes.Node:
    return nodes.sequence(nodes.folded(begin) if ignore_case else nodes.Lit(begin), _TAG_GOES_ON)


def member_begins(template: str, *, ignore_case: bool = False) -> nodes.Node | None:
    """Return the beginning of an argument, whole or broken; None if the template begins with a slot."""
    tag = _TAG.match(template)
    return loosely(template, ignore_case=ignore_case) if tag is None else _tag(tag.group(), ignore_case=ignore_case)


def call_openers(syntax: Syntax, tools: Iterable[str]) -> list[nodes.Node]:
    """Return the beginnings of calls and of sections of calls."""
    found: list[nodes.Node | None] = []
    for template, offered in _openings(syntax):
        if offered and template.startswith("{name}\n"):  # a line of its own, with any blanks at its end
            found.append(nodes.sequence(nodes.words(tools), nodes.Repeat(nodes.chars(" \t")), nodes.Lit("\n")))
        else:
            found.append(loosely(template, tools if offered else (), ignore_case=syntax.ignore_case))
    return [node for node in found if node]


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


def text_markers(syntax: Syntax, tools: Iterable[str]) -> list[nodes.Node]:
    """Return what a text beside calls may not contain: the beginnings of calls, reasoning and blocks, and stops."""
    templates = [opener for opener, _ in (*syntax.reasoning, *syntax.hidden)] + list(syntax.stop)
    found = [loosely(template, ignore_case=syntax.ignore_case) for template in templates]
    return [*call_openers(syntax, tools), *(node for node in found if node is not None)]


def any_of(templates: Iterable[str], tools: Collection[str] = (), *, ignore_case: bool = False) -> nodes.Node | None:
    """Return the beginning of any of several markers; None if there are none."""
    found = [loosely(one, tools, ignore_case=ignore_case) for one in templates if one.strip()]
    there = [node for node in found if node is not None]
    return nodes.either(*there) if there else None
