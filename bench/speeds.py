"""Measure how fast each dialect is read, from 1 KB to 1 MB of arguments, for the docs.

    python -m bench.speeds                          # every dialect, into bench/speeds.json
    python -m bench.speeds --only hermes glm45      # some dialects; other figures stay
    python docs/generate.py                         # writes the pages that show them

An answer is prose, one call with one code-like argument, and prose again. `whole` is the ratio of its time to that of
`json.loads` on the arguments' JSON, measured in the same run; `chunk` is the microseconds for each piece of four
characters.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.measure import seconds
from bench.workload import Workload
from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.dialect.record import Dialect

FIGURES: Final = Path(__file__).with_name("speeds.json")
SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
CHUNK: Final = 4


def measured(dialect: Dialect[str], budget: float, sizes: Sequence[int] = SIZES) -> list[dict[str, float]]:
    """Measure one format at each size."""
    rows: list[dict[str, float]] = []
    for size in sizes:
        work = Workload(dialect, "written", 1, size)
        pieces = work.pieces(CHUNK)
        deque(work.read([work.text]), maxlen=0)  # compiles the format
        whole = seconds(lambda work=work: deque(work.read([work.text]), maxlen=0), budget)
        plain = seconds(lambda work=work: [json.loads(text) for text in work.arguments], budget / 2)
        cut = seconds(lambda work=work, pieces=pieces: deque(work.read(pieces), maxlen=0), budget)
        rows.append(
            {
                "size": size,
                "us": round(whole * 1e6, 1),
                "whole": round(whole / plain, 2),
                "chunk": round(cut / len(pieces) * 1e6, 2),
            }
        )
    return rows


def main(arguments: Sequence[str]) -> None:
    """Measure, write the figures, and print where they are."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.speeds", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="FORMAT", default=[])
    parser.add_argument("--budget", type=float, default=0.1, metavar="SECONDS", help="for each figure")
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="CHARACTERS", help="leave larger answers out")
    parser.add_argument("-o", "--output", type=Path, default=FIGURES)
    options = parser.parse_args(arguments)
    registry = default_registry()
    chosen = [registry.dialect(name) for name in options.only] or [one for one in registry if one.syntax is not None]
    found = json.loads(options.output.read_text("utf-8")) if options.only and options.output.exists() else {}
    rows = found.get("formats", {})
    sizes = [size for size in SIZES if size <= options.largest]
    for dialect in chosen:
        rows[dialect.name] = measured(dialect, options.budget, sizes)
    version = f"{platform.python_implementation()} {platform.python_version()}"
    options.output.write_text(json.dumps({"python": version, "formats": rows}, indent=1) + "\n", "utf-8")
    print(f"{len(chosen)} formats measured: {options.output.name}")


if __name__ == "__main__":
    main(sys.argv[1:])
