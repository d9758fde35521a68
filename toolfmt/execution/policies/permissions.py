"""Which agent may call which tool, by patterns.

    Permissions({"Analyst": ["data.*", "web.search"], "*": ["get_*"]}, deny={"*": ["*.delete"]})

Patterns are those of file names: `*`, `?`, `[a-z]`; a name always matches itself. A tool of a server is `server/name`.
A denial overrides every permission. If `allow` is given, everything else is denied, also to agents that no pattern
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from toolfmt.arguments import checked
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.policy import Candidate, matcher

Patterns: TypeAlias = Mapping[str, Iterable[str]]
"""Patterns of tools, by a pattern of agents."""
_Rule: TypeAlias = tuple[Callable[[str], bool], Callable[[str], bool]]


@checked(allow="such as {'*': ['get_*']}", deny="such as {'*': ['*.delete']}")
class Permissions:
    """Lets an agent call only the tools that it is allowed and not denied.

    The agent is the one passed to `execute`, which a loop always does; an agent without a name is `""`. If the call
    also names an agent, which the model wrote, both must be allowed. If `execute` gets no agent, only the call's agent
    counts.
    """

    step = "permissions"

    def __init__(self, allow: Patterns | None = None, *, deny: Patterns | None = None) -> None:
        """Without `allow`, everything is allowed unless it is denied."""
        self._allow = None if allow is None else _rules(allow)
        self._deny = _rules({} if deny is None else deny)
        self.tool_names = tuple(
            name for rules in (allow or {}, deny or {}) for names in rules.values() for name in names
        )

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


def _rules(patterns: Patterns) -> list[_Rule]:
    return [(matcher([agent]), matcher(tools)) for agent, tools in patterns.items()]


def _matches(rules: list[_Rule], agent: str, name: str) -> bool:
    return any(who(agent) and tools(name) for who, tools in rules)
