"""The loop: every run ends in a state, events come in their order, and nothing is left hanging."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.execution.models import Api, Texts, said, toolbox
from toolfmt import Message, ToolDefinition, ToolInvocation, ToolRegistry, ToolResult
from toolfmt.agents import (
    AgentLoop,
    AgentState,
    Breaker,
    Budget,
    DecisionDriver,
    NativeDriver,
    Patience,
    Runtime,
    ScriptedDriver,
    Step,
    TextDriver,
    all_sections,
    as_tool,
    current_trace,
    sections,
    window,
)
from toolfmt.agents.drivers import ScriptStep, call, calls, error, final, tool
from toolfmt.conversation import CallPart, ResultPart, TextPart
from toolfmt.errors import DuplicateToolError, ParseError
from toolfmt.execution import Blocked, Executor
from toolfmt.execution.events import (
    AnswerReceived,
    ArgumentsNormalised,
    DecisionExtractionFailed,
    ExecutionEvent,
    InferenceRequestStarted,
    InferenceResponseReceived,
    RunCompleted,
    RunStarted,
    StepCompleted,
    StepStarted,
    ToolCallBlocked,
    ToolCallCompleted,
    ToolCallStarted,
    ValidationFailed,
)
from toolfmt.execution.records import AgentStop


def scripted(*steps: ScriptStep, **options: Any) -> AgentLoop:
    return AgentLoop(ScriptedDriver(steps), toolbox(), **options)


# What may follow what, calls aside: those of one turn run side by side.
FOLLOWS: dict[type | None, tuple[type | None, ...]] = {
    None: (RunStarted,),
    RunStarted: (StepStarted, RunCompleted),
    StepStarted: (InferenceRequestStarted, StepCompleted),
    InferenceRequestStarted: (AnswerReceived, InferenceResponseReceived, InferenceRequestStarted, StepCompleted),
    AnswerReceived: (AnswerReceived, InferenceResponseReceived, InferenceRequestStarted, StepCompleted),
    ArgumentsNormalised: (ArgumentsNormalised, ToolCallStarted, ToolCallBlocked),
    InferenceResponseReceived: (
        ArgumentsNormalised,
        ValidationFailed,
        DecisionExtractionFailed,
        InferenceRequestStarted,
        ToolCallStarted,
        ToolCallBlocked,
        StepCompleted,
    ),
    ValidationFailed: (ValidationFailed, InferenceRequestStarted, ToolCallStarted, ToolCallBlocked, StepCompleted),
    DecisionExtractionFailed: (InferenceRequestStarted, StepCompleted),
    ToolCallStarted: (ToolCallStarted, ToolCallCompleted, ToolCallBlocked),
    ToolCallCompleted: (ToolCallStarted, ToolCallCompleted, ToolCallBlocked, StepCompleted),
    ToolCallBlocked: (ToolCallStarted, ToolCallCompleted, ToolCallBlocked, StepCompleted),
    StepCompleted: (StepStarted, RunCompleted),
    RunCompleted: (None,),
}


def check_order(events: list[ExecutionEvent], state: AgentState) -> None:
    """Check a run's events: their order, one end for each beginning, and that they tell what the state holds."""
    for before, after in pairwise([None, *map(type, events), None]):
        assert after in FOLLOWS[before], (before, after)
    ran = [event.execution for event in events if isinstance(event, ToolCallStarted)]
    ended = [event.execution for event in events if isinstance(event, (ToolCallCompleted, ToolCallBlocked))]
    assert sorted(ran) == sorted(one.id for one in ended if not one.blocked)
    # A driver's own records, of decisions that were none, are told by events of their own.
    reported = {one.id for one in ended}
    assert [one.id for one in state.executions if not (one.failure or "").startswith("decision_")] == [
        one.id for one in state.executions if one.id in reported
    ]
    assert {one.id for one in state.executions} >= reported
    assert [event.step for event in events if isinstance(event, StepStarted)] == list(range(len(state.steps)))
    assert isinstance(events[-1], RunCompleted)
    assert events[-1].state == state
    assert state.ended
    assert (state.status == "completed") == (not state.reason)


