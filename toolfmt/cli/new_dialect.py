"""`toolfmt new-dialect`: the files of a new format, ready to be edited."""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Template
from textwrap import indent
from typing import Annotated, Any, Final, Literal, NamedTuple

from cyclopts import Parameter

from toolfmt.cli.output import UsageError, write
from toolfmt.lookup.registry import default_registry
from toolfmt.model import ToolInvocation

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_MODULE: Final = Template('''"""Calls between tags.

${example}

Say here which models write it, and what they do differently.
"""

from toolfmt.dialect.record import Provenance
from toolfmt.dialect.syntax import ${imported}
from toolfmt.formatters.json_schemas import openai_line
from toolfmt.text import text_dialect

DIALECT = text_dialect(
    name="${name}",
    summary="${summary} in <${word}_call>",
    schema=openai_line,
    manifest="native.jinja",
    syntax=Syntax(
        forms=(
            Form(
                ${form}
            ),
        ),
        tools="{tools}",
        tool_separator="\\n",
        result="<${word}_result>{content}</${word}_result>",
        hidden=(("<${word}_result>", "</${word}_result>"),),
    ),
    sources=(Provenance(reference="${name}: where its facts come from", kind="template"),),
)
''')
_CASES: Final = Template("""# one-call: text before it
source: ${name}: where its facts come from
.
Let me look.
${answer}
.
call get_weather {"city": "Paris"}
text "Let me look.\\n"
.

# cut-off: the first call is kept
source: law 7
.
${answer}
${cut}
.
call get_weather {"city": "Paris"}
failure truncated
.
""")


class _Body(NamedTuple):
    summary: str
    imported: str
    form: tuple[str, ...]
    """The lines of its `Form`."""


_BODIES: Final = {
    "object": _Body(
        "a JSON object",
        "Form, JsonCall, Syntax",
        (
            'call="<${word}_call>{call}</${word}_call>",',
            'json=JsonCall(template={"name": "{name}", "arguments": "{arguments}"}),',
        ),
    ),
    "arguments": _Body(
        "a name and a JSON object of the arguments",
        "Form, Syntax",
        ("call='<${word}_call name=\"{name}\">{args}</${word}_call>',",),
    ),
    "elements": _Body(
        "an element for each argument",
        "Elements, Form, Syntax",
        (
            "call='<${word}_call name=\"{name}\">\\n{members}</${word}_call>',",
            "elements=Elements(",
            '    member=\'<${word}_arg name="{key}"{? type="{type}"?}>{value}</${word}_arg>\',',
            "    item='<${word}_item{? type=\"{type}\"?}>{value}</${word}_item>',",
            "),",
        ),
    ),
    "literals": _Body(
        "Python calls",
        "Form, Literals, Syntax",
        (
            'section="<${word}_call>\\n{calls}\\n</${word}_call>",',
            'call="{name}({args})",',
            "each=False,  # all calls of a message are in one section",
            "literals=Literals(keywords=True),",
        ),
    ),
}
_SHOWN: Final = (ToolInvocation(name="get_weather", arguments={"city": "Paris"}),)


def new_dialect(
    name: Annotated[str, Parameter(help="The name, in lower case with hyphens, such as acme-json.")],
    /,
    *,
    body: Annotated[
        Literal["object", "arguments", "elements", "literals"],
        Parameter(help="A call's body: one JSON object, JSON arguments after the name, elements, or a Python call."),
    ] = "object",
    root: Annotated[Path, Parameter(help="The checkout; by default the current folder.")] = Path(),
) -> None:
    """Write the files of a new dialect in a checkout: its record, its cases, its line in the changelog.

    The dialect works as written: calls between tags, with the body that you choose, for you to change.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r}: a dialect's name is small letters, digits and single hyphens, such as acme-json")
    if name in default_registry():
        raise UsageError(f"there is a dialect {name!r} already: `toolfmt dialects show {name}`")
    word = name.replace("-", "_")
    module, cases = root / "toolfmt" / "dialects" / f"{word}.py", root / "tests" / "golden" / name / "cases.txt"
    changes = root / "CHANGELOG.md"
    if not (module.parent.is_dir() and cases.parent.parent.is_dir() and changes.is_file()):
        raise UsageError(
            f"{root} is not a checkout of toolfmt; docs/how-to/add-a-dialect.md says how a package adds a format"
        )
    for path in (module, cases.parent):
        if os.path.lexists(path):
            raise UsageError(f"{path} exists already")
    before, bullet, after = changes.read_text("utf-8").partition("\n- ")
    form = Template("\n                ".join(_BODIES[body].form)).substitute(word=word)
    described = {**_BODIES[body]._asdict(), "form": form, "name": name, "word": word}
    made: dict[str, Any] = {}
    exec(_MODULE.substitute(described, example=""), made)  # noqa: S102 - the text above
    answer: str = made["DIALECT"].calls(_SHOWN, {})
    module.write_text(_MODULE.substitute(described, example=indent(answer, "    ")), "utf-8")
    cases.parent.mkdir()
    cases.write_text(_CASES.substitute(name=name, answer=answer, cut=answer.partition("Paris")[0]), "utf-8")
    changes.write_text(f"{before}\n- The dialect `{name}`.{bullet}{after}", "utf-8")
    write(
        f"{module}: change the `Form`, `result`, `summary` and `sources` to what the model's own template writes\n"
        f"{cases}: add answers of the model, with their source, as tests/golden/golden_cases.py explains\n"
        f"{changes}: say whose format it is\n"
        f"then: pytest --dialect {name}, after each change, and python docs/generate.py\n"
    )
