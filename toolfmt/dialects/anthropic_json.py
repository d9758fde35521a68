"""Tool declarations in the shape of the Anthropic API, with calls as XML.

    {"name": "read_file", "description": "Read a file.", "input_schema": {"type": "object"}}

The declaration is JSON; what the model writes is the `xml-items` format.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialects.xml_items import SYNTAX
from toolfmt.formatters.json_schemas import anthropic_json
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="anthropic-json",
    summary="Anthropic's JSON tool declarations, calls as XML with <arg> and <item>",
    schema=anthropic_json,
    manifest="xml.jinja",
    syntax=SYNTAX,
    sources=(
        Provenance(reference="anthropic SDK, types/tool_param.py", kind="source", revision="2.11"),
        Provenance(reference="AutoByteus/autobyteus", kind="source", revision="55fc5e1 (2025-12-20)"),
    ),
)
