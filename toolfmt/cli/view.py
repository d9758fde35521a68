"""`toolfmt view`: show conversations."""

import sys
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from toolfmt.cli.files import Files, refuse_new_folders
from toolfmt.cli.output import UsageError, counted_as, ended, make_console, note, visible
from toolfmt.cli.page import Block, Shown, Turn, page, tools, turns
from toolfmt.conversation import Transcript
from toolfmt.corpora.answer_files import Joined
from toolfmt.corpora.rows import Row, place
from toolfmt.corpora.sources import STDIN, Source
from toolfmt.corpora.targets import check_shared, check_writable, write_own
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.parts.session_lines import TORN, damaged_lines, line_type

if TYPE_CHECKING:
    from rich.console import Console

_LINES: Final = 12
_PAGE: Final = 200
"""Default number of conversations in a page."""
_STYLES: Final = {"reasoning": "dim", "call": "cyan", "result": "dim", "error": "red", "refusal": "red"}
_SIDE: Final = {"sidechains": "side conversations", "branches": "abandoned branches"}
_KINDS: Final = 3
"""How many kinds of lines that are not shown are named."""
_BARS: Final = {"reasoning": "| "}
"""What is before each line, so that it can be distinguished without colours."""
_ROLES: Final = {"user": "bold blue", "assistant": "bold green", "tool": "bold yellow"}


def view(
    *paths: Annotated[str, Parameter(help="Files, folders, globs, each file once, or - for stdin (the default).")],
    row: Annotated[int | None, Parameter(help="The line, or the row of a table, of the conversation to show.")] = None,
    limit: Annotated[
        int | None,
        Parameter(help=f"The maximum number of conversations; by default 1 in the terminal, {_PAGE} in a page."),
    ] = None,
    files: Files = Files(),  # noqa: B008 - frozen
    out: Annotated[Path | None, Parameter(alias="-o", help="Write an HTML page to this file.")] = None,
    full: Annotated[bool, Parameter(help="Do not shorten texts in the terminal.")] = False,
) -> int:
    """Show conversations of any format, with their calls, results and reasoning.

    The exit code is 1 if one of several could not be read.
    """
    if limit is not None and limit < 1:
        raise UsageError("--limit is 1 or more")
    given = paths or (STDIN,)
    found = files.sources(paths)
    if out is not None:
        _check_page(out, found)
    most = limit or (_PAGE if out is not None else 1)
    joined = Joined(files.picked().answers)
    every = _rows(found, files, joined)
    rows = every if row is None else islice((one for one in every if one.line == row), 1)
    taken = list(islice(rows, most))
    left = out is not None and limit is None and next(rows, None) is not None
    if files.answers:
        deque(every, 0)  # a later row may have the id of one that is shown
    shown = [_shown(one, files) for one in taken]
    if not shown:
        at = "" if row is None else f" at {row}; lines and rows are counted from 1"
        raise UsageError(f"{' '.join(given)}: there is no conversation{at}")
    unread = [one for one in shown if one.reason]
    if len(unread) == len(shown):
        raise ParseError(f"{unread[0].title}: {unread[0].reason}")
    if out is not None:
        title = shown[0].title if len(shown) == 1 else visible(" ".join(given))
        write_own(out, page(title, shown))
        note(f"{out} shows {counted_as(len(shown), 'conversation')}")
        if left:
            note(f"the page shows the first {most} conversations: --limit says how many")
    else:
        _print(shown, shorten=sys.stdout.isatty() and not full)
    files.note_unplaced(sum(map(files.has_place, taken)), len(shown) - len(unread), joined)
    for title, words in ((one.title, words) for one in shown for words in one.notes):
        note(f"{title}: {words}")
    return 1 if unread else 0


def _check_page(out: Path, given: Iterable[Source]) -> None:
    if out.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"{out} would be a page of HTML: end its name in .html")
    refuse_new_folders(out)
    check_writable([out])
    check_shared([("--out", out)], [one.path for one in given])


def _rows(given: Sequence[Source], files: Files, joined: Joined) -> Iterator[Row]:
    for row in chain.from_iterable(batch.rows() for batch in files.reading(given).all(given)):
        joined.add(files.picked().joins(row))
        yield row


def _shown(row: Row, files: Files) -> Shown:
    title = visible(place(row))
    try:
        found, transcript = files.picked().read(row.value)
    except ParseError as error:
        return Shown(title=title, reason=(reason := visible(str(error))), notes=[reason])
    left = [*_beside(transcript)] if found.format.session else []
    return Shown(
        title=title,
        format=found.format.name,
        turns=tuple(turns(transcript)),
        tools=tools(transcript),
        ended=(cut := ended(Counter(found.endings(transcript)))),
        notes=[*([f"not shown: {', '.join(left)}"] if left else []), *([cut] if cut else [])],
    )


def _beside(transcript: "Transcript") -> Iterator[str]:
    """Count what a session's file contains beside its conversation."""
    for key, lines in transcript.extra.items():
        if not is_array(lines) or not all(map(is_object, lines)):
            continue
        name = key.rpartition(".")[2]
        kinds = [line_type(line) for line in lines]
        count = len(kinds) - kinds.count(TORN)
        if count:
            named = list(dict.fromkeys(kind for kind in kinds if kind not in {"", TORN}))
            listed = ", ".join([*named[:_KINDS], *(["..."] if len(named) > _KINDS else ())])
            what = _SIDE.get(name) or f"other kinds{f' ({listed})' if listed else ''}"
            yield f"{count} {'line' if count == 1 else 'lines'} of {what}"
    yield from (f"line {line}, which is damaged" for line in damaged_lines(transcript))


def _print(shown: Sequence[Shown], *, shorten: bool) -> None:
    from rich.text import Text

    console = make_console(None, soft_wrap=True)
    for one in shown:
        if len(shown) > 1:
            console.print(Text(f"== {one.title}", "bold"))
        if one.tools:
            console.print(Text("tools", "bold"))
            for tool in one.tools:
                _print_block(console, tool, "  ", shorten=shorten)
            console.print()
        for turn in one.turns:
            _print_turn(console, turn, shorten=shorten)


def _print_turn(console: "Console", turn: Turn, *, shorten: bool) -> None:
    from rich.text import Text

    console.print(Text(turn.speaker, _ROLES.get(turn.role, "bold")))
    for block in turn.blocks:
        _print_block(console, block, "  ", shorten=shorten)
    console.print()


def _print_block(console: "Console", block: Block, indent: str, *, shorten: bool) -> None:
    from rich.text import Text

    style = _STYLES.get(block.kind, "")
    lines = _lines(block, shorten=shorten)
    if block.labelled:
        beside = lines.pop(0) if block.kind in {"call", "tool"} else ""
        console.print(Text(f"{indent}[{block.kind}] {block.title} {beside}".rstrip(), style or "bold"))
    for line in lines:
        console.print(Text(f"{indent}{_BARS.get(block.kind, '')}{line}".rstrip(), style))
    for result in block.results:
        _print_block(console, result, f"{indent}  ", shorten=shorten)


def _lines(block: Block, *, shorten: bool) -> list[str]:
    lines = block.text.split("\n")
    if not shorten or not block.folded or len(lines) <= _LINES:
        return lines
    return [*lines[:_LINES], f"... {len(lines) - _LINES} more lines (--full)"]
