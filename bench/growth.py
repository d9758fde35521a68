"""Measure how the time of reading grows with the input, on texts that are made to slow it down.

    python -m bench.growth                    # random cells, for a minute
    python -m bench.growth xml-items auto     # of some dialects; `auto` is the detection
    python -m bench.growth --seconds 600      # for ten minutes
    python -m bench.growth --cells 150        # the same cells wherever it runs
    python -m bench.growth --all              # every trap of every dialect: some hours
    python -m bench.growth --all --turn 5     # the same traps with other options and pieces
    python -m bench.growth --all --write      # and write the figures into `growth.json`, for a table in the docs

A trap is a beginning and a unit that is repeated after it. A cell is a trap that is read in a dialect, with an option,
in pieces of a size; half of the random cells are traps, half mixtures of the units of two or three. There are 24 pairs
of an option and a size; `--all` assigns them to a dialect's traps in turn; turns 0 to 23 together measure every cell.

A cell is measured in processor time at a small size and at one four times larger; if the time grows faster than
n ** 1.2, again at 50 and 400 KB. The exit code is 1 if the growth is confirmed.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import signal
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import cycle, islice, product
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.traps import Mixture, Trap, beginnings, mixture, offers, repeated
from toolfmt import open_parser
from toolfmt.events import CallEnd, coalesce
from toolfmt.lookup.registry import default_registry
from toolfmt.parsers.reading.leaks import drop_leaks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.parsing import ParseOptions

FIGURES = Path(__file__).parent / "growth.json"
EXPONENT = 1.2
"""The highest allowed exponent of the length."""
SIZES = (8_000, 32_000)
CONFIRMING = (50_000, 400_000)
LIMIT = 30
"""Seconds after which a measurement is abandoned."""
FLOOR = 0.01
"""Seconds below which differences are noise."""
PIECES = (0, 4, 1)
"""Characters in a piece; 0 for the whole text at once."""
OPTIONS: dict[str, ParseOptions] = {
    "plain": {},
    "reasoning_open": {"reasoning_open": True},
    "drop_leaks": {"drop_leaks": True},
    "repair": {"repair": True},
    "validate": {"validate": True},
    "strict": {"strict": True},
    "infer_types": {"infer_types": True},
    "no tools": {},
}
AUTO = "auto"


class _TooSlowError(BaseException):
    """A measurement exceeded its time limit."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Abort if the block takes longer than `seconds`."""

    def stop(*_: object) -> None:
        raise _TooSlowError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement."""

    dialect: str
    option: str
    piece: int
    trap: Trap | Mixture

    def seconds(self, size: int) -> float:
        """Read the trap's text of this size; return the processor time, infinite if it exceeds the limit."""
        text = self.trap.text(size)
        tools = None if self.option == "no tools" else offers()["fitting"]
        options: ParseOptions = {**OPTIONS[self.option], "dialect": self.dialect, "tools": tools}
        parser = open_parser(**options)
        step = self.piece or len(text)
        began = time.process_time()
        try:
            with limited(LIMIT):
                events = [event for at in range(0, len(text), step) for event in parser.feed(text[at : at + step])]
                events += parser.close()
                if options.get("drop_leaks"):
                    drop_leaks(coalesce(events), [event.call for event in events if isinstance(event, CallEnd)])
        except _TooSlowError:
            return float("inf")
        return max(time.process_time() - began, FLOOR)

    def exponent(self, sizes: Sequence[int], runs: int = 1) -> float:
        """Measure at two sizes: 1 is linear, 2 quadratic; infinite if the limit is exceeded."""
        small, large = (min(self.seconds(size) for _ in range(runs)) for size in sizes)
        if large == math.inf:
            return math.inf
        return math.log(large / small) / math.log(len(self.trap.text(sizes[1])) / len(self.trap.text(sizes[0])))


@dataclass(slots=True)
class Row:
    """The measurements of one dialect."""

    cells: int = 0
    worst: float = 0.0
    """The largest exponent that was confirmed at the large sizes."""
    slow: list[str] = field(default_factory=list[str])
    """The cells that grow too fast."""


