"""The pipeline that the calls of one turn pass, up to their records.

before-hooks, guards, policies  ->  ToolCallBlocked
ToolCallStarted, prepare, run, ToolCallCompleted, after-hooks
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias, TypeVar
from uuid import uuid4

import anyio

from toolfmt import jsontext
from toolfmt.errors import DeferredCall, ExecutionError, Problem, ToolTimeoutError
from toolfmt.execution import events, hooks
from toolfmt.execution.binding import own_copy
from toolfmt.execution.masking import masked_text
from toolfmt.execution.policies.policy import BEFORE_RESOLVED, BEFORE_STRUCTURE, PATIENT, Candidate, Policy
from toolfmt.execution.records import AgentStop, FailureKind, PolicyError, ToolExecution
from toolfmt.execution.resolving import Prepared, ResolvedTool, Resolver, UnrunnableError
from toolfmt.execution.running import error_text, in_thread, leaves
from toolfmt.execution.values import clean, cut
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.schema.coercion import relax

_T = TypeVar("_T")
_Target: TypeAlias = ResolvedTool | UnrunnableError
_Outcome: TypeAlias = tuple[ToolResult, FailureKind | None, tuple[Problem, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """An executor's settings."""

    resolver: Resolver
    guards: Sequence[hooks.Guard]
    before: Sequence[hooks.BeforeHook]
    policies: Sequence[Policy]
    unlisted: frozenset[Policy]
    """Policies that were added, not listed; they are reported only when they block."""
    after: Sequence[hooks.AfterHook]
    coerce: bool = False

    @property
    def listed(self) -> bool:
        """Whether any policies were listed."""
        return len(self.policies) > len(self.unlisted)


@dataclass(slots=True)
class CallInProgress:
    """One call in the pipeline."""

    call: ToolInvocation
    id: str
    started_at: datetime
    progress: events.Progress
    prepared: Prepared | UnrunnableError | None = None
    context: hooks.ToolContext | None = None
    execution: ToolExecution | None = None
    cause: BaseException | None = None
    """What the tool raised."""
    approved: ToolInvocation | None = None


