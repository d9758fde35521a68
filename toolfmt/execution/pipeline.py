"""The pipeline that the calls of one turn pass, up to their records.

before-hooks, guards, policies  ->  ToolCallBlocked
ToolCallStarted, prepare, run, ToolCallCompleted, after-hooks
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast
from uuid import uuid4

import anyio

from toolfmt import jsontext
from toolfmt.errors import DeferredCall, ExecutionError, Problem, ToolTimeoutError
from toolfmt.execution.binding import own_copy
from toolfmt.execution.context import ToolContext
from toolfmt.execution.events import (
    ArgumentsNormalised,
    HookFailed,
    PolicyChecked,
    ToolCallBlocked,
    ToolCallCompleted,
    ToolCallStarted,
)
from toolfmt.execution.hooks import Blocked, addressed, ask, changed, name_of, replaced
from toolfmt.execution.listeners import Listeners, Progress, failed, log, now
from toolfmt.execution.policies.policy import BEFORE_RESOLVED, BEFORE_STRUCTURE, PATIENT, Candidate
from toolfmt.execution.records import AgentStop, FailureKind, PolicyError, ToolExecution
from toolfmt.execution.resolving import Prepared, ResolvedTool, Resolver, UnrunnableError
from toolfmt.execution.running import words
from toolfmt.execution.values import clean, cut
from toolfmt.model import ToolInvocation, ToolResult
from toolfmt.schema.coercion import relax

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from toolfmt.execution.hooks import AfterHook, BeforeHook, Guard
    from toolfmt.execution.policies.policy import Policy


_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """An executor's settings."""

    resolver: Resolver
    guards: Sequence[Guard]
    before: Sequence[BeforeHook]
    policies: Sequence[Policy]
    unlisted: frozenset[Policy]
    """Policies that were added, not listed; they are reported only when they block."""
    after: Sequence[AfterHook]
    coerce: bool = False

    @property
    def listed(self) -> bool:
        """Whether any policies were listed."""
        return len(self.policies) > len(self.unlisted)


@dataclass(slots=True)
class Passage:
    """One call in the pipeline."""

    call: ToolInvocation
    id: str
    started_at: datetime
    progress: Progress
    prepared: Prepared | UnrunnableError | None = None
    context: ToolContext | None = None
    execution: ToolExecution | None = None
    cause: BaseException | None = None
    """What the tool raised."""
    approved: ToolInvocation | None = None


_KINDS: Final[tuple[tuple[type[BaseException], FailureKind], ...]] = (
    (ToolTimeoutError, "timeout"),
    (DeferredCall, "waiting"),
)
"""The failure of a call by the exception that its tool raises."""


class RunStop(Exception):  # noqa: N818 - it is none
    """Something that ends the whole run."""

    def __init__(self, cause: BaseException) -> None:
        """Keep what was raised."""
        super().__init__()
        self.cause = cause


