"""The events of a run: frozen records, emitted in an order that is part of the contract.

    RunStarted
      StepStarted
        for each answer:  InferenceRequestStarted  AnswerReceived*  InferenceResponseReceived
                          DecisionExtractionFailed?  ValidationFailed*  ArgumentsNormalised*
        for each call:  PolicyChecked*  ToolCallStarted  ToolProgress*  ToolCallCompleted  HookFailed*
                  or:   PolicyChecked*  ToolCallBlocked
      StepCompleted
    RunCompleted

Calls run concurrently, so the events of several may interleave; those of one stay in order. An answer that is lost on
the way has no InferenceResponseReceived: the next request follows, or the step ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from toolfmt.conversation import Transcript
from toolfmt.events import CallFailed, Event
from toolfmt.execution.masking import masked_text
from toolfmt.execution.records import ToolExecution
from toolfmt.model import JsonObject, ToolInvocation
from toolfmt.transcripts.answering.answer_info import AnswerInfo
from toolfmt.transcripts.comparing.losses import Loss


@dataclass(frozen=True, slots=True)
class ExecutionEvent:
    """Something that happened, and when."""

    at: datetime


@dataclass(frozen=True, slots=True)
class RunStarted(ExecutionEvent):
    """A run begins, with the state it begins from."""

    state: Any


@dataclass(frozen=True, slots=True)
class StepStarted(ExecutionEvent):
    """A step begins; counted from 0 within the run."""

    step: int


@dataclass(frozen=True, slots=True)
class InferenceRequestStarted(ExecutionEvent):
    """A model is asked; `attempt` counts from 1, `losses` are what its format could not say.

    `transcript` is the conversation with the tools, where the request holds both as text.
    """

    request: JsonObject
    attempt: int = 1
    losses: tuple[Loss, ...] = ()
    transcript: Transcript | None = None


@dataclass(frozen=True, slots=True)
class AnswerReceived(ExecutionEvent):
    """A piece of the answer, as soon as it is certain."""

    event: Event


@dataclass(frozen=True, slots=True)
class InferenceResponseReceived(ExecutionEvent):
    """The answer is complete."""

    text: str
    calls: tuple[ToolInvocation, ...]
    failures: tuple[CallFailed, ...]
    info: AnswerInfo
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class DecisionExtractionFailed(ExecutionEvent):
    """An answer held no decision that could be read."""

    attempt: int
    error: str
    text: str


@dataclass(frozen=True, slots=True)
class ValidationFailed(ExecutionEvent):
    """A call or a decision was read and cannot be used."""

    attempt: int
    error: str
    failure: CallFailed | None = None


@dataclass(frozen=True, slots=True)
class ArgumentsNormalised(ExecutionEvent):
    """A call's or decision's arguments were fitted to what its tool takes; `changes` says in words what was changed."""

    call: ToolInvocation
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicyChecked(ExecutionEvent):
    """A policy has decided on a call; `error` is empty if it lets it pass."""

    call: ToolInvocation
    policy: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallStarted(ExecutionEvent):
    """A call begins to run, as hooks have left it."""

    call: ToolInvocation
    execution: str
    """The execution's id."""


@dataclass(frozen=True, slots=True)
class ToolProgress(ExecutionEvent):
    """A tool reports its progress, out of `total` if known."""

    call: ToolInvocation
    execution: str
    progress: float | None = None
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallCompleted(ExecutionEvent):
    """A call has ended, with its result or an error."""

    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class ToolCallBlocked(ExecutionEvent):
    """A hook, a policy, a guard or the end of the run kept a call from running."""

    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class HookFailed(ExecutionEvent):
    """An after-hook raised an error; the result stays as it was."""

    execution: ToolExecution
    hook: str
    error: str


@dataclass(frozen=True, slots=True)
class StepCompleted(ExecutionEvent):
    """A step has ended; the state has it as its last."""

    step: int
    state: Any


@dataclass(frozen=True, slots=True)
class RunCompleted(ExecutionEvent):
    """The run is over; the state says how."""

    state: Any


Listener: TypeAlias = Callable[[ExecutionEvent], object]
"""Gets every event; an exception that it raises is logged as a warning."""


log = logging.getLogger("toolfmt.execution")


def failed(what: str, error: BaseException) -> str:
    """Report that code failed, with the exception's type only; its text, which may contain a secret, is logged."""
    log.warning("%s failed", what, exc_info=error)
    return f"{what} failed: {type(error).__name__}"


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


class Listeners:
    """Passes events from any thread to a listener, one at a time."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self.lock = threading.RLock()

    def __call__(self, event: ExecutionEvent) -> None:
        """Pass an event; an exception of the listener is logged."""
        if self._listener is None:
            return
        with self.lock:
            try:
                self._listener(event)
            except Exception:
                log.warning("a listener failed on %s", type(event).__name__, exc_info=True)


class Progress:
    """Passes on the progress of a call from its start to its end."""

    def __init__(self, listeners: Listeners, execution: str, inject: Mapping[str, object]) -> None:
        self._listeners = listeners
        self._inject = inject
        self._execution = execution
        self._call: ToolInvocation | None = None

    def open(self, call: ToolInvocation) -> None:
        """Begin to report."""
        self._call = call

    def close(self, event: ExecutionEvent) -> None:
        """Report the call's end; later reports, such as those of an abandoned thread, are dropped."""
        with self._listeners.lock:
            self._call = None
            self._listeners(event)

    def __call__(self, progress: float | None, total: float | None, message: str) -> None:
        """Report progress; texts of injected values are replaced in the message."""
        message = masked_text(message, self._inject.values())
        with self._listeners.lock:
            if self._call is not None:
                self._listeners(ToolProgress(now(), self._call, self._execution, progress, total, message))
