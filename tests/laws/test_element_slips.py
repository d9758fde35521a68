r"""Slips in formats whose arguments are elements: no other call, and nothing that a value quotes is run.

notes.txt[/parameter]    notes.txt<|/parameter|>    notes.txt<parameter/>    a closer as no format has it
<function=write>,<parameter=text><function=rm>...   what breaks the call is before the value that quotes another
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse, parse_stream
from toolfmt.dialect.record import Dialect
from toolfmt.events import coalesce
from toolfmt.model import ToolDefinition, ToolInvocation

PROPERTIES = {"path": {"type": "string"}, "count": {"type": "integer"}, "text": {"type": "string"}}
TOOLS = [
    ToolDefinition(name=name, parameters={"type": "object", "properties": PROPERTIES})
    for name in ("write", "move", "rm")
]
DIALECTS = [one for one in sampling.dialects() if one.syntax is not None and one.syntax.forms[0].elements is not None]
TAG = re.compile(r"<[^<>\n]+>")
ODD_CLOSERS = ("[/{}]", "<|/{}|>", "<{}/>", "&lt;/{}&gt;")


def call(dialect: Dialect[str], name: str, arguments: dict[str, Any]) -> ToolInvocation:
    return ToolInvocation(name=name, arguments=arguments, server="local" if dialect.traits.carries_server else None)


def distorted(text: str) -> Iterator[str]:
    """Distort the closers and the openers of a text, one at a time."""
    for tag in TAG.finditer(text):
        before, after, name = text[: tag.start()], text[tag.end() :], tag[0].strip("</>")
        if tag[0].startswith("</"):
            yield from (before + form.format(name) + after for form in ODD_CLOSERS)
        else:
            yield from (before + mark + tag[0] + after for mark in (",", "```xml\n") if before.rstrip().endswith(">"))
            yield before + re.sub(r'\w+="\w+"', lambda found: found[0].upper(), tag[0]) + after


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"repair": True}, {"dialect": "auto"}], ids=str)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_distorted_elements_make_no_other_call(dialect: Dialect[str], options: dict[str, Any]) -> None:
    meant = [
        call(dialect, "write", {"path": "notes/a b.txt", "count": 3, "text": "all done"}),
        call(dialect, "move", {"path": "b.txt", "text": "second"}),
    ][: 1 + dialect.traits.parallel]
    text = slips.written(dialect, meant)
    assert text is not None
    given: dict[str, Any] = {"dialect": dialect, **options}
    for wrong in distorted(text):
        for found in parse(wrong, tools=TOOLS, **given).calls:
            if found.name not in {tool.name for tool in TOOLS}:
                continue
            names = {key: key.lower() for key in found.arguments}
            same = {names[key]: value for key, value in found.arguments.items()}
            assert any(one.name == found.name and jsontext.equal(one.arguments, same) for one in meant), wrong


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_call_quoted_after_a_fault_does_not_run(dialect: Dialect[str]) -> None:
    quoted = slips.written(dialect, [call(dialect, "rm", {"path": "/"})])
    outer = slips.written(dialect, [call(dialect, "write", {"path": "a.md", "text": f"As in\n{quoted}\nhere"})])
    if outer is None:
        return  # the format cannot hold it
    until = outer.index("a.md")
    heads = [tag for tag in TAG.finditer(outer, 0, until) if tag[0] != "<write>"]  # with a comma it is no call
    for tag in heads:
        wrong = f"{outer[: tag.end()]},{outer[tag.end() :]}"
        names = [found.name for found in parse(wrong, tools=TOOLS, dialect=dialect).calls]
        assert "rm" not in names, wrong


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_an_argument_in_another_case_is_the_declared_one(dialect: Dialect[str]) -> None:
    text = slips.written(dialect, [call(dialect, "write", {"path": "a.md", "count": 3})])
    assert text is not None
    result = parse(text.replace("path", "PATH"), tools=TOOLS, dialect=dialect)
    assert [found.arguments for found in result.calls] == [{"path": "a.md", "count": 3}]
    assert "alias_used" in {notice.kind for notice in result.notices}


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_cuts_of_a_distorted_text_change_nothing(dialect: Dialect[str]) -> None:
    text = slips.written(dialect, [call(dialect, "write", {"path": "a b.md", "text": "all\ndone"})])
    assert text is not None
    tags = list(TAG.finditer(text))
    swapped = [
        text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]
        for one, other in pairwise(tags)
    ]
    for wrong in (text.replace("\n", "\r\n"), *swapped):
        whole = parse(wrong, tools=TOOLS, dialect=dialect).events
        for size in (1, 2, 7):
            pieces = [wrong[at : at + size] for at in range(0, len(wrong), size)]
            assert tuple(coalesce([*parse_stream(pieces, tools=TOOLS, dialect=dialect)])) == whole, (size, wrong)
