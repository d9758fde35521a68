"""Calls must stay in their workspace.

    Workspace("A")                      calls, and the run they are of, must be of workspace A
    Workspace(argument="workspace")     what the argument says must be what the run's state says

A call's workspace is in `extra["workspace"]`, a state's in an attribute or a key `workspace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from toolfmt.arguments import checked
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.policy import Candidate

_KEY: Final = "workspace"


@checked
class Workspace:
    """Blocks calls of other workspaces, and calls whose workspace is unknown."""

    step = "workspace"

    def __init__(self, name: str | None = None, *, argument: str | None = None) -> None:
        """`name` is the allowed workspace, by default the state's. `argument` is a tool's argument that names it."""
        self._name = name
        self._argument = argument
        self.argument_names = {} if argument is None else {"*": (argument,)}

    def check(self, candidate: Candidate) -> Blocked | None:
        """Compare all names of the workspace."""
        call = candidate.call
        of_state = _stated(candidate.context.state)
        named_places = [call.extra.get(_KEY), call.arguments.get(self._argument) if self._argument else None]
        stated = [one for one in (of_state, *named_places) if one is not None]
        expected = self._name if self._name is not None else of_state
        if expected is None or not stated:
            return Blocked(f"no workspace is given for the call of {call.name!r}", "workspace_mismatch")
        for found in stated:
            if found != expected:
                return Blocked(f"the call is of workspace {found!r}, not {expected!r}", "workspace_mismatch")
        return None


def _stated(state: Any) -> object:
    if isinstance(state, Mapping):
        return cast("Mapping[str, object]", state).get(_KEY)
    return getattr(state, _KEY, None)
