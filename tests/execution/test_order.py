"""The order in which a call is looked at: no code of a tool runs before the last policy has let the call pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, FilePath, model_validator

from toolfmt import ToolInvocation, ToolRegistry
from toolfmt.execution import (
    Approval,
    Blocked,
    Executor,
    JsonPolicy,
    Permissions,
    ProjectBoundaries,
    RateLimit,
    SchemaPolicy,
)
from toolfmt.execution.events import ArgumentsNormalised, HookFailed
from toolfmt.execution.policies.policy import ORDER, Candidate

SEEN: list[str] = []
RELEASED = threading.Event()


def note(what: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        SEEN.append(what)
        return value

    return check


class Model(BaseModel):
    """A model with code of its own."""

    name: Annotated[str, AfterValidator(note("field"))] = "x"

    @model_validator(mode="before")
    @classmethod
    def look(cls, data: Any) -> Any:
        SEEN.append("model")
        return data


MADE: Any = Field(default_factory=lambda: SEEN.append("factory") or [])


def use(
    text: Annotated[str, BeforeValidator(note("before")), AfterValidator(note("after"))],
    model: Model,
    made: list[str] = MADE,
) -> str:
    """Use it."""
    SEEN.append("function")
    return text + model.name + str(made)


def read(path: FilePath | None = None) -> str:
    """Read it."""
    SEEN.append("read")
    return str(path)


def hang(text: Annotated[str, AfterValidator(lambda _: RELEASED.wait(30))]) -> str:
    """Never get that far."""
    return text


async def wait(text: Annotated[str, AfterValidator(lambda _: RELEASED.wait(30))]) -> str:
    """Never get that far, in the loop."""
    return text


class Step:
    """A policy that records when it is asked."""

    def __init__(self, step: str) -> None:
        self.step = step

    def check(self, candidate: Candidate) -> None:
        SEEN.append(self.step)
        assert candidate.error is None


@pytest.fixture
def registry() -> ToolRegistry:
    SEEN.clear()
    return ToolRegistry([use, read, hang, wait])


CALL = ToolInvocation(name="use", arguments={"text": "t", "model": {"name": "n"}})
CODE = {"before", "after", "model", "field", "factory", "function"}


def test_every_policy_is_asked_before_any_of_the_tools_own_code_runs(registry: ToolRegistry) -> None:
    (execution,) = Executor(registry, policies=[Step(step) for step in reversed(ORDER)]).execute_sync([CALL])
    assert execution.failure is None
    assert SEEN[: len(ORDER)] == list(ORDER)
    assert set(SEEN[len(ORDER) :]) == CODE
    assert SEEN[-1] == "function"


@pytest.mark.parametrize(
    ("policy", "failure"),
    [
        (Permissions({"*": ["wait"]}), "denied"),
        (Permissions(deny={"*": ["use"]}), "denied"),
        (RateLimit(0, per=1), "rate_limited"),
        (ProjectBoundaries(["/srv"], parameters={"use": ["text"]}), "outside_project"),
        (Approval(lambda _: False, tools=["*"]), "rejected"),
    ],
)
def test_a_refused_call_runs_none_of_the_tools_own_code(registry: ToolRegistry, policy: Any, failure: str) -> None:
    call = CALL.model_copy(update={"arguments": {**CALL.arguments, "text": "/etc/passwd"}})
    (execution,) = Executor(registry, policies=[policy, JsonPolicy(), SchemaPolicy()]).execute_sync([call])
    assert (execution.failure, SEEN) == (failure, [])


@pytest.mark.parametrize("policy", [Permissions({"*": ["use"]}), ProjectBoundaries(["/srv"])])
def test_a_refusal_does_not_say_whether_a_file_exists(registry: ToolRegistry, tmp_path: Path, policy: Any) -> None:
    there, missing = tmp_path / "there", tmp_path / "missing"
    there.touch()
    answers = [
        Executor(registry, policies=[policy]).execute_sync([ToolInvocation(name="read", arguments={"path": str(path)})])
        for path in (there, missing)
    ]
    texts = {one.error.replace(str(there), "").replace(str(missing), "") for (one,) in answers}
    assert len(texts) == 1
    assert SEEN == []
    (allowed,) = Executor(registry).execute_sync([ToolInvocation(name="read", arguments={"path": str(missing)})])
    assert (allowed.failure, [problem.pointer for problem in allowed.problems]) == ("invalid_arguments", ["/path"])


def test_wrong_arguments_of_a_denied_call_are_not_looked_at(registry: ToolRegistry) -> None:
    wrong = ToolInvocation(name="use", arguments={"text": 1})
    (execution,) = Executor(registry, policies=[Permissions({"*": ["read"]})]).execute_sync([wrong])
    assert (execution.failure, execution.problems) == ("denied", ())


@pytest.mark.parametrize("name", ["hang", "wait"])
def test_a_validator_that_hangs_is_out_of_time(registry: ToolRegistry, name: str) -> None:
    call = ToolInvocation(name=name, arguments={"text": "t"})
    (execution,) = Executor(registry, timeout=0.2).execute_sync([call])
    assert execution.failure == "timeout"


async def never(*_: object) -> None:
    await anyio.sleep(30)


class Slow:
    """A policy that never answers."""

    check = staticmethod(never)

    def __init__(self, step: str) -> None:
        self.step = step


@pytest.mark.parametrize("step", [step for step in ORDER if step != "approval"])
def test_a_policy_that_hangs_refuses_the_call_when_its_time_is_over(registry: ToolRegistry, step: str) -> None:
    (execution,) = Executor(registry, policies=[Slow(step)], timeout=0.05).execute_sync([CALL])
    assert (execution.failure, SEEN) == ("hook_failed", [])
    assert execution.error == f"the policy {step} failed: ToolTimeoutError"


def test_what_blocks_the_event_loop_is_waited_for_and_counts(registry: ToolRegistry) -> None:
    class Blocking:
        step = "project"

        def check(self, _: Candidate) -> Blocked:
            time.sleep(0.2)
            return Blocked("no")

    def blocking(*_: object) -> Blocked:
        time.sleep(0.2)
        return Blocked("no")

    for executor in (
        Executor(registry, policies=[Blocking()], timeout=0.05),
        Executor(registry, before=[blocking], timeout=0.05),
    ):
        (execution,) = executor.execute_sync([CALL])
        assert (execution.failure, SEEN) == ("blocked", [])


def test_hooks_that_hang_are_out_of_time(registry: ToolRegistry) -> None:
    (execution,) = Executor(registry, before=[never], timeouts={"use": 0.05}, timeout=0.05).execute_sync([CALL])
    assert (execution.failure, execution.error, SEEN) == ("hook_failed", "never failed: ToolTimeoutError", [])
    events: list[object] = []
    (execution,) = Executor(registry, after=[never], timeouts={"use": 0.5}, on_event=events.append).execute_sync([CALL])
    assert execution.failure is None
    (failure,) = [event for event in events if isinstance(event, HookFailed)]
    assert failure.error == "never failed: ToolTimeoutError"


def test_a_person_has_the_time_of_the_approval(registry: ToolRegistry) -> None:
    async def later(_: object) -> bool:
        await anyio.sleep(0.2)
        return True

    approval = Approval(later, tools=["*"], timeout=30)
    (execution,) = Executor(registry, policies=[approval], timeout=0.1, timeouts={"use": 20}).execute_sync([CALL])
    assert execution.failure is None
    (execution,) = Executor(registry, policies=[Approval(never, tools=["*"], timeout=0.05)]).execute_sync([CALL])
    assert execution.failure == "rejected"


def test_arguments_are_converted_after_permission_only() -> None:
    def add(number: int) -> int:
        return number

    events: list[Any] = []
    calls = [{"name": "add", "arguments": {"number": "5"}}]
    denied = Executor(ToolRegistry([add]), policies=[Permissions({})], coerce=True, on_event=events.append)
    (execution,) = denied.execute_sync(calls)
    assert (execution.failure, execution.call.arguments) == ("denied", {"number": "5"})
    assert not any(isinstance(event, ArgumentsNormalised) for event in events)
    seen: list[Any] = []
    policies: list[Any] = [Permissions({"*": ["add"]}), lambda call, context: seen.append((call, context.call))]
    (execution,) = Executor(ToolRegistry([add]), policies=policies, coerce=True).execute_sync(calls)
    assert execution.result.content == 5
    assert [one.arguments for one in seen[0]] == [{"number": 5}] * 2
