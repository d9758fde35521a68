r"""One slip with a tag of a format's own makes no other call, and the sound call after it is read.

<parameter=path>>a.txt</parameter>           a tag that ends twice
<function=move><function=move>               a tag that is there twice
</function><parameter=text>b</parameter>     two tags that changed places
< parameter=path>, <parameter=path, </>      a tag that is broken

A tag beside the text of a value may have become a part of that text; then no reader can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests import sampling, slips
from toolfmt import CallEnd, jsontext, parse, parse_stream
from toolfmt.dialect.record import Dialect
from toolfmt.model import ToolDefinition, ToolInvocation

PROPERTIES = {"path": {"type": "string"}, "count": {"type": "integer"}, "text": {"type": "string"}}
TOOLS = [
    ToolDefinition(name=name, parameters={"type": "object", "properties": PROPERTIES}) for name in ("write", "move")
]
DIALECTS = [one for one in sampling.dialects() if one.syntax is not None and one.syntax.forms[0].elements is not None]
TAG = re.compile(r"<\|(?:open|close)\|>[^<]*<\|sep\|>|(?:\]<\]\w+\[>\[)?<[^<>\n]+>")
STEP = 1 if sampling.everything else 5


def slipped(text: str) -> Iterator[str]:
    """Change one tag, or two neighbours."""
    tags = [*TAG.finditer(text)]
    for tag in tags:
        before, after, written = text[: tag.start()], text[tag.end() :], tag[0]
        forms = [written * 2, f"{written}\n{written}", f"{written}>", written[:-1], written[:-1] + "/>", written[1:]]
        forms += [re.sub(r"(\w)(\w+)", r"\1\1\2", written, count=1), written.replace("<", "< ", 1), "</>"]
        forms += [written.replace("</", "<")] if "</" in written else [written.replace("<", "</", 1)]
        yield from (before + form + after for form in forms)
        yield f"{before}<!-- then -->{written}{after}"
    for one, other in pairwise(tags):
        yield text[: one.start()] + other[0] + text[one.end() : other.start()] + one[0] + text[other.end() :]


def calls(dialect: Dialect[str]) -> list[ToolInvocation]:
    arguments: list[dict[str, Any]] = [{"path": "a b.txt", "count": 3, "text": "all\ndone"}, {"path": "b.txt"}]
    names = ("write", "move")[: 1 + dialect.traits.parallel]
    return [slips.call(dialect, name, given) for name, given in zip(names, arguments, strict=False)]


def same(found: ToolInvocation, meant: list[ToolInvocation]) -> bool:
    """Whether a call is one that was meant, but for words in its values that a tag became."""
    for one in meant:
        if one.name == found.name and one.arguments.keys() == found.arguments.keys():
            pairs = [(value, found.arguments[key]) for key, value in one.arguments.items()]
            return all(jsontext.equal(value, other) or odd(other) for value, other in pairs)
    return False


def odd(value: object) -> bool:
    """Whether a value holds what no reader can distinguish from text: a tag of no format, or a mark alone."""
    return isinstance(value, str) and re.search(r"<!--|^>", value) is not None


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_slip_with_a_tag_makes_no_other_call(dialect: Dialect[str]) -> None:
    meant = calls(dialect)
    text = slips.written(dialect, meant)
    assert text is not None
    for number, answer in enumerate(slipped(text)):
        if number % STEP == 0:
            result = parse(answer, dialect=dialect, tools=TOOLS)
            known = [call for call in result.calls if call.name in PROPERTIES.keys() | {"write", "move"}]
            assert all(same(call, meant) for call in known), (answer, known)
            lost = {call.name for call in meant} - {call.name for call in result.calls}
            assert not lost or result.failures or result.notices, answer


def test_an_argument_with_the_name_of_what_is_around_the_arguments_is_read_in_pieces() -> None:
    text = "<tool>\n<tool_name>f</tool_name>\n<arguments>\n<arguments>null</arguments>\n</arguments>\n</tool>"
    events = parse_stream(iter(text), dialect="xml-cdata")
    assert [event.call.arguments for event in events if isinstance(event, CallEnd)] == [{"arguments": "null"}]


@pytest.mark.parametrize("value", [">", ">=", "> You wrote\nYes.", ">3"])
@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("xml-items", '<tool name="write"><arguments><arg name="text">VALUE</arg></arguments></tool>'),
        ("qwen3-coder", "<tool_call>\n<function=write>\n<parameter=text>VALUE</parameter>\n</function>\n</tool_call>"),
    ],
)
def test_a_value_may_begin_with_what_ends_a_tag(dialect: str, text: str, value: str) -> None:
    (call,) = parse(text.replace("VALUE", value), dialect=dialect, tools=TOOLS).calls
    assert call.arguments == {"text": value}
