"""Tool calls as XML elements, with the MCP server to route to.

    <tool>
    <server_name>local</server_name>
    <tool_name>apply_diff</tool_name>
    <arguments>
      <path>a.go</path>
      <edits><edit><search><![CDATA[a && b]]></search></edit></edits>
    </arguments>
    </tool>

An argument is an element of its name; a repeated element, or a wrapper around
elements of one name, is a list. Entities and CDATA protect text.
"""

from toolfmt.dialect import Provenance
from toolfmt.formatters.signatures import markdown_parameters
from toolfmt.syntax import Elements, Form, Syntax
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="xml-cdata",
    summary="XML elements with server_name and tool_name, entities and CDATA",
    schema=markdown_parameters,
    manifest="markdown.jinja",
    syntax=Syntax(
        reasoning=(("<thinking>", "</thinking>"),),
        forms=(
            Form(
                section="<tool>\n{calls}",
                call="{?<server_name>{server}</server_name>\n?}<tool_name>{name}</tool_name>\n{members}</tool>",
                defaults={"server": "local"},
                elements=Elements(
                    member='<{key}{? type="{type}"?}>{value}</{key}>',
                    odd_member='<member name="{key}"{? type="{type}"?}>{value}</member>',
                    item='<item{? type="{type}"?}>{value}</item>',
                    wrapper="arguments",
                    indent="  ",
                    quotes=(("<![CDATA[", "]]>"),),
                ),
            ),
        ),
        result="Tool '{name}' result:\n{content}",
        result_separator="\n\n",
        error="ERROR: {content}",
    ),
    sources=(
        Provenance(reference="Forge ADR-0019: pure XML with CDATA for tool call arguments", kind="specification"),
        Provenance(reference="Forge ADR-0024: XML escaping primary with CDATA fallback", kind="specification"),
    ),
)
