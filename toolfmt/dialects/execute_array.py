"""A batch of tool calls as a JSON array between `<execute>` markers.

    <think>what to do</think>
    <execute>
    [
      {"name": "read", "args": {"file": "a.txt"}},
      {"name": "read", "args": {"file": "b.txt"}}
    ]
    </execute>

`<end>` ends the turn, and so does a batch: the model may not run ahead of the
results, which come as `<results>[{"tool": ..., "status": ..., "content": ...}]</results>`.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import Form, JsonCall, Syntax
from toolfmt.formatters.signatures import signature
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="execute-array",
    summary="a JSON array of calls in <execute>, with <think>, <results> and <end>",
    schema=signature,
    manifest="execute.jinja",
    syntax=Syntax(
        reasoning=(("<think>", "</think>"),),
        hidden=(("<results>", "</results>"),),
        stop=("<end>",),
        ends_after_calls=True,
        forms=(
            Form(
                section="<execute>\n{calls}\n</execute>",
                call="{call}",
                separator=",\n",
                each=False,
                array=True,
                json=JsonCall(template={"name": "{name}", "args": "{arguments}"}, arguments_required=True),
            ),
        ),
        results="<results>\n[\n{results}\n]\n</results>",
        result_separator=",\n",
        result_json={"tool": "{name}", "status": "{status}", "content": "{content}"},
    ),
    sources=(Provenance(reference="iteebz/cogency, src/cogency/core/parser.py", kind="source", revision="d39f7c0"),),
)
