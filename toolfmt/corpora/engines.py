"""Engines that run the work: one process, several processes, or a cluster, with the same results in the same order."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import connection, get_context, parent_process
from types import MappingProxyType
from typing import Final, TypeVar

from toolfmt.corpora.work import Done, Job, convert_batch
from toolfmt.errors import CorpusError, ToolFmtError

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_AHEAD: Final = 3
"""The batches submitted for each process: one runs and the others are queued, so no process waits for the reader."""


def mapped(function: Callable[[ItemT], ResultT], items: Iterable[ItemT], jobs: int) -> Iterator[ResultT]:
    """Apply a function to items in `jobs` processes; results before an error are yielded before it is raised."""
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
    """Start processes that ignore Ctrl-C from the beginning; in this process it is delayed meanwhile."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Leave Ctrl-C to the parent process, and exit when the parent exits for any reason."""
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
    """Run on a Ray cluster; start a local one if none is running."""
    from toolfmt.corpora.cluster import run

    return run(job)


ENGINES: Final[Mapping[str, Callable[[Job], Iterator[Done]]]] = MappingProxyType({"local": local, "ray": ray})
