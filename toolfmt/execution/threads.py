"""Run a function in a thread that nobody has to wait for.

    value = await in_thread(function)

A thread cannot be stopped. If the task that awaits it is cancelled, the thread is abandoned: it continues, its result
is dropped, and neither later calls nor the end of the program wait for it. A program does wait for anyio's own threads
at its end, so a tool that hangs would keep it from ending.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import threading
from collections import deque
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import anyio
from anyio import from_thread
from anyio.lowlevel import current_token

if TYPE_CHECKING:
    from collections.abc import Callable

    Job: TypeAlias = Callable[[], object]

T = TypeVar("T")

IDLE: Final = 10
"""Seconds after which a thread without work ends."""


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function in a thread, with the current context variables; raises what it raises."""
    token, context = current_token(), contextvars.copy_context()
    done = anyio.Event()
    values: list[T] = []
    errors: list[BaseException] = []
    abandoned = False

    def work() -> None:
        try:
            values.append(context.run(function))
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            errors.append(error)
        if not abandoned:
            with contextlib.suppress(RuntimeError):  # the loop has ended just now
                from_thread.run_sync(done.set, token=token)

    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.jobs.put(work)
    try:
        await done.wait()
    except BaseException:
        abandoned = True
        raise
    for error in errors:
        raise error
    return values[0]


class _Worker:
    """A thread that takes one job after the other until it was idle for too long."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        threading.Thread(target=self._run, name="toolfmt-tool", daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=IDLE)
            except Empty:
                try:
                    _idle.remove(self)
                except (ValueError, IndexError):  # it is being taken: a job will follow
                    continue
                return
            job()
            del job
            _idle.append(self)  # last of all: a worker listed here must be free


_idle: deque[_Worker] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)
