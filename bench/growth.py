"""How reading grows with the input, on texts that were made to slow it down.

    python -m bench.growth                       # the named units, every dialect
    python -m bench.growth xml-items react       # some dialects
    python -m bench.growth --screen 300          # all prefixes and units, in a random order, for 300 seconds

Prints a Markdown row for each trap whose time grows more than 12 times when the
input grows tenfold, or that costs more than 20 microseconds a character. Run it
on a machine that does nothing else: it measures processor time.
"""

from __future__ import annotations

import argparse
import gc
import random
import signal
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.traps import Trap, offers, prefixes, traps
from toolfmt.dialect import ParserOptions
from toolfmt.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.dialect import Dialect
    from toolfmt.model import ToolDefinition

NAMED = (
    *(
        "<tool",
        "{",
        "[x ",
        '{"a":',
        '<arg name="',
        "[[SEG_START ",
        "Action: ",
        "<item>1</item>",
        '<tool name="x">',
        "[{",
    ),
    *("</arg", "</arg>", "<!--", "<!-- -->", "&", "&#1", "\\", '"', "'", " ", "\n", "/", "/*", "<", "</", "<a>", "<a "),
    *("]]>", "<![CDATA[", "__START_CONTENT__", "```json\n", "```", "<think>", "</think>", "<execute>", "</execute>"),
    *(
        "1",
        "a",
        "1,",
        '"a":1,',
        "}",
        "]",
        "[[SEG_END]]",
        "</tool>",
        "<tool>",
        "Action: f\nAction Input: {\n",
        "Thought: ",
    ),
)
GROWTH, COST = 12, 20e-6
SHORTEST = 0.02
"""Seconds below which differences mean nothing."""
LIMIT = 15
"""Seconds after which a measurement is given up."""


class _TooSlowError(BaseException):
    """The time limit of one measurement has passed."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Give up what takes longer than `seconds`."""

    def stop(*_: object) -> None:
        raise _TooSlowError

    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def seconds(dialect: Dialect[str], text: str, size: int, tools: Sequence[ToolDefinition]) -> float:
    """Read a text in pieces of `size` characters, 0 for whole; processor time, infinite past the limit."""
    parser = dialect.open_parser(ParserOptions(tools={tool.name: tool for tool in tools}))
    began = time.process_time()
    try:
        with limited(LIMIT):
            for at in range(0, len(text), size or len(text)):
                parser.feed(text[at : at + (size or len(text))])
            parser.close()
    except _TooSlowError:
        return float("inf")
    return max(time.process_time() - began, SHORTEST)


def measure(
    dialect: Dialect[str], trap: Trap, sizes: tuple[int, int], chunk: int, tools: Sequence[ToolDefinition]
) -> str:
    """Measure one trap at two sizes; a row of the table, or "" where it grows as it should."""
    small, large = (trap.text(size) for size in sizes)
    first = seconds(dialect, small, chunk, tools)
    second = seconds(dialect, large, chunk, tools) if first < LIMIT else first
    expected = len(large) / len(small)
    if second / first > GROWTH / 10 * expected and second != first:
        first = min(first, seconds(dialect, small, chunk, tools))
    growth, cost = second / first if second != first else float("inf"), min(first / len(small), second / len(large))
    if growth <= GROWTH / 10 * expected and cost <= COST:
        return ""
    shown = repr(trap.prefix if len(trap.prefix) < 48 else "…" + trap.prefix[-48:]), repr(trap.unit[:40])  # noqa: PLR2004 - a table's width
    return (
        f"| {dialect.name} | `{shown[0]}` | `{shown[1]}` | {chunk or 'whole'} "
        f"| {first / len(small) * 1e6:.2f} | {second / len(large) * 1e6:.2f} | {growth:.1f} |"
    )


def named(dialect: Dialect[str]) -> Iterator[Trap]:
    """Give the named units in prose, in a string, and where a value is due."""
    string = next(prefix for prefix in prefixes(dialect) if prefix.endswith("HOLE"))
    due = string.removesuffix("HOLE").removesuffix('"')
    for prefix in dict.fromkeys(("", string, due)):
        for unit in NAMED:
            yield Trap(prefix, unit)


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    told = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    told.add_argument("dialects", nargs="*")
    told.add_argument("--screen", type=float, default=0, metavar="SECONDS")
    told.add_argument("--seed", type=int, default=0)
    told.add_argument("--tools", choices=sorted(offers()), default="fitting")
    options = told.parse_args(arguments)
    chosen = [
        dialect
        for dialect in default_registry()
        if dialect.syntax is not None and (not options.dialects or dialect.name in options.dialects)
    ]
    gc.disable()
    print(
        "| dialect | begins | repeated | chunk | us/char small | us/char large | growth |\n|---|---|---|---|---|---|---|"
    )
    tools = offers()[options.tools]
    if not options.screen:
        for dialect in chosen:
            for trap in named(dialect):
                for chunk in (0, 4, 1):
                    row = measure(dialect, trap, (100_000, 1_000_000), chunk, tools)
                    if row:
                        print(row, flush=True)
                    gc.collect()
        return
    cells = [(dialect, trap) for dialect in chosen for trap in traps(dialect)]
    random.Random(options.seed).shuffle(cells)  # noqa: S311 - an order, not a secret
    end = time.monotonic() + options.screen
    for count, (dialect, trap) in enumerate(cells):
        if time.monotonic() > end:
            print(f"\n{count} of {len(cells)} traps")
            return
        for chunk, sizes in ((0, (10_000, 50_000)), (1, (2_000, 10_000))):
            row = measure(dialect, trap, sizes, chunk, tools)
            if row:
                print(row, flush=True)
        gc.collect()


if __name__ == "__main__":
    main(sys.argv[1:])
