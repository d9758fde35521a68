"""Measure how fast each dialect is read, whole and streamed, against JSON decoders on the bare arguments.

    python -m bench.dialects                        # every dialect, 100 B to 1 MB
    python -m bench.dialects --quick                # shorter measurements, streamed up to 10 KB
    python -m bench.dialects xml-items react        # some dialects

Prints Markdown: the speeds, then growth and memory, then each figure that misses its budget. `x json` and `x jiter` are
the time for the whole answer divided by that of `json.loads` and of jiter on the arguments' JSON, measured in the same
run: only these can be compared between machines.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import jiter

from bench.measure import peak, seconds
from bench.workload import Workload, kinds
from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.dialect.record import Dialect

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
CHUNKS = (1, 4, 50)
LARGE = 100_000
"""Growth is measured from this size to ten times as much, memory at this size."""

JSON_RATIO = 2.0
"""The highest ratio to `json.loads` for a call of 10 KB with a JSON body."""
CHUNK_MICROSECONDS = 1.0
"""The longest time for a piece of four characters."""
TEXT_SPEED = 100.0
"""The lowest speed, in megabytes a second, for a body of elements or raw text from 10 KB on."""
GROWTH = 12.0
"""The highest ratio of times for ten times the input."""
MEMORY = 4.0
"""The highest ratio of peak memory to the input."""


@dataclass(slots=True)
class Report:
    """The measurements: rows of both tables, and the figures that miss their budget."""

    speeds: list[str] = field(default_factory=list[str])
    growths: list[str] = field(default_factory=list[str])
    misses: list[str] = field(default_factory=list[str])

    def judge(self, what: str, figure: float, limit: float, unit: str) -> None:
        """Note a figure above its limit."""
        if figure > limit:
            self.misses.append(f"- {what}: {figure:.2f} {unit}, at most {limit:g}")


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure, and on which sizes."""

    sizes: tuple[int, ...] = SIZES
    streamed: int = SIZES[-1]
    """The largest size that is streamed."""
    budget: float = 0.1


def speed(work: Workload, plan: Plan, report: Report) -> dict[str, float]:
    """Measure one answer in every way; the seconds, by way."""
    label = f"{work.dialect.name}, {work.kind}, {work.calls} x {work.size // work.calls:,}"
    pieces = work.pieces(0)
    whole = seconds(lambda: deque(work.read(pieces), maxlen=0), plan.budget)
    plain = seconds(lambda: [json.loads(text) for text in work.arguments], plan.budget / 2)
    fast = seconds(lambda: [jiter.from_json(text.encode()) for text in work.arguments], plan.budget / 2)
    found = {"whole": whole}
    cells = [f"{len(work.text) / whole / 1e6:.0f}", f"{whole * 1e6:.1f}", f"{whole / plain:.2f}", f"{whole / fast:.2f}"]
    for size in CHUNKS:
        if work.size > plan.streamed:
            cells.append("")
            continue
        pieces = work.pieces(size)
        spent = seconds(lambda pieces=pieces: deque(work.read(pieces), maxlen=0), plan.budget / 2)
        found[f"by {size}"] = spent
        cells.append(f"{spent / len(pieces) * 1e6:.2f}")
        if size == CHUNKS[1]:
            report.judge(f"{label}, a piece of {size}", spent / len(pieces) * 1e6, CHUNK_MICROSECONDS, "us")
    if work.json and (work.calls, work.size) == (1, LARGE // 10):
        report.judge(f"{label}, whole", whole / plain, JSON_RATIO, "x json.loads")
    if not work.json and work.size >= LARGE // 10 and len(work.text) / whole / 1e6 < TEXT_SPEED:
        report.misses.append(f"- {label}, whole: {len(work.text) / whole / 1e6:.0f} MB/s, at least {TEXT_SPEED:g}")
    report.speeds.append(row(work.dialect.name, work.kind, str(work.calls), f"{work.size:,}", *cells))
    return found


def growth(work: Workload, small: dict[str, float], large: dict[str, float], report: Report) -> None:
    """Compare the times of an answer with those of one ten times larger, and measure its memory."""
    label = f"{work.dialect.name}, {work.kind}, {work.calls} x {work.size // work.calls:,}"
    cells: list[str] = []
    for way in ("whole", *(f"by {size}" for size in CHUNKS)):
        if way in large:
            report.judge(f"{label}, growth {way}", large[way] / small[way], GROWTH, "times")
        cells.append(f"{large[way] / small[way]:.1f}" if way in large else "")
    for size in (0, CHUNKS[1]):
        pieces = work.pieces(size)
        held = peak(lambda pieces=pieces, size=size: deque(work.read(pieces), maxlen=0 if size else None))
        report.judge(f"{label}, memory {f'by {size}' if size else 'whole'}", held / len(work.text), MEMORY, "x input")
        cells.append(f"{held / len(work.text):.2f}")
    report.growths.append(row(work.dialect.name, work.kind, str(work.calls), *cells))


def row(*cells: str) -> str:
    """Write a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def head(*cells: str) -> str:
    """Write the head of a Markdown table."""
    return f"{row(*cells)}\n{row(*('---' for _ in cells))}"


def measure(dialect: Dialect[str], plan: Plan, report: Report) -> None:
    """Measure all workloads of one dialect."""
    for kind in kinds(dialect):
        for calls in (1, 10) if dialect.traits.parallel else (1,):
            works = [Workload(dialect, kind, calls, size) for size in plan.sizes]
            found = {work.size: speed(work, plan, report) for work in works}
            if LARGE * 10 in found:
                growth(works[-2], found[LARGE], found[LARGE * 10], report)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.dialects", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dialects", nargs="*", metavar="DIALECT")
    parser.add_argument("--quick", action="store_true", help="shorter measurements, streamed up to 10 KB")
    parser.add_argument("--largest", type=int, default=SIZES[-1], metavar="CHARACTERS", help="leave larger answers out")
    options = parser.parse_args(arguments)
    registry = default_registry()
    names = options.dialects or [dialect.name for dialect in registry if dialect.syntax is not None]
    sizes = tuple(size for size in SIZES if size <= options.largest)
    plan = Plan(sizes, streamed=LARGE // 10, budget=0.02) if options.quick else Plan(sizes)
    report = Report()
    for name in names:
        measure(registry.dialect(name), plan, report)
    print(head("dialect", "code", "calls", "size", "MB/s", "us", "x json", "x jiter", *(f"us by {n}" for n in CHUNKS)))
    print("\n".join(report.speeds))
    if report.growths:
        print(f"\nFrom {LARGE:,} to {LARGE * 10:,} characters, times as long; memory at {LARGE:,}, times the input:\n")
        ways = ("whole", *(f"by {size}" for size in CHUNKS))
        print(head("dialect", "code", "calls", *ways, "memory whole", f"memory by {CHUNKS[1]}"))
        print("\n".join(report.growths))
    print("\nOver budget:\n\n" + "\n".join(report.misses) if report.misses else "\nAll within budget.")


if __name__ == "__main__":
    main(sys.argv[1:])