ADD = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
TEXTS = [
    "Done.",
    f"Let me.{ADD}",
    f"{ADD}{ADD}",
    '<tool_call>{"name": "add", "arguments": {"a": "x"}}</tool_call>',
    '<tool_call>{"name": "ad", "arguments": {}}</tool_call>',
    f'{ADD}<tool_call>{{"name": "add", "arguments": ',
    '<tool_call>{"name": "boom", "arguments": {}}</tool_call>',
    "<think>hm</think>",
    "",
]
DECISIONS = [
    '{"thought": "t", "type": "call_tool", "tool": "add", "args": {"a": 1, "c": 2}}',
    "Thought: t\nAction: boom\nAction Input: {}\nObservation: 7",
    '{"thought": "t", "type": "call_tool", "tool": "add", "args": []}',
    '{"thought": "t", "type": "final_answer", "answer": ""}',
    '{"thought": "t", "type": "sing", "answer": "la"}',
    "Thought: t\nFinal Answer: 3",
    "Let me think.",
    "",
]
STREAMS: list[list[Any]] = [
    said("Done."),
    said("Let me.", ("c1", "add", '{"a": 1}')),
    said("", ("c1", "add", '{"a": 1}'), ("c2", "boom", "{}")),
    said("", ("c1", "add", '{"a": ')),
    said("", ("c1", "add", "[]"), ("c2", "add", '{"a": 1}')),
    said("", ("", "ad", "{}")),
    said("", ("c1", "", "{}")),
    [ConnectionError("gone")],
    [*said("Hal")[:1], ConnectionError("gone")],
    said("cut", ("c1", "add", '{"a": 1}'))[:1],
    [],
]
SCRIPT = [
    final("Done."),
    tool("hm"),
    error("no model"),
    call("add", {"a": 1}, text="Let me."),
    calls({"name": "add", "arguments": {"a": 1}}, {"name": "boom"}, {"name": "ad"}),
    call("add", {"a": "x"}),
    call("add", {"a": 1}, run=False),
    call("leave"),
]
AGAIN = Patience(tries=2, pause=0)
DRIVERS: list[tuple[list[Any], Callable[[list[Any]], Any]]] = [
    (TEXTS, lambda drawn: TextDriver(Texts(*drawn), dialect="hermes", retries=1)),
    (DECISIONS, lambda drawn: DecisionDriver(Texts(*drawn), retries=1)),
    (DECISIONS, lambda drawn: DecisionDriver(Texts(*drawn), retries=0, final_via_inference=True)),
    (STREAMS, lambda drawn: NativeDriver(Api(*drawn), retries=1, patience=AGAIN)),
    (SCRIPT, ScriptedDriver),
]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_events_come_in_their_order_and_every_run_ends(data: st.DataObject) -> None:
    answers, made = data.draw(st.sampled_from(DRIVERS))
    drawn = data.draw(st.lists(st.sampled_from(answers), min_size=1, max_size=6))
    blocked = data.draw(st.booleans())
    executor = Executor(toolbox(), before=[lambda one, _: None if one.name != "boom" or not blocked else stop_it()])
    events: list[ExecutionEvent] = []
    loop = AgentLoop(made(drawn), executor=executor, max_steps=4, on_event=events.append)
    state = asyncio.run(loop.run("1 + 2?"))
    check_order(events, state)
    assert AgentState.from_json(state.to_json()) == state
    results = [part for message in state.messages for part in message.parts if isinstance(part, ResultPart)]
    made_calls = [part for message in state.messages for part in message.parts if isinstance(part, CallPart)]
    if made is not ScriptedDriver:  # whose calls may be made without being run
        assert len(results) == len(made_calls)


def stop_it() -> Blocked:
    return Blocked("not today")


