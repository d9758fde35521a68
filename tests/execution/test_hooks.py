"""Hooks: what they may change, and what becomes of their errors."""

from __future__ import annotations

import asyncio
import logging
import sys
from typing import Any, cast

import pytest

from toolfmt import ToolInvocation, ToolRegistry, ToolResult
from toolfmt.execution import Blocked, Executor, ToolContext, ToolExecution
from toolfmt.execution.events import HookFailed, ToolCallCompleted
from toolfmt.execution.records import AgentStop, PolicyError


@pytest.fixture
def registry() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.register
    def echo(text: str) -> str:
        return text

    @registry.register
    async def shout(text: str) -> str:
        return text.upper()

    return registry


CALL = ToolInvocation(name="echo", arguments={"text": "a"}, id="c1", raw_arguments='{"text": "a"}')


def misnamed() -> None:
    error = PolicyError("no")
    error.failure = "quota"  # pyright: ignore[reportAttributeAccessIssue]
    raise error


def run(registry: ToolRegistry, **how: Any) -> ToolExecution:
    return Executor(registry, **how).execute_sync([CALL], {"who": "state"}, "agent")[0]


def test_hooks_follow_one_another_and_see_what_the_last_one_left(registry: ToolRegistry) -> None:
    seen: list[tuple[str, Any, str | None]] = []

    async def other_tool(call: ToolInvocation, context: ToolContext) -> ToolInvocation:
        assert sys.exc_info() == (None, None, None)  # an error here would be shown with the one that is handled
        seen.append((call.name, context.state, context.agent))
        return call.model_copy(update={"name": "shout"})

    def other_text(call: ToolInvocation, context: ToolContext) -> ToolInvocation:
        seen.append((call.name, context.call.name, context.agent))
        return call.model_copy(update={"arguments": {"text": "b"}, "id": "mine"})

    execution = run(registry, before=[other_tool, other_text])
    assert (execution.name, execution.value, execution.result.id) == ("shout", "B", "mine")
    assert execution.call.raw_arguments is None
    assert seen == [("echo", {"who": "state"}, "agent"), ("shout", "shout", "agent")]
    assert CALL.arguments == {"text": "a"}


def test_what_a_hook_leaves_is_checked_too(registry: ToolRegistry) -> None:
    execution = run(registry, before=[lambda call, _: call.model_copy(update={"arguments": {"text": 3}})])
    assert execution.failure == "invalid_arguments"


def test_the_text_of_a_call_goes_when_a_hook_changes_what_it_says(registry: ToolRegistry) -> None:
    def in_place(call: ToolInvocation, _: object) -> None:
        call.arguments["n"] = True

    def changed(call: ToolInvocation, _: object) -> ToolInvocation:
        return call.model_copy(update={"arguments": {"n": True}})

    registry.register(lambda n: n, name="same")
    reported = ToolInvocation(name="same", arguments={"n": 1}, raw_arguments='{"n":1}')
    for hook in (in_place, changed):
        (execution,) = Executor(registry, before=[hook]).execute_sync([reported])
        assert (execution.value, execution.arguments, execution.call.raw_arguments) == (True, {"n": True}, None)
        assert execution.value is True
    (execution,) = Executor(registry, before=[lambda *_: None]).execute_sync([reported])
    assert execution.call.raw_arguments == '{"n":1}'
    assert reported.arguments == {"n": 1}


@pytest.mark.parametrize(
    ("hook", "failure", "words"),
    [
        (lambda *_: Blocked("not now"), "blocked", "not now"),
        (lambda *_: Blocked("not you", "denied"), "denied", "not you"),
        (lambda call, _: call.model_copy(update={"agent": "Root"}), "hook_failed", "may not change a call's agent"),
        (lambda call, _: call.model_copy(update={"provenance": "bare"}), "hook_failed", "a call's provenance"),
        (lambda call, _: call.model_copy(update={"certainty": "tolerated"}), "hook_failed", "a call's certainty"),
        (lambda *_: "no", "hook_failed", "returns a ToolInvocation, Blocked or None, not str"),
        (lambda *_: {}["x"], "hook_failed", "KeyError"),
        (lambda *_: Blocked("no", cast("Any", "budgett")), "hook_failed", "ValueError"),
        (lambda *_: Blocked(cast("Any", 3)), "hook_failed", "TypeError"),
        (lambda *_: misnamed(), "hook_failed", "failed: ValueError"),
    ],
)
def test_a_before_hook_keeps_a_call_from_running(registry: ToolRegistry, hook: Any, failure: str, words: str) -> None:
    other = ToolInvocation(name="shout", arguments={"text": "b"})
    mixed: Any = lambda call, context: hook(call, context) if call.name == "echo" else None  # noqa: E731
    execution, beside = Executor(registry, before=[mixed]).execute_sync([CALL, other])
    assert (execution.failure, execution.blocked, words in execution.error) == (failure, True, True)
    assert beside.value == "B"


