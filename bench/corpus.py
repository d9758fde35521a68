"""Measure `toolfmt convert` on a large file: rows and megabytes a second and peak memory, against bare JSON.

    python -m bench.corpus                     # 100 MB
    python -m bench.corpus --size 2000 --jobs 1 2

Makes a file of conversations, reads and writes it with `json` alone, then converts it in a separate process for each
number of jobs, and prints a Markdown row for each: elapsed time, which depends on the load of the machine, and
processor time. Memory is the sum of all processes. Linux only.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1_000_000
BARE = """
import json, sys
with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], "w", encoding="utf-8") as target:
    for line in source:
        target.write(json.dumps(json.loads(line), ensure_ascii=False) + "\\n")
"""
WORDS = ["weather", "Łódź", "please", "find", "the", "report", "of", "a", "quarter", "with", "rain", "\n"]
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Look up the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The cost of a run: seconds, processor seconds, and the peak memory of all its processes in bytes."""

    seconds: float
    worked: float
    memory: int


def conversation(chance: random.Random, number: int) -> dict[str, Any]:
    """Make a conversation with a few calls."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": "You are a helpful assistant. " * 3}]
    for turn in range(chance.randint(1, 4)):
        arguments = json.dumps({"city": "Paris", "days": chance.randint(1, 9), "note": 'a "quoted" note'})
        function = {"name": "get_weather", "arguments": arguments}
        call = {"id": f"call_{number}_{turn}", "type": "function", "function": function}
        result = json.dumps({"degrees": 21.5, "rows": list(range(chance.randint(5, 40)))})
        messages += [
            {"role": "user", "content": " ".join(chance.choices(WORDS, k=40))},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": result},
            {"role": "assistant", "content": " ".join(chance.choices(WORDS, k=80))},
        ]
    return {"messages": messages, "tools": [TOOL]}


def write(path: Path, size: int) -> int:
    """Write conversations until the file has `size` bytes; return their number."""
    chance = random.Random(7)  # noqa: S311 - the same every time
    some = [json.dumps(conversation(chance, number), ensure_ascii=False) + "\n" for number in range(2000)]
    count = written = 0
    with path.open("wb") as file:
        while written < size:
            written += file.write(some[count % len(some)].encode())
            count += 1
    return count


def measure(command: Sequence[str]) -> Measured:
    """Run a command, and watch the memory of its processes."""
    most = 0
    worked, began = processor_seconds(), time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own
        ended = threading.Event()

        def watch() -> None:
            nonlocal most
            while not ended.wait(0.01):
                most = max(most, sum(map(resident, family(process.pid))))

        watcher = threading.Thread(target=watch)
        watcher.start()
        code = process.wait()
        seconds = time.perf_counter() - began
        ended.set()
        watcher.join()
    assert code == 0, command
    return Measured(seconds, processor_seconds() - worked, most)


def processor_seconds() -> float:
    """Return the processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def family(pid: int) -> Iterator[int]:
    """Return a process and its descendants."""
    yield pid
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        try:
            children = (thread / "children").read_text()
        except OSError:
            continue
        for child in children.split():
            yield from family(int(child))


def resident(pid: int) -> int:
    """Return a process's memory in bytes, with its part of shared pages; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def main(arguments: Sequence[str]) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100, help="megabytes of the file")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--to", default="anthropic")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "in.jsonl", Path(folder) / "out.jsonl"
        count = write(file, options.size * MEGABYTE)
        convert = [sys.executable, "-m", "toolfmt", "convert", str(file), "--from", "openai-chat", "--to", options.to]
        runs = {"json alone": [sys.executable, "-c", BARE, str(file), str(out)]}
        runs |= {f"--jobs {jobs}": [*convert, "--out", str(out), "--jobs", str(jobs)] for jobs in options.jobs}
        print("| run | rows/s | MB/s | of json alone | processor us/row | of json alone | peak MB |")
        print("|---|---|---|---|---|---|---|")
        bare: Measured | None = None
        for name, command in runs.items():
            found = measure(command)
            bare = bare or found
            speed = file.stat().st_size / MEGABYTE / found.seconds
            cells = (
                name,
                f"{count / found.seconds:.0f}",
                f"{speed:.1f}",
                f"{bare.seconds / found.seconds:.2f}",
                f"{found.worked / count * 1e6:.0f}",
                f"{bare.worked / found.worked:.2f}",
                f"{found.memory / MEGABYTE:.0f}",
            )
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
