"""How often an agent may call a tool, in a window that slides.

    RateLimit(10, per=60)                               each tool, for each agent: 10 calls in any 60 seconds
    RateLimit({"web.*": 2, "*": 100}, per=60)           the first pattern that fits counts

The agent is the one passed to `execute`, else the one that the call names: pass `agent=` if a model must not choose its
own name.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final

from toolfmt.arguments import checked
from toolfmt.execution.hooks import Blocked
from toolfmt.execution.policies.policy import Candidate, matcher

_KEPT: Final = 1024
"""Number of pairs of agent and tool above which pairs without calls in the window are dropped."""


@checked
class RateLimit:
    """Limits the number of calls in any period of `per` seconds, for each agent and tool."""

    step = "rate_limit"

    def __init__(
        self,
        calls: int | Mapping[str, int],
        *,
        per: float,
        agents: str = "*",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`agents` is a pattern of the agents that are limited. Raises ValueError for an invalid limit or `per`."""
        limits = {"*": calls} if isinstance(calls, int) else dict(calls)
        if per <= 0 or any(limit < 0 for limit in limits.values()):
            raise ValueError(f"a rate must be at least 0 calls per more than 0 seconds, not {calls} per {per}")
        self.tool_names = tuple(limits)
        self._limits = [(matcher([tool]), limit) for tool, limit in limits.items()]
        self._per = per
        self._agents = matcher([agents])
        self._clock = clock
        self._times: dict[tuple[str, str | None, str], deque[float]] = {}
        self._lock = threading.Lock()

    def check(self, candidate: Candidate) -> Blocked | None:
        """Count the call, or say when the next one is allowed."""
        call = candidate.call
        caller = candidate.context.agent
        agent = (call.agent or "") if caller is None else caller
        limit = next((limit for fits, limit in self._limits if fits(call.name)), None)
        if limit is None or not self._agents(agent):
            return None
        with self._lock:
            now = self._clock()
            if len(self._times) > _KEPT:
                since = now - self._per
                self._times = {key: times for key, times in self._times.items() if times and times[-1] > since}
            times = self._times.setdefault((agent, candidate.server, call.name), deque())
            while times and times[0] <= now - self._per:
                times.popleft()
            if len(times) < limit:
                times.append(now)
                return None
            again = f"; try again in {times[0] + self._per - now:.1f} s" if times else ""
        return Blocked(f"{call.name!r} may be called {limit} times in {self._per:g} s{again}", "rate_limited")
