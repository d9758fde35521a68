r"""The work on a batch: a pure function, the same in this process, in others and on other machines.

convert_batch(work, batch) -> Done(data=b'{"messages": ...}\n...', failures=(...), tally=...)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.corpora.rows import place
from toolfmt.corpora.selecting import EVERYTHING, Selection, fingerprint
from toolfmt.corpora.sources import LINES, TABLES, Position, Source, stem
from toolfmt.corpora.streams import packed
from toolfmt.corpora.tables import TableBatch, table
from toolfmt.corpora.tally import Tally
from toolfmt.errors import ConversionError, ToolFmtError
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.convert import convert_row
from toolfmt.transcripts.exchanges import put_inside
from toolfmt.transcripts.fitting.carrying import DEFAULT, Carry
from toolfmt.transcripts.reading import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.corpora.batches import Batch, ReadOptions
    from toolfmt.corpora.rows import Picked, Row
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.convert import Conversion
    from toolfmt.transcripts.format import TranscriptFormat
    from toolfmt.transcripts.repair import Mending


@dataclass(frozen=True, slots=True)
class Work:
    """What is done with every conversation."""

    picked: Picked
    target: str
    out: str = ""
    """The name of the file that is written, which says how; empty: that of each input."""
    strict: bool = False
    stop: bool = False
    """The first conversation that can't be converted is the last that is looked at."""
    include: tuple[str, ...] = ("tools",)
    carry: Carry = DEFAULT
    """What becomes of parts that the target has no place for."""
    repair: Mending | None = None
    """What becomes of calls without a result and results without a call."""
    selection: Selection = EVERYTHING
    """Which conversations are taken."""
    unique: bool = False
    """Of conversations that say the same only the first is written."""
    beside: bool = False
    """A row is `{"conversation": ..., "losses": [...], "source": {...}}`."""
    spread: bool = True
    """A conversation that is a whole file is written over several lines, but for one in a file of lines."""

    def name(self, source: Source) -> str:
        """Give the name of the file that an input is written to."""
        return self.out or source.name


@dataclass(frozen=True, slots=True)
class Job:
    """The work, what it is done with, and where it begins."""

    work: Work
    reading: ReadOptions
    sources: Sequence[Source]
    start: Position
    jobs: int


@dataclass(slots=True)
class Done:
    """What became of a batch."""

    source: Source
    end: Position
    read: int
    data: bytes = b""
    """What is to be written, complete in itself."""
    failures: list[JsonObject] = field(default_factory=list["JsonObject"])
    tally: Tally = field(default_factory=Tally)
    stopped: str = ""
    """Why and where it stopped."""
    left_out: str = ""
    """What a run that does not stop leaves out."""
    name: str = ""
    """The name of the file that is written, which says how."""
    kept: list[Kept] = field(default_factory=list["Kept"])
    """What is to be written where duplicates are left out, instead of `data`."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A converted conversation that is written if no earlier one says the same."""

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
    rows: list[int] = []
    texts: list[str] = []
    for at, row in enumerate(batch.rows()):
        try:
            if work.strict and lost:
                raise ConversionError(f"the conversion would lose the column {lost[0].path[1:]}")
            found = row.value
            conversation = work.picked.conversation(found)
            source = work.picked.origin(conversation)
            chosen = _chosen(conversation, source, work)
            if chosen is None:
                done.tally.filtered += 1
                continue
            made = convert_row(
                conversation,
                source=source.name,
                target=work.target,
                strict=work.strict,
                include=work.include,
                carry=work.carry,
                repair=work.repair,
            )
            losses = (*made.all_losses, *lost)
            value = (
                _beside(row, made, losses) if work.beside else put_inside(found, work.picked.place(found), made.value)
            )
            text = jsontext.dumps(value, indent=2 if spread and not row.line else None)
        except ToolFmtError as error:
            if work.stop:
                done.stopped = f"{place(row)}: {error}"
                done.left_out = "this conversation" if row.line else "the whole file"
                break
            where: JsonObject = {"file": row.file, "line": row.line or None}
            done.failures.append({**where, "reason": str(error), "text": row.text})
            done.tally.failed += 1
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


def _chosen(conversation: JsonValue, made: TranscriptFormat, work: Work) -> bytes | None:
    """Give the fingerprint of a conversation that is taken, if it is asked for; None for another."""
    if work.selection == EVERYTHING and not work.unique:
        return b""
    transcript = read(conversation, made)
    if not work.selection.takes(transcript):
        return None
    return fingerprint(transcript) if work.unique else b""


def _beside(row: Row, made: Conversion, losses: tuple[Loss, ...]) -> JsonObject:
    """Put a conversation and its losses beside each other."""
    return {
        "conversation": made.value,
        "losses": [
            {"code": one.code, "severity": one.severity, "path": one.path, "action": one.action, "detail": one.detail}
            for one in losses
        ],
        "source": {"file": row.file, "line": row.line or None, "format": made.source},
    }


def _alone(batch: TableBatch) -> tuple[TableBatch, tuple[Loss, ...]]:
    """Leave no columns beside the conversation: what cannot go into its object is lost."""
    columns = batch.columns
    lost = (Loss("request_field", f"/{name}", "dropped", "a column") for name in columns.beside if columns.one)
    return replace(batch, columns=replace(columns, beside=())), tuple(lost)
