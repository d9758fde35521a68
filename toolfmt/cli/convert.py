"""`toolfmt convert`: conversations from one format to another, one or millions."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final, Literal

from cyclopts import Parameter
from pydantic_core import to_jsonable_python

from toolfmt import jsontext
from toolfmt.cli.files import Files, check_jobs, progress, refuse_idle, refuse_new_folders
from toolfmt.cli.output import INTERRUPTED, UsageError, counted_as, note, note_reasons, write_table
from toolfmt.corpora.answer_files import Join, Joined
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.engines import ENGINES
from toolfmt.corpora.output import CorpusOutput, Places, State, StateFile, growing, inputs
from toolfmt.corpora.picks import Picked
from toolfmt.corpora.selecting import Filter, Selection, share
from toolfmt.corpora.sources import STDIN, TABLES, Source, sources
from toolfmt.corpora.streams import require
from toolfmt.corpora.tally import Tally
from toolfmt.corpora.targets import Written, check_found, check_shared, check_writable, write_own
from toolfmt.corpora.tokens import load
from toolfmt.corpora.work import Job, Work
from toolfmt.model import JsonObject
from toolfmt.transcripts.fitting.carrying import Carry
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.repair import Mending

_OTHERS: Final = frozenset({".arrow", ".csv", ".feather", ".html", ".md", ".tsv", ".txt", ".xlsx", ".yaml", ".yml"})
"""Endings of files that are neither lines of JSON nor a table that is written."""


def convert(  # noqa: PLR0913 - one argument for each option
    *paths: Annotated[str, Parameter(help="Files, folders, globs, each file once, or - for stdin (the default).")],
    to: Annotated[str, Parameter(help="The format to write; see `toolfmt formats`.")],
    files: Files = Files(),  # noqa: B008 - frozen
    out: Annotated[
        str | None,
        Parameter(alias="-o", help="A file, .gz or .zst to pack it, .parquet for a table, or a folder; - is stdout."),
    ] = None,
    on_error: Annotated[
        Literal["stop", "skip", "quarantine"],
        Parameter(
            help="What to do with a conversation that can't be converted: stop, skip it, or write it to a side file."
        ),
    ] = "stop",
    quarantine: Annotated[
        Path | None, Parameter(help="The side file; by default OUT.quarantine.jsonl, or quarantine.jsonl.")
    ] = None,
    report: Annotated[Path | None, Parameter(help="Write the losses to this file, as JSON.")] = None,
    strict: Annotated[bool, Parameter(help="Do not convert a conversation that would lose something.")] = False,
    request: Annotated[bool, Parameter(help="Convert whole requests with tools and settings.")] = False,
    hosted: Annotated[
        Literal["calls", "text", "drop"], Parameter(help="How to write calls that a provider ran itself.")
    ] = "calls",
    reasoning: Annotated[
        Literal["drop", "text"], Parameter(help="How to write reasoning that the format does not support.")
    ] = "drop",
    gateway: Annotated[
        bool, Parameter(help="Write fields that only gateways to OpenAI's API accept, such as reasoning.")
    ] = False,
    repair: Annotated[
        Mending | None,
        Parameter(
            help="Mend calls without a result and results without a call: fill in placeholders, or drop them. "
            "With the format that is read as --to, mend all that its provider would refuse."
        ),
    ] = None,
    filters: Annotated[
        list[str] | None,
        Parameter(
            name="--filter",
            help="Take only these: tool=NAME, call=NAME, role=NAME (or !=), or messages, calls, errors, broken, "
            "unanswered, orphans, failures, characters, tokens with <=, <, =, !=, > or >= and a number. Several must "
            "all hold.",
            negative=(),
            consume_multiple=False,
        ),
    ] = None,
    split: Annotated[
        str, Parameter(help="Take this share, in percent: 0-90 for training, 90-100 for a test in a second run.")
    ] = "",
    dedup: Annotated[bool, Parameter(help="Write only the first of equal conversations.")] = False,
    tokenizer: Annotated[
        str, Parameter(help="The tokenizer.json, or its folder, for filters on tokens; needs the extra tokens.")
    ] = "",
    losses: Annotated[
        bool, Parameter(help="Write each row as an object with the conversation, its losses and its source.")
    ] = False,
    columns: Annotated[
        bool,
        Parameter(
            negative=(),
            help="Write the conversations of a table as columns of lists and structs, such as messages and tools.",
        ),
    ] = False,
    jobs: Annotated[int, Parameter(alias="-j", help="The number of processes.")] = 1,
    resume: Annotated[bool, Parameter(help="Resume the interrupted run that wrote this output.")] = False,
    overwrite: Annotated[bool, Parameter(help="Start again and replace the output of an interrupted run.")] = False,
    engine: Annotated[Literal["local", "ray"], Parameter(help="Run on this machine or on a Ray cluster.")] = "local",
) -> int:
    """Convert conversations: one JSON value, JSON Lines, or Parquet.

    Losses are reported on stderr. The exit code is 1 if a conversation was left out or none was written, and 2 if the
    command stopped.
    """
    check_jobs(jobs)
    given = files.sources(paths)
    reading, picked = files.reading(given), files.picked()
    goal = find(to).name
    out = None if out == STDIN else out
    folder = out is not None and (out.endswith("/") or Path(out).is_dir())
    if out is not None and not folder:
        _check_name(out, given)
    refuse_idle({"--quarantine": quarantine is not None and on_error != "quarantine"}, "--on-error is quarantine")
    side = quarantine or Path(f"{out.rstrip('/')}.quarantine.jsonl" if out is not None else "quarantine.jsonl")
    aside = side if on_error == "quarantine" else None
    places = Places(out=None if out is None else Path(out), folder=folder, aside=aside, typed=columns)
    refuse_new_folders(places.out, quarantine, report)
    written: list[Written] = [("--out", one) for one in places.targets(given) or (None,)]
    written += [(option, path) for option, path in (("--quarantine", aside), ("--report", report)) if path is not None]
    check_writable(path for _, path in written if path is not None)
    beside = [("--out for its progress", one) for one in places.helpers(given)]
    check_shared(
        [*written, *beside], [*(one.path for one in given), *picked.answers, tokenizer, f"{tokenizer}/tokenizer.json"]
    )
    check_found(written, paths)

    work = Work(
        picked,
        to,
        out="" if folder else Path(out or "-").name,
        strict=strict,
        stop=on_error == "stop",
        include=("tools", "request") if request else ("tools",),
        carry=Carry(hosted=hosted, reasoning=reasoning, gateway=gateway),
        repair=repair,
        spread=folder or len(given) == 1,
        selection=_selection(filters, split, tokenizer),
        unique=dedup,
        beside=losses,
        typed=columns,
    )
    _refuse_together(work, given, resume=resume)
    require(names := list(map(work.name, given)))
    refuse_idle({"--columns": columns and not any(one.endswith(TABLES) for one in names)}, "--out is a .parquet file")
    keep, state = _state(given, places, work, reading, resume=resume, overwrite=overwrite)
    if state is None:
        note(f"{out} is as it was: no run of it was interrupted; without --resume it is written again")
        return 0
    code = 0
    joined = Joined(picked.answers, _joins(picked, reading, given, state))
    output = CorpusOutput(given, places, state, keep)
    try:
        with output, progress(given) as step:
            for done in ENGINES[engine](Job(work, reading, given[state.input :], state.position, jobs)):
                joined.add(done.joined)
                output.add(done)
                step(done, output.tally.converted)
    except KeyboardInterrupt:
        code = INTERRUPTED
    tally = output.tally
    if report is not None:
        write_own(report, jsontext.dumps(tally.report(), indent=2) + "\n")
    if out is not None and out.endswith(".json") and tally.converted > 1:
        note(f"{out} has a conversation on each line: its name should end in .jsonl")
    for hint in filter(None, (one.hint(tally.names) for one in work.selection.filters)):
        note(hint)
    files.note_unplaced(tally.placed, tally.converted + tally.filtered + tally.outside, joined)
    _show(tally, goal, ended="interrupted: " if code else "", kept=f" ({side})" if aside is not None else "")
    if code and keep is not None and not dedup:
        note("the same command with --resume goes on")
    if not (code or tally.converted):
        _show_nothing(tally)
    return code or (1 if tally.failed or not tally.converted else 0)


def _check_name(out: str, given: list[Source]) -> None:
    if Path(out).suffix.lower() in _OTHERS:
        raise UsageError(f"{out} would hold lines of JSON or a table of {', '.join(TABLES)}: end its name in .jsonl")
    if len(given) > 1 and not (Path(out).suffix or Path(out).exists()):
        note(f"{out} is one file of lines; for a folder with a file for each input, give {out}/")


def _selection(filters: list[str] | None, split: str, tokenizer: str) -> Selection:
    found = tuple(map(Filter.of, filters or ()))
    counts = any(one.field == "tokens" for one in found)
    refuse_idle({"--tokenizer": bool(tokenizer) and not counts}, "a --filter compares tokens")
    if counts:
        if not tokenizer:
            raise UsageError("a filter on tokens needs a --tokenizer")
        load(tokenizer)
    return Selection(filters=found, share=share(split) if split else (0, 100), tokenizer=tokenizer)


def _refuse_together(work: Work, given: list[Source], *, resume: bool) -> None:
    if work.unique and resume:
        raise UsageError("--dedup cannot continue an interrupted run; use --overwrite to start again")
    tables = any(work.name(one).endswith(TABLES) for one in given)
    for option, chosen in (("--dedup", work.unique), ("--losses", work.beside)):
        if chosen and tables:
            raise UsageError(f"{option} writes lines of JSON, and a table has columns: choose another --out")


def _state(  # noqa: PLR0913 - what a run is, and how it begins
    given: list[Source], places: Places, work: Work, reading: ReadOptions, *, resume: bool, overwrite: bool
) -> tuple[StateFile | None, State | None]:
    """Return the file of the state, if any, and the state to begin with; None if nothing is left to do."""
    out = places.out
    same = replace(work, out="", stop=False, carry=replace(work.carry, fetch=None))  # what a run may not change
    run: JsonObject = {
        "options": to_jsonable_python((same, reading)),
        "inputs": inputs([*given, *sources(work.picked.answers)]),
        "output": None if out is None else str(out),
    }
    if out is None or places.progress is None or (out.exists() and not (out.is_file() or out.is_dir())):
        if resume:
            raise UsageError("--resume needs an --out that is a file or a folder")
        return None, State(run)
    keep = StateFile(places.progress, run)
    if resume and out.exists() and not keep.path.exists():
        return None, None
    if not (resume or overwrite) and keep.has_begun(growing(places.targets(given)[0])):
        what = f"{out} is the unfinished output of an interrupted run"
        raise UsageError(f"{what}; use --resume to continue or --overwrite to start again")
    return keep, keep.begin(resume=resume)


def _joins(picked: Picked, reading: ReadOptions, given: list[Source], state: State) -> Iterator[Join]:
    """Return the rows with answers in other files that an interrupted run has converted."""
    for at, source in enumerate(given[: state.input + 1] if picked.answers and (state.input or state.offset) else ()):
        for batch in reading.batches(source):
            if at == state.input and batch.end.offset > state.offset:
                break
            for row in batch.rows():
                yield from picked.joins(row)


def _show(tally: Tally, goal: str, *, ended: str, kept: str) -> None:
    rows = tally.table()
    if rows:
        write_table(("loss", "action", "times", "conversations", "what it is"), rows, to=sys.stderr)
    note_reasons(tally.reasons.report(), "left out")
    if tally.nulls:
        many = counted_as(tally.nulls, "conversation")
        note(f"{many} with a tool's property that is null, as in exported tables: --drop-nulls leaves such fields out")
    left = f", {tally.failed} left out{kept}" if tally.failed else ""
    left += f", {tally.filtered} not selected" if tally.filtered else ""
    left += f", {tally.outside} outside of the share" if tally.outside else ""
    left += f", {counted_as(tally.duplicates, 'duplicate')}" if tally.duplicates else ""
    if tally.bookkeeping:
        losses = "loss" if tally.bookkeeping == 1 else "losses"
        left += f"; {tally.bookkeeping} {losses} of bookkeeping (--report lists them)"
    note(f"{ended}{tally.converted} converted to {goal}, {tally.without_loss} without loss{left}")


def _show_nothing(tally: Tally) -> None:
    if tally.filtered or tally.outside:
        note(f"no conversation is selected{'; --split counts in percent' if tally.outside else ''}")
    elif not tally.failed:
        note("no conversation was read: the input is empty")
