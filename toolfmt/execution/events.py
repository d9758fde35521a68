"""What happens in a run, as it happens: frozen records, in an order that is part of the contract.

    RunStarted
      StepStarted
        for each answer:  InferenceRequestStarted  AnswerReceived*  InferenceResponseReceived
                          DecisionExtractionFailed?  ValidationFailed*  ArgumentsNormalised*
        for each call:  PolicyChecked*  ToolCallStarted  ToolProgress*  ToolCallCompleted  HookFailed*
                  or:   PolicyChecked*  ToolCallBlocked
      StepCompleted
    RunCompleted

Calls run side by side, so the events of several may interleave; those of one stay in order. An answer that is lost
on the way has no InferenceResponseReceived: the next request follows, or the step ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from datetime import datetime

    from toolfmt.conversation import Transcript
    from toolfmt.events import CallFailed, Event
    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import AnswerInfo
    from toolfmt.transcripts.losses import Loss


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins, with the state it begins from."""

    at: datetime
    state: Any


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A step begins; counted from 0 within the run."""

    at: datetime
    step: int


@dataclass(frozen=True, slots=True)
class InferenceRequestStarted:
    """A model is asked; `attempt` counts from 1, `losses` are what its format could not say.

    `transcript` is the conversation with the tools, where the request holds both as text.
    """

    at: datetime
    request: JsonObject
    attempt: int = 1
    losses: tuple[Loss, ...] = ()
    transcript: Transcript | None = None


@dataclass(frozen=True, slots=True)
class AnswerReceived:
    """A piece of the answer, as soon as it is certain."""

    at: datetime
    event: Event


@dataclass(frozen=True, slots=True)
class InferenceResponseReceived:
    """The answer is complete."""

    at: datetime
    text: str
    calls: tuple[ToolInvocation, ...]
    failures: tuple[CallFailed, ...]
    info: AnswerInfo
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class DecisionExtractionFailed:
    """An answer held no decision that could be read."""

    at: datetime
    attempt: int
    error: str
    text: str


@dataclass(frozen=True, slots=True)
class ValidationFailed:
    """A call or a decision was read and cannot be used."""

    at: datetime
    attempt: int
    error: str
    failure: CallFailed | None = None


@dataclass(frozen=True, slots=True)
class ArgumentsNormalised:
    """A call's or decision's arguments were fitted to what its tool takes; `changes` says in words what was changed."""

    at: datetime
    call: ToolInvocation
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PolicyChecked:
    """A policy has decided on a call; `error` is empty if it lets it pass."""

    at: datetime
    call: ToolInvocation
    policy: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """A call begins to run, as hooks have left it."""

    at: datetime
    call: ToolInvocation
    execution: str
    """The execution's id."""


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A tool tells how far it is, of `total` where it knows."""

    at: datetime
    call: ToolInvocation
    execution: str
    progress: float | None = None
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallCompleted:
    """A call has ended, with its result or an error."""

    at: datetime
    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class ToolCallBlocked:
    """A hook, a policy, a guard or the end of the run kept a call from running."""

    at: datetime
    execution: ToolExecution


@dataclass(frozen=True, slots=True)
class HookFailed:
    """An after-hook raised an error; the result stays as it was."""

    at: datetime
    execution: ToolExecution
    hook: str
    error: str


@dataclass(frozen=True, slots=True)
class StepCompleted:
    """A step has ended; the state has it as its last."""

    at: datetime
    step: int
    state: Any


@dataclass(frozen=True, slots=True)
class RunCompleted:
    """The run is over; the state says how."""

    at: datetime
    state: Any


ExecutionEvent: TypeAlias = (
    RunStarted
    | StepStarted
    | InferenceRequestStarted
    | AnswerReceived
    | InferenceResponseReceived
    | DecisionExtractionFailed
    | ValidationFailed
    | ArgumentsNormalised
    | PolicyChecked
    | ToolCallStarted
    | ToolProgress
    | ToolCallCompleted
    | ToolCallBlocked
    | HookFailed
    | StepCompleted
    | RunCompleted
)
Listener: TypeAlias = Callable[[ExecutionEvent], object]
"""Gets every event; what it raises is logged as a warning and breaks nothing."""
