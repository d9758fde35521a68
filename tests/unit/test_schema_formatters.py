from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from toolfmt.errors import UnrepresentableError, UnresolvableReferenceError
from toolfmt.formatters.examples import example_formatter
from toolfmt.formatters.json_schemas import (
    anthropic_json,
    anthropic_tool,
    default_json,
    default_tool,
    gemini_json,
    gemini_tool,
    openai_json,
    openai_tool,
    parameters_object,
)
from toolfmt.formatters.signatures import markdown_parameters, signature
from toolfmt.formatters.xml_schema import xml_schema
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolfmt.model import JsonObject

ADDRESS = {
    "type": "object",
    "properties": {
        "street": {"type": "string", "description": "Street."},
        "zip": {"type": "string", "description": "Zip code."},
    },
    "required": ["street"],
}
DEMO = ToolDefinition(
    name="demo",
    description='Does "a" & b <c>.',
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The path, e.g. 'a/b.txt'."},
            "mode": {"type": "string", "description": "Mode.", "enum": ["read", "write"]},
            "count": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 9},
            "ratio": {"type": "number", "description": "Ratio."},
            "deep": {"type": "boolean", "description": "Recurse.", "default": False},
            "address": {**ADDRESS, "description": "Address."},
            "tags": {"type": "array", "description": "Tags.", "items": {"type": "string"}},
            "people": {"type": "array", "description": "People.", "items": ADDRESS},
            "free": {"type": "object", "description": "Free object."},
            "any_list": {"type": "array", "description": "Any list.", "items": True},
            "pat": {"type": "string", "description": "Pattern.", "pattern": "^a"},
        },
        "required": ["path", "mode", "count", "address"],
    },
)
PING = ToolDefinition(name="ping", description="Ping.")
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def tool(properties: JsonObject, **more: Any) -> ToolDefinition:
    return ToolDefinition(name="t", parameters={"type": "object", "properties": properties, **more})


def test_the_objects_of_each_provider() -> None:
    schema = {"type": "object", "properties": {}, "required": []}
    named = {"name": "ping", "description": "Ping."}
    assert openai_tool(PING) == {"type": "function", "function": {**named, "parameters": schema}}
    assert gemini_tool(PING) == {**named, "parameters": schema}
    assert anthropic_tool(PING) == {**named, "input_schema": schema}
    assert default_tool(PING) == {**named, "inputSchema": schema}


@pytest.mark.parametrize(
    ("write", "build"),
    [
        (openai_json, openai_tool),
        (gemini_json, gemini_tool),
        (anthropic_json, anthropic_tool),
        (default_json, default_tool),
    ],
)
def test_their_text_is_indented_and_escapes_nothing_away(write: Any, build: Any) -> None:
    described = ToolDefinition(name="é", description="a < b & c > d ``` é 'x'")
    for one in (DEMO, described):
        assert write(one) == json.dumps(build(one), indent=2, ensure_ascii=False)
    assert "a < b & c > d ``` é 'x'" in write(described)


@pytest.mark.parametrize(
    ("given_schema", "written"),
    [
        ({}, {"type": "object", "properties": {}, "required": []}),
        (
            {"type": "object", "description": "d"},
            {"type": "object", "properties": {}, "required": [], "description": "d"},
        ),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}, "required": []}),
        (
            {"required": ["a"], "properties": {"a": {"type": "dict"}}, "type": "object", "x-note": 1},
            {"required": ["a"], "properties": {"a": {"type": "object"}}, "type": "object", "x-note": 1},
        ),
        (
            {"type": "object", "properties": {"z": {"$ref": "#/$defs/s"}, "a": {}}, "$defs": {"s": {"type": "string"}}},
            {"type": "object", "properties": {"z": {"type": "string"}, "a": {}}, "required": []},
        ),
    ],
)
def test_the_schema_is_an_object_in_the_authors_order(given_schema: JsonObject, written: JsonObject) -> None:
    found = parameters_object(ToolDefinition(name="t", parameters=given_schema))
    assert json.dumps(found) == json.dumps(written)


