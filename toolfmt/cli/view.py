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
    said = list(turns(transcript))
    if out is not None:
        from toolfmt.cli.page import page

        text = page(visible(place(found)), made.name, said, tools(transcript))
        out.write_text(text, encoding="utf-8", newline="\n")
    else:
        _print(said, shorten=sys.stdout.isatty() and not full)


def _find(path: str, row: int | None, reading: ReadOptions) -> Row:
    rows = chain.from_iterable(batch.rows() for batch in reading.all(sources([path])))
    for found in rows:
        if row is None or found.line == row:
            return found
    raise UsageError(f"{path}: there is no conversation" + ("" if row is None else f" at {row}"))


def _print(said: Sequence[Turn], *, shorten: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, emoji=False, markup=False, soft_wrap=True)
    for turn in said:
        console.print(Text(turn.speaker, _ROLES.get(turn.role, "bold")))
        for block in turn.blocks:
            style = _STYLES.get(block.kind, "")
            if block.folded:
                console.print(Text(f"  [{block.kind}] {block.title}".rstrip(), style or "bold"))
            for line in _lines(block, shorten=shorten):
                console.print(Text(f"  {line}".rstrip(), style))
        console.print()


def _lines(block: Block, *, shorten: bool) -> list[str]:
    lines = block.text.split("\n")
    if not shorten or not block.folded or len(lines) <= _LINES:
        return lines
    return [*lines[:_LINES], f"... {len(lines) - _LINES} more lines (--full)"]
