"""A policy is one step of the enforcement that every call passes before it runs.

    permissions  json  schema  rate_limit  workspace  project  provenance  certainty  custom  approval

Whatever the order in which policies are given, this is the one in which they are
asked. The first that blocks a call ends it: no later one is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from toolfmt.execution.context import ToolContext
    from toolfmt.execution.hooks import Blocked
    from toolfmt.execution.resolving import UnrunnableError
    from toolfmt.model import ToolDefinition, ToolInvocation

ORDER: Final = (
    "permissions",
    "json",
    "schema",
    "rate_limit",
    "workspace",
    "project",
    "provenance",
    "certainty",
    "custom",
    "approval",
)
"""The steps, in the order in which they are enforced."""
BEFORE_STRUCTURE: Final = frozenset({"permissions"})
"""The steps that need no more than the tool's name: nobody looks at the arguments of a call that they refuse."""
BEFORE_RESOLVED: Final = frozenset({"json", "schema"})
"""The steps that look at calls which cannot run anyway; no other sees them."""

PATIENT: Final = frozenset({"approval"})
"""The steps that wait for a person, for a time of their own; all others are held to the time of the call's tool."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call that policies decide about, after the hooks."""

    call: ToolInvocation
    context: ToolContext
    tool: ToolDefinition | None = None
    """Its tool; None if there is no such tool or the arguments do not fit."""
    server: str | None = None
    """The server that runs it; None for a function of the registry."""
    error: UnrunnableError | None = None
    """The reason if the call cannot run at all."""


class Policy(Protocol):
    """A policy: any object with these attributes."""

    @property
    def step(self) -> str:
        """Its step in `ORDER`; any other name is enforced at `custom`."""
        ...

    def check(self, candidate: Candidate, /) -> Awaitable[Blocked | None] | Blocked | None:
        """Block the call, or return None to let it pass; if the policy raises, the call is blocked."""
        ...


@dataclass(frozen=True, slots=True)
class FunctionPolicy:
    """A function `(call, context)` as a policy."""

    function: Callable[[ToolInvocation, ToolContext], Any]

    @property
    def step(self) -> str:
        """The function's name."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def check(self, candidate: Candidate) -> Any:
        """Ask the function."""
        return self.function(candidate.call, candidate.context)


def enforced(policies: Iterable[Policy | Callable[..., Any]]) -> tuple[Policy, ...]:
    """Put policies in the order in which they are enforced; raises TypeError for anything else."""
    made = [_policy(one) for one in policies]
    return tuple(sorted(made, key=lambda one: ORDER.index(one.step if one.step in ORDER else "custom")))


def _policy(value: object) -> Policy:
    if isinstance(value, type):
        raise TypeError(f"{value.__name__} is a class: give an instance of it, such as {value.__name__}(...)")
    if hasattr(value, "step") and hasattr(value, "check"):
        return cast("Policy", value)
    if callable(value):
        return FunctionPolicy(value)
    raise TypeError(f"a policy has a `step` and a `check`, or is a function, and {type(value).__name__} has neither")
