"""What runs the work: this machine, in one process or several, or a cluster. All give the same results in order."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection, get_context, parent_process
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeVar

from toolfmt.corpora.work import Done, Job, convert_batch
from toolfmt.errors import CorpusError, ToolFmtError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_AHEAD: Final = 3
"""Batches under way for each process: one is worked on, the others wait, so that none waits for the reader."""


def mapped(function: Callable[[ItemT], ResultT], items: Iterable[ItemT], jobs: int) -> Iterator[ResultT]:
    """Apply a function to items, in `jobs` processes; what could be read before an error is given before it."""
    if jobs == 1:
        yield from map(function, items)
        return
    # Started anew and not forked: a fork copies locks that other threads of this process may hold.
    with ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin) as pool:
        waiting: deque[Future[ResultT]] = deque()
        try:
            try:
                for item in items:
                    with _interrupts_blocked():
                        waiting.append(pool.submit(function, item))
                    if len(waiting) >= jobs * _AHEAD:
                        yield waiting.popleft().result()
            except (ToolFmtError, OSError):  # of reading
                while waiting:
                    yield waiting.popleft().result()
                raise
            while waiting:
                yield waiting.popleft().result()
        except BrokenProcessPool:
            raise CorpusError("a process was killed, perhaps for want of memory: try fewer --jobs") from None
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Generator[None]:
    """Start processes that no Ctrl-C reaches, not even before they can say so; for this one it waits."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave Ctrl-C to the parent, and end when it does, however it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)


def local(job: Job) -> Iterator[Done]:
    """Run on this machine, in `jobs` processes."""
    return mapped(partial(convert_batch, job.work), job.reading.all(job.sources, job.start), job.jobs)


def ray(job: Job) -> Iterator[Done]:
    """Run on a Ray cluster, which is started here if there is none."""
    from toolfmt.corpora.cluster import run

    return run(job)


ENGINES: Final[Mapping[str, Callable[[Job], Iterator[Done]]]] = MappingProxyType({"local": local, "ray": ray})
