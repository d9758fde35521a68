"""`toolfmt detect`: the format of a model's answer."""

from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.inputs import STDIN, read_text, refuse_two
from toolfmt.cli.output import write, write_json, write_table
from toolfmt.cli.records import detection_record
from toolfmt.cli.toolboxes import TOOLS, read_tools
from toolfmt.detection import detect as detect_text


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