def test_run_iterate_and_their_sync_sisters_give_the_same() -> None:
    steps = (call("add", {"a": 1}), tool("hm"), final("3"))
    run = scripted(*steps).run_sync("1 + 2?")
    states = list(scripted(*steps).iterate_sync("1 + 2?"))

    async def both() -> tuple[AgentState, list[AgentState]]:
        found = [state async for state in scripted(*steps).iterate("1 + 2?")]
        return await scripted(*steps).run("1 + 2?"), found

    arun, astates = asyncio.run(both())
    for state in (run, states[-1], arun, astates[-1]):
        assert (state.status, state.text, len(state.steps)) == ("completed", "3", 3)
    assert [len(state.steps) for state in states] == [len(state.steps) for state in astates] == [1, 2, 3]
    assert [state.status for state in states] == ["running", "running", "completed"]


def test_a_conversation_goes_on_and_a_stored_run_is_resumed() -> None:
    loop = scripted(final("one"), call("add", {"a": 1}), final("two"))
    first = loop.run_sync("a?")
    second = loop.run_sync("b?", state=first)
    assert (second.text, len(second.runs), len(second.messages)) == ("two", 1, 6)
    states = loop.iterate_sync("b?", state=first)
    stored = next(states).to_json()
    states.close()
    resumed = loop.run_sync(AgentState.from_json(stored))
    assert (resumed.status, resumed.text, len(resumed.steps), len(resumed.runs)) == ("completed", "two", 2, 1)


def test_a_state_and_a_state_are_one_too_many() -> None:
    with pytest.raises(TypeError, match="one state"):
        scripted().run_sync(AgentState.of("x"), state=AgentState())
    with pytest.raises(ValueError, match="nothing to answer"):
        scripted().run_sync()


def test_a_failing_callback_breaks_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[Any] = []

    def fails(_: object) -> None:
        raise RuntimeError("my own fault")

    loop = scripted(call("add", {"a": 1}), final("3"))
    loop.wiretap(fails)
    loop.on_event(ToolCallCompleted, seen.append)
    with caplog.at_level(logging.WARNING, "toolfmt.agents"):
        state = loop.run_sync("?")
    assert (state.status, [event.execution.result.content for event in seen]) == ("completed", [3])
    assert "a callback failed on RunStarted" in caplog.text


def test_a_callback_can_be_taken_back_and_is_a_plain_function() -> None:
    seen: list[Any] = []
    loop = scripted(final("3"))
    end = loop.on_event(RunStarted, seen.append)
    loop.run_sync("?")
    end()
    loop.run_sync("?")
    assert len(seen) == 1

    async def nobody_awaits(_: object) -> None: ...

    with pytest.raises(TypeError, match="a callback must be a sync function of an event, because it is not awaited"):
        loop.wiretap(nobody_awaits)
    with pytest.raises(TypeError, match="kind= must be a class, not 'RunStarted'"):
        loop.on_event("RunStarted", seen.append)  # type: ignore[arg-type]


def test_events_of_the_executors_own_listener_come_too() -> None:
    own: list[Any] = []
    loop = AgentLoop(
        ScriptedDriver([call("add", {"a": 1}), final("3")]), executor=Executor(toolbox(), on_event=own.append)
    )
    seen: list[Any] = []
    loop.on_event(ToolCallStarted, seen.append)
    loop.run_sync("?")
    assert [type(event) for event in own] == [ToolCallStarted, ToolCallCompleted]
    assert seen == own[:1]


@pytest.mark.parametrize(
    ("options", "reason", "steps"),
    [
        ({"max_steps": 3}, "3 steps", 3),
        ({"guards": [lambda: Breaker(2)]}, "2 identical failures", 2),
        ({"guards": [lambda: Budget(iterations=4)]}, "budget of 4 steps", 4),
        ({"stop_when": [lambda state: "seen enough" if len(state.executions) > 1 else None]}, "seen enough", 2),
    ],
)
def test_limits_stop_a_run_anew_each_time(options: dict[str, Any], reason: str, steps: int) -> None:
    loop = scripted(call("boom"), **options)
    for _ in range(2):
        state = loop.run_sync("?")
        assert (state.status, len(state.steps)) == ("stopped", steps)
        assert reason in state.reason


