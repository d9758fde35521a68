"""Parquet: batches of rows, and tables that are written.

    id: int64   messages: list<struct<role: string, content: string>>   ->   id: int64   conversation: string

The conversation is a column of its own (`conversation`, or the one that is named), as lists and structs or as JSON
text; else it is made of all columns that its format reads. Every other column stays beside it as it is. What is written
has the conversation as JSON text, because formats mix types that a column cannot, or its keys as columns of lists and
structs. A struct's empty fields are left out: Arrow cannot tell them from fields that are not there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from toolfmt import jsontext
from toolfmt.corpora.pages import PREFIXED, PageError, longest_row, pages
from toolfmt.corpora.rows import Row, without_nulls
from toolfmt.corpora.sources import Position, Source
from toolfmt.corpora.streams import arrow
from toolfmt.corpora.texts import SIZE
from toolfmt.errors import CorpusError, ParseError, ToolFmtError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonValue
from toolfmt.transcripts.recognising import origin

CONVERSATION: Final = "conversation"
_MOST: Final = 1000
_RATIO: Final = 1000
"""How many times its stored size a column may take; text that repeats itself takes some hundred times."""
_UNPACKED: Final = 128 * SIZE
"""Bytes that a batch may take where values are stored once for many rows."""
_PAGES: Final = 256 * SIZE
"""Bytes that the largest pages of all columns may take together; a writer puts a thousand rows into each at least."""
_VALUE: Final = 8
"""Bytes of a value that has no length."""
_FEATURE: Final = "Parquet"


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns make up a conversation."""

    one: str = ""
    """The column that holds all of it; else it is a row's object."""
    beside: tuple[str, ...] = ()
    parsed: tuple[str, ...] = ()
    """Columns of JSON text that the format wants as values."""

    def content(self, row: dict[str, Any]) -> JsonValue:
        """Take the conversation out of a row."""
        if self.one:
            value = row.get(self.one)
            return jsontext.loads(value) if isinstance(value, str) else value
        return {
            name: jsontext.loads(value) if name in self.parsed and isinstance(value, str) else value
            for name, value in row.items()
            if name not in self.beside
        }


@dataclass(frozen=True, slots=True)
class TableRow(Row):
    """A row of a table."""

    columns: Columns
    data: dict[str, Any]

    @property
    def text(self) -> str:
        """Return all columns as JSON; what JSON cannot hold is described."""
        return json.dumps(self.data, ensure_ascii=False, default=str)

    @property
    def value(self) -> JsonValue:
        """Return the conversation; raises ParseError for text that is not JSON."""
        return self.columns.content(self.data)


@dataclass(frozen=True, slots=True)
class TableBatch:
    """Some rows of a table."""

    source: Source
    end: Position
    read: int
    data: Any
    """A pyarrow.RecordBatch."""
    columns: Columns

    def rows(self) -> Iterator[TableRow]:
        """Return the rows."""
        first = self.end.offset - self.data.num_rows + 1
        for at, row in enumerate(map(without_nulls, self.data.to_pylist()), first):
            yield TableRow(self.source.path, at, self.columns, row)

    def kept(self, rows: list[int], texts: list[str]) -> bytes:
        """Write the conversations of some rows, with the columns beside them, as an Arrow stream."""
        if CONVERSATION in self.columns.beside:
            raise CorpusError(f"{self.source.path}: has a column {CONVERSATION!r}, which would be written twice")
        return table(texts, self.data.select(list(self.columns.beside)).take(arrow(_FEATURE).array(rows, "int64")))


