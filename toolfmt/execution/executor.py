"""Runs the calls of a model's answer.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})], timeout=30)
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

There is one record for each call, in order, whatever happens to it. Calls run concurrently; one that fails does not
affect the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal

from toolfmt.arguments import Positive, checked
from toolfmt.errors import some, warn
from toolfmt.execution.contracts import ALONE, CallTurn, ToolServer, current
from toolfmt.execution.events import ExecutionEvent, Listener, Listeners
from toolfmt.execution.hooks import AfterHook, BeforeHook, Blocked, Guard, ToolContext, check_listener, takes
from toolfmt.execution.masking import masked_text
from toolfmt.execution.pipeline import CallInProgress, Pipeline, RunStop, Settings
from toolfmt.execution.policies.dangerous import CertaintyPolicy, ProvenancePolicy
from toolfmt.execution.policies.policy import (
    Candidate,
    DefaultProtection,
    Policy,
    check_names,
    check_policy,
    in_enforcement_order,
)
from toolfmt.execution.records import AgentStop, ToolCallError, ToolExecution
from toolfmt.execution.resolving import LOCAL, Resolver, check_limit
from toolfmt.execution.running import check_seconds
from toolfmt.execution.values import LONGEST, text_of
from toolfmt.ids import IdPolicy, assign
from toolfmt.model import CallProvenance, ToolDefinition, ToolInvocation
from toolfmt.rendering import records
from toolfmt.tools import ToolRegistry

T = TypeVar("T")

PARALLEL = 32
"""Default number of concurrent calls."""
REFUSALS: Final = frozenset(
    {
        *("blocked", "rejected", "denied", "rate_limited", "workspace_mismatch"),
        *("outside_project", "weak_provenance", "uncertain", "waiting"),
    }
)
"""Failures that are decisions; `throw_on_failure` does not raise for them."""


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Executor:
    """Runs calls. It is immutable and can be shared by many runs; `dataclasses.replace` makes a changed copy.

    Raises TypeError or ValueError for invalid settings, such as a missing injected value or an invalid time-out.
    """

    registry: ToolRegistry | Any = field(kw_only=False)
    """The tools; any form that `ToolRegistry` takes becomes one."""
    policies: Sequence[Policy | Callable[..., Any]] = field(default=(), repr=False)
    """Decide which calls may run. They are asked in the order of `Policy.step`, not in the order of this list."""
    before: Sequence[BeforeHook] = field(default=(), repr=False)
    """May change a call, or block it."""
    after: Sequence[AfterHook] = field(default=(), repr=False)
    """May replace a result."""
    guards: Sequence[Guard] = field(default=(), repr=False)
    """End a run that goes on for too long. They keep state, so give each run its own."""
    inject: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """Values for `Injected` parameters, by parameter name."""
    servers: Mapping[str, ToolServer] = field(default_factory=dict[str, "ToolServer"], repr=False)
    """Servers that run their own tools, by the name that calls use."""
    limit: Positive | None = PARALLEL
    """Maximum number of concurrent calls."""
    timeout: float | None = None
    """Time-out in seconds of a call, and of each hook and policy; a tool's metadata may override it with `timeout`."""
    timeouts: Mapping[str, float] = field(default_factory=dict[str, float])
    """Time-outs in seconds by tool name; they override the tool's metadata."""
    result_limit: int | None = LONGEST
    """Maximum characters of a result, which says how much was cut. A tool's metadata may override it."""
    throw_on_failure: bool = False
    """Raise `ToolCallError` for the first failed call, once all have ended."""
    stop_on_block: bool = False
    """Admit calls one after the other, and none after the first that is blocked."""
    coerce: bool = False
    """Convert arguments to the types of the tool's schema, such as `"5"` to 5, before policies see them."""
    ids: IdPolicy | None = None
    """Generates ids for calls without one."""
    on_event: Listener | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        if not isinstance(self.registry, ToolRegistry):
            object.__setattr__(self, "registry", ToolRegistry(self.registry))
        self._check_types()
        if LOCAL in self.servers:
            raise ValueError(f"{LOCAL!r} means the registry: give that server another name")
        check_limit(self.result_limit)
        check_seconds(self.timeout, "timeout")
        for name, seconds in self.timeouts.items():
            check_seconds(seconds, f"timeouts[{name!r}]")
        self._settings.resolver.check()
        if not self.servers:  # whose tools are known only once they are connected
            self._checked()

    def _checked(self) -> None:
        """Check the names of tools and arguments in the settings."""
        try:
            tools = self.list_tools()
        except Exception:  # noqa: BLE001 - anybody's server; its calls report what is wrong
            return
        check_names("timeouts=", self.timeouts, {tool.name for tool in tools})
        check_names("inject=", self.inject, self._settings.resolver.injected(), "parameter")
        if not self.servers and (idle := self.inject.keys() - self._settings.resolver.injected()):
            warn(f"inject=: no tool takes {some(sorted(idle))}, so it has no effect")
        for one in (*self.policies, *self.guards):
            check_policy(type(one).__name__, one, tools)

    def _check_types(self) -> None:
        for what, first in (("before", "call"), ("after", "execution")):
            for hook in getattr(self, what):
                takes(hook, f"the {what}-hook", first, "context")
        if self.on_event is not None:
            check_listener(self.on_event, "on_event")

    async def execute(
        self, calls: Iterable[ToolInvocation | Mapping[str, Any]], state: object = None, agent: str | None = None
    ) -> list[ToolExecution]:
        """Run the calls of one turn; a record for each, in their order.

        Calls may be dicts of their fields. `state` is passed to tools and hooks that declare it. `agent` names the
        caller, "" for an agent without a name; None leaves it to the calls. Of a `ParseResult`, pass the `calls`, and
        report the `failures` to the model with `toolfmt.feedback`. Raises `AgentStop`, with the records so far, if a
        tool or a hook raises it, `ToolCallError` under `throw_on_failure`, and TypeError for anything that is not a
        call. A cancellation propagates; calls that it ends are reported as `cancelled`.
        """
        if hasattr(calls, "failures"):
            raise TypeError("execute() takes calls: pass result.calls, and report result.failures to the model")
        given = records(calls, "calls", ToolInvocation)
        if self.servers:
            self._checked()
        if self.ids is not None:
            given = list(assign(given, self.ids))
        pipeline = Pipeline(self._settings, Listeners(self.on_event), state, agent)
        turn = current.get()
        entries = list(map(pipeline.enter, given, turn.approvals(given)))
        outer = current.set(ALONE)
        try:
            admitted = await self._run(_Reported(pipeline, entries, turn), entries)
        except RunStop as stop:
            cause = stop.cause
            executions = _complete(pipeline, entries)
            if isinstance(cause, AgentStop):
                cause.executions = tuple(executions)
                cause.reason = masked_text(text_of(cause), self.inject.values())
            raise cause from None
        except BaseException:
            _complete(pipeline, entries)
            raise
        finally:
            current.reset(outer)
        executions = _complete(pipeline, entries[:admitted])
        self._throw(entries)
        return executions

    def execute_sync(
        self, calls: Iterable[ToolInvocation | Mapping[str, Any]], state: object = None, agent: str | None = None
    ) -> list[ToolExecution]:
        """Run the calls like `execute`, from sync code.

        Inside a running event loop, it uses a separate thread and blocks the loop until all calls have ended.
        """
        execute = partial(self.execute, calls, state=state, agent=agent)
        try:
            anyio.get_cancelled_exc_class()
        except anyio.NoEventLoopError:
            portal = nullcontext()  # runs nothing here: each error of a call would follow this one in a traceback
        else:
            portal = start_blocking_portal()
        with portal as elsewhere:
            return anyio.run(execute) if elsewhere is None else elsewhere.call(execute)

    def list_tools(self) -> tuple[ToolDefinition, ...]:
        """List the tools of the registry, then those of the servers, whose `server` is set."""
        servers = self.servers.items()
        elsewhere = (tool.model_copy(update={"server": name}) for name, server in servers for tool in server.tools)
        return (*self.registry, *elsewhere)

    def is_visible(self, tool: ToolDefinition, state: object) -> bool:
        """Whether a tool is offered in a state of the run; a server's tools always are."""
        return tool.server is not None or tool.name not in self.registry or self.registry.is_visible(tool.name, state)

    def tools_refused_for(self, mark: CallProvenance) -> tuple[str, ...]:
        """List the tools whose calls with a mark are always refused, because no policy decides about them."""
        protections = [one for one in self._settings.unlisted if one.step == ProvenancePolicy.step]

        def is_refused(tool: ToolDefinition) -> bool:
            call = ToolInvocation(name=tool.name, server=tool.server, provenance=mark)
            candidate = Candidate(call, ToolContext(call, ""), tool, tool.server)
            return any(one.check(candidate) for one in protections)

        return tuple(tool.name for tool in self.list_tools() if is_refused(tool))

    def unguarded_tools(self) -> tuple[str, ...]:
        """List the dangerous tools if there are no policies and before-hooks that could decide about their calls."""
        return (
            () if self.policies or self.before else tuple(tool.name for tool in self.list_tools() if tool.is_dangerous)
        )

    def for_run(self, guards: Sequence[Guard], listener: Listener) -> Executor:
        """Make a copy for one run, with more guards and one more listener; checks the names of servers' tools too."""
        self._checked()
        own = self.on_event

        def both(event: ExecutionEvent) -> None:
            listener(event)
            if own is not None:
                own(event)

        return replace(self, guards=(*self.guards, *guards), on_event=both)

    @cached_property
    def _settings(self) -> Settings:
        listed = in_enforcement_order(self.policies)
        # Dangerous tools are protected even if nobody asked for it.
        steps = {one.step for one in listed}
        unlisted = tuple(
            DefaultProtection(one, listed) for one in (ProvenancePolicy(), CertaintyPolicy()) if one.step not in steps
        )
        return Settings(
            resolver=Resolver(
                registry=self.registry,
                servers=self.servers,
                inject=self.inject,
                timeout=self.timeout,
                timeouts=self.timeouts,
                result_limit=self.result_limit,
            ),
            guards=tuple(self.guards),
            before=tuple(self.before),
            policies=in_enforcement_order((*listed, *unlisted)),
            unlisted=frozenset(unlisted),
            coerce=self.coerce,
            after=tuple(self.after),
        )

    async def _run(self, reported: _Reported, entries: list[CallInProgress]) -> int:
        """Run the calls, up to `limit` at a time; returns how many were admitted or blocked.

        With `stop_on_block`, calls are admitted one after the other up to the first that is blocked, while those
        before it run.
        """
        stops: list[RunStop] = []
        free = anyio.Semaphore(self.limit or max(1, len(entries)))
        taken = 0

        async def stopping(step: Callable[[CallInProgress], Awaitable[T]], entry: CallInProgress) -> T | None:
            """Take a step; what ends the run cancels all other calls."""
            try:
                return await step(entry)
            except RunStop as stop:
                stops.append(stop)
                group.cancel_scope.cancel()
                return None

        async def work(entry: CallInProgress) -> None:
            async with free:
                if self.stop_on_block or await stopping(reported.admit, entry):
                    await stopping(reported.run, entry)

        async def admit() -> None:
            nonlocal taken
            for entry in entries:
                taken += 1
                if self.stop_on_block and not await stopping(reported.admit, entry):
                    return
                group.start_soon(work, entry)

        async with anyio.create_task_group() as group:
            group.start_soon(admit)  # a task of its own, in which a cancellation from outside can be distinguished
        for stop in stops:
            raise stop
        return taken

    def _throw(self, entries: list[CallInProgress]) -> None:
        if not self.throw_on_failure:
            return
        ended = [one for one in entries if one.execution is not None]
        executions = [one.execution for one in ended if one.execution is not None]
        for entry, execution in zip(ended, executions, strict=True):
            if execution.has_error and execution.failure not in REFUSALS:
                raise ToolCallError(execution, executions) from entry.cause


class _Reported:
    """The pipeline of a turn that reports each call when it is about to start and when it has ended."""

    def __init__(self, pipeline: Pipeline, entries: Iterable[CallInProgress], turn: CallTurn) -> None:
        self._pipeline = pipeline
        self._places = {entry.id: at for at, entry in enumerate(entries)}
        self._turn = turn

    async def admit(self, entry: CallInProgress) -> bool:
        admitted = await self._pipeline.admit(entry)
        if not admitted:
            await self._report(entry)
        return admitted

    async def run(self, entry: CallInProgress) -> None:
        await self._report(entry)
        await self._pipeline.run(entry)
        await self._report(entry)

    async def _report(self, entry: CallInProgress) -> None:
        if self._turn.report is not None:
            try:
                await self._turn.report(self._places[entry.id], entry.execution or entry.call)
            except AgentStop as stop:
                raise RunStop(stop) from None


def _complete(pipeline: Pipeline, entries: Iterable[CallInProgress]) -> list[ToolExecution]:
    """Return the records of all calls; calls that never started get one too."""
    for entry in entries:
        if entry.execution is None:
            pipeline.block(entry, Blocked("cancelled before it ran", "cancelled"))
    return [entry.execution for entry in entries if entry.execution is not None]