class Pipeline:
    """Takes the calls of one turn from admission to their records."""

    def __init__(self, settings: Settings, listeners: Listeners, state: object, agent: str | None) -> None:
        """Set what all calls of a turn share."""
        self._settings = settings
        self._emit = listeners
        self._state = state
        self._agent = agent

    def enter(self, call: ToolInvocation, approved: ToolInvocation | None = None) -> Passage:
        """Copy a call, so that the caller's own is never changed.

        A call whose arguments are nested too deeply is blocked at once; its record has no arguments.
        """
        id = str(uuid4())  # noqa: A001 - the field's name
        deep = jsontext.too_deep(call.arguments)
        own = call.model_copy(update={"arguments": {}, "raw_arguments": None}) if deep else own_copy(call)
        if call.agent is None and self._agent:
            own = own.model_copy(update={"agent": self._agent})
        passage = Passage(own, id, now(), Progress(self._emit, id), approved=approved)
        if deep:
            reason = f"the arguments of {call.name!r} are nested too deeply: at most {jsontext.MAX_NESTING} levels"
            self.block(passage, Blocked(reason, "invalid_arguments"))
        return passage

    async def admit(self, passage: Passage) -> bool:
        """Ask before-hooks, guards and policies; returns whether the call may run.

        Guards see the call as hooks have changed it, so that a changed name is counted.
        """
        if passage.execution is not None:
            return False
        try:
            blocked = await self._hooked(passage) or self._guarded(passage) or await self._checked(passage)
        except anyio.get_cancelled_exc_class():
            if _from_outside():
                self.block(passage, Blocked("cancelled before it ran", "cancelled"))
                raise
            blocked = Blocked("a hook or a policy was cancelled", "hook_failed")
        except (AgentStop, KeyboardInterrupt, SystemExit) as stop:
            self.block(passage, Blocked(words(stop), "stopped"))
            raise RunStop(stop) from None
        if blocked is not None:
            unfit = passage.prepared if isinstance(passage.prepared, UnrunnableError) else None
            self.block(passage, blocked, unfit.problems if unfit is not None else ())
        return blocked is None

    async def run(self, passage: Passage) -> None:
        """Run an admitted call; its record is in the passage afterwards, whatever happens."""
        passage.started_at = now()
        passage.progress.open(passage.call)
        self._emit(ToolCallStarted(passage.started_at, passage.call, passage.id))
        stop: BaseException | None = None
        try:
            result, failure, problems = await self._outcome(passage)
        except anyio.get_cancelled_exc_class() as cancelled:
            if _from_outside():
                stop = cancelled
            passage.cause = cancelled
            result, failure, problems = self._error(passage.call, "cancelled"), "cancelled" if stop else "raised", ()
        except (AgentStop, KeyboardInterrupt) as ended:
            stop = RunStop(ended)
            result, failure, problems = self._error(passage.call, words(ended)), "stopped", ()
        self._record(passage, result, failure, problems)
        if stop is not None:
            raise stop
        await self._finished(passage)

    def block(self, passage: Passage, why: Blocked, problems: tuple[Problem, ...] = ()) -> None:
        """End a call that has not run."""
        execution = self._made(passage, self._error(passage.call, why.message), why.failure, problems, blocked=True)
        self._guards_note(execution)
        self._emit(ToolCallBlocked(execution.completed_at, execution))

    def _guarded(self, passage: Passage) -> Blocked | None:
        for guard in self._settings.guards:
            try:
                refused = guard.refuse(passage.call)
            except Exception as error:  # noqa: BLE001 - anybody's code
                refused = Blocked(failed(name_of(guard), error), "hook_failed")
            if refused is not None:
                return refused
        return None

    async def _hooked(self, passage: Passage) -> Blocked | None:
        for hook in self._settings.before:
            shown = own_copy(passage.call)
            context = ToolContext(shown, passage.id, self._state, self._agent)
            try:
                answer = await self._in_time(self._settings.resolver.timeout, hook, shown, context)
            except AgentStop:
                raise
            except PolicyError as error:
                return Blocked(words(error), error.failure)
            except Exception as error:  # noqa: BLE001 - anybody's code
                passage.cause = error
                return Blocked(failed(name_of(hook), error), "hook_failed")
            if isinstance(answer, Blocked):
                return answer
            try:
                passage.call = changed(passage.call, shown if answer is None else answer)
            except (TypeError, ValueError) as error:
                return Blocked(f"{name_of(hook)} failed: {words(error)}", "hook_failed")
        return None

    async def _checked(self, passage: Passage) -> Blocked | None:
        # Policies get a copy, so that the call that runs is the one that was checked.
        target = self._guarded_code(partial(self._settings.resolver.find, passage.call, self._state))
        if self._settings.coerce and isinstance(target, ResolvedTool):
            self._coerce(passage, target)
        seconds = self._settings.resolver.patience(target if isinstance(target, ResolvedTool) else None)
        shown = own_copy(passage.call) if self._settings.listed else passage.call
        passage.context = context = ToolContext(shown, passage.id, self._state, self._agent, passage.progress)
        candidate = _candidate(shown, context, target, passage.approved)
        for policy in self._settings.policies:
            if passage.prepared is None and policy.step not in BEFORE_STRUCTURE:
                candidate = self._fitting(passage, candidate, target)
            if candidate.error is not None and policy.step not in BEFORE_RESOLVED:
                continue
            blocked = await self._step(policy, candidate, passage, seconds)
            if blocked is not None or policy not in self._settings.unlisted:
                message = blocked.message if blocked is not None else ""
                self._emit(PolicyChecked(now(), passage.call, policy.step, message))
            if blocked is not None:
                return blocked
        if passage.prepared is None:
            self._fitting(passage, candidate, target)
        return None

    def _coerce(self, passage: Passage, target: ResolvedTool) -> None:
        """Convert a call's arguments to the types of its tool's schema; an event reports the changes."""
        call = passage.call
        relaxed = self._guarded_code(lambda: relax(call.arguments, target.definition.parameters))
        if isinstance(relaxed, UnrunnableError):
            return  # a schema that cannot be made; the check of the arguments reports it
        arguments, changes = relaxed
        if changes:
            certainty = "tolerated" if call.certainty == "exact" else call.certainty
            update = {"arguments": arguments, "raw_arguments": None, "certainty": certainty}
            passage.call = call.model_copy(update=update)
            self._emit(ArgumentsNormalised(now(), passage.call, changes))

    def _fitting(self, passage: Passage, candidate: Candidate, target: ResolvedTool | UnrunnableError) -> Candidate:
        """Check the arguments of a call whose tool was found."""
        if isinstance(target, UnrunnableError):
            passage.prepared = target
            return candidate
        prepare = partial(self._settings.resolver.prepare, target, passage.call, candidate.context)
        passage.prepared = prepared = self._guarded_code(prepare)
        if isinstance(prepared, UnrunnableError):
            return Candidate(candidate.call, candidate.context, error=prepared)
        return candidate

    def _guarded_code(self, code: Callable[[], _T]) -> _T | UnrunnableError:
        """Run code of the resolver, which may call a server's `tools` or a tool's `visible`."""
        try:
            return code()
        except UnrunnableError as error:
            return error
        except AgentStop:
            raise
        except Exception as error:  # noqa: BLE001 - anybody's code
            return UnrunnableError("broken_tool", ExecutionError(words(error)))

    async def _step(
        self, policy: Policy, candidate: Candidate, passage: Passage, seconds: float | None
    ) -> Blocked | None:
        try:
            answer = await self._in_time(None if policy.step in PATIENT else seconds, policy.check, candidate)
        except AgentStop:
            raise
        except PolicyError as error:
            return Blocked(words(error), error.failure)
        except Exception as error:  # noqa: BLE001 - anybody's code; who can't decide must not let it pass
            passage.cause = error
            return Blocked(failed(f"the policy {policy.step}", error), "hook_failed")
        if answer is None or isinstance(answer, Blocked):
            return answer
        return Blocked(f"the policy {policy.step} returned {type(answer).__name__}, not Blocked or None", "hook_failed")

    async def _in_time(self, seconds: float | None, hook: Callable[..., Any], *arguments: object) -> Any:
        """Call a hook or a policy; raises `ToolTimeoutError` after the tool's time-out."""
        if seconds is None:
            return await ask(hook, *arguments)
        with anyio.move_on_after(seconds):
            return await ask(hook, *arguments)
        raise ToolTimeoutError(f"timed out after {seconds:g} s")

    async def _outcome(self, passage: Passage) -> tuple[ToolResult, FailureKind | None, tuple[Problem, ...]]:
        prepared = passage.prepared
        if isinstance(prepared, UnrunnableError):
            passage.cause = prepared.cause
            return self._error(passage.call, words(prepared)), prepared.failure, prepared.problems
        assert prepared is not None  # noqa: S101 - admitted calls are
        failure: FailureKind = prepared.failure
        try:
            if prepared.timeout is None:
                return addressed(await prepared.run(), passage.call), None, ()
            with anyio.move_on_after(prepared.timeout) as scope:
                result = await prepared.run()
                return addressed(result, passage.call), None, ()
            error: BaseException = ToolTimeoutError(f"timed out after {prepared.timeout:g} s")
            failure = "timeout" if scope.cancelled_caught else failure
        except (AgentStop, KeyboardInterrupt, GeneratorExit, anyio.get_cancelled_exc_class()):
            raise
        except BaseException as raised:  # noqa: BLE001 - a tool's code
            for stop in _stops(raised):
                raise stop from None
            error = raised
            for kind, named in _KINDS:
                failure = named if isinstance(raised, kind) else failure
        if isinstance(error, UnrunnableError):  # the function's own types do not take the arguments
            passage.cause = error.cause
            return self._error(passage.call, words(error)), error.failure, error.problems
        passage.cause = error
        return self._error(passage.call, words(error)), failure, ()

    def _record(
        self, passage: Passage, result: ToolResult, failure: FailureKind | None, problems: tuple[Problem, ...]
    ) -> None:
        execution = self._made(passage, result, failure, problems)
        passage.progress.close(ToolCallCompleted(execution.completed_at, execution))

    async def _finished(self, passage: Passage) -> None:
        """Call the after-hooks with the record, then the guards."""
        assert passage.execution is not None and passage.context is not None  # noqa: S101, PT018 - it has run
        try:
            for hook in self._settings.after:
                try:
                    seconds = passage.prepared.timeout if isinstance(passage.prepared, Prepared) else None
                    answer = await self._in_time(seconds, hook, passage.execution, passage.context)
                    passage.execution = replaced(passage.execution, answer)
                except (AgentStop, KeyboardInterrupt, SystemExit) as stop:
                    raise RunStop(stop) from None
                except (Exception, anyio.get_cancelled_exc_class()) as error:  # anybody's code
                    if _from_outside():
                        raise
                    # The tool has run, and its result counts.
                    reason = failed(name_of(hook), error)
                    self._emit(HookFailed(now(), passage.execution, name_of(hook), reason))
        finally:
            self._guards_note(passage.execution)

    def _made(
        self,
        passage: Passage,
        result: ToolResult,
        failure: FailureKind | None,
        problems: tuple[Problem, ...],
        *,
        blocked: bool = False,
    ) -> ToolExecution:
        passage.execution = ToolExecution(
            id=passage.id,
            call=passage.call,
            result=result,
            started_at=passage.started_at,
            completed_at=now(),
            blocked=blocked,
            failure=failure,
            problems=problems,
        )
        return passage.execution

    def _error(self, call: ToolInvocation, message: str) -> ToolResult:
        content = cut(clean(message), self._settings.resolver.result_limit)
        return addressed(ToolResult(name=call.name, content=content, is_error=True), call)

    def _guards_note(self, execution: ToolExecution) -> None:
        for guard in self._settings.guards:
            try:
                guard.record(execution)
            except Exception:  # noqa: BLE001 - anybody's code; what it does not know it will not count
                log.warning("%s failed on a record", name_of(guard), exc_info=True)


def _candidate(
    call: ToolInvocation, context: ToolContext, target: ResolvedTool | UnrunnableError, approved: ToolInvocation | None
) -> Candidate:
    if isinstance(target, UnrunnableError):
        return Candidate(call, context, error=target)
    return Candidate(call, context, target.definition, target.server, approved=approved)


def _from_outside() -> bool:
    """Whether a cancellation comes from outside this task."""
    return anyio.current_effective_deadline() == -math.inf


def _stops(error: BaseException) -> list[BaseException]:
    """Find exceptions that end the run, also in an exception group of the tool."""
    if isinstance(error, BaseExceptionGroup):
        inner = cast("tuple[BaseException, ...]", error.exceptions)
        return [stop for one in inner for stop in _stops(one)]
    return [error] if isinstance(error, (AgentStop, KeyboardInterrupt)) else []
