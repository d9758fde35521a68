"""Types are those that the tool's schema means, in every format; the values stand as a model would write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from toolfmt import jsontext, parse
from toolfmt.errors import UnrepresentableError
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject, JsonValue

NUMBER, TEXT = 918273645, "a text to find"
"""Values that are found again in what is written, to be replaced."""
LONG = ["3.1415926535897932", "12345678901234567890", "-0.12345678901234567", "123456789012345678901234567890.5"]
BRANCHES = [
    {"properties": {"kind": {"const": "text"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
    {"properties": {"kind": {"const": "count"}, "x": {"type": "integer"}}, "required": ["kind", "x"]},
]


def tool_of(schema: JsonObject) -> ToolDefinition:
    """A tool of these parameters."""
    return ToolDefinition(name="f", parameters=schema)


def place(**schema: Any) -> ToolDefinition:
    """A tool with one argument."""
    return tool_of({"type": "object", "properties": {"x": schema}})


def written(dialect: Dialect[str], tool: ToolDefinition, arguments: JsonObject) -> str | None:
    """What the dialect writes; None where it cannot hold the arguments."""
    server = "local" if dialect.traits.carries_server else None
    try:
        return dialect.calls([ToolInvocation(name="f", arguments=arguments, server=server)], {"f": tool})
    except UnrepresentableError:
        return None


def read(dialect: Dialect[str], text: str, tool: ToolDefinition, **options: Any) -> JsonObject:
    """The arguments of the only call of a text."""
    result = parse(text, dialect=dialect, tools=[tool], **options)
    assert [failure.detail for failure in result.failures] == []
    (call,) = result.calls
    return call.arguments


@pytest.mark.parametrize("number", LONG)
def test_a_number_of_many_digits_is_a_number(dialect: Dialect[str], number: str) -> None:
    text = (written(dialect, place(type="integer"), {"x": NUMBER}) or "").replace(str(NUMBER), number)
    assert number in text
    assert jsontext.equal(read(dialect, text, place(type="number")), {"x": jsontext.loads(number)})


UNIONS: list[tuple[list[str], JsonValue]] = [
    (["string", "object"], {"ok": False}),
    (["string", "array"], [1, "a", None]),
    (["string", "null"], None),
    (["string", "null"], "null"),
    (["string", "integer"], 5),
    (["string", "integer"], "5"),
    (["string", "boolean"], "true"),
    (["string"], "12345"),
    (["string"], "null"),
    (["string"], "[1]"),
]


@pytest.mark.parametrize(("types", "value"), UNIONS)
def test_what_a_union_may_hold_comes_back(dialect: Dialect[str], types: list[str], value: JsonValue) -> None:
    tool = place(type=types if len(types) > 1 else types[0])
    text = written(dialect, tool, {"x": value})
    assert text is None or jsontext.equal(read(dialect, text, tool), {"x": value})


@pytest.mark.parametrize("key", ["oneOf", "anyOf"])
@pytest.mark.parametrize("arguments", [{"kind": "text", "x": "7"}, {"kind": "count", "x": 7}])
def test_alternatives_at_the_root_are_distinguished(dialect: Dialect[str], key: str, arguments: JsonObject) -> None:
    tool = tool_of({"type": "object", key: BRANCHES})
    text = written(dialect, tool, arguments)
    assert text is None or jsontext.equal(read(dialect, text, tool), arguments)


@pytest.mark.parametrize("arguments", [{}, {"x": 7}])
def test_arguments_that_may_be_null_are_arguments(dialect: Dialect[str], arguments: JsonObject) -> None:
    tool = tool_of({"type": ["object", "null"], "properties": {"x": {"type": "integer"}}})
    text = written(dialect, tool, arguments)
    assert text is None or jsontext.equal(read(dialect, text, tool), arguments)


@pytest.mark.parametrize(("kind", "text", "value"), [("integer", "5", 5), ("boolean", "true", True)])
def test_texts_are_coerced_where_that_is_asked_for(
    dialect: Dialect[str], kind: str, text: str, value: JsonValue
) -> None:
    answer = (written(dialect, place(type="string"), {"x": TEXT}) or "").replace(TEXT, text)
    assert answer
    result = parse(answer, dialect=dialect, tools=[place(type=kind)], coerce=True)
    (call,) = result.calls
    assert jsontext.equal(call.arguments, {"x": value})
    plain = parse(answer, dialect=dialect, tools=[place(type=kind)])
    untyped = plain.calls and jsontext.equal(plain.calls[0].arguments, {"x": value})
    assert untyped or "coerced" in {notice.kind for notice in result.notices}


def test_an_empty_list_is_no_arguments_where_the_tool_takes_none(dialect: Dialect[str]) -> None:
    tool = tool_of({"type": "object", "properties": {}})
    text = written(dialect, tool, {})
    assert text is not None
    if text.count("{}") != 1 or dialect.traits.strict:
        return
    result = parse(text.replace("{}", "[]"), dialect=dialect, tools=[tool])
    assert all(call.arguments == {} for call in result.calls)
    assert result.calls or result.failures or result.text
    taking = parse(text.replace("{}", "[]"), dialect=dialect, tools=[place(type="string")])
    assert taking.calls == ()


def test_arguments_that_are_null_are_reported(dialect: Dialect[str]) -> None:
    tool = tool_of({"type": "object", "properties": {}})
    text = written(dialect, tool, {})
    assert text is not None
    if text.count("{}") == 1:
        for empty in ("null", '""', '" "'):
            result = parse(text.replace("{}", empty), dialect=dialect, tools=[tool])
            assert all(call.arguments == {} and call.certainty != "exact" for call in result.calls)
            assert not result.calls or {notice.kind for notice in result.notices} & {"defaulted", "loose_form"}


def test_reasoning_that_goes_on_keeps_its_first_blank(dialect: Dialect[str]) -> None:
    syntax = dialect.syntax
    if syntax is None or syntax.frame is not None:
        return
    for opener, closer in syntax.reasoning:
        if closer.strip():
            answer = f" and so on{closer}Hello."
            result = parse(answer, dialect=dialect, reasoning_open=True)
            assert (result.reasoning, result.text) == (" and so on", "Hello."), opener
