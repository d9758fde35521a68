"""Tool calls as XML with `<arg>` for arguments and `<item>` for list items.

    <tool name="read_file">
        <arguments>
            <arg name="path">a.txt</arg>
            <arg name="lines"><item>1</item><item>20</item></arg>
        </arguments>
    </tool>

Values are typed by the tool's schema; a type that the schema would not give is
written beside the value. Entities and CDATA are read, a bare `<` or `&` is text.
Two tools have a short form, `<write_file path="a.txt">…</write_file>` and
`<run_bash>…</run_bash>`.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Elements, Form, Syntax
from toolfmt.model import ToolDefinition
from toolfmt.text import text_dialect

_MEMBER = '<arg name="{key}"{? type="{type}"?}>{value}</arg>'
_ITEM = '<item{? type="{type}"?}>{value}</item>'
_QUOTES = (("<![CDATA[", "]]>"), ("__START_CONTENT__", "__END_CONTENT__"), ("__START_PATCH__", "__END_PATCH__"))

SYNTAX = Syntax(
    ignore_case=True,
    forms=(
        Form(
            call='<tool name="{name}"{? id="{id}"?}>\n{members}</tool>',
            elements=Elements(
                member=_MEMBER,
                loose_member="<{key}>{value}</{key}>",
                item=_ITEM,
                wrapper="arguments",
                quotes=_QUOTES,
                declared=("description", "required"),
            ),
        ),
        Form(
            call='<write_file path="{path}">{payload}</write_file>',
            name="write_file",
            payload={"write_file": "content"},
        ),
        Form(call="<run_bash>{payload}</run_bash>", name="run_bash", payload={"run_bash": "command"}),
    ),
    result="Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}",
    result_separator="\n\n---\n\n",
)


def _schema(tool: ToolDefinition) -> str:
    """Write a tool; what that needs is imported when the first one is written."""
    from toolfmt.formatters.xml_schema import xml_schema

    return xml_schema(tool)


DIALECT = text_dialect(
    name="xml-items",
    summary="XML with <arg> and <item>, values typed by the schema",
    schema=_schema,
    manifest="xml.jinja",
    syntax=SYNTAX,
    sources=(
        Provenance(reference="AutoByteus/autobyteus", kind="source", revision="55fc5e1 (2025-12-20)"),
        Provenance(reference="AutoByteus/autobyteus", kind="source", revision="c350169 (2026-02)"),
    ),
)
