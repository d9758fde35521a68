"""`toolfmt render`: calls and results in a format's own form."""

from typing import Annotated, TypeVar

from cyclopts import Parameter
from pydantic import BaseModel

from toolfmt import jsontext
from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import STDIN, read_json, refuse_two
from toolfmt.cli.output import UsageError, write
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.errors import ParseError, RenderError
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.rendering import records, render_calls, render_results

RecordT = TypeVar("RecordT", bound=BaseModel)


def render(
    calls: Annotated[
        str,
        Parameter(help="A JSON file of {name, arguments} objects, or the output of `parse --json`, or - for stdin."),
    ] = STDIN,
    /,
    *,
    choice: FormatOption = DEFAULT,
    tools: Annotated[
        str | None, Parameter(help=f"The offered tools, which give the types that the format lacks: {TOOLS}.")
    ] = None,
    results: Annotated[bool, Parameter(help="The file contains results: {name, content, is_error} objects.")] = False,
) -> None:
    """Print calls as the model would write them, or results as shown to the model."""
    refuse_two(calls, tools)
    dialect = choice.resolve()
    if results:
        write(render_results(_read(calls, "results", ToolResult), dialect=dialect, tools=read_tools(tools)))
    else:
        write(render_calls(_read(calls, "calls", ToolInvocation), dialect=dialect, tools=read_tools(tools)))
    choice.note_default()


def _read(source: str, key: str, kind: type[RecordT]) -> list[RecordT]:
    """Read records: a list of them, one alone, or either under `key`."""
    value = read_json(source)
    if jsontext.is_object(value):
        value = value.get(key, value)
    given = value if jsontext.is_array(value) else [value]
    if kind is ToolInvocation and any(jsontext.is_object(one) and "content" in one for one in given):
        raise UsageError(f"{source} contains results: add --results")
    try:
        return records(given, key, kind)
    except (RenderError, TypeError) as error:
        raise ParseError(f"{source}: {error}") from None
