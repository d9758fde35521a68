r"""Converts a batch: a pure function, the same in every process and on every machine.

convert_batch(work, batch) -> Done(data=b'{"messages": ...}\n...', failures=(...), tally=...)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from toolfmt import jsontext
from toolfmt.corpora.answer_files import Join
from toolfmt.corpora.batches import Batch, ReadOptions
from toolfmt.corpora.picks import Pick, Picked
from toolfmt.corpora.rows import Row, TextRow, has_null_schema, place, without_nulls
from toolfmt.corpora.selecting import EVERYTHING, Selection, fingerprint
from toolfmt.corpora.sources import LINES, TABLES, Position, Source, stem
from toolfmt.corpora.streams import packed
from toolfmt.corpora.tables import TableBatch, table
from toolfmt.corpora.tally import Tally
from toolfmt.errors import ConversionError, ToolFmtError
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.convert import Conversion, convert_row, refuse
from toolfmt.transcripts.exchanges import put_inside
from toolfmt.transcripts.fitting.carrying import DEFAULT, Carry
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.reading import read
from toolfmt.transcripts.repair import Mending


@dataclass(frozen=True, slots=True)
class Work:
    """The options for converting each conversation."""

    picked: Picked
    target: str
    out: str = ""
    """The name of the output file, whose suffix decides the compression; empty: the name of each input."""
    strict: bool = False
    stop: bool = False
    """Stop at the first conversation that cannot be converted."""
    include: tuple[str, ...] = ("tools",)
    carry: Carry = DEFAULT
    """How to write parts that the target has no place for."""
    repair: Mending | None = None
    """How to repair calls without a result and results without a call."""
    selection: Selection = EVERYTHING
    """The conversations to convert."""
    unique: bool = False
    """Write only the first of equal conversations."""
    beside: bool = False
    """Write rows of `{"conversation": ..., "losses": [...], "source": {...}}`."""
    typed: bool = False
    """Write a table's conversations as columns of lists and structs."""
    spread: bool = True
    """Indent a conversation that is a whole file, unless the output is a file of lines."""

    def name(self, source: Source) -> str:
        """Return the name of the file that an input is written to."""
        return self.out or source.name


@dataclass(frozen=True, slots=True)
class Job:
    """The work, its inputs, and where it starts."""

    work: Work
    reading: ReadOptions
    sources: Sequence[Source]
    start: Position
    jobs: int


@dataclass(slots=True)
class Done:
    """The result of a batch."""

    source: Source
    end: Position
    read: int
    data: bytes = b""
    """The bytes to write, complete in themselves."""
    failures: list[JsonObject] = field(default_factory=list["JsonObject"])
    tally: Tally = field(default_factory=Tally)
    stopped: str = ""
    """Where and why the batch stopped; empty: it did not."""
    left_out: str = ""
    """What another `--on-error` would leave out."""
    name: str = ""
    """The name of the output file, whose suffix decides the compression."""
    joined: list[Join] = field(default_factory=list["Join"])
    """The rows that have an answer in another file."""
    kept: list[Kept] = field(default_factory=list["Kept"])
    """The conversations to write instead of `data` if duplicates are left out."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A converted conversation, to be written unless an earlier one is equal."""

    file: str
    line: int
    key: bytes
    text: str
    losses: tuple[Loss, ...]


def convert_batch(work: Work, batch: Batch) -> Done:
    """Convert every conversation of a batch."""
    name = work.name(batch.source)
    done = Done(batch.source, batch.end, batch.read, name=name)
    is_table = name.endswith(TABLES)
    spread = work.spread and not is_table and not stem(name).endswith(LINES)
    lost: tuple[Loss, ...] = ()
    if isinstance(batch, TableBatch) and not is_table:
        batch, lost = _alone(batch)
    bare = find(work.target).rules.trained
    rows: list[int] = []
    texts: list[str] = []
    for at, row in enumerate(batch.rows()):
        try:
            if work.strict and lost:
                raise ConversionError(f"the conversion would lose the column {lost[0].path[1:]}")
            value = row.value
            done.tally.placed += work.picked.has_place(value)
            done.joined += work.picked.joins(row)
            picked = work.picked.pick(value)
            refuse(picked.losses, strict=work.strict)
            done.tally.nulls += isinstance(row, TextRow) and b"null" in row.data and has_null_schema(picked.value)
            chosen = _chosen(picked, work, done.tally)
            if chosen is None:
                continue
            made = convert_row(
                picked.value,
                source=picked.format.name,
                target=work.target,
                strict=work.strict,
                include=work.include,
                carry=work.carry,
                repair=work.repair,
            )
            _check_nulls(made.value, work)
            losses = (*made.all_losses, *picked.losses, *lost)
            value = made.value if bare else put_inside(picked.row, picked.at, made.value)
            value = _beside(row, made, losses) if work.beside else value
            text = jsontext.dumps(value, indent=2 if spread and not row.line else None)
        except ToolFmtError as error:
            if work.stop:
                done.stopped = f"{place(row)}: {error}"
                done.left_out = "this conversation" if row.line else "the whole file"
                break
            where: JsonObject = {"file": row.file, "line": row.line or None}
            done.failures.append({**where, "reason": str(error), "text": row.text})
            done.tally.refuse(row.file, row.line, str(error))
        else:
            if work.unique:
                done.kept.append(Kept(row.file, row.line, chosen, text, losses))
                continue
            rows.append(at)
            texts.append(text)
            done.tally.add(row.file, row.line, losses)
    if is_table:
        done.data = (batch.kept(rows, texts) if isinstance(batch, TableBatch) else table(texts)) if rows else b""
    else:
        done.data = packed("".join(f"{text}\n" for text in texts).encode(), name)
    return done


def _chosen(picked: Pick, work: Work, tally: Tally) -> bytes | None:
    """Return the fingerprint of a selected conversation, if it is needed; None for others, which are counted."""
    if work.selection == EVERYTHING and not work.unique:
        return b""
    transcript = read(picked.value, picked.format)
    verdict = work.selection.judge(transcript)
    tally.add_names(verdict.names)
    if verdict.left_out:
        setattr(tally, verdict.left_out, getattr(tally, verdict.left_out) + 1)
        return None
    return fingerprint(transcript) if work.unique else b""


def _check_nulls(value: JsonValue, work: Work) -> None:
    """Raise `ConversionError` for a null in a message that means something: in a struct, the field is absent."""
    bare, made = without_nulls(value) if work.typed else value, find(work.target)
    if work.typed and not jsontext.equal(bare, value) and made.read(bare).messages != made.read(value).messages:
        raise ConversionError(
            "a null, such as that of an argument, is a value that columns cannot hold: leave out --columns"
        )


def _beside(row: Row, made: Conversion, losses: tuple[Loss, ...]) -> JsonObject:
    return {
        "conversation": made.value,
        "losses": [
            {name: getattr(one, name) for name in ("code", "severity", "path", "action", "detail")} for one in losses
        ],
        "source": {"file": row.file, "line": row.line or None, "format": made.source},
    }


def _alone(batch: TableBatch) -> tuple[TableBatch, tuple[Loss, ...]]:
    """Remove the columns beside the conversation; where it has a column of its own, they are lost."""
    columns = batch.columns
    lost = (Loss("request_field", f"/{name}", "dropped", "a column") for name in columns.beside if columns.one)
    return replace(batch, columns=replace(columns, beside=())), tuple(lost)