def measure(cell: Cell, row: Row) -> bool:
    """Measure a cell; return whether it grows as allowed."""
    sizes = SIZES if cell.piece != 1 else (SIZES[0] // 2, SIZES[1] // 2)
    row.cells += 1
    exponent = cell.exponent(sizes)
    if exponent > EXPONENT:
        exponent = cell.exponent(sizes, runs=3)
    if exponent > EXPONENT:
        exponent = cell.exponent(CONFIRMING)
        if EXPONENT < exponent < math.inf:
            exponent = min(exponent, cell.exponent(CONFIRMING, runs=2))
    row.worst = max(row.worst, exponent)
    if exponent > EXPONENT:
        row.slow.append(
            f"{cell.option}, pieces of {cell.piece or 'all'}, {cell.trap.prefix!r} + {cell.trap.unit!r} ..."
        )
    return exponent <= EXPONENT


def traps_of(name: str) -> tuple[Trap, ...]:
    """Return the traps of a dialect, or of all dialects for the detection."""
    texts = [dialect for dialect in default_registry() if dialect.syntax is not None and name in (AUTO, dialect.name)]
    return tuple(
        dict.fromkeys(
            Trap(begin, unit) for dialect in texts for begin in beginnings(dialect) for unit in repeated(dialect)
        )
    )


def cells(traps: dict[str, tuple[Trap, ...]], turn: int) -> Iterator[Cell]:
    """Yield every trap once, with the pairs of an option and a piece size in turn."""
    pairs = list(product(OPTIONS, PIECES))
    for name, own in traps.items():
        for trap, (option, piece) in zip(own, islice(cycle(pairs), turn, None), strict=False):
            yield Cell(name, option, piece, trap)


def spread(every: Sequence[Cell], chance: random.Random) -> list[Cell]:
    """Order cells by chance, each dialect with each option and piece size before any of them comes again."""
    count: Counter[tuple[str, str, int]] = Counter()
    turns: list[tuple[int, Cell]] = []
    for cell in chance.sample(every, len(every)):
        count[cell.dialect, cell.option, cell.piece] += 1
        turns.append((count[cell.dialect, cell.option, cell.piece], cell))
    return [cell for _, cell in sorted(turns, key=itemgetter(0))]


def mixtures(traps: Sequence[Trap], chance: random.Random) -> Iterator[Mixture]:
    """Yield an endless sequence of mixtures of traps' units."""
    prefixes, own = (
        list(dict.fromkeys(values)) for values in zip(*((one.prefix, one.unit) for one in traps), strict=True)
    )
    while True:
        yield mixture(prefixes, own, chance)


def by_chance(traps: dict[str, tuple[Trap, ...]], chance: random.Random) -> Iterator[Cell]:
    """Yield an endless sequence of cells, traps and mixtures in turn, with uniformly chosen dialects and options."""
    mixed = {name: mixtures(own, chance) for name, own in traps.items()}
    while True:
        for simple in (True, False):
            name = chance.choice(list(traps))
            trap = chance.choice(traps[name]) if simple else next(mixed[name])
            yield Cell(name, chance.choice(list(OPTIONS)), chance.choice(PIECES), trap)


def main(arguments: Sequence[str]) -> int:
    """Measure and print; return 1 if something grows too fast."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("dialects", nargs="*")
    parser.add_argument("--all", action="store_true", help="every trap of every dialect, once")
    parser.add_argument("--turn", type=int, default=0, help="with --all: which options and pieces the traps are given")
    parser.add_argument("--seconds", type=float, default=60, help="cells by chance for this time")
    parser.add_argument("--cells", type=int, help="so many cells by chance, the same on every machine")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    parser.add_argument("--write", action="store_true", help=f"put the figures into {FIGURES.name}")
    options = parser.parse_args(arguments)
    known = [*(dialect.name for dialect in default_registry() if dialect.syntax is not None), AUTO]
    traps = {name: traps_of(name) for name in options.dialects or known}
    chance = random.Random(options.seed)  # noqa: S311 - an order, not a secret
    chosen = by_chance(traps, chance)
    if options.all:
        chosen = iter(spread([*cells(traps, options.turn)], chance))  # an interrupted run has a part of everything
    end = time.monotonic() + (math.inf if options.all or options.cells else options.seconds)
    rows: dict[str, Row] = {}
    total = sum(map(len, traps.values())) * len(OPTIONS) * len(PIECES)
    gc.disable()
    for count, cell in enumerate(islice(chosen, options.cells)):
        if time.monotonic() > end:
            break
        row = rows.setdefault(cell.dialect, Row())
        if not measure(cell, row):
            print(f"{cell.dialect}: {row.slow[-1]} {row.worst:.2f}", flush=True)
        if not count % 64:
            gc.collect()
        if options.write and not count % 4096:
            write(total, rows)
    slow = sum(len(row.slow) for row in rows.values())
    worst = max((row.worst for row in rows.values()), default=0)
    measured = sum(row.cells for row in rows.values())
    print(f"{measured} of {total} cells, {slow} faster than n ** {EXPONENT}; the largest exponent is {worst:.2f}")
    if options.write:
        write(total, rows)
    return int(bool(slow))


def write(total: int, rows: dict[str, Row]) -> None:
    """Write the figures into the file that the docs read."""
    figures = {"cells": total, "measured": {name: asdict(rows[name]) for name in sorted(rows)}}
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
