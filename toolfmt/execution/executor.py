"""Runs the calls of a model's answer.

    executor = Executor(registry, policies=[Permissions({"*": ["get_*"]})], timeout=30)
    executions = await executor.execute(parse(answer, provider="anthropic").calls)

One record for each call, in their order, whatever happens to it; calls run side
by side, and none that fails disturbs the others.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import anyio

from toolfmt.execution.hooks import Blocked
from toolfmt.execution.pipeline import Passage, Pipeline, RunStop, Settings
from toolfmt.execution.policies.certainty import CertaintyPolicy
from toolfmt.execution.policies.policy import enforced
from toolfmt.execution.policies.provenance import ProvenancePolicy
from toolfmt.execution.records import AgentStop, ToolCallError
from toolfmt.execution.resolving import LOCAL, Resolver, check_limit
from toolfmt.execution.running import check_seconds, is_async
from toolfmt.execution.telling import Teller
from toolfmt.execution.values import LONGEST
from toolfmt.ids import assign
from toolfmt.model import ToolInvocation
from toolfmt.rendering import records
from toolfmt.tools import ToolRegistry

if TYPE_CHECKING:
    from toolfmt.execution.contracts import ToolServer
    from toolfmt.execution.events import ExecutionEvent, Listener
    from toolfmt.execution.hooks import AfterHook, BeforeHook, Guard
    from toolfmt.execution.policies.policy import Policy
    from toolfmt.execution.records import ToolExecution
    from toolfmt.ids import IdPolicy
    from toolfmt.model import ToolDefinition

PARALLEL = 32
"""Default number of concurrent calls."""
REFUSALS: Final = frozenset(
    {
        "blocked",
        "rejected",
        "denied",
        "rate_limited",
        "workspace_mismatch",
        "outside_project",
        "weak_provenance",
        "uncertain",
        "waiting",
    }
)
"""Failures that are decisions; `throw_on_failure` does not raise for them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Executor:
    """Runs calls. It is immutable and can be shared by many runs; `dataclasses.replace` makes a changed copy.

    Raises TypeError or ValueError for invalid settings, such as a missing injected value or an invalid time-out.
    """

    registry: ToolRegistry = field(kw_only=False)
    policies: Sequence[Policy | Callable[..., Any]] = field(default=(), repr=False)
    """Decide which calls may run. Their steps determine the order, not their place in the list."""
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
    limit: int | None = PARALLEL
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
        if not isinstance(self.registry, ToolRegistry):  # pyright: ignore[reportUnnecessaryIsInstance] - a caller may not check types
            raise TypeError(f"registry must be a ToolRegistry([...]), not {type(self.registry).__name__}")
        self._check_types()
        if self.limit is not None and (type(self.limit) is not int or self.limit < 1):
            raise ValueError(f"limit must be a number of calls of at least 1, or None for no limit, not {self.limit!r}")
        if LOCAL in self.servers:
            raise ValueError(f"{LOCAL!r} means the registry: give that server another name")
        check_limit(self.result_limit)
        check_seconds(self.timeout, "timeout")
        for name, seconds in self.timeouts.items():
            check_seconds(seconds, f"timeouts[{name!r}]")
        self._settings.resolver.check()

    def _check_types(self) -> None:
        for what in ("policies", "before", "after", "guards"):
            given = getattr(self, what)
            if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
                raise TypeError(f"{what} is a list, not {type(given).__name__}: put brackets around it")
        for what in ("inject", "servers", "timeouts"):
            if not isinstance(given := getattr(self, what), Mapping):
                raise TypeError(f"{what} is a dict by name, not {type(given).__name__}")
        for name, server in self.servers.items():
            if not callable(getattr(server, "call", None)):
                kind = type(server).__name__
                raise TypeError(f"servers[{name!r}] is a ToolServer, as toolfmt.mcp.connect gives, not {kind}")
        for hook in (*self.before, *self.after):
            if not callable(hook):
                raise TypeError(f"a hook is a function, not {type(hook).__name__}")
        if self.on_event is not None and (not callable(self.on_event) or is_async(self.on_event)):
            raise TypeError("on_event must be a sync function, because it is not awaited")

    async def execute(
        self,
        calls: Iterable[ToolInvocation | Mapping[str, Any]],
        state: object = None,
        agent: str | None = None,
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
        if self.ids is not None:
            given = list(assign(given, self.ids))
        pipeline = Pipeline(self._settings, Teller(self.on_event), state, agent)
        passages = [pipeline.enter(call) for call in given]
        run = self._in_turn if self.stop_on_block else self._side_by_side
        try:
            admitted = await run(pipeline, passages)
        except RunStop as stop:
            cause = stop.cause
            executions = _complete(pipeline, passages)
            if isinstance(cause, AgentStop):
                cause.executions = tuple(executions)
            raise cause from None
        except BaseException:
            _complete(pipeline, passages)
            raise
        executions = _complete(pipeline, passages[:admitted])
        self._throw(passages)
        return executions

    def execute_sync(
        self,
        calls: Iterable[ToolInvocation | Mapping[str, Any]],
        state: object = None,
        agent: str | None = None,
    ) -> list[ToolExecution]:
        """Run the calls like `execute`, from sync code.

        Inside a running event loop, it uses a separate thread and blocks the loop until all calls have ended.
        """
        execute = partial(self.execute, calls, state=state, agent=agent)
        try:
            anyio.get_cancelled_exc_class()
        except anyio.NoEventLoopError:
            return anyio.run(execute)
        return _in_thread(execute)

    def list_tools(self) -> tuple[ToolDefinition, ...]:
        """List the tools of the registry, then those of the servers, whose `server` is set."""
        servers = self.servers.items()
        elsewhere = (tool.model_copy(update={"server": name}) for name, server in servers for tool in server.tools)
        return (*self.registry, *elsewhere)

    def is_visible(self, tool: ToolDefinition, state: object) -> bool:
        """Whether a tool is offered in a state of the run; a server's tools always are."""
        return tool.server is not None or tool.name not in self.registry or self.registry.is_visible(tool.name, state)

    def for_run(self, guards: Sequence[Guard], listener: Listener) -> Executor:
        """Make a copy for one run, with more guards and one more listener."""
        own = self.on_event

        def both(event: ExecutionEvent) -> None:
            listener(event)
            if own is not None:
                own(event)

        return replace(self, guards=(*self.guards, *guards), on_event=both)

    @cached_property
    def _settings(self) -> Settings:
        listed = enforced(self.policies)
        # Dangerous tools are protected whether somebody thought of it or not.
        steps = {one.step for one in listed}
        unlisted = tuple(one for one in (ProvenancePolicy(), CertaintyPolicy()) if one.step not in steps)
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
            policies=enforced((*listed, *unlisted)),
            unlisted=frozenset(unlisted),
            coerce=self.coerce,
            after=tuple(self.after),
        )

    async def _side_by_side(self, pipeline: Pipeline, passages: list[Passage]) -> int:
        """Run all calls, up to `limit` at a time; how many were taken on."""
        waiting = iter(passages)
        stops: list[RunStop] = []
        async with anyio.create_task_group() as group:

            async def work() -> None:
                for passage in waiting:
                    try:
                        if await pipeline.admit(passage):
                            await pipeline.run(passage)
                    except RunStop as stop:
                        stops.append(stop)
                        group.cancel_scope.cancel()
                        return

            for _ in range(min(len(passages), self.limit or len(passages))):
                group.start_soon(work)
        for stop in stops:
            raise stop
        return len(passages)

    async def _in_turn(self, pipeline: Pipeline, passages: list[Passage]) -> int:
        """Admit one call after the other, up to the first that is blocked, while those before it run."""
        stops: list[RunStop] = []
        free = anyio.Semaphore(self.limit or max(1, len(passages)))
        taken = 0
        async with anyio.create_task_group() as group:

            async def work(passage: Passage) -> None:
                try:
                    async with free:
                        await pipeline.run(passage)
                except RunStop as stop:
                    stops.append(stop)
                    group.cancel_scope.cancel()

            async def admit() -> None:
                nonlocal taken
                for passage in passages:
                    taken += 1
                    try:
                        if not await pipeline.admit(passage):
                            return
                    except RunStop as stop:
                        stops.append(stop)
                        group.cancel_scope.cancel()
                        return
                    group.start_soon(work, passage)

            group.start_soon(
                admit
            )  # a task of its own, where a cancellation from outside can be distinguished from others
        for stop in stops:
            raise stop
        return taken

    def _throw(self, passages: list[Passage]) -> None:
        if not self.throw_on_failure:
            return
        ended = [one for one in passages if one.execution is not None]
        executions = [one.execution for one in ended if one.execution is not None]
        for passage, execution in zip(ended, executions, strict=True):
            if execution.has_error and execution.failure not in REFUSALS:
                raise ToolCallError(execution, executions) from passage.cause


def _complete(pipeline: Pipeline, passages: Iterable[Passage]) -> list[ToolExecution]:
    """Give every call a record, those too that never had their turn."""
    for passage in passages:
        if passage.execution is None:
            pipeline.block(passage, Blocked("cancelled before it ran", "cancelled"))
    return [passage.execution for passage in passages if passage.execution is not None]


def _in_thread(execute: Callable[[], Awaitable[list[ToolExecution]]]) -> list[ToolExecution]:
    answers: list[list[ToolExecution]] = []
    errors: list[BaseException] = []
    context = contextvars.copy_context()

    async def run() -> list[ToolExecution]:
        # Not by `context.run`: what it says of the event loop that runs is true of the other thread.
        own = contextvars.copy_context()
        for variable, value in context.items():
            if variable not in own:
                variable.set(value)
        return await execute()

    def work() -> None:
        try:
            answers.append(anyio.run(run))
        except BaseException as error:  # noqa: BLE001 - raised again where it was asked for
            errors.append(error)

    thread = threading.Thread(target=work, name="toolfmt-execute")
    thread.start()
    thread.join()
    for error in errors:
        raise error
    return answers[0]
