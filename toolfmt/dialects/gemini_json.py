"""Tool calls as the JSON objects of the Gemini family, written in plain text.

    {"name": "read_file", "args": {"path": "a.txt"}}

One object or a list of them; both keys are required.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import gemini_json
from toolfmt.text import text_dialect

_CALL = {"name": "{name}", "args": "{arguments}"}

DIALECT = text_dialect(
    name="gemini-json",
    summary="JSON objects with name and args, in text",
    schema=gemini_json,
    manifest="json.jinja",
    syntax=Syntax(
        bare=True,
        forms=(
            Form(call="{call}", json=JsonCall(template=_CALL, accepts=({"functionCall": {"id": "{id}", **_CALL}},))),
        ),
        result="Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}",
        result_separator="\n\n---\n\n",
    ),
    sources=(Provenance(reference="AutoByteus/autobyteus", kind="source", revision="55fc5e1 (2025-12-20)"),),
)
