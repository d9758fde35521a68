r"""Markup as models and servers distort it, in whole tags and quotes: no distortion makes another call.

<tool_call></>    a closer without its name        <tool_cal    a tag cut off
`path`, &quot;path&quot;    a key in other quotes         \r\n      line ends of another system
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt import jsontext, parse
from toolfmt.dialect.record import Dialect
from toolfmt.model import ToolDefinition, ToolInvocation

ARGUMENTS = {"path": "notes/a b.txt", "count": 3, "flag": True, "tags": ["red", "green"], "note": "all done"}
PROPERTIES = {
    "path": {"type": "string"},
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "note": {"type": "string"},
}
TOOLS = [
    ToolDefinition(name=name, parameters={"type": "object", "properties": PROPERTIES}) for name in ("write", "move")
]
TAG = re.compile(r"<[^<>\n]+>|\[/?[A-Z_]+\]|<\|[^|]+\|>")
QUOTED = re.compile(r'"([^"\n]{0,40})"')
OBJECT = re.compile(r'\{"path.*?\}(?=[^,]|$)')


def distorted(text: str) -> Iterator[tuple[str, str]]:
    """Distort a text in each of its places, one at a time, and say how."""
    tags = list(TAG.finditer(text))
    for tag in tags:
        begin, end, half = tag.start(), tag.end(), tag[0][: len(tag[0]) // 2]
        yield f"{tag[0]} cut", text[:begin] + half + text[end:]
    for closer in {tag[0] for tag in tags if tag[0].startswith("</")}:
        yield f"each {closer} without its name", text.replace(closer, "</>")
    for quoted in QUOTED.finditer(text):
        for form in ("`{}`", "&quot;{}&quot;"):
            yield f"{quoted[0]} as {form}", text[: quoted.start()] + form.format(quoted[1]) + text[quoted.end() :]
    if body := OBJECT.search(text):
        for key in ("arguments", "input", "parameters"):
            yield f"in {key}", f'{text[: body.start()]}{{"{key}": {body[0]}}}{text[body.end() :]}'
    yield "line ends", text.replace("\n", "\r\n")


@pytest.mark.parametrize("options", [{}, {"strict": True}, {"repair": True}, {"dialect": "auto"}], ids=str)
@pytest.mark.parametrize("dialect", sampling.kinds(), ids=lambda dialect: dialect.name)
def test_distorted_markup_makes_no_other_call(dialect: Dialect[str], options: dict[str, Any]) -> None:
    server = "local" if dialect.traits.carries_server else None
    flat = {key: value for key, value in ARGUMENTS.items() if key != "tags"}
    for arguments in (ARGUMENTS, flat, {"path": "notes/a b.txt", "note": "all done"}):
        second = {"path": "b.txt", "note": "second"}
        calls = [ToolInvocation(name="write", arguments=arguments, server=server)]
        if dialect.traits.parallel:
            calls.append(ToolInvocation(name="move", arguments=second, server=server))
        if (text := slips.written(dialect, calls)) is not None:
            break
    assert text is not None
    given: dict[str, Any] = {"dialect": dialect, **options}
    meant = {call.name: call.arguments for call in calls}
    for what, wrong in distorted(text):
        for call in parse(wrong, tools=TOOLS, **given).calls:
            same = call.name not in meant or jsontext.equal(call.arguments, meant[call.name])
            assert same, f"{what}: {wrong!r} gives {call.arguments}"
