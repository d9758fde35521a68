"""`toolfmt inject`: a prompt with the tools in it."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import read_text, refuse_two
from toolfmt.cli.manifest import Count, Template, Tools
from toolfmt.cli.output import write
from toolfmt.cli.toolboxes import read_tools
from toolfmt.manifests import inject as injected


def inject(
    prompt: Annotated[str, Parameter(help="The prompt's file, or - for stdin.")],
    tools: Tools,
    *,
    choice: FormatOption = DEFAULT,
    template: Template = None,
    examples: Count = None,
) -> None:
    """Print a prompt with each {{tools}} replaced by the manifest, or with the manifest at its end."""
    refuse_two(prompt, tools)
    write(
        injected(read_text(prompt), read_tools(tools), dialect=choice.resolve(), template=template, examples=examples)
    )
    choice.note_default()
