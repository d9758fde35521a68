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
elements of one name, is a list. Entities and CDATA protect text. The older form
with a JSON object in `<tool>` is read too.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Elements, Form, JsonCall, Syntax
from toolfmt.formatters.signatures import markdown_parameters
from toolfmt.text import text_dialect

_SECTION = "<tool>\n{calls}"
_LOCAL = {"server": "local"}
_ELEMENTS = Elements(
    member='<{key}{? type="{type}"?}>{value}</{key}>',
    odd_member='<member name="{key}"{? type="{type}"?}>{value}</member>',
    item='<item{? type="{type}"?}>{value}</item>',
    wrapper="arguments",
    indent="  ",
    quotes=(("<![CDATA[", "]]>"),),
)
XML_FORMS = (
    Form(
        section=_SECTION,
        call="{?<server_name>{server}</server_name>\n?}<tool_name>{name}</tool_name>\n{members}</tool>",
        parts=("<server_name>{server}</server_name>", "<tool_name>{name}</tool_name>"),
        defaults=_LOCAL,
        elements=_ELEMENTS,
    ),
)
JSON_FORM = Form(
    section="<tool>{calls}",
    call="{call}</tool>",
    defaults=_LOCAL,
    json=JsonCall(template={"server_name": "{server}", "tool_name": "{name}", "arguments": "{arguments}"}),
)
SYNTAX = Syntax(
    reasoning=(("<thinking>", "</thinking>"),),
    forms=(*XML_FORMS, JSON_FORM),
    result="Tool '{name}' result:\n{content}",
    result_separator="\n\n",
    error="ERROR: {content}",
)

DIALECT = text_dialect(
    name="xml-cdata",
    summary="XML elements with server_name and tool_name, entities and CDATA",
    schema=markdown_parameters,
    manifest="markdown-xml.jinja",
    syntax=SYNTAX,
    sources=(
        Provenance(reference="Forge ADR-0019: pure XML with CDATA for tool call arguments", kind="specification"),
        Provenance(reference="Forge ADR-0024: XML escaping primary with CDATA fallback", kind="specification"),
    ),
)
