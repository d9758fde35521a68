"""One call as the whole message, and nothing beside it.

    {"agent": "Analyst", "tool": {"name": "web.search", "arguments": {"query": "x"}}}

Prose around the object, a key or an argument too many, a wrong type or an
unknown tool make it no call. Results come back as
`{"tool_result": {"tool": "web.search", "output": ...}}`.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import default_json
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="step-json",
    summary="a single JSON object as the whole message, strict by nature",
    schema=default_json,
    manifest="step.jinja",
    strict=True,
    syntax=Syntax(
        bare=True,
        single=True,
        forms=(
            Form(
                call="{call}",
                json=JsonCall(
                    template={"agent": "{agent}", "tool": {"name": "{name}", "arguments": "{arguments}"}},
                    arguments_required=True,
                    closed=True,
                    meant_by="tool",
                    tolerant=False,
                ),
            ),
        ),
        error="Error: {content}",
        result_json={"tool_result": {"tool": "{name}", "output": "{content}"}},
    ),
    sources=(Provenance(reference="Step-N protocol, rules N.1 to N.8", kind="specification"),),
)