def test_a_policy_error_of_a_hook_blocks(registry: ToolRegistry) -> None:
    def refuse(*_: object) -> None:
        raise PolicyError("over budget", "budget")

    execution = run(registry, before=[refuse])
    assert (execution.failure, execution.error) == ("budget", "over budget")


def test_an_after_hook_may_replace_the_result_alone(registry: ToolRegistry) -> None:
    events: list[object] = []

    async def other(execution: ToolExecution, context: ToolContext) -> ToolResult:
        assert context.call == execution.call
        return ToolResult(name="elsewhere", id="x", content=[execution.value, "b"])

    execution = run(registry, after=[other, lambda *_: None], on_event=events.append)
    assert (execution.value, execution.result.name, execution.result.id, execution.result.agent) == (
        ["a", "b"],
        "echo",
        "c1",
        "agent",
    )
    (completed,) = [event for event in events if isinstance(event, ToolCallCompleted)]
    assert completed.execution.value == "a"


def test_an_after_hook_may_mend_a_failure(registry: ToolRegistry) -> None:
    wrong = ToolInvocation(name="echo")
    mend = Executor(registry, after=[lambda *_: ToolResult(name="echo", content="mended")])
    keep = Executor(registry, after=[lambda *_: ToolResult(name="echo", content="worse", is_error=True)])
    assert [mend.execute_sync([wrong])[0].failure, keep.execute_sync([wrong])[0].failure] == [None, "invalid_arguments"]


@pytest.mark.parametrize("hook", [lambda *_: {}["x"], lambda *_: "text"], ids=["raises", "returns"])
def test_an_error_of_an_after_hook_is_reported_and_the_result_stays(registry: ToolRegistry, hook: Any) -> None:
    events: list[object] = []
    execution = run(registry, after=[hook], on_event=events.append)
    assert execution.value == "a"
    (reported,) = [event for event in events if isinstance(event, HookFailed)]
    assert reported.execution.id == execution.id
    assert reported.error


def test_a_listener_that_fails_breaks_nothing(registry: ToolRegistry, caplog: pytest.LogCaptureFixture) -> None:
    def listen(_: object) -> None:
        raise RuntimeError("deaf")

    with caplog.at_level(logging.WARNING, "toolfmt.execution"):
        assert run(registry, on_event=listen).value == "a"
    assert [record.message for record in caplog.records] == [
        "a listener failed on ToolCallStarted",
        "a listener failed on ToolCallCompleted",
    ]


async def cancelled(*_: object) -> None:
    raise asyncio.CancelledError


def test_a_hook_that_is_cancelled_has_failed_and_cancels_nobody(registry: ToolRegistry) -> None:
    def first(call: ToolInvocation, _: ToolContext) -> Any:
        return cancelled() if call.id == "c1" else None

    calls = [CALL, CALL.model_copy(update={"id": "c2"})]
    executions = Executor(registry, before=[first], after=[cancelled]).execute_sync(calls)
    assert [one.failure for one in executions] == ["hook_failed", None]


class Careless:
    """A guard and a server that only fail."""

    tools = property(lambda _: {}["tools"])

    def refuse(self, call: ToolInvocation) -> None:
        if call.name == "shout":
            raise RuntimeError("no")

    def record(self, execution: ToolExecution) -> None:
        raise RuntimeError(execution.id)

    async def call(self, call: ToolInvocation, *, injected: object) -> ToolResult:
        raise RuntimeError(call.name, injected)


def test_guards_and_servers_that_fail_fail_alone(registry: ToolRegistry, caplog: pytest.LogCaptureFixture) -> None:
    registry.register(lambda when: when, name="later")
    careless: Any = Careless()
    calls = [CALL, CALL.model_copy(update={"name": "shout"}), CALL.model_copy(update={"server": "s"})]
    executions = Executor(registry, guards=[careless], servers={"s": careless}).execute_sync(calls)
    assert [one.failure for one in executions] == [None, "hook_failed", "broken_tool"]
    assert "Careless failed: RuntimeError" in executions[1].error
    assert len(caplog.records) == 4


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, AgentStop])
@pytest.mark.parametrize("place", ["before", "after", "policies"])
def test_a_hook_may_end_the_program(registry: ToolRegistry, error: type[BaseException], place: str) -> None:
    def leave(*_: object) -> None:
        raise error

    with pytest.raises(error):
        run(registry, **{place: [leave]})