def test_a_budget_of_tokens_counts_the_models_own() -> None:
    driver = NativeDriver(Api(*[said("", ("c", "add", '{"a": 1}'))] * 9))
    state = AgentLoop(driver, toolbox(), guards=[lambda: Budget(tokens=25)]).run_sync("?")
    assert (state.status, len(state.steps), state.usage.input + state.usage.output) == ("stopped", 3, 30)


def test_a_rule_that_fails_fails_the_run() -> None:
    state = scripted(call("add", {"a": 1}), stop_when=[lambda _: str(1 / 0)]).run_sync("?")
    assert state.status == "failed"
    assert "ZeroDivisionError" in state.reason


def test_a_loop_breaking_tool_ends_the_turn_unless_it_fails() -> None:
    registry = ToolRegistry()

    def done(text: str) -> str:
        if not text:
            raise ValueError("say something")
        return f"<{text}>"

    registry.register(ToolDefinition(name="done", metadata={"loop_breaking": True}), function=done)
    steps = [call("done", {"text": ""}), call("done", {"text": "bye"}), final("never")]
    state = AgentLoop(ScriptedDriver(steps), registry).run_sync("?")
    assert (state.status, len(state.steps), state.text) == ("completed", 2, "<bye>")


def test_a_tool_that_stops_the_run_keeps_what_its_siblings_gave() -> None:
    registry = ToolRegistry()

    async def give() -> str:
        return "here"

    async def leave() -> None:
        for _ in range(100):  # turns of the event loop, in which the other call ends
            await asyncio.sleep(0)
        raise AgentStop("enough")

    registry.register(give)
    registry.register(leave)
    state = AgentLoop(ScriptedDriver([calls({"name": "give"}, {"name": "leave"})]), registry).run_sync("?")
    assert (state.status, state.reason) == ("stopped", "enough")
    assert [one.failure for one in state.executions] == [None, "stopped"]


def test_a_raised_failure_fails_the_run_with_the_records() -> None:
    executor = Executor(toolbox(), throw_on_failure=True)
    state = AgentLoop(ScriptedDriver([call("boom"), final("x")]), executor=executor).run_sync("?")
    assert (state.status, [one.failure for one in state.executions]) == ("failed", ["raised"])
    assert "kaput" in state.reason


def test_calls_behind_a_blocked_one_are_answered_too() -> None:
    executor = Executor(toolbox(), stop_on_block=True, before=[lambda *_: stop_it()])
    two = calls({"name": "add", "arguments": {"a": 1}}, {"name": "add", "arguments": {"a": 2}})
    state = AgentLoop(ScriptedDriver([two, final("x")]), executor=executor).run_sync("?")
    results = [part for message in state.messages if message.role == "tool" for part in message.parts]
    assert len(state.executions) == 1
    assert [getattr(part, "is_error", None) for part in results] == [True, True]


class Bare:
    """A driver by the contract alone."""

    def __init__(self, give: Callable[[AgentState, Runtime], Any]) -> None:
        self.give = give

    async def step(self, state: AgentState, runtime: Runtime) -> AgentState:
        return self.give(state, runtime)


def test_a_driver_of_ones_own_needs_the_contract_alone() -> None:
    def give(state: AgentState, runtime: Runtime) -> AgentState:
        names = ", ".join(tool.name for tool in runtime.offered(state))
        return state.with_step(Step(messages=(Message("assistant", (TextPart(names),)),), text=names))

    loop = AgentLoop(Bare(give), toolbox(), visible=lambda tool, _: tool.name < "c")
    assert loop.run_sync("?").text == "add, boom"


def test_a_driver_may_end_the_run() -> None:
    def give(*_: object) -> AgentState:
        raise AgentStop("that will do")

    state = AgentLoop(Bare(give)).run_sync("?")
    assert (state.status, state.reason, len(state.steps)) == ("stopped", "that will do", 1)


def fail(error: Exception) -> AgentState:
    raise error


