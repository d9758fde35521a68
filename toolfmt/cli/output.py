"""Output of commands: exact text, JSON and tables on stdout, mistakes and notes on stderr.

Only a terminal gets colours and tables that fit its width. Output to a pipe or a file is neither wrapped nor shortened.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TextIO

from toolfmt import jsontext
from toolfmt.errors import ToolFmtError

if TYPE_CHECKING:
    from rich.console import Console

    from toolfmt.model import JsonObject, JsonValue  # imports pydantic

USAGE: Final = 2
"""The exit code when the command, or a file that it was given, cannot be used."""
INTERRUPTED: Final = 130
"""The exit code after Ctrl-C, as shells have it."""
LABEL: Final = 18
"""The width of a label's column."""
_GAP: Final = 3
_ITEM: Final = "- "
_BREAK: Final = "\n  "
_ARGUMENT = re.compile(r"\b(dialect|provider|model|tools)=(?:'([^'\s]+)')?")
_ADVICE: Final = {
    "give the tools: ": "add --tools: ",
    "an API's own calls are read first: toolfmt.read_answer(answer).calls": "`toolfmt view` shows an API's own calls, "
    "and `toolfmt run --api` runs them",
}
"""What the library advises, and what to do instead in the shell."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class UsageError(ToolFmtError):
    """Options or files that cannot be used, or not together."""


def refuse(error: BaseException) -> int:
    """Write what is wrong, and return the exit code."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    note(text)
    return USAGE


def as_options(text: str) -> str:
    """Write the arguments that a message of the library names as the command line has them: `--dialect hermes`."""
    for python, shell in _ADVICE.items():
        text = text.replace(python, shell)
    return _ARGUMENT.sub(lambda found: f"--{found[1]}{' ' if found[2] else ''}{found[2] or ''}", text)


def note(text: str) -> None:
    """Write a line to stderr; the items of a list in the text stay on lines of their own."""
    lines = [visible(line.strip()) for line in as_options(text).splitlines() if line.strip()]
    written = lines[0] if lines else ""
    for before, line in pairwise(lines):
        written += f"{_BREAK if (before.startswith(_ITEM) or line.startswith(_ITEM)) else ' '}{line}"
    sys.stderr.write(f"toolfmt: {written}\n")


def note_reasons(reasons: Iterable[JsonObject], what: str) -> None:
    """Write a line for each reason why conversations are `what`, with the place of the first one."""
    for reason in reasons:
        first = reason["first"]
        where = f"{first['file']}:{first['line']}" if first["line"] else first["file"]
        place = where if reason["times"] == 1 else f"the first at {where}"
        note(f"{reason['times']} {what}, {place}: {first['reason']}")


def counted_as(count: int, noun: str) -> str:
    """Write a number and what it counts."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def ended(endings: Mapping[str, int]) -> str:
    """Say how many answers are cut off, blocked or ended without a reason; "" if none is."""
    many = sum(endings.values())
    why = ", ".join(f"{word} {count}" for word, count in endings.items())
    return f"{counted_as(many, 'answer')} cut off, blocked or ended without a reason: {why}" if many else ""


def write(text: str) -> None:
    """Write text exactly as it is; a terminal also gets the line end that it may lack."""
    sys.stdout.write(text)
    if sys.stdout.isatty() and not text.endswith("\n"):
        sys.stdout.write("\n")


def write_json(value: JsonValue) -> None:
    """Write one JSON value, spread over lines."""
    sys.stdout.write(jsontext.dumps(value, indent=2) + "\n")


def write_json_line(value: JsonValue, *, to: TextIO | None = None) -> None:
    """Write one JSON value on one line, at once, to stdout or elsewhere."""
    stream = sys.stdout if to is None else to
    stream.write(jsontext.dumps(value) + "\n")
    stream.flush()


def say(label: str, text: str = "", style: str = "bold") -> None:
    """Write a label and its text, and flush; further lines of the text are aligned with the first."""
    body = f"\n{'':{LABEL}}".join(visible(text).split("\n"))
    label = f"{label:<{LABEL - 1}} "
    if sys.stdout.isatty():
        from rich.text import Text

        _console().print(Text.assemble((label, style), body), soft_wrap=True)
    else:
        sys.stdout.write("\n".join(line.rstrip(" ") for line in f"{label}{body}\n".split("\n")))
        sys.stdout.flush()


def write_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, to: TextIO | None = None) -> None:
    """Write a table to stdout or elsewhere: fitted to a terminal, as wide as it is in a file."""
    stream = sys.stdout if to is None else to
    table = [[visible(cell).replace("\n", "\\n") for cell in row] for row in rows]
    if not stream.isatty():
        widths = [max(map(len, column)) + _GAP for column in zip(columns, *table, strict=True)]
        for row in (columns, *table):
            line = "".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
            stream.write(line.rstrip() + "\n")
        return
    from rich.table import Table
    from rich.text import Text

    fitted = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column in columns:
        first = column == columns[0]
        fitted.add_column(column, no_wrap=first, overflow="fold", style="cyan" if first else None)
    for row in table:
        fitted.add_row(*map(Text, row))
    (_console() if to is None else make_console(stream)).print(fitted)


@contextmanager
def stdout_to_stderr() -> Generator[None]:
    """Send what tools and their child processes print to stderr."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()  # what was written to the stream itself, such as by a logging handler
        os.dup2(kept, 1)
        os.close(kept)


def visible(text: str) -> str:
    """Escape control characters, so that a model's text cannot control the terminal."""
    return _CONTROLS.sub(lambda found: ascii(found.group())[1:-1], text)


@cache
def _console() -> Console:
    return make_console(None)


def make_console(stream: TextIO | None, *, soft_wrap: bool = False) -> Console:
    """Return a console that writes texts as they are, and raises where the reader of the output has gone."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - called where it is handled; rich would exit with 1

    return Plain(file=stream, highlight=False, emoji=False, markup=False, soft_wrap=soft_wrap)
