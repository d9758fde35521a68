"""`toolfmt convert --engine ray` writes the bytes of the local engine: run it where the extra `ray` is installed.

    pip install -e '.[cli,ray]'
    python -m bench.cluster              # a file of lines, a packed one, a table; 100 MB of lines
    python -m bench.cluster --size 5

Starts a local cluster, converts with both engines, interrupts and resumes, and compares the output byte by byte.
Prints the seconds of each.
"""

from __future__ import annotations

import argparse
import gzip
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench.corpus import MEGABYTE, ROOT, write

if TYPE_CHECKING:
    from collections.abc import Sequence


def convert(file: Path, out: Path, *options: str, code: int = 0) -> float:
    """Convert a file; return the seconds that it took."""
    formats = ("anthropic", "openai-chat") if file.suffix == ".parquet" else ("openai-chat", "anthropic")
    command = [sys.executable, "-m", "toolfmt", "convert", str(file), "--from", formats[0], "--to", formats[1]]
    began = time.perf_counter()
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled"}
    ran = subprocess.run(  # noqa: S603 - our own
        [*command, "--out", str(out), *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (code, ""), ran.stderr
    assert all(line.startswith(("toolfmt: ", "loss ")) for line in ran.stderr.splitlines()), ran.stderr
    return time.perf_counter() - began


def main(arguments: Sequence[str]) -> None:
    """Convert with both engines, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100, help="megabytes of the file of lines")
    size = parser.parse_args(arguments).size
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines, packed, table, bad = (folder / file for file in ("a.jsonl", "b.jsonl.gz", "c.parquet", "d.jsonl"))
        count = write(lines, size * MEGABYTE)
        packed.write_bytes(gzip.compress(lines.read_bytes()[:-100]))  # half a row at its end
        convert(lines, table)
        text = lines.read_bytes()
        middle = text.index(b"\n", len(text) // 2) + 1
        bad.write_bytes(text[:middle] + b"{bad\n" + text[middle:])
        for file, ending, options, code in (
            (lines, ".jsonl", (), 0),
            (lines, ".jsonl.gz", (), 0),
            (packed, ".jsonl", ("--on-error", "skip"), 1),
            (table, ".parquet", (), 0),
            (bad, ".jsonl", ("--on-error", "stop"), 2),
            (bad, ".jsonl", ("--on-error", "skip", "--resume"), 1),
        ):
            outs = {engine: folder / f"{engine}{ending}" for engine in ("local", "ray")}
            spent = {
                engine: convert(file, out, *options, "--engine", engine, code=code) for engine, out in outs.items()
            }
            assert outs["local"].read_bytes() == outs["ray"].read_bytes(), (file.name, ending, options)
            seconds = ", ".join(f"{engine} {value:.1f} s" for engine, value in spent.items())
            print(f"{file.name} -> {ending}: the same bytes ({seconds})", flush=True)
        print(f"{count} conversations a file of lines")


if __name__ == "__main__":
    main(sys.argv[1:])
