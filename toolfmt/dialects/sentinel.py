"""Tool calls as segments with a JSON header.

    [[SEG_START {"type": "tool", "tool_name": "read_file", "arguments": {"path": "a.txt"}}]][[SEG_END]]

Two tools may carry their longest argument as raw text between the markers:

    [[SEG_START {"type": "write_file", "path": "a.py"}]]print("hi")[[SEG_END]]
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import default_json
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="sentinel",
    summary="segments between [[SEG_START {...}]] and [[SEG_END]]",
    schema=default_json,
    manifest="sentinel.jinja",
    syntax=Syntax(
        forms=(
            Form(
                call="[[SEG_START {call}]]{payload}[[SEG_END]]",
                tentative=True,
                payload={"write_file": "content", "run_bash": "command"},
                json=JsonCall(
                    template={"type": "tool", "tool_name": "{name}", "arguments": "{arguments}"},
                    prose={"type": "text"},
                    accepts=({"type": "tool_call"}, {"type": "{name}", "*": "{arguments}"}),
                ),
            ),
        ),
        result="Tool: {name}{? (ID: {id})?}\nStatus: {status}\nResult:\n{content}",
        result_separator="\n\n---\n\n",
    ),
    sources=(Provenance(reference="AutoByteus/autobyteus", kind="source", revision="c350169 (2026-02)"),),
)
