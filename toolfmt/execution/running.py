"""Runs a tool's function: async ones in the event loop, others in a thread, or in a process of their own.

    metadata["run_in"] = "thread" | "loop" | "process"

A thread that times out is abandoned: it continues in the background, its result is dropped, and the program does not
wait for it, as it would for anyio's own threads. Only a process is really stopped.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import math
import os
import pickle
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Iterator
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

import anyio
from anyio import from_thread, to_process
from anyio.lowlevel import current_token

from toolfmt import jsontext
from toolfmt.errors import ExecutionError
from toolfmt.execution.records import AgentStop
from toolfmt.execution.values import collected, may_be_ctrl_c, result_of, text_of
from toolfmt.model import ToolResult
from toolfmt.tools.signature import plain_function

if TYPE_CHECKING:
    from collections.abc import Callable

    Job: TypeAlias = Callable[[], object]


RunPlace: TypeAlias = Literal["thread", "loop", "process"]


async def run(
    function: Callable[..., Any], given: dict[str, Any], name: str, place: RunPlace, limit: int | None
) -> ToolResult:
    """Call a function and make a result of what it returns; raises what it raises."""
    return await PLACES[place](partial(function, **given), name, limit)


async def result(value: object, name: str, limit: int | None) -> ToolResult:
    """Make a result of a value, in a thread if that may run code of the value's type or take long."""
    make = partial(result_of, value, name, limit)
    return make() if _is_simple(value) else await in_thread(make)


def _is_simple(value: object) -> bool:
    """Whether a value is a small one of JSON's types."""
    pending: list[object] = [value]
    room = 1000
    while pending:
        one = pending.pop()
        if room < 0 or (one is not None and type(one) not in _SIMPLE):
            return False
        inner = [*one, *one.values()] if jsontext.is_object(one) else one if jsontext.is_array(one) else ()
        room -= len(inner)
        pending.extend(inner)
    return True


_SIMPLE: Final = frozenset({str, int, float, bool, dict, list})


def place_of(function: Callable[..., Any], wanted: object) -> RunPlace:
    """Where a function runs; raises ValueError for a place that does not exist."""
    if wanted is None:
        return "loop" if is_async(function) else "thread"
    if wanted not in PLACES:
        raise ValueError(f"a tool runs in {', '.join(PLACES)}, not in {wanted!r}")
    if wanted == "process":
        try:
            pickle.dumps(function)
        except Exception as error:  # noqa: BLE001 - pickle has no error of its own, and runs foreign code
            raise ValueError(
                f"what runs in a process is a function at the top level of a module: {error_text(error)}"
            ) from None
    return cast("RunPlace", wanted)


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a function is a coroutine or an async generator."""
    plain = plain_function(function)
    return inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain)


def is_generator(function: Callable[..., Any]) -> bool:
    """Whether a function is a generator, sync or async."""
    plain = plain_function(function)
    return inspect.isgeneratorfunction(plain) or inspect.isasyncgenfunction(plain)


def error_text(error: BaseException) -> str:
    """Describe an exception for a model: its text, with its type if the text is only a key."""
    return "; ".join(map(_error_text, leaves(error)))


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions of a group and of the groups in it; else the exception itself."""
    pending = [error]
    while pending:
        one = pending.pop()
        if isinstance(one, BaseExceptionGroup):
            pending.extend(reversed(cast("tuple[BaseException, ...]", one.exceptions)))
        else:
            yield one


def _error_text(error: BaseException) -> str:
    text = text_of(error)
    if not text:
        return type(error).__name__
    return f"{type(error).__name__}: {text}" if text == _repr(error) else text


def _repr(error: BaseException) -> str:
    """Return the `repr` of an exception's first argument, which is the text of a KeyError."""
    try:
        return repr(error.args[0]) if error.args else ""
    except BaseException as own:  # foreign `__repr__`
        if may_be_ctrl_c(own):
            raise
        return ""


async def _in_loop(call: Callable[[], Any], name: str, limit: int | None) -> ToolResult:
    return await result(await _awaited(call(), limit), name, limit)


async def _in_thread(call: Callable[[], Any], name: str, limit: int | None) -> ToolResult:
    value = await in_thread(partial(_attempt, call, name, limit))
    if isinstance(value, BaseException):
        raise _held(value)
    return value if isinstance(value, ToolResult) else await result(await _awaited(value, limit), name, limit)


async def _in_process(call: Callable[[], Any], name: str, limit: int | None) -> ToolResult:
    try:
        pickle.dumps(call)
    except Exception as error:  # noqa: BLE001 - as above; its text may show what is injected
        raise ExecutionError(f"the tool's arguments cannot go to a process: {type(error).__name__}") from None
    try:
        value = await to_process.run_sync(_alone, call, name, limit, cancellable=True, limiter=anyio.CapacityLimiter(1))
    except anyio.BrokenWorkerProcess:
        raise ExecutionError("the process that ran the tool has died") from None
    if isinstance(value, AgentStop):
        raise value
    if isinstance(value, str):
        raise ExecutionError(value)
    return value


def _attempt(call: Callable[[], Any], name: str, limit: int | None) -> Any:
    """Run a function in a thread; its result is made there too, because an iterator runs the tool's code."""
    try:
        value = call()
        return cast("Any", value) if isinstance(value, (Awaitable, AsyncIterator)) else result_of(value, name, limit)
    except BaseException as error:  # noqa: BLE001 - a tool's code
        return error


def _held(error: BaseException) -> BaseException:
    """Make an ordinary error of an end that only a tool itself can raise in a thread: no Ctrl-C arrives in one."""
    ends = [one for one in leaves(error) if isinstance(one, (AgentStop, GeneratorExit, KeyboardInterrupt))]
    stop = next((one for one in ends if isinstance(one, AgentStop)), None)
    return stop or ExecutionError(error_text(error)) if ends else error


def _alone(call: Callable[[], Any], name: str, limit: int | None) -> ToolResult | AgentStop | str:
    """Run a function in a separate process; the returned value must be picklable."""
    try:
        value = _attempt(call, name, limit)
        if isinstance(value, (Awaitable, AsyncIterator)):
            value = anyio.run(_in_loop, lambda: value, name, limit)
    except BaseException as error:  # noqa: BLE001 - a tool's code
        value = error
    if isinstance(value, AgentStop):
        return AgentStop(text_of(value))
    return error_text(value) if isinstance(value, BaseException) else value


async def _awaited(value: Any, limit: int | None) -> Any:
    if isinstance(value, Awaitable):
        value = await cast("Awaitable[Any]", value)
    return await collected(cast("AsyncGenerator[Any]", value), limit) if isinstance(value, AsyncIterator) else value


PLACES: Final = {"thread": _in_thread, "loop": _in_loop, "process": _in_process}


def check_seconds(seconds: object, what: str) -> float | None:
    """Check a time limit; raises ValueError for anything else."""
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0 or math.isnan(seconds):
        raise ValueError(f"{what} is a number of seconds above 0, not {seconds!r}")
    return float(seconds)


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
        raise _held(error)
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
