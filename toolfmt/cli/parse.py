"""`toolfmt parse`: the calls in a model's answer."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from cyclopts import Parameter
from cyclopts.types import PositiveInt

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.errors import UsageError
from toolfmt.cli.events import say_event, say_events
from toolfmt.cli.inputs import STDIN, read_pieces, read_text, refuse_two
from toolfmt.cli.output import write_json, write_json_line
from toolfmt.cli.records import event_record, result_record
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.events import CallFailed, Event, Notice, Span
from toolfmt.parsing import ParseOptions, ParseResult, parse_stream
from toolfmt.parsing import parse as parse_text


def parse(  # noqa: PLR0913 - one argument for each option
    file: Annotated[str, Parameter(help="The answer's file, or - for stdin (the default).")] = STDIN,
    /,
    *,
    choice: FormatOption = DEFAULT,
    tools: Annotated[
        str | None, Parameter(help=f"The offered tools, which give the types that the format lacks: {TOOLS}.")
    ] = None,
    validate: Annotated[bool, Parameter(help="Check the arguments against the tools' schemas.")] = False,
    strict: Annotated[bool, Parameter(help="Also reject text beside a call and extra arguments.")] = False,
    repair: Annotated[bool, Parameter(help="Repair broken calls, with a notice.")] = False,
    infer_types: Annotated[
        bool, Parameter(help="Guess the types of text such as 42 and true if neither format nor tools give them.")
    ] = False,
    coerce: Annotated[
        bool, Parameter(help="Convert arguments to the types of the tools' schemas, with a notice.")
    ] = False,
    stream: Annotated[bool, Parameter(help="Show each event as soon as it is certain.")] = False,
    chunk: Annotated[PositiveInt | None, Parameter(help="Stream in chunks of this many characters.")] = None,
    json: Annotated[bool, Parameter(help="Print JSON; when streaming, one event per line.")] = False,
) -> int:
    """Read a model's answer: its text, its reasoning and its calls.

    The exit code is 1 if a call failed.
    """
    refuse_two(file, tools)
    if validate and tools is None:
        raise UsageError("--validate needs the tools' schemas: add --tools")
    if coerce and tools is None:
        raise UsageError("--coerce needs the tools' schemas: add --tools")
    dialect = choice.resolve_or_auto()
    offered = read_tools(tools)
    options: ParseOptions = {
        "dialect": dialect,
        "tools": offered,
        "validate": validate,
        "strict": strict,
        "repair": repair,
        "infer_types": infer_types,
        "coerce": coerce,
    }
    if stream or chunk is not None:
        result = ParseResult(tuple(_told(parse_stream(_cut(read_pieces(file), chunk), **options), json=json)))
    else:
        result = parse_text(read_text(file), **options)
        if json:
            write_json(result_record(result))
        else:
            say_events(result.events)
    if not result.ended:
        from toolfmt.cli.hints import note_no_call

        note_no_call(result.dialect if isinstance(dialect, str) else dialect.name, result.text, offered)
    return _exit_code(result.events)


def _cut(pieces: Iterable[str], chunk: int | None) -> Iterator[str]:
    for piece in pieces:
        size = chunk or len(piece) or 1
        yield from (piece[at : at + size] for at in range(0, len(piece), size))


def _told(events: Iterable[Event], *, json: bool) -> Iterator[Event]:
    for event in events:
        if json:
            write_json_line(event_record(event))
        else:
            say_event(event)
        yield event


def _exit_code(events: Iterable[Event]) -> int:
    """Give 1 if a call failed and was not mended."""
    failed: set[Span] = set()
    for event in events:
        if isinstance(event, CallFailed):
            failed.add(event.span)
        elif isinstance(event, Notice) and event.kind == "repaired":
            failed.discard(event.span)
    return 1 if failed else 0
