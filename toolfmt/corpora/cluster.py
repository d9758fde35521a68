"""The Ray engine: sends pieces of files to the machines of a cluster and yields the results in order.

A piece is a span of batches. The machine that gets it reads the file itself, so every machine must have the files under
the same names. A compressed file can only be read from its beginning and is one piece. Each batch is converted by
`convert_batch`, as on one machine.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.sources import START, STDIN, Position, Source
from toolfmt.corpora.streams import arrow, is_packed
from toolfmt.corpora.work import Done, Job, Work, convert_batch
from toolfmt.errors import CorpusError, MissingExtraError, ToolFmtError

SPAN: Final = 32 << 20
"""The size of a piece in bytes."""
_PIECE: Final = "piece"
_DONE: Final = "done"


@dataclass(frozen=True, slots=True)
class FileSpan:
    """The batches of a file between two offsets; to the end if `stop` is None."""

    source: Source
    start: Position
    stop: int | None = None


@dataclass(frozen=True, slots=True)
class Worker:
    """The work of a machine on its pieces."""

    work: Work
    reading: ReadOptions

    def __call__(self, rows: dict[str, Any]) -> Iterator[dict[str, list[bytes]]]:
        """Convert pickled pieces to pickled results, one for each batch; a read error comes last."""
        for data in rows[_PIECE]:
            try:
                for done in self.run(pickle.loads(data)):  # noqa: S301 - written by `run` below
                    yield {_DONE: [pickle.dumps(done)]}
            except (ToolFmtError, OSError) as error:
                yield {_DONE: [pickle.dumps(error)]}

    def run(self, piece: FileSpan) -> Iterator[Done]:
        """Convert the batches of a piece."""
        for batch in self.reading.batches(piece.source, piece.start):
            yield convert_batch(self.work, batch)
            if piece.stop is not None and batch.end.offset >= piece.stop:
                return


def run(job: Job) -> Iterator[Done]:
    """Run a job; raises MissingExtraError without Ray."""
    cluster = _ray()
    if not cluster.is_initialized():
        cluster.init(log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    context = cluster.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    context.enable_progress_bars = False
    found = [{_PIECE: pickle.dumps(piece)} for piece in pieces(job)]
    if not found:
        return
    given = cluster.data.from_items(found, override_num_blocks=len(found))
    for row in given.map_batches(Worker(job.work, job.reading).__call__, batch_size=1).iter_rows():
        done: Done | Exception = pickle.loads(row[_DONE])  # noqa: S301 - written by a worker
        if isinstance(done, Exception):
            raise done
        yield done


def pieces(job: Job, span: int = SPAN) -> Iterator[FileSpan]:
    """Cut the files into pieces of about `span` bytes, each starting with a batch."""
    start = job.start
    for source in job.sources:
        if source.path == STDIN:
            raise CorpusError("a cluster reads files, not standard input: name some")
        if source.is_table:
            yield from _groups(source, start)
        elif is_packed(source.path):
            yield FileSpan(source, start)
        else:
            yield from _spans(source, start, job.reading, span)
        start = START


def _ray() -> Any:
    try:
        import_module("ray.data")
    except ImportError:
        raise MissingExtraError("--engine ray", "ray") from None
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    return import_module("ray")


def _spans(source: Source, start: Position, reading: ReadOptions, span: int) -> Iterator[FileSpan]:
    end = start
    for batch in reading.batches(source, start):
        end = batch.end
        if end.offset - start.offset >= span:
            yield FileSpan(source, start, end.offset)
            start = end
    if end != start:
        yield FileSpan(source, start)


def _groups(source: Source, start: Position) -> Iterator[FileSpan]:
    with arrow("Parquet").parquet.ParquetFile(source.path) as file:
        begin = 0
        for group in range(file.num_row_groups):
            end = begin + file.metadata.row_group(group).num_rows
            if end > start.offset:
                first = max(begin, start.offset)
                yield FileSpan(source, Position(first, first), end)
            begin = end
