"""Tool calls as the JSON objects of the OpenAI family, written in plain text.

    {"tool": {"function": {"name": "read_file", "arguments": {"path": "a.txt"}}}}

Read as well: `tool_calls` or `tools` with a list of such functions, a bare
`function` object, and a flat object of `name` and `arguments`; the arguments may
be a JSON string.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import openai_json
from toolfmt.text import text_dialect

_FUNCTION = {"name": "{name}", "arguments": "{arguments}"}
_TEXT = {"name": "{name}", "arguments": "{arguments_text}"}  # as the API itself writes them
_CALL = {"id": "{id}", "type": "function", "index": "{any}", "function": _TEXT, **_TEXT}

DIALECT = text_dialect(
    name="openai-json",
    summary="JSON objects in the shapes of the OpenAI API, in text",
    schema=openai_json,
    manifest="json.jinja",
    syntax=Syntax(
        bare=True,
        forms=(
            Form(
                call="{call}",
                json=JsonCall(
                    template={"tool": {"function": _FUNCTION}},
                    accepts=({"tool": _CALL}, {"tool_calls": [_CALL]}, {"tools": [_CALL]}, _CALL),
                ),
            ),
        ),
        result="Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}",
        result_separator="\n\n---\n\n",
    ),
    sources=(Provenance(reference="AutoByteus/autobyteus", kind="source", revision="55fc5e1 (2025-12-20)"),),
)