def table_batches(
    source: Source, start: Position, column: str, formats: tuple[str, ...], limit: int
) -> Iterator[TableBatch]:
    """Read a table in batches of about a megabyte, from a place between two of them on.

    Raises `ParseError` for what is damaged, and for rows of more than `limit` bytes, before they are unpacked.
    """
    pyarrow = arrow(_FEATURE)
    try:
        plain, kept = _schema(pyarrow, source.path)
        with (
            Path(source.path).open("rb") as stored,
            pyarrow.parquet.ParquetFile(source.path, read_dictionary=kept) as file,
        ):
            total = file.metadata.num_rows
            columns: Columns | None = None
            offset = 0
            for group in range(file.num_row_groups):
                rows = file.metadata.row_group(group).num_rows
                if offset + rows <= start.offset and columns is not None:
                    offset += rows
                    continue
                place = f"{source.path}: rows from {offset + 1} on"
                size = _batch_size(stored, file, file.metadata.row_group(group), limit, place, kept)
                for packed in file.iter_batches(batch_size=size, row_groups=[group]):
                    for part in _parts(pyarrow, packed, offset + 1, limit, source.path):
                        batch = part.cast(plain)
                        batch.validate(full=True)  # text that is not UTF-8, for one
                        columns = columns or _columns(batch, column, formats, source.path)
                        offset += batch.num_rows
                        if offset > start.offset:
                            read = (source.size or 0) * offset // total
                            yield TableBatch(source, Position(offset, offset), read, batch, columns)
    except (pyarrow.ArrowException, PageError, UnicodeDecodeError) as error:
        raise ParseError(f"{source.path}: damaged Parquet: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ParseError(f"{source.path}: damaged Parquet: {error}") from None


def _batch_size(  # noqa: PLR0913, PLR0917 - where, and what is known of it
    stored: BinaryIO, file: Any, group: Any, limit: int, place: str, kept: list[str]
) -> int:
    """Say how many rows to unpack at once; raises `ParseError` for rows that are too large to be unpacked."""
    rows = max(group.num_rows, 1)
    sizes = [_size(stored, group.column(number)) for number in range(group.num_columns)]
    each = max(1, sum(one.total for one in sizes) // rows)
    if each > limit:
        raise ParseError(f"{place}: {each} bytes each are more than the limit of {limit} (--max-row)")
    for number, one in enumerate(sizes):  # one row may be nearly all of a column
        name, packed = group.column(number).path_in_schema, group.column(number).total_compressed_size
        if one.total > max(limit, _RATIO * packed):
            what = f"the column {name!r} unpacks to {one.total} bytes"
            raise ParseError(f"{place}: {what}, more than {_RATIO} times what is stored")
    largest = sum(one.largest for one in sizes)
    if largest > max(limit, _PAGES):
        raise ParseError(f"{place}: pages of {largest} bytes are unpacked at once; --max-row allows pages of its size")
    lists = [
        (group.column(number), one.values, max(_VALUE, stored_as.length or 0, one.prefixed), depth)
        for number, one in enumerate(sizes)
        if (depth := (stored_as := file.schema.column(number)).max_repetition_level)
    ]
    row = 0
    if sum(values * width for _, values, width, _ in lists) > _UNPACKED:  # they may all be in one row
        for column, _, width, depth in lists:
            values = longest_row(arrow(_FEATURE), stored, column, depth)
            row += values * width
            if row > limit:
                what = f"a row's lists hold {values} values of {width} bytes in the column {column.path_in_schema!r}"
                raise ParseError(f"{place}: {what}, more than the limit of {limit} (--max-row)")
    # A value of a dictionary, or a beginning that values share, is stored once, and may be that of every row.
    repeated = sum(
        one.prefixed + (0 if group.column(number).path_in_schema in kept else one.dictionary)
        for number, one in enumerate(sizes)
    )
    return max(1, min(_MOST, SIZE // each, _UNPACKED // max(repeated, row, 1)))


class _ColumnSize(NamedTuple):
    """What a column unpacks to, in bytes, and how many values it has."""

    total: int
    largest: int
    """The largest page."""
    dictionary: int
    prefixed: int
    """The largest page whose values leave out the beginning that they share with the one before."""
    values: int


def _size(stored: BinaryIO, column: Any) -> _ColumnSize:
    total = largest = dictionary = prefixed = values = 0
    for page in pages(stored, column):
        total += page.unpacked
        largest = max(largest, page.unpacked)
        dictionary += 0 if page.values else page.unpacked
        prefixed = max(prefixed, page.unpacked if page.encoding == PREFIXED else 0)
        values += page.values
    return _ColumnSize(total, largest, dictionary, prefixed, values)


def _schema(pyarrow: Any, path: str) -> tuple[Any, list[str]]:
    """Return the schema without categories, and the columns of text in lists, which are read packed.

    One row may repeat a stored text there as often as it likes.
    """
    with pyarrow.parquet.ParquetFile(path) as file:
        groups = [file.metadata.row_group(group) for group in range(file.num_row_groups)]
        stored: list[Any] = [file.schema.column(number) for number in range(len(file.schema))]
        repeated: list[str] = [
            one.path
            for number, one in enumerate(stored)
            if one.max_repetition_level
            and one.physical_type == "BYTE_ARRAY"
            and not any("DELTA_BYTE_ARRAY" in group.column(number).encodings for group in groups)
        ]
        fields = [
            field.with_type(field.type.value_type) if pyarrow.types.is_dictionary(field.type) else field
            for field in file.schema_arrow
        ]
        return pyarrow.schema(fields), repeated


def _parts(pyarrow: Any, batch: Any, first: int, limit: int, path: str) -> Iterator[Any]:
    """Cut a batch so that no part unpacks to much; raises `ParseError` for a row of more than `limit` bytes."""
    if _unpacked(pyarrow, batch) <= min(limit, _UNPACKED):
        yield batch
        return
    start = held = 0
    for at in range(batch.num_rows):
        size = _unpacked(pyarrow, batch.slice(at, 1))
        if size > limit:
            raise ParseError(f"{path}: row {first + at}: {size} bytes are more than the limit of {limit} (--max-row)")
        if held + size > _UNPACKED and at > start:
            yield batch.take(pyarrow.array(range(start, at)))  # a slice would be unpacked with all that it was cut from
            start, held = at, 0
        held += size
    yield batch.take(pyarrow.array(range(start, batch.num_rows)))


def _unpacked(pyarrow: Any, data: Any) -> int:
    """Say how many bytes a batch, or an array, takes with each text that it repeats."""
    if isinstance(data, pyarrow.RecordBatch):
        return sum(_unpacked(pyarrow, column) for column in data.columns)
    kind = data.type
    if pyarrow.types.is_dictionary(kind):
        if pyarrow.types.is_primitive(kind.value_type):
            return _VALUE * len(data)
        compute: Any = import_module("pyarrow.compute")
        lengths = compute.binary_length(data.dictionary)
        return data.indices.nbytes + (compute.sum(lengths.take(data.indices)).as_py() or 0)
    if pyarrow.types.is_struct(kind):
        return sum(_unpacked(pyarrow, column) for column in data.flatten())
    if pyarrow.types.is_map(kind):
        data = data.cast(pyarrow.list_(kind.field(0).type))
    if pyarrow.types.is_nested(kind) and hasattr(data, "flatten"):
        return _VALUE * len(data) + _unpacked(pyarrow, data.flatten())
    return max(data.nbytes, _VALUE * len(data))  # a number of one byte, and a null, is an object too


def table(texts: list[str], beside: Any = None) -> bytes:
    """Write conversations, and the columns beside them, as an Arrow stream."""
    pyarrow = arrow(_FEATURE)
    column = pyarrow.array(texts, "string")
    if beside is None:
        batch = pyarrow.record_batch([column], names=[CONVERSATION])
    else:
        fields = [*beside.schema, pyarrow.field(CONVERSATION, "string")]
        batch = pyarrow.record_batch([*beside.columns, column], schema=pyarrow.schema(fields))
    sink = pyarrow.BufferOutputStream()
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def write_parquet(streams: str, path: str, *, typed: bool = False, group: int = 64 * SIZE) -> None:
    """Make a Parquet file of a file of Arrow streams, one after the other; raises CorpusError if they differ.

    `typed` writes the keys of the conversations as columns, whose types are those of all rows.
    """
    pyarrow = arrow(_FEATURE)
    try:
        schema = _written_schema(pyarrow, streams, path, typed=typed)
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            held: list[Any] = []
            for batch in _batches(pyarrow, streams):
                held.append(_as_typed(pyarrow, batch, schema) if typed else batch)
                if sum(one.nbytes for one in held) >= group:
                    writer.write_table(pyarrow.Table.from_batches(held))
                    held.clear()
            if held:
                writer.write_table(pyarrow.Table.from_batches(held))
    except (pyarrow.ArrowException, OverflowError) as error:
        raise CorpusError(f"{_MIXED}: {error}") from None


_MIXED: Final = "columns of one type each cannot hold the conversations as they are: leave out --columns"


def _batches(pyarrow: Any, streams: str) -> Iterator[Any]:
    with pyarrow.OSFile(streams) as file:
        while file.tell() < file.size():
            yield from pyarrow.ipc.open_stream(file)


def _written_schema(pyarrow: Any, streams: str, path: str, *, typed: bool) -> Any:
    schema = None
    for batch in _batches(pyarrow, streams):
        found = _as_typed(pyarrow, batch).schema if typed else batch.schema
        if schema is not None and typed:
            schema = pyarrow.unify_schemas([schema, found], promote_options="permissive")
        elif schema not in (None, found):
            raise CorpusError(f"{path}: the inputs have different columns: convert them to a folder")
        else:
            schema = found
    return schema or pyarrow.schema({CONVERSATION: "string"})


def _as_typed(pyarrow: Any, batch: Any, schema: Any = None) -> Any:
    """Write the keys of a batch's conversations as columns; with the final `schema`, check that nothing changes."""
    beside = batch.drop_columns([CONVERSATION])
    made = [jsontext.loads(text) for text in batch.column(CONVERSATION).to_pylist()]
    rows = [value if is_object(value) else {"messages": value} for value in made]
    names = dict.fromkeys(name for row in rows for name in row)
    if twice := sorted(names.keys() & set(beside.schema.names)):
        raise CorpusError(f"the column {twice[0]!r} would be written twice")
    columns = {
        name: pyarrow.array([row.get(name) for row in rows], schema and schema.field(name).type) for name in names
    }
    if schema is None:
        return pyarrow.RecordBatch.from_arrays([*beside.columns, *columns.values()], [*beside.schema.names, *names])
    typed = pyarrow.RecordBatch.from_pydict({name: columns.get(name) for name in names}) if names else beside
    if not jsontext.equal(without_nulls(typed.to_pylist()), without_nulls(rows)):
        raise CorpusError(_MIXED)
    size = batch.num_rows
    filled = {name: beside.column(name) for name in beside.schema.names} | columns
    arrays = [filled[one.name] if one.name in filled else pyarrow.nulls(size, one.type) for one in schema]
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _columns(batch: Any, column: str, formats: tuple[str, ...], path: str) -> Columns:
    """Tell from the first batch which columns are the conversation."""
    names: list[str] = batch.schema.names
    if column and column not in names:
        raise CorpusError(f"{path}: there is no column {column!r}; there are {', '.join(names)}")
    one = column or (CONVERSATION if CONVERSATION in names else "")
    if one:
        return Columns(one, beside=tuple(name for name in names if name != one))
    rows = [without_nulls(row) for row in batch.to_pylist()]
    texts = tuple(name for name in names if any(_is_json(row.get(name)) for row in rows))
    for parsed in ((), texts):
        known = _known(rows, Columns(parsed=parsed), formats)
        if known:
            return Columns(beside=tuple(name for name in names if name not in known), parsed=parsed)
    return Columns()


def _known(rows: list[dict[str, Any]], columns: Columns, formats: tuple[str, ...]) -> set[str]:
    """Name the columns that a conversation's reader understands; none if it cannot read the rows."""
    known: set[str] = set()
    for row in rows:
        try:
            value = columns.content(row)
            made = origin(value, formats or "auto")
            unknown = made.read(value).extra
        except (ToolFmtError, AttributeError, IndexError, KeyError, TypeError):
            continue
        known.update(name for name in row if row[name] is not None and f"{made.name}.{name}" not in unknown)
    return known


def _is_json(value: object) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("[", "{"))