def test_recursive_references_stay() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    found = parameters_object(tool({"first": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}}))
    assert found["properties"]["first"] == {"$ref": "#/$defs/node"}
    assert found["$defs"] == {"node": node}
    with pytest.raises(UnresolvableReferenceError):
        openai_json(tool({"a": {"$ref": "https://example.com/a.json"}}))


def test_xml_of_every_kind_of_parameter() -> None:
    assert xml_schema(DEMO) == (
        """<tool name="demo" description="Does &quot;a&quot; &amp; b &lt;c&gt;.">
    <arguments>
        <arg name="path" type="string" description="The path, e.g. 'a/b.txt'." required="true" />
        <arg name="mode" type="enum" description="Mode." required="true" enum_values="read,write" />
        <arg name="count" type="integer" description="How many." required="true" minimum="1" maximum="9" />
        <arg name="ratio" type="float" description="Ratio." required="false" />
        <arg name="deep" type="boolean" description="Recurse." required="false" default="false" />
        <arg name="address" type="object" description="Address." required="true">
            <arg name="street" type="string" description="Street." required="true" />
            <arg name="zip" type="string" description="Zip code." required="false" />
        </arg>
        <arg name="tags" type="array" description="Tags." required="false">
            <items type="string" />
        </arg>
        <arg name="people" type="array" description="People." required="false">
            <items type="object">
                <arg name="street" type="string" description="Street." required="true" />
                <arg name="zip" type="string" description="Zip code." required="false" />
            </items>
        </arg>
        <arg name="free" type="object" description="Free object." required="false" />
        <arg name="any_list" type="array" description="Any list." required="false" />
        <arg name="pat" type="string" description="Pattern." required="false" pattern="^a" />
    </arguments>
</tool>"""
    )


def test_xml_without_arguments() -> None:
    assert xml_schema(PING) == (
        '<tool name="ping" description="Ping.">\n    <!-- This tool takes no arguments -->\n</tool>'
    )


def arg(schema: Any) -> Any:
    """The element of a parameter `x` with this schema."""
    root = etree.fromstring(xml_schema(tool({"x": schema})))
    return root.find("arguments/arg")


@pytest.mark.parametrize(
    ("schema", "attributes"),
    [
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
            {"type": "string|null", "default": "null"},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, {"type": "string|float"}),
        ({"type": ["integer", "null"]}, {"type": "integer|null"}),
        ({"enum": ["a,b", "c"]}, {"type": "enum", "enum_values": '["a,b", "c"]'}),
        ({"enum": ["[a", "c"]}, {"type": "enum", "enum_values": '["[a", "c"]'}),
        ({"enum": ["", "c"]}, {"type": "enum", "enum_values": '["", "c"]'}),
        ({"enum": [1, 2]}, {"type": "integer", "enum_values": "[1, 2]"}),
        ({"enum": ["a", None]}, {"type": "enum|null", "enum_values": '["a", null]'}),
        ({"const": "k"}, {"type": "string", "const": "k"}),
        ({"const": 3}, {"type": "integer", "const": "3"}),
        ({"type": "string", "default": "3"}, {"default": "3"}),
        ({"type": "array", "default": ["a"], "uniqueItems": True}, {"default": '["a"]', "uniqueItems": "true"}),
        ({"type": "string", "format": "uri", "minLength": 2, "maxLength": 9}, {"format": "uri", "minLength": "2"}),
        (
            {"type": "number", "exclusiveMinimum": 0.5, "multipleOf": 0.1},
            {"exclusiveMinimum": "0.5", "multipleOf": "0.1"},
        ),
        ({"type": "string", "pattern": "^<a>\n\"&'$"}, {"pattern": "^<a>\n\"&'$"}),
        ({"type": "string", "default": "\x00"}, {"default": '"\\u0000"'}),
        ({"enum": ["\ufffe", "\ud800"]}, {"enum_values": '["\\ufffe", "\\ud800"]'}),
        ({"type": "object", "additionalProperties": False}, {"additionalProperties": "false"}),
        ({"allOf": [{"type": "integer"}, {"minimum": 3}], "description": "d"}, {"type": "integer", "minimum": "3"}),
        ({"not": {"type": "string"}}, {"type": "any", "not": '{"type": "string"}'}),
        ({}, {"type": "any"}),
        (True, {"type": "any"}),
    ],
    ids=repr,
)
def test_xml_attributes(schema: Any, attributes: Mapping[str, str]) -> None:
    element = arg(schema)
    assert {key: element.get(key) for key in attributes} == attributes
    assert element.get("required") == "false"


