"""The declarative description: data that travels as JSON, and what it refuses."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import toolfmt
from tests import sampling
from toolfmt.dialect.records import dump, load
from toolfmt.dialect.syntax import Elements, Form, Syntax, markers
from toolfmt.errors import DialectRecordError
from toolfmt.workshop.testing.laws import read

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT_DIALECTS = sampling.dialects()
CALL = toolfmt.ToolInvocation(name="f", arguments={"a": "x"}, server="s")
TOOL = toolfmt.ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_a_description_survives_json(dialect: toolfmt.Dialect[str]) -> None:
    assert dialect.syntax is not None
    again = load(json.loads(json.dumps(dump(dialect.syntax))))
    twin = toolfmt.text_dialect(
        name="twin", summary="", syntax=again, schema=dialect.schema, manifest=dialect.manifest, sources=()
    )
    text = dialect.calls([CALL], {"f": TOOL})
    assert twin.calls([CALL], {"f": TOOL}) == text
    assert read(twin, [text], [TOOL]) == read(dialect, [text], [TOOL])


BODY = {"call": "<t>{call}</t>", "json": {"template": {"name": "{name}", "arguments": "{arguments}"}}}
ELEMENTS = {"call": "<t {name}>{members}</t>", "elements": {"member": "<{key}>{value}</{key}>"}}
FRAME = {"header": "<h>", "start": "<s>", "body": "<b>", "routes": [{"to": "call"}], "call": "<h>{name}", "between": ""}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"reasoning": []}, "/forms"),
        ({"forms": []}, "/forms: a format has at least one form"),
        (
            {"forms": [{**BODY, "call": "{nmae}{call}"}]},
            "/forms/0/call: there is no slot {nmae} here; there are {agent}, {any}, {args}, ",
        ),
        ({"forms": [{"call": "<t>{name}</t>"}]}, "/forms/0/call: a call has one body"),
        (
            {"forms": [{"call": "<t>{name} {members}</t>", "elements": {"member": "<a {key}>{value}"}}]},
            "/forms/0/elements/member: nothing follows {value}",
        ),
        ({"forms": [{**BODY, "call": "{call}{args}"}]}, "/forms/0/call: a call has one body"),
        ({"forms": [{"call": "{call}"}]}, "/forms/0/call: nothing describes {call}: give `json`"),
        ({"forms": [{**BODY, "call": "{name}{args}"}]}, "/forms/0/json: the call has no slot {call}"),
        ({"forms": [BODY, {"call": "{call}", "literals": {}}]}, "/forms/1/call: nothing describes {call}"),
        ({"forms": [{**BODY, "literals": {}}]}, "/forms/0/literals: the call has no slot {args}"),
        ({"forms": [{"call": "{name}{args}", "literals": {"quotes": [""]}}]}, "/forms/0/literals/quotes"),
        (
            {"forms": [{"call": "@call {name}\n{args}\n@end", "literals": {"keywords": True}}]},
            "/forms/0/call: keyword arguments are written in parentheses: {name}({args})",
        ),
        ({"forms": [{"call": "<t>{args}</t>"}]}, "/forms/0/call: the slot {name} is missing: nothing says which tool"),
        ({"forms": [{"call": "{payload}"}]}, "/forms/0/call: nothing says which parameter {payload} is"),
        ({"forms": [{**BODY, "bare": True}]}, "/forms/0/call: the slot {name} is missing, by which a section"),
        ({"forms": [{**BODY, "section": "<s>"}]}, "/forms/0/section: the slot {calls} is missing"),
        ({"forms": [{**BODY, "ends": [" "]}]}, "/forms/0/ends/0: a marker begins with text"),
        ({"forms": [{**BODY, "json": {**BODY["json"], "indent": 10**20}}]}, "/forms/0/json/indent: 0 to 16"),
        (
            {"forms": [{**ELEMENTS, "elements": {"member": ""}}]},
            "/forms/0/elements/member: the slot {value} is missing",
        ),
        ({"forms": [{**ELEMENTS, "elements": {**ELEMENTS["elements"], "odd_member": " "}}]}, "/elements/odd_member"),
        (
            {"forms": [{**ELEMENTS, "elements": {**ELEMENTS["elements"], "item": "{value}"}}]},
            "/elements/item: a marker",
        ),
        (
            {"forms": [{**ELEMENTS, "elements": {**ELEMENTS["elements"], "quotes": [["<", " "]]}}]},
            "/elements/quotes/0/1",
        ),
        ({"forms": [BODY], "stop": ["<e>", ""]}, "/stop/1: a marker begins with text"),
        ({"forms": [BODY], "hidden": [["{?x?}", "y"]]}, "/hidden/0/0: a marker begins with text"),
        (
            {"forms": [BODY], "reasoning": [["<a>", "x" * 5000]]},
            "/reasoning/0/1: 5000 characters; a marker has 1000 at most",
        ),
        ({"forms": [BODY], "result": "{text}"}, "/result: there is no slot {text} here"),
        (
            {"forms": [{"call": "<f>{name}{members}</f>", "elements": {"member": "<v>{value}</v>"}}]},
            "/forms/0/elements/member: the slot {key} is missing",
        ),
        ({"forms": [BODY], "result": "{content}?}"}, "/result: `?}` without `{?` before it"),
        ({"forms": [BODY], "unwrap": [["<t>", "\u2028"]]}, "/unwrap/0/1: a marker is not white space alone"),
        ({"forms": [BODY], "result": "{?{content}"}, "/result: `{?` without `?}` after it"),
        ({"forms": [BODY], "tools": "none"}, "/tools: the slot {tools} is missing"),
        ({"forms": [BODY], "frame": {**FRAME, "ends": [""]}}, "/frame/ends/0: a marker begins with text"),
        ({"forms": [BODY], "frame": {**FRAME, "body": ""}}, "/frame/body: nothing ends a header"),
        ({"forms": [BODY], "frame": {**FRAME, "header": "(?:x)?"}}, "/frame/header: it matches an empty text"),
        ({"forms": [BODY], "frame": {**FRAME, "call": "<h>"}}, "/frame/call: the slot {name} is missing"),
    ],
)
def test_a_wrong_field_is_named(record: dict[str, Any], message: str) -> None:
    with pytest.raises(DialectRecordError, match=re.escape(message)):
        load(record)


def made(form: Form) -> toolfmt.Dialect[str]:
    hermes = toolfmt.default_registry().dialect("hermes")
    return toolfmt.text_dialect(
        name="made",
        summary="",
        syntax=Syntax(forms=(form,)),
        schema=hermes.schema,
        manifest=hermes.manifest,
        sources=(),
    )


def test_a_wrong_record_made_in_python_is_refused_when_it_is_made() -> None:
    with pytest.raises(DialectRecordError, match=r"/forms/0/call: a call has one body"):
        made(Form(call="<t>{name}</t>"))


UNREADABLE = made(Form(call="{name} {args}\n"))


@pytest.mark.parametrize(
    "use",
    [
        lambda: toolfmt.default_registry().with_dialect(UNREADABLE),
        lambda: toolfmt.parse('f {"a": 1}\n', dialect=UNREADABLE),
        lambda: toolfmt.render_calls([CALL], dialect=UNREADABLE),
        lambda: toolfmt.manifest([TOOL], dialect=UNREADABLE),
    ],
    ids=["with_dialect", "parse", "render_calls", "manifest"],
)
def test_a_format_that_does_not_read_what_it_writes_is_not_used(use: Callable[[], object]) -> None:
    with pytest.raises(DialectRecordError, match="'made' does not read what it writes"):
        use()


def made_of_members(item: str) -> toolfmt.Dialect[str]:
    elements = Elements(member="!{key}{? #{type}?}::{value}~;\n", item=item)
    return made(Form(call="@@do {name}\n{members}@@end", elements=elements))


@pytest.mark.parametrize("item", ["[item{? #{type}?}]{value}[/item]", "+({value})+", "&({value})&", "<i>{value}</i>"])
@pytest.mark.parametrize("arguments", [{"a": ["x", "y"]}, {"a": {"b": {"c": ["x"]}}}], ids=["list", "object"])
def test_items_may_begin_with_any_text(item: str, arguments: dict[str, Any]) -> None:
    dialect = made_of_members(item)
    text = toolfmt.render_calls([toolfmt.ToolInvocation(name="f", arguments=arguments)], dialect=dialect)
    for pieces in ([text], *([text[:cut], text[cut:]] for cut in range(1, len(text)))):
        calls = [event.call for event in read(dialect, pieces) if isinstance(event, toolfmt.CallEnd)]
        assert [call.arguments for call in calls] == [arguments]


@pytest.mark.parametrize("key", ["=", "\r", "a::b"])
def test_a_key_that_is_not_read_back_is_refused(key: str) -> None:
    call = toolfmt.ToolInvocation(name="f", arguments={key: "x"})
    by_tag = made(Form(call="<do {name}>{members}</do>", elements=Elements(member="<{key}>{value}</{key}>")))
    for dialect in (by_tag, made_of_members("[item]{value}[/item]")):
        with pytest.raises(toolfmt.errors.UnrepresentableError):
            toolfmt.render_calls([call], dialect=dialect)


def test_a_format_that_reads_lists_otherwise_than_it_writes_them_is_not_used() -> None:
    good = made_of_members("[item]{value}[/item]")

    def careless(calls: Any, tools: Any) -> str:
        return good.calls(calls, tools).replace("[item]", "[entry]")

    with pytest.raises(DialectRecordError, match=r"does not read what it writes: .*\[entry\]"):
        toolfmt.render_calls([CALL], dialect=replace(good, calls=careless))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"syntax": "<t>{call}</t>"}, "syntax= takes a toolfmt.dialect.Syntax, not str"),
        ({"syntax": Syntax(forms=Form(call="{call}"))}, "forms= takes a tuple of forms"),  # pyright: ignore[reportArgumentType]
        ({"schema": "openai_line"}, "schema= takes a schema formatter"),
    ],
)
def test_a_dialect_of_wrong_parts_is_refused(given: dict[str, Any], message: str) -> None:
    parts: dict[str, Any] = {"syntax": Syntax(forms=(Form(call="<{name}>{args}"),)), "schema": str, **given}
    with pytest.raises(TypeError, match=re.escape(message)):
        toolfmt.text_dialect(name="made", summary="", manifest="json.jinja", sources=(), **parts)


def test_a_dialect_and_a_registry_are_short_to_look_at() -> None:
    registry = toolfmt.default_registry()
    assert repr(registry.dialect("hermes")) == "Dialect('hermes')"
    assert repr(registry) == f"Registry({len(registry.dialects)} dialects, {len(registry.providers)} providers)"


@pytest.mark.parametrize("dialect", TEXT_DIALECTS, ids=lambda dialect: dialect.name)
def test_results_cannot_smuggle_calls(dialect: toolfmt.Dialect[str]) -> None:
    assert dialect.syntax is not None
    trap = dialect.calls([CALL], {"f": TOOL})
    shown = dialect.results([toolfmt.ToolResult(name="f", content=trap)])
    if not dialect.syntax.bare:
        assert not any(isinstance(event, toolfmt.CallEnd) for event in read(dialect, [shown], [TOOL]))
    plain = dialect.results([toolfmt.ToolResult(name="f", content="")])
    assert all(shown.count(marker) == plain.count(marker) for marker in markers(dialect.syntax) if marker in trap)


def test_a_format_of_one_call_refuses_two() -> None:
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="one call"):
        toolfmt.render_calls([CALL, CALL], dialect="step-json")


def test_a_name_that_the_markers_cannot_hold_is_refused() -> None:
    call = toolfmt.ToolInvocation(name="two\nlines", arguments={})
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="/name"):
        toolfmt.render_calls([call], dialect="react")
    with pytest.raises(toolfmt.errors.UnrepresentableError, match="name"):
        toolfmt.render_calls([toolfmt.ToolInvocation(name="")], dialect="xml-items")
    assert (
        toolfmt.parse(toolfmt.render_calls([call], dialect="xml-items"), dialect="xml-items").calls[0].name == call.name
    )


def test_arguments_in_the_header_are_not_replaced_by_an_empty_body() -> None:
    call = toolfmt.ToolInvocation(name="write_file", arguments={"path": "a", "content": "x"})
    text = toolfmt.render_calls([call], dialect="sentinel")
    assert toolfmt.parse(text, dialect="sentinel").calls[0].arguments == call.arguments


def test_a_dialect_whose_hidden_markers_are_not_those_of_its_results_is_refused() -> None:
    def made(opener: str) -> toolfmt.Dialect[str]:
        syntax = Syntax(
            forms=(Form(call="<do {name}>{args}</do>"),), result="<seen>{content}</seen>", hidden=((opener, "</seen>"),)
        )
        return toolfmt.text_dialect(name="made", summary="", syntax=syntax, schema=str, manifest="", sources=())

    assert toolfmt.parse("Hi.<seen>3</seen>", dialect=made("<seen>")).text == "Hi."
    with pytest.raises(DialectRecordError, match=r"/hidden: none of its markers is around a result .*<seen>Sunny"):
        toolfmt.parse("Hi.", dialect=made("<sen>"))
