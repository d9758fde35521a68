"""Tool calls as a JSON object in a `<tool>` element.

<tool>{"server_name": "local", "tool_name": "read_file", "arguments": {"path": "a.txt"}}</tool>
"""

from toolfmt.dialect import Provenance
from toolfmt.formatters.signatures import markdown_parameters
from toolfmt.syntax import Form, JsonCall, Syntax
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="tool-json",
    summary="a JSON object in <tool>, with the MCP server",
    schema=markdown_parameters,
    manifest="markdown.jinja",
    syntax=Syntax(
        reasoning=(("<thinking>", "</thinking>"),),
        forms=(
            Form(
                section="<tool>{calls}</tool>",
                call="{call}",
                defaults={"server": "local"},
                json=JsonCall(
                    template={"server_name": "{server}", "tool_name": "{name}", "arguments": "{arguments}"},
                ),
            ),
        ),
        result="Tool '{name}' result:\n{content}",
        result_separator="\n\n",
        error="ERROR: {content}",
    ),
    sources=(Provenance(reference="Forge ADR-0002: XML format for tool calls", kind="specification"),),
)
