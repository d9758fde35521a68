"""A schema that would check less than its author meant raises when the tool is read."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import ToolRegistry, parse, parse_stream, tool
from toolfmt.errors import SchemaError
from toolfmt.events import CallFailed

CALL = '<tool_call>\n{"name": "rm", "arguments": {"p": "/"}}\n</tool_call>'


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "object", "propertis": {"a": {}}}, "'propertis' is no keyword of JSON Schema; did you mean 'prop"),
        ({"type": "object", "additional_properties": False}, "did you mean 'additionalProperties'"),
        ({"type": "object", "properties": {"a": {"type": "strng"}}}, "at #/properties/a: 'strng' is no JSON type"),
        ({"type": "object", "required": "b"}, "'required' must be a list of names, not 'b'"),
        ({"type": "object", "properties": []}, "'properties' must be an object"),
        ({"b": "string"}, "no keyword of JSON Schema among 'b'"),
    ],
)
def test_a_mistake_raises(schema: dict[str, Any], said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        tool({"name": "f", "parameters": schema})


def test_two_different_schemas_raise() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    with pytest.raises(SchemaError, match="hold different schemas"):
        tool({"name": "f", "input_schema": schema, "parameters": {"type": "object"}})
    assert tool({"name": "f", "input_schema": schema, "parameters": schema}).parameters == schema


def test_a_property_may_say_itself_that_it_is_required() -> None:
    flagged = {"a": {"type": "string", "required": True}, "b": {"type": "object", "required": False}}
    read = tool({"name": "f", "parameters": {"type": "object", "properties": flagged, "required": ["b", "a"]}})
    assert read.parameters["required"] == ["b", "a"]
    read = tool({"name": "f", "parameters": {"type": "object", "properties": flagged}})
    assert read.parameters == {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "object"}},
        "required": ["a"],
    }
    with pytest.raises(SchemaError, match="'required' must be a list of names, not 'a'"):
        tool({"name": "f", "parameters": {"type": "object", "properties": flagged, "required": "a"}})


@pytest.mark.parametrize("key", ["x-type", "example", "note", "enumDescriptions", "propertyOrdering", "xml"])
def test_keywords_of_others_stay(key: str) -> None:
    schema = {"type": "object", "properties": {"propertis": {"type": "string", key: "v"}}}
    assert tool({"name": "f", "parameters": schema}).parameters == schema


@pytest.mark.parametrize("dialect", ["hermes", "auto"])
@pytest.mark.parametrize("tools", [[], {}, ToolRegistry()])
def test_an_empty_list_of_tools_offers_none(tools: object, dialect: str) -> None:
    result = parse(CALL, dialect=dialect, tools=tools, validate=True)
    assert (result.calls, [one.reason for one in result.failures]) == ((), ["unknown_tool"])
    streamed = parse_stream(iter(CALL), dialect=dialect, tools=tools, validate=True)
    assert [event.reason for event in streamed if isinstance(event, CallFailed)] == ["unknown_tool"]
