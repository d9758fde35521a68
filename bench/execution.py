"""Measure what the executor costs for each call, without the tool itself.

    python -m bench.execution
    python -m bench.execution --calls 1000

One turn of many calls, with validation and one policy; the time of the tool alone is subtracted. Processor time, the
best of five runs.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING

import anyio

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.execution import Executor, Permissions, RateLimit
from toolfmt.execution.running import in_thread

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

REPEATS = 5


def add(a: int, b: int = 2, note: str = "") -> int:
    """Add two numbers."""
    return a + b + len(note)


async def add_async(a: int, b: int = 2, note: str = "") -> int:
    """Add two numbers, in the event loop."""
    return a + b + len(note)


async def in_loop(calls: int) -> None:
    """Call the async tool itself."""
    for i in range(calls):
        await add_async(a=i, note="x")


async def in_threads(calls: int) -> None:
    """Call the plain tool itself, each time in a thread."""
    for i in range(calls):
        await in_thread(partial(add, a=i, note="x"))


def timed(run: Callable[[], Awaitable[object]]) -> float:
    """Measure the processor seconds of a run."""

    async def once() -> float:
        began = time.process_time()
        await run()
        return time.process_time() - began

    return min(anyio.run(once) for _ in range(REPEATS))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=10_000)
    count = parser.parse_args().calls
    registry = ToolRegistry()
    registry.register(add_async, name="loop")
    registry.register(add, name="inline", run_in="loop")
    registry.register(add, name="thread")
    heard: list[object] = []
    rows = {
        "one policy": {"policies": [Permissions({"*": ["*"]})]},
        "no policy": {},
        "two policies, events heard": {
            "policies": [Permissions({"*": ["*"]}), RateLimit(10**9, per=60)],
            "on_event": heard.append,
        },
    }
    alone = {"loop": timed(partial(in_loop, count)), "inline": 0.0, "thread": timed(partial(in_threads, count))}
    print(f"{count:,} calls; microseconds a call beyond the tool itself")
    for name, tool in alone.items():
        calls = [ToolInvocation(name=name, arguments={"a": i, "note": "x"}) for i in range(count)]
        for what, options in rows.items():
            heard.clear()
            took = timed(partial(Executor(registry, **options).execute, calls))
            print(f"{name:8} {what:28} {(took - tool) / count * 1e6:6.1f}")


if __name__ == "__main__":
    main()
