"""Measure how fast other engines' parsers read the same answers, in one run.

    python -m venv peers && . peers/bin/activate
    pip install -e '.[test]' sglang vllm            # one of the two is enough; either brings torch
    python -m bench.peers                           # every format that an installed engine reads
    python -m bench.peers hermes glm45 --largest 10000

An engine's parser is found by its name, which is an alias of a dialect. Each answer is prose, one call with one
code-like argument, and prose again. `whole` is microseconds for the answer at once, `piece` for each piece of four
characters (special markers stay whole, like an engine's tokens). An engine that reads other arguments than were written
is marked `wrong`; one that exceeds the limit for one answer is not tried on larger ones.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import regex

from bench.measure import seconds
from bench.peer_engines import ENGINES
from bench.speeds import CHUNK, SIZES
from bench.workload import TOOL, Workload
from toolfmt import jsontext
from toolfmt.dialect.syntax import markers
from toolfmt.events import CallEnd
from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from bench.peer_engines import Engine, Reader
    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject

LIMIT: Final = 5.0
"""Seconds for one answer: a parser that takes longer is reported, and not tried on larger ones."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The microseconds of one way of reading, and whether its result is correct."""

    spent: float
    right: bool

    def shown(self) -> str:
        """Write the figure for a table."""
        return f"{self.spent:,.1f}{'' if self.right else ' wrong'}"


def pieces_of(text: str, dialect: Dialect[str]) -> list[str]:
    """Cut an answer as tokens would be: markers whole, the rest in pieces of four characters."""
    own = markers(dialect.syntax) if dialect.syntax is not None else ()
    special = "|".join(map(regex.escape, sorted(own, key=len, reverse=True))) or r"(?!)"
    return regex.findall(rf"{special}|(?s:(?:(?!{special}).){{1,{CHUNK}}})", text)


def right(found: str | JsonObject | None, work: Workload) -> bool:
    """Whether the arguments, an object or its JSON text, are those that were written."""
    try:
        value = json.loads(found) if isinstance(found, str) else found
        return value is not None and jsontext.equal(value, work.invocations[0].arguments)
    except ValueError:
        return False


def timed(read: Callable[[], str | JsonObject | None], work: Workload, count: int) -> Figure | None:
    """Time one way of reading; None where it takes too long or raises."""
    began = time.monotonic()
    try:
        correct = right(read(), work)
        budget = 0.0 if time.monotonic() - began > LIMIT else 0.05
        return Figure(seconds(read, budget) / count * 1e6, correct)
    except Exception as error:  # noqa: BLE001 - another engine's parser may raise whatever it likes
        print(f"{work.dialect.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def ours(work: Workload, pieces: Sequence[str]) -> JsonObject | None:
    """Read an answer with toolfmt; return the first call's arguments."""
    calls = [event.call for events in work.read(pieces) for event in events if isinstance(event, CallEnd)]
    return calls[0].arguments if calls else None


def compared(dialect: Dialect[str], reader: Reader, sizes: Sequence[int]) -> list[tuple[str, Figure, Figure]]:
    """Measure an engine's parser and toolfmt at each size; return rows of what, ours and theirs."""
    rows: list[tuple[str, Figure, Figure]] = []
    for size in sizes:
        work = Workload(dialect, "written", 1, size)
        for way, pieces in (("whole", [work.text]), ("piece", pieces_of(work.text, dialect))):
            mine = timed(lambda work=work, pieces=pieces: ours(work, pieces), work, len(pieces))
            read = reader.whole if way == "whole" else reader.streamed
            theirs = timed(lambda read=read, pieces=pieces: read(pieces), work, len(pieces))
            if mine is None or theirs is None:
                return rows
            rows.append((f"{way}, {size:,}", mine, theirs))
            if theirs.spent * len(pieces) > LIMIT * 1e6:
                return rows
    return rows


def show(engine: Engine, name: str, dialect: Dialect[str], sizes: Sequence[int]) -> list[float]:
    """Measure and print one parser of an engine; return its ratio to toolfmt for each cell."""
    try:
        reader = engine.reader(name, TOOL)
    except Exception as error:  # noqa: BLE001 - a parser that cannot be made without its model's files
        print(f"{engine.name} {name}: not made: {type(error).__name__}: {error}", file=sys.stderr)
        return []
    times: list[float] = []
    for what, mine, theirs in compared(dialect, reader, sizes):
        times.append(theirs.spent / mine.spent)
        cells = (engine.name, name, dialect.name, what, mine.shown(), theirs.shown(), f"{times[-1]:.1f}")
        print(f"| {' | '.join(cells)} |", flush=True)
    return times


def main(arguments: Sequence[str]) -> None:
    """Measure and print a table."""
    options_parser = argparse.ArgumentParser(
        prog="python -m bench.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options_parser.add_argument("parsers", nargs="*", metavar="PARSER", help="names of the engines' parsers")
    options_parser.add_argument(
        "--largest", type=int, default=SIZES[-1], metavar="CHARACTERS", help="leave larger answers out"
    )
    options = options_parser.parse_args(arguments)
    sizes = [size for size in SIZES if size <= options.largest]
    engines = [engine for engine in ENGINES if engine.installed()]
    if not engines:
        options_parser.error("neither SGLang nor vLLM is installed; the top of bench/peers.py says how to")
    print("| engine | parser | format | us | toolfmt | engine | times |\n| --- | --- | --- | --- | --- | --- | --- |")
    registry, times = default_registry(), list[float]()
    for engine in engines:
        for name in options.parsers or engine.names():
            if name in registry and (dialect := registry.dialect(name)).syntax is not None:
                times += show(engine, name, dialect, sizes)
    if times:
        slower = sum(time > 1 for time in times)
        print(
            f"\nFaster than the engine in {slower} of {len(times)} cells; median {statistics.median(times):.1f} times."
        )


if __name__ == "__main__":
    main(sys.argv[1:])
