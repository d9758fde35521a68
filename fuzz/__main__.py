"""Try every public function on what strangers may send: `python -m fuzz`.

    python -m fuzz                              # all targets, for a minute
    python -m fuzz --hours 8                    # for a night
    python -m fuzz --cases 10000                 # the same cases wherever it runs
    python -m fuzz --targets convert grammar    # some of them
    python -m fuzz --input fuzz/corpus/x.json   # one case again
    python -m fuzz --coverage --seconds 600     # the parsers alone, guided by atheris

First come the cases of `corpus/`, each of which broke something once, then cases by chance. A finding is printed and
written to `--found`, and the run goes on; the exit code is 1 where there was one.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import signal
import sys
import time
import traceback
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CORPUS = Path(__file__).parent / "corpus"
HANG = 20
"""Seconds that one case may take."""
MEMORY = 8 << 30
"""Bytes of addresses that the process may use."""


class HangError(BaseException):
    """A case took too long; no handler of the code under test catches it."""


def bounded(size: int) -> None:
    """Make what takes more memory a finding, where the system can: the process would be ended without a word."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `HangError` in what takes longer, where the system has timers."""

    def stop(*_: object) -> None:
        raise HangError(f"no end within {seconds} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def broken(name: str, case: Any) -> tuple[str, str]:
    """Run a case: what it raised, as a name for all findings of its kind, and in full; empty where all is well."""
    from fuzz.targets import attempt

    try:
        with limited(HANG):
            attempt(name, case)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - whatever comes out is the finding
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if "toolfmt" in frame.filename] or frames
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        recursive = isinstance(error, RecursionError)  # where the stack ends is chance
        return f"{name}: {type(error).__name__} in {Path(own[-1].filename).name if recursive else place}", "".join(
            traceback.format_exception(error, limit=-6)
        )
    return "", ""


def kept() -> Iterator[tuple[str, Any]]:
    """Give the cases of the corpus, each with its target."""
    for path in sorted(CORPUS.glob("*.json")):
        held = json.loads(path.read_text("utf-8"))
        yield held["target"], held["case"]


def written(name: str, case: Any, folder: Path, number: int) -> str:
    """Write a case to a file that `--input` takes; where JSON cannot hold it, say so."""
    try:
        text = json.dumps({"target": name, "case": case})
    except (RecursionError, ValueError):
        return "nested too deeply to be written"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{number}.json"
    path.write_text(text + "\n", "utf-8")
    return str(path)


def search(names: Sequence[str], end: Callable[[int], bool], seed: int, folder: Path) -> int:
    """Run the corpus, then cases by chance until `end` of their number; how many kinds of findings there were."""
    from fuzz.targets import TARGETS

    count: Counter[str] = Counter()
    found: Counter[str] = Counter()

    def run(name: str, case: Any, number: int) -> None:
        count[name] += 1
        kind, full = broken(name, case)
        if kind:
            found[kind] += 1
        if found[kind] == 1:
            print(f"{kind} (case {number} of seed {seed}; {written(name, case, folder, number)})\n{full}", flush=True)

    for name, case in kept():
        if name in names:
            run(name, case, 0)
    number = 0
    while not end(number):
        number += 1
        name = names[number % len(names)]
        run(name, TARGETS[name].make(random.Random(f"{seed} {number}")), number)  # noqa: S311 - to be repeated
    print(f"{count.total()} cases of {len(names)} targets, {len(found)} kinds of findings")
    print(", ".join(f"{name} {count[name]}" for name in names))
    for kind, times in found.most_common():
        print(f"{times} x {kind}")
    return len(found)


def main(arguments: Sequence[str]) -> int:
    """Run; 0 when nothing was found."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--cases", type=int, help="so many cases, however long they take: the same on every machine")
    parser.add_argument("--targets", nargs="*", help="all of them where none is named")
    parser.add_argument("--seed", type=int, default=0, help="of the chance")
    parser.add_argument(
        "--found", type=Path, default=Path("fuzz-found"), help="the folder that findings are written to"
    )
    parser.add_argument("--input", type=Path, help="run one case and end")
    parser.add_argument("--coverage", action="store_true", help="let atheris guide the search through the parsers")
    options = parser.parse_args(arguments)
    seconds = options.hours * 3600 or options.seconds
    logging.getLogger("toolfmt").setLevel(logging.CRITICAL)  # policies log each refusal
    if options.coverage:
        from fuzz.coverage import guided

        guided(int(seconds), options.seed)
    from fuzz.targets import TARGETS

    if options.input:
        held = json.loads(options.input.read_text("utf-8"))
        kind, full = broken(held["target"], held["case"])
        print(full or "nothing is wrong")
        return int(bool(kind))
    bounded(MEMORY)
    unknown = set(options.targets or ()) - TARGETS.keys()
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    last = time.monotonic() + seconds

    def end(number: int) -> bool:
        return time.monotonic() >= last if options.cases is None else number >= options.cases

    return int(bool(search(options.targets or list(TARGETS), end, options.seed, options.found)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
