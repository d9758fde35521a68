"""Find what runs a call: a function of the registry, or a server.

ToolInvocation(name="add")                       the registry's `add`; else the one server that has it
ToolInvocation(name="add", server="local")       the registry's alone
ToolInvocation(name="read", server="files")      the server `files`
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from toolfmt import errors, jsontext
from toolfmt.execution.binding import Binding, binding, own_copy
from toolfmt.execution.contracts import ToolServer
from toolfmt.execution.hooks import ToolContext
from toolfmt.execution.masking import masked
from toolfmt.execution.records import AgentStop, FailureKind
from toolfmt.execution.running import RunPlace, check_seconds, error_text, in_thread, place_of, result, run
from toolfmt.model import ToolDefinition, ToolInvocation, ToolResult
from toolfmt.schema.validation import problems
from toolfmt.tools import ToolRegistry

LOCAL: Final = "local"
"""The server name that means the registry."""


class UnrunnableError(errors.ExecutionError):
    """A call that cannot run, and the kind of failure."""

    def __init__(self, failure: FailureKind, cause: Exception) -> None:
        super().__init__(str(cause))
        self.failure: FailureKind = failure
        self.cause = cause
        self.problems = cause.problems if isinstance(cause, errors.ArgumentsError) else ()


@dataclass(frozen=True, slots=True)
class ResolvedTool:
    """The tool that a call names."""

    definition: ToolDefinition
    server: str | None
    """The name of the server that runs it; None for a function of the registry."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose tool is found and whose arguments fit the tool's schema."""

    timeout: float | None
    run: Callable[[], Awaitable[ToolResult]]
    """Makes the function's arguments, which may run other code, and calls it."""
    failure: FailureKind
    """The kind of failure if that raises."""


@dataclass(frozen=True, slots=True)
class LocalFunction:
    """A function of the registry, ready to be called."""

    function: Callable[..., Any]
    binding: Binding
    place: RunPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolver:
    """Knows every tool and how it is run."""

    registry: ToolRegistry
    servers: Mapping[str, ToolServer]
    inject: Mapping[str, Any]
    timeout: float | None
    timeouts: Mapping[str, float]
    result_limit: int | None
    _known: dict[str, LocalFunction] = field(default_factory=dict, init=False)

    def check(self) -> None:
        """Check every registered tool; raises ValueError for one that could never run."""
        for definition in self.registry:
            function = self.registry.function(definition.name)
            if function is None:
                continue
            try:
                missing = self._local(definition, function).binding.missing({**self.inject, "context": None})
                self._seconds(definition)
                self._limit(definition)
            except errors.SchemaError:  # it names the tool
                raise
            except ValueError as error:
                raise ValueError(f"tool {definition.name!r}: {error}") from None
            if missing:
                raise ValueError(
                    f"tool {definition.name!r} needs {', '.join(missing)}: "
                    f"give it as inject={{{missing[0]!r}: ...}} to the Executor"
                )

    def injected(self) -> set[str]:
        """Return the names of the values that functions of the registry take from `inject`."""
        functions = ((tool, self.registry.function(tool.name)) for tool in self.registry)
        return {name for tool, one in functions if one is not None for name in self._local(tool, one).binding.injected}

    def find(self, call: ToolInvocation, state: object) -> ResolvedTool:
        """Find a call's tool; raises `UnrunnableError`."""
        return ResolvedTool(*self._find(call, state))

    def prepare(self, target: ResolvedTool, call: ToolInvocation, context: ToolContext) -> Prepared:
        """Check a call's arguments against the tool's schema; raises `UnrunnableError`. Runs no code of the tool."""
        definition = target.definition
        server = None if target.server is None else self.servers[target.server]
        function = None if server is not None else self.registry.function(definition.name)
        injected = {**self.inject, type(context).injected_as: context}
        try:
            local = self._local(definition, function) if function is not None else None
            _check(definition, call, local)
            seconds, limit = self._seconds(definition), self._limit(definition)
        except errors.ArgumentsError as error:
            raise UnrunnableError("invalid_arguments", error) from None
        except (errors.ExecutionError, ValueError) as error:
            raise UnrunnableError("broken_tool", error) from None

        async def ready() -> ToolResult:
            if local is not None:
                bind = partial(_bound, local.binding, call, injected)
                bound = await in_thread(bind) if local.binding.runs_code else bind()
                made = await run(local.function, bound, call.name, local.place, limit)
            else:
                assert server is not None  # noqa: S101 - a tool has one or the other
                made = await result(await server.call(own_copy(call), injected=injected), call.name, limit)
            if not made.is_error:
                return made
            values = {"content": made.content, "extra": made.extra}
            return made.model_copy(update={key: masked(one, self.inject.values()) for key, one in values.items()})

        return Prepared(seconds, ready, "raised" if server is None else "server_failed")

    def hook_timeout(self, target: ResolvedTool | None) -> float | None:
        """Return the time-out in seconds of each hook and policy of a call."""
        try:
            return self.timeout if target is None else self._seconds(target.definition)
        except ValueError:  # `prepare` reports it
            return self.timeout

    def _find(self, call: ToolInvocation, state: object) -> tuple[ToolDefinition, str | None]:
        """Find a call's tool, and the server that runs it if no function of the registry does."""
        registered = self.registry.by_name.get(call.name)
        if registered is not None and self.registry.is_visible(call.name, state):
            runs_here = self.registry.function(call.name) is not None
            if runs_here and call.server in {None, LOCAL, registered.server}:
                return registered, None
            if not runs_here and registered.server in self.servers and call.server in {None, registered.server}:
                return registered, registered.server
            if call.server in {None, LOCAL}:
                raise UnrunnableError(
                    "broken_tool", errors.ExecutionError(f"nothing runs the tool {call.name!r}: it has no function")
                )
        return self._served(call, state)

    def _served(self, call: ToolInvocation, state: object) -> tuple[ToolDefinition, str]:
        """Find a tool on the server that a call names, else on the only server that has it."""
        if call.server is None:
            asked = self.servers
        elif call.server in self.servers:
            asked = {call.server: self.servers[call.server]}
        elif call.server == LOCAL:
            asked: Mapping[str, ToolServer] = {}
        else:
            raise UnrunnableError("unknown_server", _unknown_server(call.server, self.servers))
        offered = {name: {tool.name: tool for tool in server.tools} for name, server in asked.items()}
        having = [name for name, tools in offered.items() if call.name in tools]
        if len(having) == 1:
            return offered[having[0]][call.name], having[0]
        if having:
            error = errors.ExecutionError(f"several servers have a tool {call.name!r}: name one of {', '.join(having)}")
            raise UnrunnableError("unknown_tool", error)
        names = [one for tools in offered.values() for one in tools]
        if call.server in {None, LOCAL}:
            names = [*(tool.name for tool in self.registry.visible(state)), *names]
        raise UnrunnableError("unknown_tool", errors.UnknownToolError(call.name, names))

    def _local(self, definition: ToolDefinition, function: Callable[..., Any]) -> LocalFunction:
        known = self._known.get(definition.name)
        if known is None or known.function is not function:
            place = place_of(function, definition.metadata.get("run_in"))
            known = LocalFunction(function, binding(function, definition.name), place)
            self._known[definition.name] = known
        return known

    def _seconds(self, definition: ToolDefinition) -> float | None:
        if definition.name in self.timeouts:
            return self.timeouts[definition.name]
        if "timeout" in definition.metadata:
            return check_seconds(definition.metadata["timeout"], "timeout")
        return self.timeout

    def _limit(self, definition: ToolDefinition) -> int | None:
        return check_limit(definition.metadata.get("result_limit", self.result_limit))