def test_xml_children() -> None:
    optional_object = arg({"anyOf": [ADDRESS, {"type": "null"}]})
    assert optional_object.get("type") == "object|null"
    assert [child.get("name") for child in optional_object] == ["street", "zip"]
    one_of = arg({"oneOf": [ADDRESS, {"type": "string", "minLength": 1}]})
    assert one_of.get("type") == "object|string"
    assert [option.get("type") for option in one_of.find("any_of")] == ["object", "string"]
    pair = arg({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False})
    assert [(item.get("position"), item.get("type")) for item in pair] == [("1", "string"), ("2", "integer")]
    assert pair.get("items") == "false"
    mapping = arg({"type": "object", "additionalProperties": {"type": "integer"}})
    assert (mapping[0].tag, mapping[0].get("type")) == ("additional", "integer")
    patterns = arg({"type": "object", "patternProperties": {"^x": {"type": "string"}}})
    assert (patterns[0].tag, patterns[0].get("names")) == ("additional", "^x")
    matrix = arg({"type": "array", "items": {"type": "array", "items": {"type": "number"}}})
    assert matrix.find("items/items").get("type") == "float"


def test_xml_of_a_recursive_schema_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    root = etree.fromstring(xml_schema(tool({"first": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})))
    assert [arg.get("definition") for arg in root.findall("arguments/arg")] == ["node"]
    assert [arg.get("ref") for arg in root.findall("arguments/arg/arg")] == ["node"]
    either = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/e"}}]}
    recursive = tool({"e": {"$ref": "#/$defs/e"}}, **{"$defs": {"e": either}})
    assert 'ref="e"' in xml_schema(recursive)
    assert "`e` (string or array of any)" in markdown_parameters(recursive)


@given(
    st.text(min_size=1),
    st.text(),
    st.dictionaries(
        st.text(min_size=1),
        st.fixed_dictionaries(
            {"description": st.text(), "default": st.text(), "enum": st.lists(st.text(), min_size=1)}
        ),
        max_size=3,
    ),
)
def test_xml_is_well_formed_whatever_the_data(name: str, description: str, properties: JsonObject) -> None:
    definition = ToolDefinition(name=name, description=description, parameters={"properties": properties})
    try:
        text = xml_schema(definition)
    except UnrepresentableError:
        assert NOT_XML.search("".join((name, *properties)))
        return
    assert not NOT_XML.search("".join((name, *properties)))
    root = etree.fromstring(text)
    assert root.get("name") == name
    held = [child for child in root.iter("arg") if isinstance(child.tag, str)]
    assert [child.get("name") for child in held] == list(properties)


def test_xml_replaces_what_it_cannot_hold_in_descriptions_only() -> None:
    assert 'description="a\ufffdb\ufffd"' in xml_schema(ToolDefinition(name="t", description="a\x00b\ud800"))
    assert arg({"type": "string", "description": "a\nb\x01"}).get("description") == "a\nb\ufffd"
    with pytest.raises(UnrepresentableError, match="/name"):
        xml_schema(ToolDefinition(name="a\x00"))
    with pytest.raises(UnrepresentableError, match="/properties/b"):
        xml_schema(tool({"b\x01": {}}))


def test_signature() -> None:
    assert signature(PING) == "ping() - Ping."
    assert signature(DEMO) == (
        'demo(path, mode, count, ratio?, deep?, address, tags?, people?, free?, any_list?, pat?) - Does "a" & b <c>.'
    )
    assert signature(ToolDefinition(name="f", description="One\n\ntwo.  Three\n")) == "f() - One two. Three"
    assert signature(ToolDefinition(name="f")) == "f()"


