"""Tools as open models' prompts declare them: what the goldens of the templates do not show."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from toolfmt.formatters.declarations import TypeScript, function_elements, python_function
from toolfmt.formatters.json_schemas import (
    described_line,
    function_line,
    json_schema_formatter,
    openai_tool,
    sorted_line,
)
from toolfmt.model import ToolDefinition

if TYPE_CHECKING:
    from toolfmt.dialect.record import SchemaFormatter

NOW = ToolDefinition(name="now", description="The time.")
NODE: dict[str, Any] = {"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}
ODD = ToolDefinition(
    name="odd",
    description="Two\nlines.",
    parameters={
        "type": "object",
        "$defs": {"node": NODE},
        "properties": {
            "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            "any-key": {"description": "First.\nSecond."},
            "many": {"type": "array", "items": {"type": ["string", "null"]}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "boolean"}}]},
            "free": {"type": "object"},
            "node": {"$ref": "#/$defs/node"},
        },
        "required": ["unit"],
    },
)


def test_typescript() -> None:
    assert TypeScript()(NOW) == "// The time.\ntype now = () => any;"
    assert TypeScript()(ODD) == (
        "// Two\n// lines.\n"
        "type odd = (_: {\n"
        '  // Default: "c"\n'
        '  unit: "c" | "f",\n'
        "  // First.\n  // Second.\n"
        '  "any-key"?: any,\n'
        "  many?: (string | null)[],\n"
        "  either?: number | boolean[],\n"
        "  free?: object,\n"
        "  node?: {\n"
        "    value?: string,\n"
        "    next?: any,\n"
        "  },\n"
        "}) => any;"
    )


def test_elements() -> None:
    assert function_elements(NOW) == (
        "<function>\n<name>now</name>\n<description>The time.</description>\n<parameters>\n"
        "<required>[]</required>\n</parameters>\n</function>"
    )
    written = function_elements(ODD)
    assert '<type>string</type>\n<enum>["c", "f"]</enum>\n<default>c</default>\n</parameter>' in written
    assert '<items>{"type": ["string", "null"]}</items>' in written
    assert f"<$defs>{json.dumps({'node': NODE})}</$defs>" in written


def test_python() -> None:
    assert python_function(NOW) == 'Function:\ndef now():\n    """\n    The time.\n\n    """'
    written = python_function(ODD)
    assert "def odd(unit: str,any-key: Any,many: list,either: Any,free: Any,node: Any):" in written
    assert "    Two\n    lines.\n" in written
    assert '    - unit (str) [必填]: {"enum": ["c", "f"], "default": "c"}\n' in written
    assert "    - any-key (Any) [选填]: First. Second.\n" in written


def test_json_on_a_line_and_on_many() -> None:
    assert sorted_line(NOW).startswith('{"function":{"description":"The time.","name":"now"')
    assert described_line(NOW) == f"Use the function 'now' to 'The time.'\n{function_line(NOW)}"
    inner = json_schema_formatter(openai_tool, indent=4, level=1)(NOW)
    assert json.loads(inner) == openai_tool(NOW)
    assert inner.split("\n")[1:3] == ['        "type": "function",', '        "function": {']


@pytest.mark.parametrize("write", [TypeScript(), function_elements, python_function, sorted_line, described_line])
def test_a_schema_that_names_nothing(write: SchemaFormatter) -> None:
    assert "bare" in write(ToolDefinition(name="bare", description="", parameters={}))
    assert "flag" in write(
        ToolDefinition(name="t", description="", parameters={"type": "object", "properties": {"flag": True}})
    )
