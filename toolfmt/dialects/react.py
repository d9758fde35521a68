"""ReAct: thoughts, actions and observations on lines of their own.

    Thought: I need the weather.
    Action: get_weather
    Action Input: {"city": "Paris"}
    Observation: {"temperature": 21}

An observation is the runtime's to write: one that the model makes up ends the
turn. The same step may come as one decision object,
`{"thought": ..., "type": "call_tool", "tool": ..., "args": {...}}`.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.json_schemas import default_json
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="react",
    summary="Thought / Action / Action Input / Observation lines, or a decision object",
    schema=default_json,
    manifest="react.jinja",
    syntax=Syntax(
        lines="steps",
        bare=True,
        reasoning=(("Thought:", ""),),
        unwrap=(("Final Answer:", ""),),
        wrapped="verbatim",
        stop=("Observation:",),
        forms=(
            Form(call="Action: {name}\nAction Input: {args}"),
            Form(
                call="{call}",
                json=JsonCall(
                    template={"thought": "{reasoning}", "type": "call_tool", "tool": "{name}", "args": "{arguments}"},
                    accepts=({"type": "final_answer", "answer": "{text}"},),
                    meant_by="thought",
                    arguments_required=True,
                ),
            ),
        ),
        result="Observation: {content}",
        error="ERROR - {content}",
    ),
    sources=(
        Provenance(
            reference="cognesy/instructor-php, packages/addons ToolUse ReAct driver", kind="source", revision="05e240c"
        ),
    ),
)
