"""Guards that end a run that goes on for too long: a circuit breaker and a budget.

    Breaker(5)                              after five identical failures in a row, nothing runs any more
    Budget(calls=100, seconds=600, tokens=200_000, iterations=20, per_tool={"search": 10})

Guards keep state, so each run needs its own. An executor asks them before a call, a loop before a step.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from toolfmt.arguments import Natural, Positive, Seconds, checked
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.records import FailureKind, ToolExecution
from toolfmt.model import ToolInvocation
from toolfmt.transcripts.answering.answer_info import Usage

IDENTICAL: Final = 5
"""Identical failures in a row that open a breaker."""
_NO_FAILURE: Final[frozenset[FailureKind | None]] = frozenset(
    {"circuit_open", "budget", "cancelled", "stopped", "waiting"}
)
"""Failures that say nothing about whether the model makes progress."""
_MODELS_WORDS: Final[frozenset[FailureKind | None]] = frozenset({"unknown_tool", "unknown_server"})
"""Failures whose text contains a name that the model invented."""


@checked
class Breaker:
    """Opens after `limit` identical failures in a row; a success resets the count.

    Failures are identical if the tool and the error are. Arguments that are invalid in the same places count as
    identical, whatever their values.
    """

    def __init__(self, limit: Positive = IDENTICAL) -> None:
        self._limit = limit
        self._last: object = None
        self._count = 0
        self._reason = ""
        self._lock = threading.Lock()

    @property
    def reason(self) -> str:
        """Why no more calls may run; empty while it is closed."""
        return self._reason

    def refuse(self, call: ToolInvocation) -> Blocked | None:  # noqa: ARG002 - it looks at none
        """Refuse every call once it is open."""
        return Blocked(self._reason, "circuit_open") if self._reason else None

    def record(self, execution: ToolExecution) -> None:
        """Count a failure, or start again after a success."""
        if execution.failure in _NO_FAILURE:
            return
        with self._lock:
            failed = _identity(execution) if execution.has_error else None
            self._count = self._count + 1 if failed is not None and failed == self._last else int(failed is not None)
            self._last = failed
            if self._count >= self._limit and not self._reason:
                self._reason = f"stopped after {self._count} identical failures in a row: {execution.error}"

    def reset(self) -> None:
        """Close it and reset the count."""
        with self._lock:
            self._last, self._count, self._reason = None, 0, ""


def _identity(execution: ToolExecution) -> tuple[object, ...]:
    if execution.failure in _MODELS_WORDS:
        return (execution.failure,)
    places = tuple((problem.pointer, problem.keyword) for problem in execution.problems)
    return (execution.call.server, execution.name, execution.failure, places or execution.error)


@checked
@dataclass(slots=True, kw_only=True)
class Budget:
    """Limits of a run; None means no limit. Time counts from the first check."""

    calls: Natural | None = None
    """Tool calls."""
    per_tool: Mapping[str, Natural] = field(default_factory=dict[str, int])
    """Calls by tool name."""
    iterations: Natural | None = None
    """Steps, as `step` counts them."""
    seconds: Seconds | None = None
    tokens: Natural | None = None
    """Input and output tokens, as reported to `spend`."""
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    used: Counter[str] = field(default_factory=Counter[str], init=False)
    """Admitted calls by tool name."""
    steps: int = field(default=0, init=False)
    spent: int = field(default=0, init=False)
    _began: float | None = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools that have limits of their own."""
        return tuple(self.per_tool)

    @property
    def reason(self) -> str:
        """Which limit is reached; empty if none is."""
        with self._lock:
            return self._reason()

    def step(self) -> str:
        """Count a step and return why it must not begin, or ""."""
        with self._lock:
            reason = self._reason()
            if not reason and self.iterations is not None and self.steps >= self.iterations:
                reason = f"the budget of {self.iterations} steps is used up"
            self.steps += not reason
            return reason

    def spend(self, usage: Usage) -> None:
        """Count the tokens of an answer."""
        with self._lock:
            self.spent += usage.input + usage.output

    def refuse(self, call: ToolInvocation) -> Blocked | None:
        """Refuse a call over budget, and count any other."""
        with self._lock:
            reason = self._reason()
            limit = self.per_tool.get(call.name)
            if not reason and self.calls is not None and self.used.total() >= self.calls:
                reason = f"the budget of {self.calls} calls is used up"
            if not reason and limit is not None and self.used[call.name] >= limit:
                reason = f"the budget of {limit} calls of {call.name!r} is used up"
            if reason:
                return Blocked(reason, "budget")
            self.used[call.name] += 1
            return None

    def record(self, execution: ToolExecution) -> None:
        """Do nothing, because a call is counted when it begins."""

    def _reason(self) -> str:
        now = self.clock()
        if self._began is None:
            self._began = now
        if self.seconds is not None and now - self._began >= self.seconds:
            return f"the budget of {self.seconds:g} s is used up"
        if self.tokens is not None and self.spent >= self.tokens:
            return f"the budget of {self.tokens:,} tokens is used up"
        return ""
