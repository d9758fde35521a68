"""A syntax that somebody invents is refused with a reason, or its reader is as safe as any other."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import toolfmt
from tests import slips
from toolfmt import ToolDefinition, ToolInvocation
from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.errors import DialectRecordError
from toolfmt.lookup.proving import check_reading
from toolfmt.workshop.testing import laws

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolfmt.dialect.record import Dialect

TOOLS = [slips.tool("write", {"path": "", "text": ""}), slips.tool("rm", {"p": ""})]
TAG = ToolDefinition(
    name="tag",
    parameters={"properties": {"path": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}},
)
MOON = {"member": "• {key}{? :{type}?}={value};", "item": "◦{? :{type}?}={value};"}


def made(call: str, result: str = "{content}", **elements: Any) -> Dialect[str]:
    form = Form(call=call, elements=Elements(**elements) if elements else None)
    syntax = Syntax(forms=(form,), result=result)
    return toolfmt.text_dialect(name="moon", summary="", syntax=syntax, schema=str, manifest="", sources=())


def accepted() -> Iterator[Dialect[str]]:
    """Some of the invented syntaxes that are not refused: every kind of call with every kind of value."""
    calls = ["⟦tool:{name}⟧\n{members}⟦/tool⟧", "[{name}]\n{members}[/{name}]", "CALL {name}\n{members}END"]
    calls += ["«{name}: {members}»", "$ {name}\n{members};;", "<<{name}\n{members}>>"]
    members = [MOON["member"], "<{key}={value}>", "[{key}]{value}[/]", "@{key}={value}@", "<{key}>{value}</{key}>"]
    items = ["", MOON["item"], "[{value}]", "({value})"]
    for at, (call, member, item) in enumerate(product(calls, members, items)):
        if at % 4 == at // 20 % 4:  # a quarter, of each call and value
            try:
                dialect = made(call, member=member, item=item)
                check_reading(dialect)
            except DialectRecordError:
                continue
            yield dialect


def read(dialect: Dialect[str], text: str) -> list[ToolInvocation]:
    """Read a text whole and by characters."""
    events = laws.chunking(dialect, text, range(len(text)), [*TOOLS, TAG])
    return [event.call for event in events if isinstance(event, toolfmt.CallEnd)]


def test_an_invented_syntax_is_refused_or_safe() -> None:
    count = 0
    for dialect in accepted():
        count += 1
        arguments = {"tags": ["x1", "x2"], "path": "y1"}
        whole = toolfmt.render_calls([ToolInvocation(name="tag", arguments=arguments)], dialect=dialect, tools=[TAG])
        for sign in re.finditer(r"[^\w\s]", whole):
            text = whole[: sign.start()] + whole[sign.end() :]
            wrong = [one for one in read(dialect, text) if one.name == "tag" and one.arguments != arguments]
            assert all(call.certainty != "exact" for call in wrong), text
    assert count >= 4


def test_items_and_members_may_have_the_same_closer() -> None:
    dialect = made("⟦tool:{name}⟧\n{members}⟦/tool⟧", **MOON)
    check_reading(dialect)
    text = "⟦tOol:write⟧\n    • text=START\n⟦tool:rm⟧\n    • p=/;\n⟦/tool⟧\nEND;\n    • path=a.txt;\n⟦/tool⟧"
    assert toolfmt.parse(text, dialect=dialect, tools=TOOLS).calls == ()
    text = "⟦tool:tag⟧\n    • tags=\n        ◦=x1\n        ◦=x2;\n    ;\n    • path=y1;\n⟦/tool⟧"
    assert toolfmt.parse(text, dialect=dialect, tools=[TAG]).calls == ()


@pytest.mark.parametrize(
    ("call", "parts", "message"),
    [
        ("⟦{name}⟧{members}⟦/⟧", {"member": "({key} = {value} )"}, "the text after {value} begins with white space"),
        ("⟦{name}⟧{members}⟦/⟧", {"member": "--{key} {value};"}, "nothing but white space shows where {value} begins"),
        ("⟦{name}⟧{members}⟦/⟧", {"member": '"{key}": "{value}"'}, "a marker is more than quotation marks"),
        ("⟦{name}⟧{members}⟦/⟧", {"member": '#{key}: "{value}"'}, "only quotation marks follow {value}"),
        ("⟦{name}⟧{members}⟦/⟧", {"member": "|{key}|{value}|"}, "the closing marker '|' also begins the opening one"),
        ("### {name}\n{members}###", MOON, "the closing marker '###' also begins the opening one"),
        ("@{name} {members};", MOON, "a call's closing marker ';' is like that of a value"),
        ("«{name: {args}»", {}, "the brace of {name is not closed"),
        ("«{name}: {args}»", {"result": "«{name}: {content}»"}, "a result is read as a call: '«get_weather: Sunny.»'"),
        ("{name}: {args}", {}, "does not read what it writes: 'get_weather: "),
    ],
)
def test_a_refusal_names_its_reason(call: str, parts: dict[str, str], message: str) -> None:
    with pytest.raises(DialectRecordError, match=re.escape(message)):
        check_reading(made(call, **parts))


@pytest.mark.parametrize("member", ["<{key}={value}>", "[{key}:{value}]"])
def test_a_closer_of_one_character_is_read_to_the_end(member: str) -> None:
    dialect = made("⟦tool:{name}⟧\n{members}⟦/tool⟧", member=member, escape="none")
    text = toolfmt.render_calls([ToolInvocation(name="rm", arguments={"p": "a"})], dialect=dialect, tools=TOOLS)
    found = read(dialect, text.replace("a", "a <b"))
    assert [call.arguments for call in found if call.certainty == "exact"] in ([], [{"p": "a <b"}])


def test_blanks_after_an_equals_sign_are_part_of_the_value() -> None:
    dialect = made("⟦tool:{name}⟧\n{members}⟦/tool⟧", **MOON)
    assert [call.arguments for call in read(dialect, "⟦tool:rm⟧• p=  /;⟦/tool⟧")] == [{"p": "  /"}]
