"""Small Parquet files that unpack to much, and damaged ones: bounded memory and an error of its kind."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.sources import Source
from toolfmt.errors import ParseError

if TYPE_CHECKING:
    from pathlib import Path

READ = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from toolfmt.corpora.batches import ReadOptions
from toolfmt.corpora.sources import Source
rows = 0
for batch in ReadOptions(column="conversation").batches(Source(sys.argv[1], "x")):
    rows += batch.data.num_rows
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(rows, int(peak) // 1024)
"""


def write(path: Path, values: list[str]) -> Path:
    pq.write_table(pa.table({"conversation": values}), path, compression="zstd")
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


@pytest.mark.parametrize("at", [4, 40, 200])
def test_a_damaged_file_is_an_error_of_its_kind(tmp_path: Path, at: int) -> None:
    path = write(tmp_path / "damaged.parquet", [f"row {number}" * 9 for number in range(100)])
    data = bytearray(path.read_bytes())
    data[at : at + 24] = bytes(24)
    path.write_bytes(data)
    with pytest.raises(ParseError, match=r"damaged\.parquet"):
        list(ReadOptions(column="conversation").batches(Source(str(path), "x")))
