"""Show the progress of a long run, if stderr is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from toolfmt.corpora.sources import Source


class ProgressStep(Protocol):
    """The progress of a batch."""

    source: Source
    read: int


@contextmanager
def progress(sources: Sequence[Source]) -> Generator[Callable[[ProgressStep, int], None]]:
    """Show how much of the files is read, how fast, and the remaining time; only on a terminal.

    The returned function takes the last batch and the number of conversations so far.
    """
    if not sys.stderr.isatty():
        yield lambda _step, _count: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.fields[count]} conversations"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    sizes = [one.size for one in sources]
    before = {one.path: sum(size or 0 for size in sizes[:at]) for at, one in enumerate(sources)}
    total = None if None in sizes else sum(size or 0 for size in sizes)
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("", total=total, rate="", count=0)
        first = 0

        def step(done: ProgressStep, count: int) -> None:
            nonlocal first
            first = first or count
            elapsed = shown.tasks[0].elapsed
            rate = f"{(count - first) / elapsed:.0f}/s" if elapsed and count > first else ""
            shown.update(task, completed=before[done.source.path] + done.read, count=count, rate=rate)

        yield step
