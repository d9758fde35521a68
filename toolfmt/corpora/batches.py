"""Files as batches: some rows each, cut where the file alone says, so that any run cuts them alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolfmt.corpora.sources import START, Position, Source
from toolfmt.corpora.tables import TableBatch, table_batches
from toolfmt.corpora.texts import TextBatch, text_batches

Batch: TypeAlias = TextBatch | TableBatch
MAX_ROW: Final = 64 << 20
"""Bytes of the longest row that is read, by default: one row is held whole, as are the values in it."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are read."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may be of; none: any."""
    column: str = ""
    """The column of a table that holds the conversation; empty: found by itself."""
    limit: int = MAX_ROW

    def batches(self, source: Source, start: Position = START) -> Iterator[Batch]:
        """Read a file from a place between two batches on."""
        if source.is_table:
            return table_batches(source, start, self.column, self.formats, self.limit)
        return text_batches(source, start, self.limit, self.formats)

    def all(self, sources: Sequence[Source], start: Position = START) -> Iterator[Batch]:
        """Read files one after the other, the first from a place between two batches on."""
        for source in sources:
            yield from self.batches(source, start)
            start = START
