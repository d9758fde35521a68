"""`toolfmt manifest`: the text about tools."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.output import write
from toolfmt.cli.toolboxes import TOOLS, read_tools
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
