"""Tools as JSON: the object that a provider's API takes, and its text for a prompt.

    openai_tool      {"type": "function", "function": {"name", "description", "parameters"}}
    gemini_tool      {"name", "description", "parameters"}
    anthropic_tool   {"name", "description", "input_schema"}
    default_tool     {"name", "description", "inputSchema"}, as MCP lists tools

The schema always has the type `object`, `properties` and `required`. References are inlined, except recursive ones,
which stay in `$defs`. The order of keys is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from toolfmt import jsontext
from toolfmt.dialect.record import SchemaFormatter
from toolfmt.errors import SchemaError
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema import inline_refs, normalise


def parameters_object(tool: ToolDefinition) -> JsonObject:
    """Return the schema of a tool's arguments as providers expect it. Raises `SchemaError`."""
    try:
        schema = inline_refs(normalise(tool.parameters))
    except SchemaError as error:
        raise type(error)(f"the schema of tool {tool.name!r}: {error}") from None
    schema = schema if "type" in schema else {"type": "object", **schema}
    missing: dict[str, JsonValue] = {"properties": {}, "required": []}
    before = "properties" if "properties" in schema else "type"
    written: JsonObject = {}
    for key, value in schema.items():
        written[key] = value
        if key == before:
            written |= {name: empty for name, empty in missing.items() if name not in schema}
    return written


def openai_tool(tool: ToolDefinition) -> JsonObject:
    """Return the object for `tools` of OpenAI's Chat Completions and compatible APIs."""
    function = {"name": tool.name, "description": tool.description, "parameters": parameters_object(tool)}
    return {"type": "function", "function": function}


def gemini_tool(tool: ToolDefinition) -> JsonObject:
    """Return the object for `functionDeclarations` of Gemini."""
    return {"name": tool.name, "description": tool.description, "parameters": parameters_object(tool)}


def anthropic_tool(tool: ToolDefinition) -> JsonObject:
    """Return the object for `tools` of Anthropic's Messages."""
    return {"name": tool.name, "description": tool.description, "input_schema": parameters_object(tool)}


def default_tool(tool: ToolDefinition) -> JsonObject:
    """Return the object in the form in which MCP lists tools."""
    return {"name": tool.name, "description": tool.description, "inputSchema": parameters_object(tool)}


def sorted_line(tool: ToolDefinition) -> str:
    """Write the object for `tools` of Chat Completions on one line with sorted keys and no spaces."""
    return jsontext.canonical(openai_tool(tool))


def described_line(tool: ToolDefinition) -> str:
    """Write a tool's object on one line, after a sentence about its purpose."""
    return f"Use the function '{tool.name}' to '{tool.description}'\n{function_line(tool)}"


def json_schema_formatter(
    wrap: Callable[[ToolDefinition], JsonObject], *, indent: int | None = 2, level: int = 0
) -> SchemaFormatter:
    """Make a schema formatter that writes a tool's object as JSON without escaping non-ASCII characters.

    `level` is the indentation level of the surrounding text, which indents the first line itself.
    """

    def write(tool: ToolDefinition) -> str:
        return jsontext.dumps(wrap(tool), indent=indent).replace("\n", "\n" + " " * (level * (indent or 0)))

    return write


openai_line = json_schema_formatter(openai_tool, indent=None)
function_line = json_schema_formatter(gemini_tool, indent=None)
openai_json = json_schema_formatter(openai_tool)
gemini_json = json_schema_formatter(gemini_tool)
anthropic_json = json_schema_formatter(anthropic_tool)
default_json = json_schema_formatter(default_tool)
