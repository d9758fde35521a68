"""Small Parquet files that unpack to much, and damaged ones: bounded memory and an error of its kind."""

from __future__ import annotations

import io
import random
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toolfmt.corpora import tables
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.pages import PageError, longest_row, pages
from toolfmt.corpora.sources import Source
from toolfmt.errors import ParseError

if TYPE_CHECKING:
    from pathlib import Path

READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from toolfmt.corpora import tables
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.sources import Source
rows = 0
for batch in ReadOptions(column="conversation").batches(Source(sys.argv[1], "x")):
    rows += batch.data.num_rows
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(rows, int(peak) // 1024)
"""


def write(path: Path, values: list[str]) -> Path:
    pq.write_table(pa.table({"conversation": values}), path, compression="zstd", write_statistics=False)
    return path


def test_a_row_that_is_too_large_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = write(tmp_path / "cell.parquet", ["x" * (8 << 20)])
    assert path.stat().st_size < 20_000
    with pytest.raises(ParseError, match=r"rows from 1 on: .* more than the limit of 1048576"):
        list(ReadOptions(column="conversation", limit=1 << 20).batches(Source(str(path), "x")))


def test_a_column_that_unpacks_to_far_more_than_is_stored_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "bomb.parquet", ["x" * (8 << 20), *["y"] * 99])
    with pytest.raises(ParseError, match=r"'conversation' unpacks to \d+ bytes, more than 1000 times"):
        list(ReadOptions(column="conversation", limit=1 << 20).batches(Source(str(path), "x")))


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_a_value_that_is_stored_once_for_many_rows_is_unpacked_in_small_batches(tmp_path: Path) -> None:
    path = tmp_path / "repeated.parquet"
    values = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, "int32"), ["x" * (2 << 20)])
    pq.write_table(pa.table({"conversation": values}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 20_000
    ran = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    rows, megabytes = map(int, ran.stdout.split())
    assert rows == 1000
    assert megabytes < 1000


@pytest.mark.skipif(sys.platform != "linux", reason="the script reads its peak from /proc")
def test_a_column_that_its_writer_kept_as_a_dictionary_is_read_by_a_program_that_imports_nothing_else(
    tmp_path: Path,
) -> None:
    path = tmp_path / "dictionary.parquet"
    pq.write_table(pa.table({"conversation": pa.array(["x", "y", "x"]).dictionary_encode()}), path)
    ran = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()[:1]) == (0, ["3"]), ran.stderr


def noise(count: int) -> list[str]:
    return [random.Random(number).randbytes(500).hex() for number in range(count)]  # noqa: S311 - the same each time


def test_a_large_row_among_others_is_refused_by_its_number(tmp_path: Path) -> None:
    path = write(tmp_path / "cell.parquet", [*noise(40), "x" * (2 << 20), *noise(40)])
    with pytest.raises(ParseError, match=r"row 41: \d+ bytes are more than the limit of 1048576 \(--max-row\)"):
        list(ReadOptions(column="conversation", limit=1 << 20).batches(Source(str(path), "x")))


def test_a_huge_cell_among_rows_that_cannot_be_packed_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "cell.parquet"
    huge = pa.array([*noise(1000), "x" * (260 << 20)])
    pq.write_table(
        pa.table({"conversation": huge}), path, compression="lz4", write_statistics=False, use_dictionary=False
    )
    with pytest.raises(ParseError, match=r"rows from 1 on: pages of \d+ bytes are unpacked at once"):
        list(ReadOptions(column="conversation").batches(Source(str(path), "x")))


def test_a_row_of_more_values_than_can_be_held_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.parquet"
    count = 3 << 20
    numbers = pa.Array.from_buffers(pa.int8(), count, [None, pa.py_buffer(bytes(count))])
    rows = pa.ListArray.from_arrays(pa.array([0, *range(1, 300), count], "int32"), numbers)
    pq.write_table(pa.table({"conversation": rows}), path, compression="zstd")
    assert path.stat().st_size < 50_000
    with pytest.raises(ParseError, match=r"hold \d+ values|bytes are more than the limit|more than 1000 times"):
        list(ReadOptions(column="conversation", limit=1 << 20).batches(Source(str(path), "x")))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("shape", ["list", "lists", "struct"])
def test_a_row_of_many_values_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str, version: str
) -> None:
    path, count = tmp_path / "list.parquet", 20_000_000
    nothing: Any = pa.nulls(count)
    inner = pa.StructArray.from_arrays([nothing], names=["a"]) if shape == "struct" else nothing
    offsets = pa.array([0, 0, count], "int32")
    rows = pa.ListArray.from_arrays(offsets, inner)
    rows = pa.ListArray.from_arrays(pa.array([0, 1, 2], "int32"), rows) if shape == "lists" else rows
    pq.write_table(pa.table({"conversation": rows}), path, data_page_version=version)
    assert path.stat().st_size < 3_000
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", None)
    with pytest.raises(ParseError, match=r"a row's lists hold 20\d{6} values of 8 bytes .* limit of 67108864 \(--max-"):
        list(ReadOptions(column="conversation").batches(Source(str(path), "x")))


def test_many_values_in_many_rows_are_read_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_UNPACKED", 1 << 20)
    path, count = tmp_path / "list.parquet", 10_000
    ends = [*range(count, 100 * count + 1, count), *[100 * count] * 50_000]
    zeros = pa.Array.from_buffers(pa.int8(), 100 * count, [None, pa.py_buffer(bytes(100 * count))])
    rows = pa.ListArray.from_arrays(pa.array([0, *ends], "int32"), zeros)
    pq.write_table(pa.table({"conversation": rows}), path)
    batches = tables_of(path)
    assert sum(batch.num_rows for batch in batches) == 50_100
    assert max(len(batch.column(0).flatten()) for batch in batches) <= 130_000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("packed", ["none", "gzip", "snappy", "zstd", "brotli", "lz4"])
def test_the_longest_row_of_a_column_is_known_from_its_levels(tmp_path: Path, version: str, packed: str) -> None:
    path, draw = tmp_path / "levels.parquet", random.Random(packed)  # noqa: S311 - the same each time
    for _ in range(12):
        lengths = [draw.choice([0, 1, 2, 7, 40, draw.randrange(3000)]) for _ in range(draw.choice([1, 5, 300]))]
        flat = [[1] * length for length in lengths]
        deep = [[[1] * 2] * (length // 2) for length in lengths]
        table = pa.table({"flat": flat, "deep": deep, "far": [[[[one]]] for one in flat]})
        small: dict[str, Any] = {
            "data_page_size": draw.choice([64, 1 << 20]),
            "write_batch_size": draw.choice([3, 1024]),
        }
        pq.write_table(table, path, compression=packed, data_page_version=version, use_dictionary=False, **small)
        with path.open("rb") as stored, pq.ParquetFile(path) as file:
            for number in range(3):
                column, deepest = file.metadata.row_group(0).column(number), file.schema.column(number)
                found = longest_row(pa, stored, column, deepest.max_repetition_level)
                longest = max(1, *lengths)
                assert max(longest, 1) - (number == 1) <= found <= (column.num_values if number == 2 else longest + 64)


@pytest.mark.parametrize("kind", [pa.int8(), pa.bool_(), pa.null()])
def test_numbers_of_a_row_count_as_the_objects_that_they_become(tmp_path: Path, kind: Any) -> None:
    path, count = tmp_path / "small.parquet", 900_000
    values = pa.nulls(count, kind)
    rows = pa.ListArray.from_arrays(pa.array([0, 1, count], "int32"), values)
    pq.write_table(pa.table({"conversation": rows}), path, compression="zstd")
    with pytest.raises(ParseError, match=r"row 2: \d+ bytes are more than the limit|hold \d+ values"):
        list(ReadOptions(column="conversation", limit=1 << 20).batches(Source(str(path), "x")))


def tables_of(path: Path) -> list[Any]:
    return [batch.data for batch in ReadOptions(column="conversation").batches(Source(str(path), "x"))]


def shapes(texts: pa.Array, ends: list[int]) -> dict[str, pa.Array]:
    """Put texts, as many in each row as its end says, in each shape that has lists."""
    offsets = pa.array([0, *ends], "int32")
    roles = pa.array(["user"] * len(texts))
    messages = pa.StructArray.from_arrays([texts, roles], names=["content", "role"])
    whole = pa.array([*range(len(ends) + 1)], "int32")
    return {
        "list": pa.ListArray.from_arrays(offsets, texts),
        "struct": pa.ListArray.from_arrays(offsets, messages),
        "lists": pa.ListArray.from_arrays(whole, pa.ListArray.from_arrays(offsets, texts)),
        "map": pa.MapArray.from_arrays(offsets, pa.array([*map(str, range(len(texts)))]), texts),
    }


SHAPES = ["list", "struct", "lists", "map"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_that_repeats_a_stored_text_is_refused_by_its_number(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "list.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 4000, "int32"), ["x" * (1 << 20)])
    rows = shapes(texts, [*[0] * 299, 4000])[shape]
    pq.write_table(pa.table({"conversation": rows}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 30_000
    with pytest.raises(ParseError, match=r"row 300: 41943\d+ bytes are more than the limit of 67108864 \(--max-row\)"):
        list(ReadOptions(column="conversation").batches(Source(str(path), "x")))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_that_repeat_a_stored_text_are_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: str
) -> None:
    monkeypatch.setattr(tables, "_UNPACKED", 16 << 20)
    path = tmp_path / "list.parquet"
    texts = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 2000, "int32"), ["x" * (1 << 17), "y"])
    rows = shapes(texts, [*range(10, 4001, 10)])[shape]
    pq.write_table(pa.table({"conversation": rows}), path, compression="zstd", store_schema=False)
    batches = tables_of(path)
    assert sum(batch.num_rows for batch in batches) == 400
    assert max(batch.nbytes for batch in batches) < 17 << 20
    assert batches[-1].column(0)[-1].as_py() == rows[-1].as_py()


def test_texts_that_share_their_beginning_are_read_in_small_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_UNPACKED", 4 << 20)
    path = tmp_path / "prefixed.parquet"
    how = {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY", "compression": "zstd"}
    texts = pa.array(["x" * (1 << 20)] * 100)
    pq.write_table(pa.table({"conversation": texts}), path, write_statistics=False, **how)
    assert path.stat().st_size < 1_000
    batches = tables_of(path)
    assert sum(batch.num_rows for batch in batches) == 100
    assert max(batch.nbytes for batch in batches) < 5 << 20
    lists = pa.ListArray.from_arrays([*[0] * 300, 100, 100], texts)
    pq.write_table(pa.table({"conversation": lists}), path, write_statistics=False, **how)
    with pytest.raises(ParseError, match=r"a row's lists hold \d+ values of \d+ bytes in the column"):
        list(ReadOptions(column="conversation", limit=8 << 20).batches(Source(str(path), "x")))


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("packed", ["none", "gzip", "snappy", "zstd"])
def test_pages_say_what_they_unpack_to(tmp_path: Path, version: str, packed: str) -> None:
    path = tmp_path / "pages.parquet"
    table = pa.table({"a": noise(3_000), "b": [[{"c": 1, "d": "x"}] * 3] * 3_000, "e": [None] * 3_000})
    pq.write_table(table, path, compression=packed, data_page_version=version, row_group_size=2_000)
    with path.open("rb") as stored, pq.ParquetFile(path) as file:
        for group in range(2):
            for number in range(4):
                column = file.metadata.row_group(group).column(number)
                found = list(pages(stored, column))
                assert sum(page.values for page in found) == column.num_values
                headers = column.total_uncompressed_size - sum(page.unpacked for page in found)
                assert 0 < headers < 5_000 * len(found)  # they may hold the least value and the largest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\xff" * 99,
        b"\x1c" * 99,
        b"\x2c\x00\x15\x00\x00",
        b"\x18\xff\xff\xff\x7f",
        b"\x15\x00\x15\x01\x00",
        b"\x15\x00\x15\x02\x15\x02\x25\x02\x00",
    ],
)
def test_a_damaged_header_is_an_error_of_its_kind(data: bytes) -> None:
    column = SimpleNamespace(
        data_page_offset=0, dictionary_page_offset=None, total_compressed_size=max(len(data), 1), num_values=1
    )
    with pytest.raises(PageError):
        list(pages(io.BytesIO(data), column))


@pytest.mark.parametrize("nested", [False, True])
def test_text_that_is_no_utf8_is_an_error_of_its_kind(tmp_path: Path, *, nested: bool) -> None:
    path = tmp_path / "text.parquet"
    rows = [[{"role": "user", "content": f"row {number}"}] if nested else f"row {number}" for number in range(9)]
    how = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(pa.table({"conversation": rows}), path, **how)
    data = path.read_bytes()
    for word in (b"row 5", b"conversation"):
        path.write_bytes(data.replace(word, word[:-1] + b"\xff"))
        with pytest.raises(ParseError, match=r"(?i)text\.parquet: damaged Parquet: .*utf-?8"):
            list(ReadOptions(column="conversation").batches(Source(str(path), "x")))


@pytest.mark.parametrize("at", [4, 40, 200])
def test_a_damaged_file_is_an_error_of_its_kind(tmp_path: Path, at: int) -> None:
    path = write(tmp_path / "damaged.parquet", [f"row {number}" * 9 for number in range(100)])
    data = bytearray(path.read_bytes())
    data[at : at + 24] = bytes(24)
    path.write_bytes(data)
    with pytest.raises(ParseError, match=r"damaged\.parquet"):
        list(ReadOptions(column="conversation").batches(Source(str(path), "x")))
