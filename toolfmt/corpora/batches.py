"""Batches of rows of a file, cut at places that depend on the file alone, so every run cuts it the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from toolfmt.corpora.sources import START, Position, Source
from toolfmt.corpora.tables import TableBatch, table_batches
from toolfmt.corpora.texts import TextBatch, text_batches

Batch: TypeAlias = TextBatch | TableBatch
MAX_ROW: Final = 64 << 20
"""The default for the longest row, in bytes: a row and its values are in memory at once."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options for reading files."""

    formats: tuple[str, ...] = ()
    """The names of the formats that a conversation may have; empty: any."""
    column: str = ""
    """The column of a table that contains the conversation; empty: it is detected."""
    limit: int = MAX_ROW

    def batches(self, source: Source, start: Position = START) -> Iterator[Batch]:
        """Read a file, starting between two batches."""
        if source.is_table:
            return table_batches(source, start, self.column, self.formats, self.limit)
        return text_batches(source, start, self.limit, self.formats)

    def all(self, sources: Sequence[Source], start: Position = START) -> Iterator[Batch]:
        """Read files in order, the first one starting between two batches."""
        for source in sources:
            yield from self.batches(source, start)
            start = START
