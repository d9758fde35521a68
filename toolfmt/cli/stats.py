"""`toolfmt stats`: what conversations hold."""

from functools import partial
from typing import Annotated

from cyclopts import Parameter

from toolfmt.cli.files import Files, check_jobs, progress
from toolfmt.cli.output import counted_as, ended, note, note_reasons, write_json, write_table
from toolfmt.corpora.answer_files import Joined
from toolfmt.corpora.engines import mapped
from toolfmt.corpora.statistics import Statistics, count_batch
from toolfmt.corpora.tokens import load
from toolfmt.model import JsonObject


def stats(
    *paths: Annotated[str, Parameter(help="Files, folders, globs, each file once, or - for stdin (the default).")],
    files: Files = Files(),  # noqa: B008 - frozen
    json: Annotated[bool, Parameter(help="Print JSON.")] = False,
    tokenizer: Annotated[
        str, Parameter(help="Count tokens with this tokenizer.json, or the one in this folder; needs the extra tokens.")
    ] = "",
    jobs: Annotated[int, Parameter(alias="-j", help="The number of processes.")] = 1,
) -> int:
    """Count formats, messages, tools, calls and their failures.

    The exit code is 1 if a conversation could not be read, or there is none.
    """
    check_jobs(jobs)
    if tokenizer:
        load(tokenizer)
    given = files.sources(paths)
    reading = files.reading(given)
    total, joined = Statistics(), Joined(files.picked().answers)
    with progress(given) as step:
        for counted in mapped(partial(count_batch, files.picked(), tokenizer), reading.all(given), jobs):
            joined.add(counted.joined)
            total.merge(counted.statistics)
            step(counted, total.conversations)
    if json:
        write_json(total.report())
    else:
        _show(total.report())
    files.note_unplaced(total.placed, total.conversations, joined)
    empty = "" if total.conversations or total.unreadable else ": the input is empty"
    note(f"{counted_as(total.conversations, 'conversation')}, {total.unreadable} unreadable{empty}")
    return 1 if total.unreadable or not total.conversations else 0


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
    note_reasons(report["unreadable_because"], "unreadable")
    if tokens := report.get("tokens"):
        note(f"{tokens['all']} tokens, {tokens['longest']} in the longest conversation")
    if orphans := report["results_of_no_call"]:
        note("1 result answers no call" if orphans == 1 else f"{orphans} results answer no call")
    if cut := ended(report["endings"]):
        note(cut)
    if damaged := report["damaged_lines"]:
        note(f"{counted_as(damaged, 'line')} of sessions left out as damaged: `toolfmt check` names them")