def test_what_a_driver_raises_or_gives_is_never_a_lost_state() -> None:
    for give, why in (
        (lambda *_: 1 / 0, "ZeroDivisionError"),
        (lambda *_: fail(ExceptionGroup("in a group", [ValueError("odd")])), "ValueError: odd"),
        (
            lambda *_: fail(ExceptionGroup("two", [ValueError("odd"), OSError("even")])),
            "ValueError: odd; OSError: even",
        ),
        (lambda *_: fail(TimeoutError()), "TimeoutError"),
        (lambda state, _: state, "one more step"),
        (lambda *_: None, "one more step"),
    ):
        events: list[Any] = []
        state = AgentLoop(Bare(give), on_event=events.append).run_sync("Hi")
        assert (state.status, len(state.steps), len(state.messages)) == ("failed", 1, 1)
        assert why in state.reason
        assert isinstance(events[-1], RunCompleted)


def test_parts_that_do_not_fit_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="put a function that answers a chat into a TextDriver"):
        AgentLoop(str)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="checkpoint= must be a function or None"):
        AgentLoop(ScriptedDriver([]), checkpoint="state.json")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="interrupted= must be 'ask', 'run' or 'fail', not 'retry'"):
        AgentLoop(ScriptedDriver([]), interrupted="retry")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"AgentState\.from_json reads one that was stored"):
        AgentLoop(ScriptedDriver([])).run_sync("Hi", state={"version": 1})  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="start= must be an AgentState, a Message, "):
        AgentLoop(ScriptedDriver([])).run_sync(5)  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="the role is one of"):
        AgentLoop(ScriptedDriver([])).run_sync([{"role": "usr", "content": "Hi"}])
    with pytest.raises(TypeError, match="must be a Driver with 'step', not object"):
        AgentLoop(object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_steps"):
        scripted(max_steps=0)
    for options in ({"guards": [Breaker()]}, {"stop_when": ["never"]}, {"compiler": "all"}):
        with pytest.raises(TypeError, match=r"must be a function, not"):
            scripted(**options)

    class Runs:
        async def execute(self, calls: Any, *, state: object = None, agent: str | None = None) -> list[Any]:
            return await Executor(toolbox()).execute(calls, state=state, agent=agent)

    with pytest.raises(TypeError, match="does not list its tools"):
        AgentLoop(ScriptedDriver(), executor=Runs())
    with pytest.raises(TypeError, match="guards need an Executor"):
        AgentLoop(ScriptedDriver(), toolbox(), executor=Runs(), guards=[Breaker])


def test_an_executor_of_ones_own_is_guarded_and_says_its_tools() -> None:
    class Wrapped:
        """Passes all on to an `Executor`, and shows one tool alone."""

        def __init__(self, inner: Executor) -> None:
            self.inner = inner

        async def execute(self, calls: Any, *, state: object = None, agent: str | None = None) -> list[Any]:
            return await self.inner.execute(calls, state=state, agent=agent)

        def list_tools(self) -> Any:
            return self.inner.list_tools()

        def is_visible(self, tool: ToolDefinition, state: object) -> bool:
            return tool.name == "add" and self.inner.is_visible(tool, state)

        def for_run(self, guards: Any, listener: Any) -> Wrapped:
            return Wrapped(self.inner.for_run(guards, listener))

    events: list[Any] = []
    api = Api(said("", ("1", "add", '{"a": 1, "b": 2}'), ("2", "add", '{"a": 1, "b": 2}')), said("3"))
    loop = AgentLoop(
        NativeDriver(api, parallel=True),
        executor=Wrapped(Executor(toolbox())),
        guards=[lambda: Budget(calls=1)],
        on_event=events.append,
    )
    state = loop.run_sync("?")
    assert [one.failure for one in state.executions] == [None, "budget"]
    assert [tool["function"]["name"] for tool in api.requests[0]["tools"]] == ["add"]
    assert any(isinstance(event, ToolCallCompleted) for event in events)


def test_a_cancelled_run_ends_its_calls_and_its_events() -> None:
    events: list[Any] = []
    model = Texts(['<tool_call>{"name": "hang", "arguments": {}}</tool_call>'])
    loop = AgentLoop(TextDriver(model, dialect="hermes"), toolbox(), on_event=events.append)

    async def cancelled() -> None:
        started = anyio.Event()
        loop.on_event(ToolCallStarted, lambda _: started.set())
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run, "?")
            await started.wait()
            group.cancel_scope.cancel()

    asyncio.run(cancelled())
    assert [type(event) for event in events[-2:]] == [ToolCallCompleted, RunCompleted]
    assert (events[-1].state.status, model.closed) == ("stopped", 1)