class RunStop(Exception):  # noqa: N818 - it is not an error
    """Something that ends the whole run."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__()
        self.cause = cause


class Pipeline:
    """Takes the calls of one turn from admission to their records."""

    def __init__(self, settings: Settings, listeners: events.Listeners, state: object, agent: str | None) -> None:
        self._settings = settings
        self._emit = listeners
        self._state = state
        self._agent = agent

    def enter(self, call: ToolInvocation, approved: ToolInvocation | None = None) -> CallInProgress:
        """Copy a call, so that the caller's own is never changed.

        A call whose arguments are nested too deeply is blocked at once; its record has no arguments.
        """
        id = str(uuid4())  # noqa: A001 - the field's name
        deep = jsontext.too_deep(call.arguments)
        own = call.model_copy(update={"arguments": {}, "raw_arguments": None}) if deep else own_copy(call)
        if call.agent is None and self._agent:
            own = own.model_copy(update={"agent": self._agent})
        progress = events.Progress(self._emit, id, self._settings.resolver.inject)
        entry = CallInProgress(own, id, events.now(), progress, approved=approved)
        if deep:
            reason = f"the arguments of {call.name!r} are nested too deeply: at most {jsontext.MAX_NESTING} levels"
            self.block(entry, hooks.Blocked(reason, "invalid_arguments"))
        return entry

    async def admit(self, entry: CallInProgress) -> bool:
        """Ask before-hooks, guards and policies; returns whether the call may run.

        Guards see the call as hooks have changed it, so that a changed name is counted.
        """
        if entry.execution is not None:
            return False
        try:
            blocked = await self._run_before_hooks(entry) or self._ask_guards(entry) or await self._ask_policies(entry)
        except anyio.get_cancelled_exc_class():
            if _from_outside():
                self.block(entry, hooks.Blocked("cancelled before it ran", "cancelled"))
                raise
            blocked = hooks.Blocked("a hook or a policy was cancelled", "hook_failed")
        except (AgentStop, KeyboardInterrupt, SystemExit) as stop:
            self.block(entry, hooks.Blocked(error_text(stop), "stopped"))
            raise RunStop(stop) from None
        except Exception as error:  # noqa: BLE001 - a call without a record would take the turn's other records with it
            blocked = hooks.Blocked(events.failed("a hook or a policy", error), "hook_failed")
        if blocked is not None:
            unfit = entry.prepared if isinstance(entry.prepared, UnrunnableError) else None
            self.block(entry, blocked, unfit.problems if unfit is not None else ())
        return blocked is None

    async def run(self, entry: CallInProgress) -> None:
        """Run an admitted call; its record is in the entry afterwards, whatever happens."""
        entry.started_at = events.now()
        entry.progress.open(entry.call)
        self._emit(events.ToolCallStarted(entry.started_at, entry.call, entry.id))
        stop: BaseException | None = None
        try:
            result, failure, problems = await self._outcome(entry)
        except anyio.get_cancelled_exc_class() as cancelled:
            if _from_outside():
                stop = cancelled
            entry.cause = cancelled
            result, failure, problems = self._error(entry.call, "cancelled"), "cancelled" if stop else "raised", ()
        except (AgentStop, KeyboardInterrupt) as ended:
            stop = RunStop(ended)
            result, failure, problems = self._error(entry.call, error_text(ended)), "stopped", ()
        execution = self._set_record(entry, result, failure, problems)
        entry.progress.close(events.ToolCallCompleted(execution.completed_at, execution))
        if stop is not None:
            raise stop
        await self._run_after_hooks(entry)

    def block(self, entry: CallInProgress, why: hooks.Blocked, problems: tuple[Problem, ...] = ()) -> None:
        """End a call that has not run."""
        execution = self._set_record(entry, self._error(entry.call, why.message), why.failure, problems, blocked=True)
        self._notify_guards(execution)
        self._emit(events.ToolCallBlocked(execution.completed_at, execution))

    def _ask_guards(self, entry: CallInProgress) -> hooks.Blocked | None:
        for guard in self._settings.guards:
            try:
                refused = _verdict(hooks.name_of(guard), guard.refuse(entry.call))
            except Exception as error:  # noqa: BLE001 - foreign code
                refused = hooks.Blocked(events.failed(hooks.name_of(guard), error), "hook_failed")
            if refused is not None:
                return refused
        return None

    async def _run_before_hooks(self, entry: CallInProgress) -> hooks.Blocked | None:
        for hook in self._settings.before:
            shown = own_copy(entry.call)
            context = hooks.ToolContext(shown, entry.id, self._state, self._agent)
            answer = await self._ask(entry, hooks.name_of(hook), self._settings.resolver.timeout, hook, shown, context)
            if isinstance(answer, hooks.Blocked):
                return answer
            try:
                entry.call = hooks.changed(entry.call, shown if answer is None else answer)
            except (TypeError, ValueError) as error:
                return hooks.Blocked(f"{hooks.name_of(hook)} failed: {error_text(error)}", "hook_failed")
        return None

    async def _ask_policies(self, entry: CallInProgress) -> hooks.Blocked | None:
        # Policies get a copy, so that the call that runs is the one that was checked.
        target = self._catching(partial(self._settings.resolver.find, entry.call, self._state))
        seconds = self._settings.resolver.hook_timeout(target if isinstance(target, ResolvedTool) else None)
        candidate = self._candidate(entry, target)
        for policy in self._settings.policies:
            if entry.prepared is None and policy.step not in BEFORE_STRUCTURE:
                candidate = self._check_arguments(entry, candidate, target)
            if candidate.error is not None and policy.step not in BEFORE_RESOLVED:
                continue
            name, limit = f"the policy {policy.step}", None if policy.step in PATIENT else seconds
            blocked = _verdict(name, await self._ask(entry, name, limit, policy.check, candidate))
            if blocked is not None or policy not in self._settings.unlisted:
                message = self._masked(blocked.message) if blocked is not None else ""
                self._emit(events.PolicyChecked(events.now(), entry.call, policy.step, message))
            if blocked is not None:
                return blocked
        if entry.prepared is None:
            self._check_arguments(entry, candidate, target)
        return None

    def _candidate(self, entry: CallInProgress, target: _Target) -> Candidate:
        shown = own_copy(entry.call) if self._settings.listed else entry.call
        entry.context = context = hooks.ToolContext(shown, entry.id, self._state, self._agent, entry.progress)
        if isinstance(target, UnrunnableError):
            return Candidate(shown, context, error=target)
        return Candidate(shown, context, target.definition, target.server, approved=entry.approved)

    def _coerced(self, entry: CallInProgress, target: ResolvedTool) -> bool:
        """Convert a call's arguments to the types of its tool's schema; an event reports the changes."""
        call = entry.call
        relaxed = self._catching(lambda: relax(call.arguments, target.definition.parameters))
        # A schema that cannot be made is reported by the check of the arguments.
        arguments, changes = (call.arguments, ()) if isinstance(relaxed, UnrunnableError) else relaxed
        if changes:
            certainty = "tolerated" if call.certainty == "exact" else call.certainty
            update = {"arguments": arguments, "raw_arguments": None, "certainty": certainty}
            entry.call = call.model_copy(update=update)
            self._emit(events.ArgumentsNormalised(events.now(), entry.call, changes))
        return bool(changes)

    def _check_arguments(self, entry: CallInProgress, candidate: Candidate, target: _Target) -> Candidate:
        """Check the arguments of a call whose tool was found."""
        if isinstance(target, UnrunnableError):
            entry.prepared = target
            return candidate
        if self._settings.coerce and self._coerced(entry, target):
            candidate = self._candidate(entry, target)
        prepare = partial(self._settings.resolver.prepare, target, entry.call, candidate.context)
        entry.prepared = prepared = self._catching(prepare)
        if isinstance(prepared, UnrunnableError):
            return Candidate(candidate.call, candidate.context, error=prepared)
        return candidate

    def _catching(self, code: Callable[[], _T]) -> _T | UnrunnableError:
        """Run code of the resolver, which may call a server's `tools` or a tool's `visible`."""
        try:
            return code()
        except UnrunnableError as error:
            return error
        except AgentStop:
            raise
        except Exception as error:  # noqa: BLE001 - foreign code
            return UnrunnableError("broken_tool", ExecutionError(error_text(error)))

    async def _ask(
        self, entry: CallInProgress, name: str, seconds: float | None, hook: Callable[..., Any], *arguments: object
    ) -> Any:
        """Ask a hook or a policy; one that fails blocks the call."""
        try:
            return await self._in_time(seconds, hook, *arguments)
        except AgentStop:
            raise
        except PolicyError as error:
            return hooks.Blocked(error_text(error), error.failure)
        except Exception as error:  # noqa: BLE001 - foreign code; a policy that cannot decide must not let it pass
            entry.cause = error
            return hooks.Blocked(events.failed(name, error), "hook_failed")

    async def _in_time(self, seconds: float | None, hook: Callable[..., Any], *arguments: object) -> Any:
        """Call a hook or a policy; raises `ToolTimeoutError` after the tool's time-out."""
        with anyio.move_on_after(seconds):
            return await hooks.ask(hook, *arguments)
        raise ToolTimeoutError(f"timed out after {seconds:g} s")

    async def _outcome(self, entry: CallInProgress) -> _Outcome:
        prepared = entry.prepared
        if isinstance(prepared, UnrunnableError):
            entry.cause = prepared.cause
            return self._error(entry.call, error_text(prepared)), prepared.failure, prepared.problems
        assert prepared is not None  # noqa: S101 - admitted calls are
        with anyio.move_on_after(prepared.timeout):
            try:
                return hooks.addressed(await prepared.run(), entry.call), None, ()
            except (AgentStop, KeyboardInterrupt, GeneratorExit, anyio.get_cancelled_exc_class()):
                raise
            except BaseException as error:  # noqa: BLE001 - a tool's code
                return await self._raised(entry, error, prepared.failure)
        entry.cause = ToolTimeoutError(f"timed out after {prepared.timeout:g} s")
        return self._error(entry.call, str(entry.cause)), "timeout", ()

    async def _raised(self, entry: CallInProgress, error: BaseException, failure: FailureKind) -> _Outcome:
        """Describe what a tool has raised, in a thread: that runs the tool's code too."""
        for stop in leaves(error):
            if isinstance(stop, (AgentStop, KeyboardInterrupt)):
                raise stop from None
        unfit = error if isinstance(error, UnrunnableError) else None  # its own types do not take the arguments
        entry.cause = error if unfit is None else unfit.cause
        result = self._error(entry.call, await in_thread(partial(error_text, error)))
        if unfit is not None:
            return result, unfit.failure, unfit.problems
        failure = "timeout" if isinstance(error, ToolTimeoutError) else failure
        failure = "waiting" if isinstance(error, DeferredCall) else failure
        return result, failure, ()

    async def _run_after_hooks(self, entry: CallInProgress) -> None:
        """Call the after-hooks with the record, then the guards."""
        assert entry.execution is not None and entry.context is not None  # noqa: S101, PT018 - it has run
        try:
            for hook in self._settings.after:
                try:
                    seconds = entry.prepared.timeout if isinstance(entry.prepared, Prepared) else None
                    answer = await self._in_time(seconds, hook, entry.execution, entry.context)
                    entry.execution = hooks.replaced(entry.execution, answer)
                except (AgentStop, KeyboardInterrupt, SystemExit) as stop:
                    raise RunStop(stop) from None
                except (Exception, anyio.get_cancelled_exc_class()) as error:  # foreign code
                    if _from_outside():
                        raise
                    # The tool has run, and its result counts.
                    reason = events.failed(hooks.name_of(hook), error)
                    self._emit(events.HookFailed(events.now(), entry.execution, hooks.name_of(hook), reason))
        finally:
            self._notify_guards(entry.execution)

    def _set_record(
        self,
        entry: CallInProgress,
        result: ToolResult,
        failure: FailureKind | None,
        problems: tuple[Problem, ...],
        *,
        blocked: bool = False,
    ) -> ToolExecution:
        entry.execution = ToolExecution(
            id=entry.id,
            call=entry.call,
            result=result,
            started_at=entry.started_at,
            completed_at=events.now(),
            blocked=blocked,
            failure=failure,
            problems=problems,
        )
        return entry.execution

    def _error(self, call: ToolInvocation, message: str) -> ToolResult:
        resolver = self._settings.resolver
        content = cut(self._masked(message), resolver.result_limit)
        return hooks.addressed(ToolResult(name=call.name, content=content, is_error=True), call)

    def _masked(self, message: str) -> str:
        return masked_text(clean(message), self._settings.resolver.inject.values())

    def _notify_guards(self, execution: ToolExecution) -> None:
        for guard in self._settings.guards:
            try:
                guard.record(execution)
            except Exception:  # noqa: BLE001 - foreign code; what it does not know it will not count
                events.log.warning("%s failed on a record", hooks.name_of(guard), exc_info=True)


def _verdict(name: str, answer: object) -> hooks.Blocked | None:
    if answer is None or isinstance(answer, hooks.Blocked):
        return answer
    return hooks.Blocked(f"{name} returned {type(answer).__name__}, not Blocked or None", "hook_failed")


def _from_outside() -> bool:
    """Whether a cancellation comes from outside this task."""
    return anyio.current_effective_deadline() == -math.inf
