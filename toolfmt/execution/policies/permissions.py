"""Which agent may call which tool, by patterns.

    Permissions({"Analyst": ["data.*", "web.search"], "*": ["get_*"]}, deny={"*": ["*.delete"]})

Patterns are those of file names: `*`, `?`, `[a-z]`; a name fits itself, whatever is
in it. A tool of a server is `server/name`. What is denied is denied, whatever is allowed elsewhere; where
anything is allowed, what is not allowed is denied, to agents that nobody named too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.patterns import matcher

if TYPE_CHECKING:
    from toolfmt.execution.policies.policy import Candidate

Patterns: TypeAlias = Mapping[str, Iterable[str]]
"""Patterns of tools, by a pattern of agents."""
_Rule: TypeAlias = tuple[Callable[[str], bool], Callable[[str], bool]]


class Permissions:
    """Lets an agent call what it is allowed to, and nothing that it is denied.

    The agent is the one given to `execute`, which a loop does: an agent without a
    name is `""`. What a call says of itself, which a model wrote, can then take away
    but not add: both must be allowed. Where `execute` is given nobody, it counts alone.
    """

    step = "permissions"

    def __init__(self, allow: Patterns | None = None, *, deny: Patterns | None = None) -> None:
        """Without `allow`, everything is allowed that is not denied."""
        self._allow = None if allow is None else _rules(allow, "allow")
        self._deny = _rules({} if deny is None else deny, "deny")

    def check(self, candidate: Candidate) -> Blocked | None:
        """Look for a rule that denies, then for one that allows."""
        call, server = candidate.call, candidate.server
        name = call.name if server is None else f"{server}/{call.name}"
        known = {name, call.name}
        if candidate.tool is not None and candidate.tool.server is not None:  # of a server, though a function runs it
            known.add(f"{candidate.tool.server}/{call.name}")
        agents = {one for one in (candidate.context.agent, call.agent) if one is not None}
        for agent in sorted(agents) or [""]:
            denied = any(_matches(self._deny, agent, one) for one in known)
            if denied or not (self._allow is None or _matches(self._allow, agent, name)):
                who = f"agent {agent!r}" if agent else "an agent without a name"
                return Blocked(f"{who} may not call {name!r}", "denied")
        return None


def _rules(patterns: Patterns, what: str) -> list[_Rule]:
    if not isinstance(patterns, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
        raise TypeError(f"{what} is patterns of tools by a pattern of agents, {{'*': ['get_*']}}, not {patterns!r}")
    for agent, tools in patterns.items():
        if isinstance(tools, str):
            raise TypeError(f"{what}[{agent!r}] is a list of patterns: put brackets around {tools!r}")
    return [(matcher([agent]), matcher(tools)) for agent, tools in patterns.items()]


def _matches(rules: list[_Rule], agent: str, name: str) -> bool:
    return any(who(agent) and tools(name) for who, tools in rules)
