"""A policy is one step of the enforcement that every call passes before it runs.

    permissions  json  schema  rate_limit  workspace  project  provenance  certainty  custom  approval

Policies are asked in this order, whatever the order in which they are given. The first that blocks a call ends it.

An executor adds the steps `provenance` and `certainty` if no policy has them. A policy with a method
`decides(candidate)` that returns True decides about that call itself, so those two then let it pass.

Patterns of names are those of files, and every name matches itself:

    matcher(["data.*", "get_?"])      data.read, get_x
    matcher(["bot[1]"])               bot1, and also bot[1]
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import translate
from typing import Any, Final, Protocol, cast

from toolfmt.errors import some, warn
from toolfmt.execution.hooks import Blocked, ToolContext, takes
from toolfmt.execution.resolving import UnrunnableError
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.schema import property_names

ORDER: Final = (
    *("permissions", "json", "schema", "rate_limit", "workspace"),
    *("project", "provenance", "certainty", "custom", "approval"),
)
"""The steps, in the order in which they are enforced."""
BEFORE_STRUCTURE: Final = frozenset({"permissions"})
"""The steps that need only the tool's name; the arguments of a call that they refuse are not checked."""
BEFORE_RESOLVED: Final = frozenset({"json", "schema"})
"""The only steps that also check calls that cannot run."""
PATIENT: Final = frozenset({"approval"})
"""The steps that wait for a person, with a time-out of their own; all others have the time-out of the call's tool."""


_MISSPELT: Final = 0.85
"""How similar a step's name is to one in `ORDER` that was meant."""
_TYPED: Final = 0.8
"""How similar a name is to a tool's that was meant: at least as `ad` to `add`."""
_WILDCARD: Final = re.compile(r"[*?\[]")


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
    approved: ToolInvocation | None = None
    """The call as a person approved it when the run was resumed; hooks may have changed `call` since."""


class Policy(Protocol):
    """A policy: any object with these attributes."""

    @property
    def step(self) -> str:
        """Its step in `ORDER`; any other name is enforced at `custom`, unless it looks like a misspelt step."""
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


@dataclass(frozen=True, eq=False)
class DefaultProtection:
    """A built-in protection that the caller did not list; it leaves a call to the policies that decide about it."""

    policy: Policy
    listed: tuple[Policy, ...]

    @property
    def step(self) -> str:
        """The step of the protection."""
        return self.policy.step

    def check(self, candidate: Candidate) -> Any:
        """Check the call, unless another policy decides about it."""
        judges = (getattr(policy, "decides", None) for policy in self.listed)
        if any(decides(candidate) is True for decides in judges if callable(decides)):
            return None
        return self.policy.check(candidate)


def in_enforcement_order(policies: Iterable[Policy | Callable[..., Any]]) -> tuple[Policy, ...]:
    """Put policies in the order in which they are enforced; raises TypeError for anything else."""
    made = [_policy(one) for one in policies]
    return tuple(sorted(made, key=lambda one: ORDER.index(one.step if one.step in ORDER else "custom")))


def _policy(value: object) -> Policy:
    if isinstance(value, type):
        raise TypeError(f"{value.__name__} is a class: give an instance of it, such as {value.__name__}(...)")
    if hasattr(value, "step") and hasattr(value, "check"):
        policy = cast("Policy", value)
        takes(policy.check, "the method", "candidate")
        near = [] if policy.step in ORDER else get_close_matches(policy.step, ORDER, 1, _MISSPELT)
        if near:
            raise TypeError(f"{type(value).__name__}.step is {policy.step!r}: did you mean {near[0]!r}?")
        return policy
    if callable(value):
        takes(value, "the policy", "call", "context")
        return FunctionPolicy(value)
    raise TypeError(f"a policy has a `step` and a `check`, or is a function, and {type(value).__name__} has neither")


def check_policy(what: str, policy: object, tools: Collection[ToolDefinition]) -> None:
    """Check the names in a policy or a guard, which may have the attributes `tool_names` and `argument_names`."""
    known = {tool.name for tool in tools} | {f"{tool.server}/{tool.name}" for tool in tools if tool.server}
    check_names(what, getattr(policy, "tool_names", ()), known)
    arguments: Mapping[str, Iterable[str]] = getattr(policy, "argument_names", {})
    for pattern, names in arguments.items():
        own = [tool for tool in tools if matcher([pattern])(tool.name)]
        taken = {name for tool in own for name in property_names(tool.parameters)}
        check_names(f"{what}, {pattern}", names, taken, "argument")


def check_names(what: str, patterns: Iterable[str], known: Collection[str], noun: str = "tool") -> None:
    """Find names that match nothing: raises ValueError for one that is misspelt, and warns of any other tool."""
    given, names = {*patterns}, {*known}
    for pattern in sorted(one for one in given if not any(map(matcher([one]), names))):
        begin = _WILDCARD.split(pattern)[0]
        begins = {name[: len(begin)] if begin != pattern else name: name for name in names - given}
        near = get_close_matches(begin, begins, 1, _TYPED) if begin else []
        unknown = f"{what}: no {noun} is called {pattern!r}"
        if near and near != [begin]:
            raise ValueError(f"{unknown}; did you mean {begins[near[0]]!r}?")
        if names and begin == pattern and noun == "tool":  # an argument may be inside another
            warn(f"{unknown}, so it has no effect; the tools are {some(sorted(names))}")


def matcher(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Make one test of several patterns; without patterns, no name passes. Case counts."""
    kept = tuple(patterns)
    names = frozenset(kept)
    match = re.compile("|".join(map(translate, kept)) or r"(?!)").match
    return lambda name: name in names or match(name) is not None
