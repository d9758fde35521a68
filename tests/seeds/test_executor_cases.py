"""The recorded cases of what runs calls: executors, and the enforcement before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import toolfmt
from tests.seeds.seed_cases import Case, load, offered
from toolfmt import ToolInvocation, ToolRegistry, jsontext
from toolfmt.execution import Blocked, Executor, Permissions, RateLimit, ToolExecution, Workspace
from toolfmt.execution.events import PolicyChecked, ToolCallBlocked, ToolCallCompleted, ToolCallStarted
from toolfmt.execution.policies.policy import BEFORE_STRUCTURE, ORDER
from toolfmt.execution.records import AgentStop, ToolCallError

CASES = load()
RUN = [case for case in CASES if case.format == "executor"]
ENFORCED = [case for case in CASES if case.policy is not None]

pytestmark = pytest.mark.skipif(not CASES, reason="there is no ../shared")

FLAGS = {"throwOnToolFailure": "throw_on_failure", "stopOnToolBlock": "stop_on_block"}
RAISED = {"ToolExecutionException": ToolCallError, "AgentStopException": AgentStop}
ERRORS = {
    "Missing required parameters: text": "missing required argument 'text'",
    "Tool 'nope' not found.": "unknown tool 'nope'",
    "kaput": "kaput",
}
"""What is said there, and here."""


def registry() -> ToolRegistry:
    tools = ToolRegistry()

    @tools.register
    def echo(text: str) -> str:
        return text

    @tools.register
    def boom(text: str) -> None:
        assert text
        raise RuntimeError("kaput")

    @tools.register
    def stop(text: str) -> None:
        raise AgentStop(text)

    tools.register(lambda text: text, name="blockme")
    return tools


def no_blockme(call: ToolInvocation, _: object) -> Blocked | None:
    return Blocked("blocked") if call.name == "blockme" else None


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.id)
def test_calls_run_as_recorded(case: Case) -> None:
    flags = {FLAGS[name]: value for name, value in case.input["flags"].items()}
    executor = Executor(registry(), before=[no_blockme], **flags)
    if "raises" in case.expect:
        with pytest.raises(RAISED[case.expect["raises"]]):
            executor.execute_sync(case.input["calls"])
        return
    executions = executor.execute_sync(case.input["calls"])
    assert len(executions) == len(case.expect["results"])
    for execution, wanted in zip(executions, case.expect["results"], strict=True):
        assert (execution.name, execution.call.id, execution.result.id) == (wanted["name"], wanted["id"], wanted["id"])
        assert execution.has_error is not wanted["ok"]
        assert execution.blocked is wanted.get("blocked", False)
        assert ERRORS[wanted["error"]] in execution.error if "error" in wanted else True


POLICIES: dict[str, Callable[[Any], Any]] = {
    "permissions": Permissions,
    "rate_limit": lambda limits: RateLimit(limits, per=3600),
    "workspace": Workspace,
}
FAILURES = {"permission_denied": "denied", "rate_limited": "rate_limited", "workspace_mismatch": "workspace_mismatch"}


@pytest.mark.parametrize("case", ENFORCED, ids=lambda case: case.id)
def test_policies_are_enforced_as_recorded(case: Case) -> None:
    assert case.policy is not None
    tools = ToolRegistry()
    for definition in offered(case):
        tools.register(definition, function=lambda **_: "ok")
    policies = [POLICIES[name](value) for name, value in case.policy.items() if name in POLICIES]
    extra = {"workspace": case.policy["call_workspace"]} if "call_workspace" in case.policy else {}
    answers = [case.input] if isinstance(case.input, str) else case.input
    executor = Executor(tools, policies=policies)
    executions: list[ToolExecution] = []
    for answer in answers:
        result = toolfmt.parse(answer, dialect="step-json", tools=offered(case))
        result.raise_for_failures()
        executions += executor.execute_sync([call.model_copy(update={"extra": extra}) for call in result.calls])
    wanted = case.expect.get("results", [case.expect.get("error")])
    assert [one.failure for one in executions] == [FAILURES.get(one) for one in wanted]


def test_the_order_of_enforcement_is_as_recorded() -> None:
    (case,) = (case for case in CASES if case.format == "stepn-order")
    steps = {"log": ToolCallStarted, "wrap": ToolCallCompleted}
    recorded = [step for step in case.expect["order"] if step in ORDER]
    # But for one: a call that is not permitted is refused before anything looks at its arguments.
    order = sorted(recorded, key=lambda step: step not in BEFORE_STRUCTURE)
    assert order == [step for step in ORDER if step in recorded]
    events: list[object] = []
    ran: list[int] = []
    tools = ToolRegistry()
    tools.register({"name": "f"}, function=lambda: ran.append(len(events)))
    policies = [_Step(step) for step in reversed(order)]
    (execution,) = Executor(tools, policies=policies, on_event=events.append).execute_sync([{"name": "f"}])
    reported = [event.policy if isinstance(event, PolicyChecked) else type(event) for event in events]
    assert reported == [*order, steps["log"], steps["wrap"]]
    assert ran == [len(order) + 1]
    assert not execution.has_error
    wrong = toolfmt.parse(jsontext.dumps(case.input["all_wrong"]), dialect="step-json")
    assert not wrong.calls
    events.clear()
    Executor(tools, policies=policies, on_event=events.append).execute_sync([{"name": "nope"}])
    assert [type(event) for event in events] == [PolicyChecked, PolicyChecked, ToolCallBlocked]


class _Step:
    """A step that only the schema's part can fail."""

    def __init__(self, step: str) -> None:
        self.step = step

    def check(self, candidate: Any) -> Blocked | None:
        return Blocked("no such tool") if self.step == "schema" and candidate.error else None
