"""The options for reading files of conversations, the same for every command, and the progress of reading."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated, Final, Protocol

from cyclopts import Parameter

from toolfmt.cli.output import UsageError, counted_as, note
from toolfmt.corpora.answer_files import Joined
from toolfmt.corpora.batches import MAX_ROW, ReadOptions
from toolfmt.corpora.picks import Picked
from toolfmt.corpora.rows import Row
from toolfmt.corpora.sources import STDIN, Source, sources
from toolfmt.errors import ParseError
from toolfmt.transcripts.formats import find

AUTO = "auto"
_PAUSE: Final = 30
"""Seconds between two lines of progress."""
_NAMED: Final = 3
"""How many of the files that are left out of folders are named."""


@Parameter(name="*", group="What is read")
@dataclass(frozen=True, kw_only=True)
class Files:
    """How files are read."""

    source: Annotated[
        list[str] | None,
        Parameter(
            name="--from",
            alias=("--format", "-f"),
            help="The format of the input, or several possible ones; auto (the default) detects it.",
            negative=(),
            consume_multiple=False,
        ),
    ] = None
    at: Annotated[
        str,
        Parameter(help="The JSON pointer of the conversation, such as /body; it is found in rows without that place."),
    ] = ""
    answer: Annotated[str | None, Parameter(help="The JSON pointer of its answer, which becomes the last message.")] = (
        None
    )
    answers: Annotated[
        list[str] | None,
        Parameter(
            help="A file with the answers of the rows, such as a batch's output; joined by custom_id, key or id.",
            negative=(),
            consume_multiple=False,
        ),
    ] = None
    column: Annotated[str, Parameter(help="The column of a Parquet file that holds the conversation.")] = ""
    drop_nulls: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Fields that are null count as absent, as in Parquet: Hugging Face's exports of JSON fill in all keys "
            "that another row has.",
        ),
    ] = False
    max_row: Annotated[int, Parameter(help="The maximum size of a row or session in bytes.")] = MAX_ROW

    def picked(self) -> Picked:
        """Return what to read of each row; raises `UnknownFormatError` and `UsageError`."""
        for option, pointer in (("--at", self.at), ("--answer", self.answer or "")):
            if pointer and not pointer.startswith("/"):
                raise UsageError(f"{option} {pointer}: a JSON pointer begins with /: give {option} /{pointer}")
        answers = [one.path for one in sources(self.answers or ())]
        if STDIN in answers:
            raise UsageError("--answers takes files: only the rows may come from stdin")
        names = tuple(find(name).name for name in self.source or () if name != AUTO)
        return Picked(formats=names, at=self.at, answer=self.answer, answers=tuple(answers), drop_nulls=self.drop_nulls)

    def reading(self, given: Sequence[Source]) -> ReadOptions:
        """Return how to read these files; raises `UsageError`."""
        if self.max_row < 1:
            raise UsageError("--max-row is 1 or more")
        refuse_idle(
            {"--column": bool(self.column) and not any(one.is_table for one in given)}, "a Parquet file is read"
        )
        return ReadOptions(self.picked().formats, self.column, self.max_row)

    def sources(self, paths: Sequence[str]) -> list[Source]:
        """Find the files to read, and name in a note those that are left out of folders."""
        left: list[str] = []
        found = sources(paths or (STDIN,), left)
        if left:
            more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
            note(f"not read, because of their names: {', '.join(left[:_NAMED])}{more}")
        return found

    def has_place(self, row: Row) -> bool:
        """Whether a row has the place that is named; False if none is."""
        try:
            return self.picked().has_place(row.value)
        except ParseError:
            return False

    def note_unplaced(self, placed: int, read: int, joined: Joined | None = None) -> None:
        """Write a note if `read` conversations were read and no row has the place that is named.

        Write one, too, if there are more answers in other files than those that were `joined` to rows.
        """
        picked = self.picked()
        if picked.place and read and not (placed or picked.answers):
            note(f"no row has {picked.place}, so {'--at' if self.at else '--answer'} had no effect")
        if joined is not None and joined.unused:
            note(f"{counted_as(joined.unused, 'answer')} of no row")


def refuse_idle(options: Mapping[str, bool], needs: str) -> None:
    """Raise `UsageError` for options that would have no effect."""
    for option in (name for name, idle in options.items() if idle):
        raise UsageError(f"{option} has an effect only if {needs}")


def refuse_new_folders(*paths: Path | None) -> None:
    """Raise `UsageError` for a file to write whose folder does not exist."""
    for path in filter(None, paths):
        if not path.parent.exists():
            raise UsageError(f"{path}: there is no folder {path.parent}: make it first")


def check_jobs(jobs: int) -> None:
    """Raise `UsageError` for a number of processes below 1."""
    if jobs < 1:
        raise UsageError("--jobs is 1 or more")


class ProgressStep(Protocol):
    """The progress of a batch."""

    source: Source
    read: int


@contextmanager
def progress(sources: Sequence[Source]) -> Generator[Callable[[ProgressStep, int], None]]:
    """Show how much of the files is read, how fast, and the remaining time; not on a terminal, a line now and then.

    The returned function takes the last batch and the number of conversations so far.
    """
    sizes = [one.size for one in sources]
    before = {one.path: sum(size or 0 for size in sizes[:at]) for at, one in enumerate(sources)}
    total = None if None in sizes else sum(size or 0 for size in sizes)
    if not sys.stderr.isatty():
        last = monotonic()

        def line(done: ProgressStep, count: int) -> None:
            nonlocal last
            if monotonic() - last >= _PAUSE:
                last = monotonic()
                share = f", {100 * (before[done.source.path] + done.read) // total} % read" if total else ""
                note(f"{counted_as(count, 'conversation')} so far{share}")

        yield line
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=total)
        first = 0

        def step(done: ProgressStep, count: int) -> None:
            nonlocal first
            first = first or count
            elapsed = shown.tasks[0].elapsed
            rate = f", {(count - first) / elapsed:.0f}/s" if elapsed and count > first else ""
            text = f"{counted_as(count, 'conversation')}{rate}"
            shown.update(task, completed=before[done.source.path] + done.read, description=text)

        yield step
