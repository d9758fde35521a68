"""Stores the state of a run whenever one of its calls starts or ends.

A stored state says of each call whether it has started: a call that still waited for a policy's answer when the program
ended has not, so its policies are asked again when the run is resumed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from toolfmt.agents.runtime import NotStored
from toolfmt.agents.state import Pending
from toolfmt.execution.executor import Executor
from toolfmt.execution.running import words
from toolfmt.execution.turn import CallTurn
from toolfmt.model import ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolfmt.agents.runtime import Runtime
    from toolfmt.agents.state import AgentState
    from toolfmt.execution.records import ToolExecution


class Journal:
    """The calls of one turn, each pending or with its record; `state` makes a state of them."""

    def __init__(
        self,
        runtime: Runtime,
        calls: Sequence[Pending],
        state: Callable[[Sequence[ToolExecution | Pending]], AgentState],
    ) -> None:
        """Set the calls before any of them runs."""
        self._runtime = runtime
        self._reports = isinstance(runtime.executor, Executor)
        # Nothing is known of another executor's calls until all have ended.
        self._calls: list[ToolExecution | Pending] = [
            one if self._reports else replace(one, why="started") for one in calls
        ]
        self._state = state
        self._changes = self._stored = 0
        self._one = anyio.Lock()

    async def begin(self, approved: Sequence[ToolInvocation] = ()) -> CallTurn:
        """Store the state before any call runs; returns what the executor needs to report the calls."""
        await self._runtime.save(self._state(self._calls))
        reports = self._reports and self._runtime.checkpoint is not None
        return CallTurn(tuple(approved), self._reported if reports else None)

    async def _reported(self, at: int, what: ToolInvocation | ToolExecution) -> None:
        before = self._calls[at]
        if isinstance(what, ToolInvocation):
            assert isinstance(before, Pending)  # noqa: S101 - a call starts once
            self._calls[at] = replace(before, call=what, why="started")
        else:
            self._calls[at] = what
        self._changes += 1
        change = self._changes
        if not any(isinstance(one, Pending) for one in self._calls):
            return  # the state after the step is stored at once
        async with self._one:
            if self._stored >= change:
                return  # it was stored for another call meanwhile
            stored = self._changes
            try:
                await self._runtime.save(self._state(self._calls))
            except Exception as error:  # anybody's code
                raise NotStored(f"the state could not be stored: {words(error)}") from error
            self._stored = stored
