"""The record of a call, whether it ran, failed or was blocked.

    ToolExecution(id="…", call=ToolInvocation(name="add", arguments={"a": 1, "b": 2}),
                  result=ToolResult(name="add", content=3), started_at=…, completed_at=…)

`model_dump_json` and `model_validate_json` write and read a record whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal, TypeAlias, cast, get_args

from toolfmt import jsontext
from toolfmt.errors import ExecutionError, Problem, ToolFmtError, close_names, did_you_mean
from toolfmt.model import JsonObject, JsonValue, Record, ToolInvocation, ToolResult

FailureKind: TypeAlias = Literal[
    "unknown_tool",
    "unknown_server",
    "invalid_arguments",
    "raised",
    "timeout",
    "cancelled",
    "blocked",
    "rejected",
    "denied",
    "rate_limited",
    "workspace_mismatch",
    "outside_project",
    "weak_provenance",
    "uncertain",
    "circuit_open",
    "budget",
    "server_failed",
    "broken_tool",
    "hook_failed",
    "stopped",
    "decision_extraction",
    "decision_validation",
    "waiting",
]
"""Why a call has no result from its tool.

A call is `blocked` by a hook, `rejected` by the approver, or `denied` by permissions. A `broken_tool` cannot run as it
was registered. A `stopped` call ended the run, and `cancelled` calls were pending or running at that time. A `waiting`
call has no result yet.
"""


def failure_kind(word: object) -> FailureKind:
    """Check a `FailureKind`; raises ValueError for any other value."""
    known = get_args(FailureKind)
    if word in known:
        return cast("FailureKind", word)
    near = did_you_mean(close_names(str(word), dict(zip(known, known, strict=True)))) or f"known: {', '.join(known)}"
    raise ValueError(f"{word!r} is not a failure: {near}")


class ToolExecution(Record):
    """The record of one call: its result and times; `failure` says why the tool returned no result."""

    id: str
    """Unique to this execution; a call's own id may be missing or come twice."""
    call: ToolInvocation
    """The call as it was run: hooks may have changed it."""
    result: ToolResult
    started_at: datetime
    completed_at: datetime
    blocked: bool = False
    """A hook or a policy kept it from running."""
    failure: FailureKind | None = None
    problems: tuple[Problem, ...] = ()
    """What is wrong with the arguments, each by its place; the result's text says the same in words."""

    @property
    def value(self) -> JsonValue:
        """The tool's value; None for an error."""
        return None if self.result.is_error else self.result.content

    @property
    def arguments(self) -> JsonObject:
        """The arguments of the call."""
        return self.call.arguments

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.call.name

    @property
    def has_error(self) -> bool:
        """Whether the result is an error."""
        return self.result.is_error

    @property
    def error(self) -> str:
        """The error's text; empty if there is none."""
        content = self.result.content
        return "" if not self.result.is_error else content if isinstance(content, str) else jsontext.dumps(content)

    @property
    def duration(self) -> timedelta:
        """How long it took."""
        return self.completed_at - self.started_at


class ToolCallError(ExecutionError):
    """A failed call, raised under `throw_on_failure`; its cause is the tool's exception."""

    def __init__(self, execution: ToolExecution, executions: Iterable[ToolExecution]) -> None:
        self.execution = execution
        self.executions = tuple(executions)
        super().__init__(f"the call of {execution.name!r} failed: {execution.error}")


class PolicyError(ExecutionError):
    """Raised by a hook or a policy to refuse a call; `failure` is the failure of its record."""

    def __init__(self, message: str, failure: FailureKind = "blocked") -> None:
        """Set the message for the model; raises ValueError for an unknown failure."""
        super().__init__(message)
        self.failure: FailureKind = failure_kind(failure)


class AgentStop(ToolFmtError):  # noqa: N818 - nothing is wrong
    """Raised by a tool or a hook to end the run; the executor does not catch it."""

    reason: str = ""
    """Why the run ends; the executor replaces the texts of injected values in it."""

    def __init__(self, reason: str = "") -> None:
        """`reason` says why the run ends."""
        super().__init__(reason)
        self.reason = reason
        self.executions: tuple[ToolExecution, ...] = ()
        """The records of all calls of the turn; set by the executor on the way."""
