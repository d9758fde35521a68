"""`toolfmt manifest` and `toolfmt inject`: the text about tools, alone and in a prompt."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import read_text, refuse_two
from toolfmt.cli.output import write
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.manifests import inject as injected
from toolfmt.manifests import manifest as text_of

Tools = Annotated[str, Parameter(help=f"The tools: {TOOLS}, or - for stdin.")]
Template = Annotated[Path | None, Parameter(help="A Jinja template instead of the format's own.")]
Count = Annotated[NonNegativeInt | None, Parameter(help="The maximum number of examples for each tool; 0 for none.")]


def manifest(
    tools: Tools, *, choice: FormatOption = DEFAULT, template: Template = None, examples: Count = None
) -> None:
    """Print the text that shows a model its tools and how to call them."""
    write(text_of(read_tools(tools), dialect=choice.resolve(), template=template, examples=examples))
    choice.note_default()


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
