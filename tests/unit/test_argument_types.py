"""Types of arguments that other arguments, or a second value, decide; in formats that write every value as text."""

from __future__ import annotations

from typing import Any

import pytest

import toolfmt
from toolfmt import jsontext
from toolfmt.events import coalesce
from toolfmt.rendering import render_calls

TEXT = {"type": "object", "properties": {"kind": {"const": "text"}, "value": {"type": "string"}}}
COUNT = {"type": "object", "properties": {"kind": {"const": "count"}, "value": {"type": "integer"}}}
NOTHING = {"type": "object", "properties": {"kind": {"const": "none"}}}
IN_DEFINITIONS = {
    "$defs": {"T": TEXT, "C": COUNT},
    "allOf": [{"oneOf": [{"$ref": "#/$defs/T"}, {"$ref": "#/$defs/C"}, NOTHING]}],
}
LISTS = {
    "type": "object",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "text": {"type": "string"},
    },
}


def written(dialect: str, pairs: list[tuple[str, str]]) -> str:
    """Write a call of `f` with these texts, any key as often as it is given."""
    members = {
        "qwen3-coder": "<parameter={}>\n{}\n</parameter>\n",
        "glm45": "<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n",
        "yaml-xml": "{}: {}\n",
    }[dialect]
    around = {
        "qwen3-coder": "<tool_call>\n<function=f>\n{}</function>\n</tool_call>",
        "glm45": "<tool_call>f\n{}</tool_call>",
        "yaml-xml": "<f>\n{}</f>",
    }[dialect]
    return around.format("".join(members.format(*pair) for pair in pairs))


def read(dialect: str, pairs: list[tuple[str, str]], schema: dict[str, Any]) -> toolfmt.ParseResult:
    """Read it whole, and make sure that the cuts change nothing and that the deltas add up."""
    text, tools = written(dialect, pairs), [{"name": "f", "parameters": schema}]
    result = toolfmt.parse(text, dialect=dialect, tools=tools)
    streamed = toolfmt.parse_stream(text, dialect=dialect, tools=tools)
    assert tuple(coalesce(list(streamed))) == result.events
    (call,) = result.calls
    deltas = [event.json for event in result.events if isinstance(event, toolfmt.ArgumentsDelta)]
    assert jsontext.equal(jsontext.loads("".join(deltas)), call.arguments)
    return result


@pytest.mark.parametrize("schema", [{"type": "object", "oneOf": [TEXT, COUNT, NOTHING]}, IN_DEFINITIONS])
@pytest.mark.parametrize("dialect", ["qwen3-coder", "glm45", "yaml-xml"])
@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [("count", "7", 7), ("text", "7", "7"), ("count", "x", "x"), ("none", "x", "x"), ("other", "x", "x")],
)
def test_the_value_of_one_argument_decides_the_type_of_another(
    schema: dict[str, Any], dialect: str, kind: str, value: str, expected: object
) -> None:
    pairs = [("kind", kind), ("value", value)]
    for ordered in (pairs, pairs[::-1]):
        (call,) = read(dialect, ordered, schema).calls
        assert jsontext.equal(call.arguments, {"kind": kind, "value": expected})


@pytest.mark.parametrize("dialect", ["qwen3-coder", "glm45"])
@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([("tags", "a"), ("tags", "b"), ("tags", "3")], {"tags": ["a", "b", "3"]}),
        ([("sizes", "1"), ("text", "x"), ("sizes", "2")], {"sizes": [1, 2], "text": "x"}),
        ([("tags", '["a", "b"]'), ("text", "x")], {"tags": ["a", "b"], "text": "x"}),
        ([("tags", "a"), ("text", "x")], {"tags": "a", "text": "x"}),
    ],
)
def test_a_repeated_argument_is_a_list_where_the_schema_wants_one(
    dialect: str, pairs: list[tuple[str, str]], expected: dict[str, Any]
) -> None:
    result = read(dialect, pairs, LISTS)
    assert jsontext.equal(result.calls[0].arguments, expected)
    assert bool(result.notices) == (len(pairs) > len(expected))


LAX = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "b": {"type": "boolean"},
        "s": {"type": "string"},
        "u": {"type": ["string", "integer"]},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "inner": {"type": "object", "properties": {"n": {"type": "integer"}}},
    },
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"n": "5"}, {"n": 5}),
        ({"n": "five"}, None),
        ({"n": "5.5"}, None),
        ({"x": "3.1415926535897932"}, {"x": 3.141592653589793}),
        ({"b": "yes"}, {"b": True}),
        ({"b": 0}, {"b": False}),
        ({"b": "f"}, {"b": False}),
        ({"b": 2}, None),
        ({"s": 5}, None),
        ({"s": "5"}, None),
        ({"u": "5"}, None),
        ({"n": ""}, None),
        ({"n": 5}, None),
        ({"tags": "[1, 2]"}, {"tags": [1, 2]}),
        ({"tags": ["1", 2]}, {"tags": [1, 2]}),
        ({"inner": {"n": "5"}, "more": "5"}, {"inner": {"n": 5}, "more": "5"}),
    ],
)
@pytest.mark.parametrize("dialect", ["hermes", "mistral-v11", "pythonic"])
def test_arguments_are_coerced_where_that_is_asked_for(
    dialect: str, given: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    tools = [{"name": "f", "parameters": LAX}]
    text = render_calls([toolfmt.ToolInvocation(name="f", arguments=given)], dialect=dialect, tools=tools)
    result = toolfmt.parse(text, dialect=dialect, tools=tools, coerce=True)
    streamed = toolfmt.parse_stream(text, dialect=dialect, tools=tools, coerce=True)
    assert tuple(coalesce(list(streamed))) == result.events
    (call,) = result.calls
    assert jsontext.equal(call.arguments, given if expected is None else expected)
    assert [notice.kind for notice in result.notices] == ["coerced"] * (expected is not None)
    deltas = [event.json for event in result.events if isinstance(event, toolfmt.ArgumentsDelta)]
    assert jsontext.equal(jsontext.loads("".join(deltas)), call.arguments)
    assert call.certainty == ("exact" if expected is None else "tolerated")


def test_coercion_needs_schemas() -> None:
    with pytest.raises(TypeError, match="coerce=True needs the tools' schemas"):
        toolfmt.parse("x", dialect="hermes", coerce=True)
