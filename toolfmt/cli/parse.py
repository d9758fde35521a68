"""`toolfmt parse` and `toolfmt detect`: the calls in a model's answer, and their format.

What reads an answer is imported after the arguments were read, as in `toolfmt.cli.choice`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.types import PositiveInt

from toolfmt.cli.choice import DEFAULT, FormatOption
from toolfmt.cli.inputs import STDIN, read_pieces, read_text, refuse_two
from toolfmt.cli.output import UsageError, note, write, write_json, write_json_line, write_table
from toolfmt.cli.toolboxes import TOOLS, read_tools

if TYPE_CHECKING:
    from toolfmt.dialect.record import AnyDialect
    from toolfmt.events import Event, Span
    from toolfmt.model import ToolDefinition
    from toolfmt.parsing import ParseOptions, ParseResult


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

    The exit code is 1 if a call failed, or was not read.
    """
    from toolfmt.cli.events import result_record, say_events
    from toolfmt.events import TextDelta
    from toolfmt.parsing import ParseResult, parse_stream
    from toolfmt.parsing import parse as parse_text

    refuse_two(file, tools)
    if validate and tools is None:
        raise UsageError("--validate needs the tools' schemas: add --tools")
    if coerce and tools is None:
        raise UsageError("--coerce needs the tools' schemas: add --tools")
    dialect = choice.resolve_or_auto()
    offered = read_tools(tools)
    options: ParseOptions = {
        "dialect": dialect,
        "tools": None if tools is None else offered,
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
    _advise(result, dialect, offered)
    if all(isinstance(event, TextDelta) and not event.text.strip() for event in result.events):
        note(blank_note(file, result.text))
    elif not result.ended:
        note_no_call(result.dialect if isinstance(dialect, str) else dialect.name, result.text, offered)
    return _exit_code(result.events)


def _advise(result: "ParseResult", dialect: "AnyDialect | str", offered: "Sequence[ToolDefinition]") -> None:
    """Write a note on what to write instead of each failed call, and on the format that reads it."""
    if not result.failures:
        return
    from toolfmt.correcting import what_to_change

    for failure in result.failures:
        read_as = result.dialect if isinstance(dialect, str) else dialect
        if what := what_to_change(failure, tools=offered, dialect=read_as):
            note(f"call {failure.index}: {what}")
    if result.hint:
        note(result.hint)


def _cut(pieces: Iterable[str], chunk: int | None) -> Iterator[str]:
    for piece in pieces:
        size = chunk or len(piece) or 1
        yield from (piece[at : at + size] for at in range(0, len(piece), size))


def _told(events: "Iterable[Event]", *, json: bool) -> "Iterator[Event]":
    from toolfmt.cli.events import event_record, say_event

    for event in events:
        if json:
            write_json_line(event_record(event))
        else:
            say_event(event)
        yield event


def _exit_code(events: "Iterable[Event]") -> int:
    """Return 1 if a call failed and was not repaired, or was not read."""
    from toolfmt.events import CallFailed, Notice

    failed: set[Span] = set()
    for event in events:
        if isinstance(event, CallFailed) or (isinstance(event, Notice) and event.kind == "unread_call"):
            failed.add(event.span)
        elif isinstance(event, Notice) and event.kind == "repaired":
            failed.discard(event.span)
    return 1 if failed else 0


def blank_note(file: str, text: str) -> str:
    """Describe a file that is empty or has white space alone."""
    what = "has white space alone" if text else "is empty"
    return f"{'stdin' if file == STDIN else file} {what}: the answer has no text and no call"


def note_no_call(chosen: str, text: str, offered: "Sequence[ToolDefinition]") -> bool:
    """Write a note on what an answer without a call looks like; returns whether it looks like anything."""
    from toolfmt.detection.detecting import unread
    from toolfmt.parsing import call_reader

    found = unread(text, tuple(offered), call_reader({tool.name: tool for tool in offered}))
    if found is None:
        return False
    read = f"no call found as {chosen}, but it" if chosen else "no call found, but it"
    if found.kind == "api":
        note(f"{read} looks like an API's answer: `toolfmt view` shows it, `toolfmt run --api` runs its calls")
        return True
    if found.kind in {"error", "expression", "fence"} or (found.kind == "dialect" and not found.dialects):
        note(f"{read} {found.advice().removeprefix('it ')}")
        return True
    others = [name for name in found.dialects if name != chosen]
    if others:
        note(f"{read} looks like {' or '.join(others)}: choose with --dialect or --provider")
    return bool(others)


def detect(
    file: Annotated[str, Parameter(help="The answer's file, or - for stdin (the default).")] = STDIN,
    /,
    *,
    tools: Annotated[
        str | None, Parameter(help=f"The offered tools, which identify some formats: {TOOLS}, or - for stdin.")
    ] = None,
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
) -> int:
    """Detect the format of the calls in a text.

    The exit code is 1 if the text makes none, or only shows some.
    """
    from toolfmt.cli.events import detection_record
    from toolfmt.detection import detect as detect_text

    refuse_two(file, tools)
    offered = read_tools(tools)
    text = read_text(file)
    found = detect_text(text, offered)
    if json:
        write_json(detection_record(found))
    elif found.dialect:
        line = text.count("\n", 0, found.span[0]) + 1
        write(f"{found.dialect}: it {found.reason} (line {line})\n\n")
        write_table(("format", "score", "why"), ((one.dialect, str(one.score), one.reason) for one in found.candidates))
    else:
        write("no format: the text makes no call\n")
    return 0 if found.dialect else 1
