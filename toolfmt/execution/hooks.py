"""Hooks before and after a call, guards, and the context of a call for hooks and tools.

    def no_writes(call, context):                      before: change the call, or block it
        if call.name.startswith("write_"):
            return Blocked("read-only today")

    async def shorten(execution, context):             after: replace the result
        return execution.result.model_copy(update={"content": execution.value[:100]})

A before-hook may change a call's name, arguments, server, id and extra, an after-hook the content of its result.
Neither may change the calling agent, the provenance or the certainty.

    async def search(query: str, context: ToolContext) -> list[str]:
        context.tell(0.5, message="half of the index")

The executor sets a parameter of type `ToolContext`; a model never sees it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, TypeAlias

from toolfmt import jsontext
from toolfmt.execution.events import Listener
from toolfmt.execution.records import FailureKind, ToolExecution, failure_kind
from toolfmt.execution.running import is_async, is_generator
from toolfmt.model import ToolInvocation, ToolResult


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call, its caller, and the state of the run, which is read-only."""

    call: ToolInvocation
    execution: str
    """The execution's id."""
    state: Any = None
    agent: str | None = None
    """The caller that the program named; `call.agent` is the name in the call itself."""
    _tell: Callable[[float | None, float | None, str], None] | None = field(default=None, repr=False, compare=False)

    injected_as: ClassVar[str] = "context"

    def tell(self, progress: float | None = None, total: float | None = None, message: str = "") -> None:
        """Report progress, out of `total` if it is known; reports after the end of the call are dropped.

        May be called from any thread. Reports of a tool in a separate process are dropped.
        """
        if self._tell is not None:
            self._tell(progress, total, message)

    def __reduce__(self) -> tuple[type[ToolContext], tuple[Any, ...]]:
        """Pickle without the callback, which cannot be called from another process."""
        return ToolContext, (self.call, self.execution, self.state, self.agent)


@dataclass(frozen=True, slots=True)
class Blocked:
    """Blocks a call: the message for the model, and the `failure` of the call's record.

    Raises TypeError or ValueError for any other message or failure.
    """

    message: str
    failure: FailureKind = "blocked"

    def __post_init__(self) -> None:
        """Check both."""
        if not isinstance(self.message, str):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
            raise TypeError(f"the message of Blocked is text, not {type(self.message).__name__}")
        failure_kind(self.failure)


BeforeHook: TypeAlias = "Callable[[ToolInvocation, ToolContext], Awaitable[HookVerdict] | HookVerdict]"
"""Returns the call to run, `Blocked`, or None for no change. If the hook raises, the call does not run."""
HookVerdict: TypeAlias = ToolInvocation | Blocked | None
AfterHook: TypeAlias = "Callable[[ToolExecution, ToolContext], Awaitable[ToolResult | None] | ToolResult | None]"
"""Returns another result, or None for no change. If the hook raises, the error is reported and the result stays."""


class Guard(Protocol):
    """Watches the calls of a run and ends a run that goes on for too long."""

    def refuse(self, call: ToolInvocation, /) -> Blocked | None:
        """Return why no more calls may run, or None to count the call and let it pass."""
        ...

    def record(self, execution: ToolExecution, /) -> None:
        """Record the outcome of a call."""
        ...


async def ask(hook: Callable[..., Any], *arguments: object) -> Any:
    """Call a hook, sync or async."""
    answer = hook(*arguments)
    return await answer if inspect.isawaitable(answer) else answer


def takes(function: object, what: str, *arguments: str) -> None:
    """Raise TypeError unless these arguments can be passed to a function; `what` names it in the message.

    A generator function is refused too: a call of it runs nothing until somebody iterates over what it returns.
    """
    accepts(function, what, *arguments)
    if callable(function) and is_generator(function):
        raise TypeError(f"{what} {name_of(function)} is a generator, which would never run: write it without `yield`")


def accepts(function: object, what: str, *arguments: str) -> None:
    """Raise TypeError unless these arguments can be passed to a function, which may be a generator."""
    if not callable(function) or isinstance(function, type):
        kind = function.__name__ if isinstance(function, type) else type(function).__name__
        raise TypeError(f"{what} is a function ({', '.join(arguments)}), not {kind}")
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):
        return  # written in C, without a signature
    try:
        parameters.bind(*arguments)
    except TypeError as error:
        raise TypeError(f"{what} {name_of(function)} is called with ({', '.join(arguments)}): {error}") from None


def check_listener(listener: object, what: str) -> None:
    """Raise TypeError unless events can be passed to a function; `what` names it in the message."""
    if not callable(listener) or is_async(listener):
        raise TypeError(f"{what} must be a sync function of an event, because it is not awaited, not {listener!r}")
    takes(listener, what, "event")
    if getattr(listener, "__annotations__", {}).get("return") in ("Listener", Listener):
        raise TypeError(f"{name_of(listener)} makes a listener: give what {name_of(listener)}() returns")


def name_of(hook: object) -> str:
    """Name a hook, for messages."""
    return str(getattr(hook, "__qualname__", None) or getattr(hook, "name", None) or type(hook).__name__)


def changed(call: ToolInvocation, answer: object) -> ToolInvocation:
    """Apply a before-hook's answer; raises TypeError or ValueError for a change that is not allowed."""
    if not isinstance(answer, ToolInvocation):
        raise TypeError(f"a before-hook returns a ToolInvocation, Blocked or None, not {type(answer).__name__}")
    for kept in ("agent", "provenance", "certainty"):
        if getattr(answer, kept) != getattr(call, kept):
            raise ValueError(f"a before-hook may not change a call's {kept}")
    if answer.raw_arguments == call.raw_arguments and not jsontext.equal(answer.arguments, call.arguments):
        return answer.model_copy(update={"raw_arguments": None})  # it is the text of the arguments before the change
    return answer


def replaced(execution: ToolExecution, answer: object) -> ToolExecution:
    """Apply an after-hook's answer; raises TypeError unless it is a result or None."""
    if answer is None:
        return execution
    if not isinstance(answer, ToolResult):
        raise TypeError(f"an after-hook returns a ToolResult or None, not {type(answer).__name__}")
    failure = execution.failure if answer.is_error else None
    return execution.model_copy(update={"result": addressed(answer, execution.call), "failure": failure})


def addressed(result: ToolResult, call: ToolInvocation) -> ToolResult:
    """Link a result to its call."""
    link = {"name": call.name, "id": call.id, "server": call.server, "agent": call.agent}
    if all(getattr(result, key) == value for key, value in link.items()):
        return result
    return result.model_copy(update=link)
