"""Tool calls as a JSON object in a `<tool>` element.

    <tool>{"server_name": "local", "tool_name": "read_file", "arguments": {"path": "a.txt"}}</tool>

The later form with XML elements in `<tool>` is read too.
"""

from dataclasses import replace

from toolfmt.dialect.record import Provenance
from toolfmt.dialects.xml_cdata import JSON_FORM, SYNTAX, XML_FORMS
from toolfmt.formatters.signatures import markdown_parameters
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="tool-json",
    summary="a JSON object in <tool>, with the MCP server",
    schema=markdown_parameters,
    manifest="markdown.jinja",
    syntax=replace(SYNTAX, forms=(JSON_FORM, *XML_FORMS)),
    sources=(
        Provenance(reference="Forge ADR-0002: XML format for tool calls", kind="specification"),
        Provenance(reference="Forge ADR-0019: pure XML with CDATA for tool call arguments", kind="specification"),
    ),
)
