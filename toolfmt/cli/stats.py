"""`toolfmt stats`: what conversations hold."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.errors import UsageError, note
from toolfmt.cli.output import write_json, write_table
from toolfmt.cli.progress import progress
from toolfmt.corpora.batches import MAX_ROW, ReadOptions
from toolfmt.corpora.local import mapped
from toolfmt.corpora.sources import STDIN, sources
from toolfmt.corpora.statistics import Statistics, count_batch
from toolfmt.model import JsonObject
from toolfmt.transcripts.formats import find


def stats(
    *paths: Annotated[str, Parameter(help="Files, folders, globs, or - for stdin, as without any.")],
    format: Annotated[  # noqa: A002 - the word that says it
        str, Parameter(alias=("-f", "--from"), help="The format; auto tells it by itself. See `toolfmt formats`.")
    ] = "auto",
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
    column: Annotated[str, Parameter(help="The column of a Parquet file that holds the conversation.")] = "",
    max_row: Annotated[int, Parameter(help="Refuse rows of more bytes than this.")] = MAX_ROW,
    jobs: Annotated[int, Parameter(alias="-j", help="How many processes work at once.")] = 1,
) -> int:
    """Count formats, messages, tools, calls and their failures.

    The exit code is 1 if a conversation could not be read.
    """
    if jobs < 1 or max_row < 1:
        raise UsageError("--jobs and --max-row are 1 or more")
    name = format if format == "auto" else find(format).name
    given = sources(paths or (STDIN,))
    total = Statistics()
    with progress(given) as step:
        for counted in mapped(partial(count_batch, name), ReadOptions(name, column, max_row).all(given), jobs):
            total.merge(counted.statistics)
            step(counted, total.conversations)
    if json:
        write_json(total.report())
    else:
        _show(total.report())
    note(f"{total.conversations} conversations, {total.unreadable} unreadable")
    return 1 if total.unreadable else 0


def _show(report: JsonObject) -> None:
    tables = [
        (("format", "conversations"), [(name, str(count)) for name, count in report["formats"].items()]),
        (("role", "messages"), [(name, str(count)) for name, count in report["messages"].items()]),
        (
            ("tool", "declared", "calls", "results", "errors", "broken", "unanswered"),
            [(name, *map(str, count.values())) for name, count in report["tools"].items()],
        ),
    ]
    for columns, rows in tables:
        if rows:
            write_table(columns, rows)
    orphans = report["results_of_no_call"]
    if orphans:
        note(f"{orphans} results answer no call")