def test_markdown_parameters() -> None:
    assert markdown_parameters(DEMO) == (
        """## demo

Does "a" & b <c>.

**Parameters:**

- `path` (string) (required): The path, e.g. 'a/b.txt'.
- `mode` (string) (required): Mode. One of: `read`, `write`.
- `count` (integer) (required): How many. At least: `1`. At most: `9`.
- `ratio` (number): Ratio.
- `deep` (boolean): Recurse. Default: `false`.
- `address` (object) (required): Address.
  - `street` (string) (required): Street.
  - `zip` (string): Zip code.
- `tags` (array of string): Tags.
- `people` (array of object): People.
  - `street` (string) (required): Street.
  - `zip` (string): Zip code.
- `free` (object): Free object.
- `any_list` (array): Any list.
- `pat` (string): Pattern. Matches: `^a`."""
    )
    assert markdown_parameters(PING) == "## ping\n\nPing.\n\n**Parameters:** none"


def test_markdown_of_alternatives() -> None:
    choice = {"oneOf": [ADDRESS, {"type": "object", "properties": {"id": {"const": 7}}}]}
    assert markdown_parameters(tool({"where": choice})).splitlines()[4:] == [
        "- `where` (object)",
        "  - option 1 (object)",
        "    - `street` (string) (required): Street.",
        "    - `zip` (string): Zip code.",
        "  - option 2 (object)",
        "    - `id` (integer): Always: `7`.",
    ]


def test_markdown_layout_holds_whatever_the_data() -> None:
    definition = ToolDefinition(
        name="t\n# x",
        description="Text.\n# Heading\n```\ncode\n---\n===\n- - -\n  ~~~",
        parameters={"properties": {"a`b": {"description": "one\n- `c` (string)\n\n```\n# two"}, "d\ne": {}}},
    )
    assert markdown_parameters(definition) == (
        "## t # x\n\nText.\n\\# Heading\n\\```\ncode\n\\---\n\\===\n\\- - -\n  \\~~~\n\n**Parameters:**\n\n"
        "- ``a`b`` (any): one - `c` (string) ``` # two\n"
        '- `"d\\ne"` (any)'
    )


def write_json(calls: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
    assert [call.name for call in calls] == list(tools)
    if any(call.arguments.get("held") == "no" for call in calls):
        raise UnrepresentableError("json", "/held", "it says no")
    return json.dumps([[call.name, call.arguments] for call in calls])


def titles(definition: ToolDefinition) -> list[str]:
    return [example.title for example in example_formatter(write_json)(definition)]


BASIC, ADVANCED = "Basic Call (Required Arguments)", "Advanced Call (With Optional & Nested Arguments)"


def test_examples_of_a_tool() -> None:
    basic, advanced = example_formatter(write_json)(DEMO)
    assert (basic.title, advanced.title) == (BASIC, ADVANCED)
    assert basic.text == json.dumps([["demo", basic.call.arguments]])
    assert set(basic.call.arguments) == {"path", "mode", "count", "address"}
    assert set(advanced.call.arguments) == set(DEMO.parameters["properties"])
    assert titles(PING) == [BASIC]
    assert titles(tool({"a": {}}, required=["a"])) == [BASIC]
    assert titles(tool({"a": {"properties": {"b": {}, "c": {}}}}, required=["a"])) == [BASIC, ADVANCED]
    # Optional, but it can never be there: the advanced call would say the same.
    assert titles(tool({"a": {"not": {}}})) == [BASIC]


def test_examples_carry_the_server() -> None:
    (example,) = example_formatter(write_json)(PING.model_copy(update={"server": "local"}))
    assert example.call == ToolInvocation(name="ping", arguments={}, server="local")


def test_the_authors_examples_come_first_if_they_fit() -> None:
    parameters = {"properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}
    author = ({"a": 5, "b": "x"}, {"a": "no"}, {"a": 6, "b": "y"})
    examples = example_formatter(write_json)(ToolDefinition(name="t", parameters=parameters, examples=author))
    assert [(example.title, example.call.arguments) for example in examples] == [
        ("Recommended Call", {"a": 5, "b": "x"}),
        ("Recommended Call", {"a": 6, "b": "y"}),
        (BASIC, {"a": 5}),
    ]


def test_an_example_that_the_format_cannot_hold_is_left_out() -> None:
    assert titles(tool({"held": {"const": "no"}})) == [BASIC]
    assert titles(tool({"held": {"const": "no"}}, required=["held"])) == []
