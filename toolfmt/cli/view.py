"""`toolfmt view`: a conversation to look at."""

import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from toolfmt.cli.blocks import Block, Turn, tools, turns
from toolfmt.cli.errors import UsageError
from toolfmt.cli.files import Files
from toolfmt.cli.output import visible
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.rows import Row, place
from toolfmt.corpora.sources import STDIN, sources
from toolfmt.errors import ParseError

_LINES: Final = 12
_STYLES: Final = {"reasoning": "dim", "call": "cyan", "result": "dim", "error": "red", "refusal": "red"}
_BARS: Final = {"reasoning": "  | "}
"""What is before each line, so that it can be told from others without colours."""
_ROLES: Final = {"user": "bold blue", "assistant": "bold green", "tool": "bold yellow"}


def view(
    path: Annotated[str, Parameter(help="A file, or - for stdin, as without any.")] = STDIN,
    /,
    *,
    row: Annotated[int | None, Parameter(help="The line, or the row of a table; else the first conversation.")] = None,
    files: Files = Files(),  # noqa: B008 - frozen
    out: Annotated[Path | None, Parameter(alias="-o", help="Write a page of HTML to this file.")] = None,
    full: Annotated[bool, Parameter(help="Shorten nothing in the terminal.")] = False,
) -> None:
    """Show a conversation of any format, with its calls, results and reasoning."""
    found = _find(path, row, files.reading())
    try:
        made, transcript = files.picked().read(found.value)
    except ParseError as error:
        raise ParseError(f"{place(found)}: {error}") from None
    said, declared = list(turns(transcript)), tools(transcript)
    if out is not None:
        from toolfmt.cli.page import page

        text = page(visible(place(found)), made.name, said, declared)
        out.write_text(text, encoding="utf-8", newline="\n")
    else:
        _print(said, declared, shorten=sys.stdout.isatty() and not full)


def _find(path: str, row: int | None, reading: ReadOptions) -> Row:
    rows = chain.from_iterable(batch.rows() for batch in reading.all(sources([path])))
    for found in rows:
        if row is None or found.line == row:
            return found
    raise UsageError(f"{path}: there is no conversation" + ("" if row is None else f" at {row}"))


def _print(said: Sequence[Turn], declared: Sequence[Block], *, shorten: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    if declared:
        console.print(Text("tools", "bold"))
        for tool in declared:
            first, *more = _lines(tool, shorten=shorten)
            console.print(Text(f"  [tool] {tool.title} {first}".rstrip(), _STYLES["call"]))
            for line in more:
                console.print(Text(f"  {line}".rstrip()))
        console.print()
    for turn in said:
        console.print(Text(turn.speaker, _ROLES.get(turn.role, "bold")))
        for block in turn.blocks:
            style = _STYLES.get(block.kind, "")
            lines = _lines(block, shorten=shorten)
            if block.labelled:
                beside = lines.pop(0) if block.kind == "call" else ""
                console.print(Text(f"  [{block.kind}] {block.title} {beside}".rstrip(), style or "bold"))
            for line in lines:
                console.print(Text(f"{_BARS.get(block.kind, '  ')}{line}".rstrip(), style))
        console.print()


def _lines(block: Block, *, shorten: bool) -> list[str]:
    lines = block.text.split("\n")
    if not shorten or not block.folded or len(lines) <= _LINES:
        return lines
    return [*lines[:_LINES], f"... {len(lines) - _LINES} more lines (--full)"]
