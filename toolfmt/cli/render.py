"""`toolfmt render`: calls and results in a format's own form."""

from typing import Annotated, TypeVar

from cyclopts import Parameter
from pydantic import TypeAdapter, ValidationError

from toolfmt import jsontext
from toolfmt.cli.choice import DEFAULT, Choice
from toolfmt.cli.errors import UsageError
from toolfmt.cli.inputs import STDIN, read_json, read_tools, refuse_two
from toolfmt.cli.output import write
from toolfmt.errors import ParseError
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.rendering import render_calls, render_results

RecordT = TypeVar("RecordT")
_CALLS = TypeAdapter(list[ToolInvocation])
_RESULTS = TypeAdapter(list[ToolResult])


def render(
    calls: Annotated[
        str, Parameter(help="A JSON file of {name, arguments} objects, or what `parse --json` prints, or - for stdin.")
    ] = STDIN,
    /,
    *,
    choice: Choice = DEFAULT,
    tools: Annotated[str | None, Parameter(help="The offered tools; they type what the format does not.")] = None,
    results: Annotated[bool, Parameter(help="The file holds results: {name, content, is_error} objects.")] = False,
) -> None:
    """Print calls as the model would have written them, or results as the model is shown them."""
    refuse_two(calls, tools)
    dialect = choice.resolve()
    if not results:
        write(render_calls(_read(calls, "calls", _CALLS), dialect=dialect, tools=read_tools(tools)))
    elif tools is not None:
        raise UsageError("--tools is about calls: results are written without them")
    else:
        write(render_results(_read(calls, "results", _RESULTS), dialect=dialect))


def _read(source: str, key: str, records: TypeAdapter[RecordT]) -> RecordT:
    """Read records: a list of them, one alone, or either under `key`."""
    value = read_json(source)
    if jsontext.is_object(value):
        value = value.get(key, value)
    try:
        return records.validate_python(value if jsontext.is_array(value) else [value])
    except ValidationError as error:
        first = error.errors()[0]
        where = "/".join(map(str, first["loc"]))
        raise ParseError(f"{source}: {key}/{where}: {first['msg']}") from None
