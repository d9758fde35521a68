r"""The work on a batch: a pure function, the same in this process, in others and on other machines.

convert_batch(work, batch) -> Done(data=b'{"messages": ...}\n...', failures=(...), tally=...)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.corpora.rows import place
from toolfmt.corpora.sources import LINES, TABLES, Position, Source, stem
from toolfmt.corpora.streams import packed
from toolfmt.corpora.tables import TableBatch, table
from toolfmt.corpora.tally import Tally
from toolfmt.errors import ConversionError, ToolFmtError
from toolfmt.transcripts.carrying import DEFAULT, Carry
from toolfmt.transcripts.convert import convert
from toolfmt.transcripts.exchanges import put_inside
from toolfmt.transcripts.loss import Loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.corpora.batches import Batch, ReadOptions
    from toolfmt.corpora.picked import Picked
    from toolfmt.corpora.rows import Row
    from toolfmt.model import JsonObject


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


def convert_batch(work: Work, batch: Batch) -> Done:
    """Convert every conversation of a batch."""
    done = Done(batch.source, batch.end, batch.read)
    name = work.name(batch.source)
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
            made = convert(
                work.picked.conversation(found),
                source=work.picked.source,
                target=work.target,
                strict=work.strict,
                include=work.include,
                carry=work.carry,
            )
            value = put_inside(found, work.picked.at, made.value)
            text = jsontext.dumps(value, indent=2 if spread and not row.line else None)
        except ToolFmtError as error:
            if work.stop:
                done.stopped = f"{place(row)}: {error}"
                break
            done.failures.append(_failure(row, error))
            done.tally.failed += 1
        else:
            rows.append(at)
            texts.append(text)
            done.tally.add(row, (*made.all_losses, *lost))
    if is_table:
        done.data = (batch.kept(rows, texts) if isinstance(batch, TableBatch) else table(texts)) if rows else b""
    else:
        done.data = packed("".join(f"{text}\n" for text in texts).encode(), name)
    return done


def _alone(batch: TableBatch) -> tuple[TableBatch, tuple[Loss, ...]]:
    """Leave no columns beside the conversation: what cannot go into its object is lost."""
    columns = batch.columns
    lost = (Loss("request_field", f"/{name}", "dropped", "a column") for name in columns.beside if columns.one)
    return replace(batch, columns=replace(columns, beside=())), tuple(lost)


def _failure(row: Row, error: ToolFmtError) -> JsonObject:
    return {"file": row.file, "line": row.line or None, "reason": str(error), "text": row.text}
