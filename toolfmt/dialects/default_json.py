"""The JSON format for providers without one of their own.

    {"tool": {"function": "read_file", "parameters": {"path": "a.txt"}}}

Read in prose and in code fences too; absent parameters are empty.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import default_json
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="default-json",
    summary="one JSON object per call, for any model",
    schema=default_json,
    manifest="json.jinja",
    syntax=Syntax(
        bare=True,
        forms=(
            Form(call="{call}", json=JsonCall(template={"tool": {"function": "{name}", "parameters": "{arguments}"}})),
        ),
        result="Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}",
        result_separator="\n\n---\n\n",
    ),
    sources=(Provenance(reference="AutoByteus/autobyteus", kind="source", revision="55fc5e1 (2025-12-20)"),),
)