def test_a_cancelled_stream_is_closed() -> None:
    class Endless(Texts):
        async def write(self, chat: Any) -> AsyncIterator[str]:  # noqa: ARG002 - it says the same to all
            try:
                while True:
                    await anyio.lowlevel.checkpoint()
                    yield "x"
            finally:
                self.closed += 1

    model = Endless()
    loop = AgentLoop(TextDriver(model, dialect="hermes"), toolbox())

    async def cancelled() -> None:
        received = anyio.Event()
        loop.on_event(AnswerReceived, lambda _: received.set())
        async with anyio.create_task_group() as group:
            group.start_soon(loop.run, "?")
            await received.wait()
            group.cancel_scope.cancel()

    asyncio.run(cancelled())
    assert model.closed == 1


def test_a_consumer_that_goes_away_ends_the_run() -> None:
    events: list[Any] = []
    loop = scripted(call("add", {"a": 1}), on_event=events.append)
    for state in loop.iterate_sync("?"):
        assert state.status == "running"
        break
    assert isinstance(events[-1], RunCompleted)
    assert events[-1].state.status == "stopped"
    count = len(events)

    async def leaves() -> None:
        async for _ in loop.iterate("?"):
            break

    asyncio.run(leaves())
    assert len(events) == 2 * count
    assert events[-1].state.status == "stopped"


def test_an_agent_is_a_tool_of_another() -> None:
    child = AgentLoop(ScriptedDriver([call("add", {"a": 1}), final("child: 3")]), toolbox(), name="child")
    broken = AgentLoop(ScriptedDriver([error("no model")]), name="broken")
    registry = ToolRegistry([as_tool(child, "sum", "Ask who can add."), as_tool(broken, "sing", "Ask who sings.")])
    assert registry["sum"].parameters["required"] == ["task"]
    assert registry["sum"].description == "Ask who can add."
    two = calls({"name": "sum", "arguments": {"task": "1 + 2?"}}, {"name": "sing", "arguments": {"task": "la"}})
    state = AgentLoop(ScriptedDriver([two, final("3")]), registry).run_sync("?")
    assert (state.executions[0].result.content, state.executions[0].failure) == ("child: 3", None)
    assert "no model" in state.executions[1].error
    assert state.status == "completed"


def test_compilers_show_what_they_say() -> None:
    loop = scripted(call("add", {"a": 1}), final("3"), call("add", {"a": 2}), final("4"))
    state = loop.run_sync("b?", state=loop.run_sync("a?", state=AgentState.of(system="S")))
    state = state.with_messages("so far", section="summary")

    def shown(messages: Any) -> list[tuple[str, str]]:
        return [
            (message.role, "".join(getattr(part, "text", None) or "-" for part in message.parts))
            for message in messages
        ]

    old = [("assistant", '{"a": 1}'), ("tool", "-")]
    new = [("user", "b?"), ("assistant", '{"a": 2}'), ("tool", "-"), ("assistant", "4")]
    everything = [("user", "so far"), ("system", "S"), ("user", "a?"), *old, ("assistant", "3"), *new]
    assert shown(all_sections(state)) == everything
    assert shown(current_trace(state)) == [*everything[:3], *everything[5:]]
    assert shown(sections("messages", "summary", "none")(state)) == [*everything[1:], everything[0]]
    assert shown(window(2)(state)) == [everything[1], everything[-1]]  # no result without its call
    assert shown(window(3, of=current_trace)(state)) == [everything[1], *everything[-3:]]
    assert shown(window(99)(state)) == everything
    with pytest.raises(ValueError, match="at least one section"):
        sections()
    with pytest.raises(ValueError, match="count= must be an int of at least 1"):
        window(0)


