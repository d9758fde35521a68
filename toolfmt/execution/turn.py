"""What a loop and an executor share about the calls of one turn.

A call that a person approved before it was handed to the executor is not asked about again. The loop stores a state
when a call starts and when it ends, so that a resumed run knows which calls have not started.

The value is a context variable: it also passes executors that wrap another one, and a tool that runs calls of its own
sees none of it.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from toolfmt.execution.records import ToolExecution
    from toolfmt.model import ToolInvocation


@dataclass(frozen=True, slots=True)
class CallTurn:
    """The calls of one turn."""

    approved: tuple[ToolInvocation, ...] = ()
    """The calls that were approved; each approval is for one call with the same tool and arguments."""
    report: Callable[[int, ToolInvocation | ToolExecution], Awaitable[None]] | None = None
    """Is given the position of a call: with the call when it is about to start, with its record when it has ended.

    If it raises `AgentStop`, the call does not start and the run ends.
    """

    def approvals(self, calls: Iterable[ToolInvocation]) -> list[ToolInvocation | None]:
        """Return the approval of each call, or None."""
        left = list(self.approved)
        found: list[ToolInvocation | None] = []
        for call in calls:
            at = next((at for at, one in enumerate(left) if same(call, one)), None)
            found.append(None if at is None else left.pop(at))
        return found


ALONE: Final = CallTurn()
current: ContextVar[CallTurn] = ContextVar("turn", default=ALONE)


def same(call: ToolInvocation, other: ToolInvocation) -> bool:
    """Whether two calls are of one tool with the same arguments."""
    return (call.server, call.name) == (other.server, other.name) and jsontext.equal(call.arguments, other.arguments)