def check_limit(limit: object) -> int | None:
    """Check the maximum length of a result; raises ValueError unless it is a number of characters or None."""
    if limit is None or (type(limit) is int and limit >= 0):
        return limit
    raise ValueError(f"result_limit is a number of characters, or None for no limit, not {limit!r}")


def _check(definition: ToolDefinition, call: ToolInvocation, local: LocalFunction | None) -> None:
    """Raise `ArgumentsError` for arguments that are not JSON, or that the schema or an injected parameter forbids."""
    try:
        jsontext.dumps(call.arguments)
    except errors.UnrepresentableError as error:  # a checker would take NaN for null, and pass a lone surrogate
        raise errors.ArgumentsError(call.name, (errors.Problem(error.pointer, "json", error.reason),)) from None
    wrong = problems(definition, call.arguments)
    if local is not None:
        known = {one.pointer for one in wrong}
        wrong += tuple(one for one in local.binding.refused(call.arguments) if one.pointer not in known)
    if wrong:
        raise errors.ArgumentsError(call.name, wrong)


def _bound(binding: Binding, call: ToolInvocation, injected: Mapping[str, Any]) -> dict[str, Any]:
    """Make a function's arguments; raises `UnrunnableError`."""
    try:
        return binding.bind(call.arguments, injected)
    except AgentStop:
        raise
    except errors.ArgumentsError as error:
        raise UnrunnableError("invalid_arguments", error) from None
    except Exception as error:
        raise UnrunnableError("broken_tool", errors.ExecutionError(error_text(error))) from error


def _unknown_server(name: str, known: Mapping[str, object]) -> errors.ExecutionError:
    close = errors.close_names(name, {one: one for one in known})
    hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known: {', '.join((LOCAL, *known))}"
    return errors.ExecutionError(f"unknown server {name!r}; {hint}")