class Served:
    """A server of tools."""

    def __init__(self, *names: str) -> None:
        self.tools = [ToolDefinition(name=name, description=name) for name in names]
        self.calls: list[ToolInvocation] = []

    async def call(self, call: ToolInvocation, *, injected: Any) -> ToolResult:  # noqa: ARG002 - as the protocol has it
        self.calls.append(call)
        return ToolResult(name=call.name, content=f"{call.server}/{call.name}")


def test_tools_of_servers_are_offered_and_called_by_names_of_their_own() -> None:
    files, mail = Served("read", "list"), Served("read", "send")
    executor = Executor(toolbox(), servers={"files": files, "mail": mail})
    api = Api(said("", ("1", "files_read", "{}"), ("2", "mail_read", "{}"), ("3", "list", "{}")), said("ok"))
    state = AgentLoop(NativeDriver(api, parallel=True), executor=executor).run_sync("?")
    names = [tool["function"]["name"] for tool in api.requests[0]["tools"]]
    assert names[4:] == ["files_read", "list", "mail_read", "send"]
    assert [one.result.content for one in state.executions] == ["files/read", "mail/read", "files/list"]
    shown = api.requests[1]["messages"]
    assert [call["function"]["name"] for call in shown[1]["tool_calls"]] == ["files_read", "mail_read", "list"]
    assert [result["content"] for result in shown[2:]] == ["files/read", "mail/read", "files/list"]


def test_two_tools_that_cannot_be_distinguished_are_refused() -> None:
    executor = Executor(ToolRegistry([ToolDefinition(name="f_g")]), servers={"f": Served("g"), "h": Served("g")})
    state = AgentLoop(ScriptedDriver(), executor=executor)
    with pytest.raises(DuplicateToolError, match="f_g"):
        state.run_sync("?")


def test_a_tool_that_hangs_is_given_up_and_the_run_goes_on() -> None:
    executor = Executor(toolbox(), timeout=0.02)
    state = AgentLoop(ScriptedDriver([call("hang"), final("ok")]), executor=executor).run_sync("?")
    assert (state.status, [one.failure for one in state.executions]) == ("completed", ["timeout"])


def test_runs_side_by_side_share_a_loop_and_nothing_else() -> None:
    loop = scripted(call("add", {"a": 1}), call("boom"), final("3"), guards=[lambda: Breaker(2)])

    async def many() -> list[AgentState]:
        states: list[AgentState] = []

        async def one(number: int) -> None:
            states.append(await loop.run(f"question {number}"))

        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)
        return states

    states = asyncio.run(many())
    assert {(state.status, len(state.steps), len(state.executions)) for state in states} == {("completed", 3, 2)}
    first = {part.text for state in states for part in state.messages[0].parts if isinstance(part, TextPart)}
    assert first == {f"question {number}" for number in range(20)}


def test_a_budget_that_is_used_up_ends_the_run() -> None:
    tools = ToolRegistry()

    @tools.register
    def inc(x: int) -> int:
        """Count."""
        return x + 1

    for budget in (lambda: Budget(calls=2), lambda: Budget(per_tool={"inc": 2})):
        state = AgentLoop(ScriptedDriver([call("inc", {"x": 2})]), tools, guards=[budget]).run_sync("Count.")
        assert (state.status, len(state.steps)) == ("stopped", 4)
        assert "used up" in state.reason
        assert [one.failure for one in state.executions] == [None, None, "budget", "budget"]


def test_a_tool_that_is_not_visible_is_not_offered() -> None:
    tools = ToolRegistry()

    @tools.register(visible=lambda _: False)
    def hidden() -> None:
        """Hide."""

    @tools.register
    def shown() -> None:
        """Show."""

    chats: list[str] = []

    def model(chat: list[dict[str, str]]) -> str:
        chats.append(chat[0]["content"])
        return "Done."

    AgentLoop(TextDriver(model, dialect="hermes"), tools).run_sync("Go.")
    assert "shown" in chats[0]
    assert "hidden" not in chats[0]
