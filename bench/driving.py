"""Measure how soon the text driver emits what a model writes, against the parser alone.

    python -m bench.driving                       # a few dialects
    python -m bench.driving xml-items --runs 5

For each dialect, an answer with one call of 10 KB arrives in pieces of four characters. `to ask` is the time from the
beginning of the step to the request, in which the conversation and the manifest are written. `first event` is the time
from the model's first piece to the callback. `piece` is the mean of all pieces, `x parser` the ratio to the parser
alone on the same pieces. All are microseconds of processor time, the best of several runs.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.measure import seconds
from bench.workload import TOOL, Workload
from toolfmt import ToolRegistry
from toolfmt.agents import AgentLoop, TextDriver
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted, StepStarted
from toolfmt.lookup.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from toolfmt.execution.events import ExecutionEvent

DIALECTS = ("hermes", "xml-items", "execute-array", "react", "harmony")
SIZE = 10_000
CHUNK = 4
RELIABLE = 5
"""The smallest number of runs for a judgement."""
TIMES = 4.0
"""The highest ratio of the driver's time for a piece to the parser's."""


class Model:
    """A model that always writes the same answer, and records the times."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """Take the answer's pieces."""
        self.pieces = pieces
        self.first = self.last = 0.0

    async def write(self, chat: object) -> AsyncIterator[str]:  # noqa: ARG002 - it writes the same to every chat
        """Write the answer."""
        self.first = time.process_time()
        try:
            for piece in self.pieces:
                yield piece
        finally:  # if the dialect ends the turn, the driver does not ask for more
            self.last = time.process_time()


@dataclass(slots=True)
class Times:
    """The times of one run."""

    began: float = 0.0
    asked: float = 0.0
    reported: float = 0.0

    def __call__(self, event: ExecutionEvent) -> None:
        """Record the time of the first event."""
        if isinstance(event, StepStarted):
            self.began = time.process_time()
        elif isinstance(event, InferenceRequestStarted):
            self.asked = time.process_time()
        elif isinstance(event, AnswerReceived) and not self.reported:
            self.reported = time.process_time()


def measure(name: str, runs: int) -> tuple[float, float, float, float]:
    """Return a dialect's figures in microseconds: to ask, first event, piece, and the parser's piece."""
    dialect = default_registry().dialect(name)
    work = Workload(dialect, "written", 1, SIZE)
    pieces = list(work.pieces(CHUNK))
    registry = ToolRegistry()
    registry.register(TOOL, function=lambda content: f"{len(content)} characters")
    asked, first, piece = [], [], []
    for _ in range(runs):
        model, times = Model(pieces), Times()
        loop = AgentLoop(TextDriver(model, dialect=dialect), registry, max_steps=1, on_event=times)
        state = asyncio.run(loop.run("Write it."))
        assert len(state.executions) == 1, (name, state.reason)
        asked.append(times.asked - times.began)
        first.append(times.reported - model.first)
        piece.append((model.last - model.first) / len(pieces))
    bare = seconds(lambda: [list(found) for found in work.read(pieces)], 0.3) / len(pieces)
    return min(asked) * 1e6, min(first) * 1e6, min(piece) * 1e6, bare * 1e6


def main(arguments: Sequence[str]) -> int:
    """Print the table; the exit code is 1 if a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="*", default=DIALECTS)
    parser.add_argument("--runs", type=int, default=20)
    options = parser.parse_args(arguments)
    print("| dialect | to ask us | first event us | piece us | x parser |")
    print("|---|---|---|---|---|")
    misses = 0
    for name in options.dialects:
        asked, first, piece, bare = measure(name, options.runs)
        misses += piece / bare > TIMES
        print(f"| {name} | {asked:.0f} | {first:.1f} | {piece:.2f} | {piece / bare:.1f} |", flush=True)
    return 1 if misses and options.runs >= RELIABLE else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
