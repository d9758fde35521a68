"""A state is never changed, only copied, and is the same after a way through JSON."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolfmt import CallFailed, Message, ParseError, ToolInvocation, ToolRegistry, ToolResult, Transcript, jsontext
from toolfmt.agents import AgentLoop, AgentState, ScriptedDriver, Step
from toolfmt.agents.drivers import call, final
from toolfmt.agents.state import Pending
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    OpaquePart,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
)
from toolfmt.errors import RenderError
from toolfmt.execution import ToolExecution
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Proof, Usage
from toolfmt.transcripts.formats import find

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, UTC)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json_values, max_size=3)
texts = st.text().map(TextPart)
contents = texts | st.builds(JsonPart, json_values) | st.builds(OpaquePart, st.just("gemini"), json_values)
parts = st.one_of(
    contents,
    st.builds(ReasoningPart, st.text(), st.none() | st.text(), st.none() | st.text(), st.just("anthropic")),
    st.builds(RefusalPart, st.text()),
    st.builds(MediaPart, st.sampled_from(["image", "audio"]), st.just("image/png"), st.none() | st.just("AA==")),
    st.builds(CallPart, st.text(), json_values, st.none() | st.text(), st.none() | st.text(), extra=objects),
    st.builds(ResultPart, st.lists(contents, max_size=2).map(tuple), st.none() | st.text(), is_error=st.booleans()),
)
roles = st.sampled_from(["system", "user", "assistant", "tool"])
messages = st.builds(Message, roles, st.lists(parts, max_size=3).map(tuple), st.none() | st.text())
calls = st.builds(ToolInvocation, name=st.text(), arguments=objects, id=st.none() | st.text())
executions = st.builds(
    ToolExecution,
    id=st.text(),
    call=calls,
    result=st.builds(ToolResult, name=st.text(), content=json_values, is_error=st.booleans()),
    started_at=st.just(NOW),
    completed_at=st.just(NOW),
    failure=st.sampled_from([None, "raised", "decision_extraction"]),
)
numbers = st.integers(0, 10**12)
usages = st.builds(Usage, input=numbers, output=numbers, cached=numbers)
infos = st.builds(AnswerInfo, id=st.text(), usage=usages, proofs=st.just([Proof(3, "anthropic", "s")]))
steps = st.builds(
    Step,
    messages=st.lists(messages, max_size=2).map(tuple),
    calls=st.lists(calls, max_size=2).map(tuple),
    executions=st.lists(executions, max_size=2).map(tuple),
    failures=st.just((CallFailed(0, "raw", "malformed", "why", (0, 3), "f"),)) | st.just(()),
    errors=st.lists(st.text(), max_size=1).map(tuple),
    usage=usages,
    stop=st.sampled_from([None, "stop", "tool_calls"]),
    info=st.none() | infos,
    text=st.text(),
    ends=st.none() | st.booleans(),
    halt=st.none() | st.text(),
)


@st.composite
def states(draw: st.DrawFn) -> AgentState:
    state = AgentState.of(*draw(st.lists(messages, max_size=2)), agent=draw(st.none() | st.text()))
    state = state.with_messages(*draw(st.lists(messages, max_size=2)), section="summary")
    for _ in range(draw(st.integers(0, 2))):
        state = state.with_run()
        for step in draw(st.lists(steps, max_size=2)):
            state = state.with_step(step)
        state = state.with_status(draw(st.sampled_from(["running", "completed", "failed"])), draw(st.text()))
    return state.with_metadata(**{"a key": draw(json_values)})


@settings(max_examples=50)
@given(states())
def test_a_state_is_the_same_after_a_way_through_json(state: AgentState) -> None:
    written = jsontext.dumps(state.to_json())
    again = AgentState.from_json(jsontext.loads(written))
    assert again == state
    assert jsontext.dumps(again.to_json()) == written
    assert [type(part) for message in again.messages for part in message.parts] == [
        type(part) for message in state.messages for part in message.parts
    ]


def test_a_stored_call_says_how_it_was_marked_and_how_certain_its_reading_was() -> None:
    call = ToolInvocation(name="f", provenance="fenced", certainty="guessed")
    execution = ToolExecution(id="1", call=call, result=ToolResult(name="f"), started_at=NOW, completed_at=NOW)
    stored = jsontext.loads(jsontext.dumps(AgentState(steps=(Step(executions=(execution,)),)).to_json()))
    assert AgentState.from_json(stored).steps[0].executions[0].call == call
    assert repr(AgentState.from_json(stored)) == (
        "AgentState(status='ready', text='', steps=1, executions=1, failed=0)"
    )
    del stored["steps"][0]["executions"][0]["call"]["certainty"]  # a state that an older version wrote
    assert AgentState.from_json(stored).steps[0].executions[0].call.certainty == "exact"


def test_what_a_message_was_read_from_is_kept() -> None:
    value = {"messages": [{"role": "user", "content": "Hi", "name": None}]}
    (read,) = find("openai-chat").read(value).messages
    again = AgentState.from_json(AgentState.of(read).to_json()).messages[0]
    assert (again.origin, again.source) == ("openai-chat", value["messages"][0])
    assert find("openai-chat").write(Transcript((again,))) == value


def test_a_state_cannot_be_written_to() -> None:
    state = AgentState.of("Hi").with_step(Step(text="x"))
    for name in ("status", "steps", "sections"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(state, name, ())
    for mapping in (state.sections, state.metadata):
        with pytest.raises(TypeError):
            mapping["x"] = ()  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.steps[0].text = "y"  # type: ignore[misc]


@settings(max_examples=25)
@given(states(), steps)
def test_a_changed_copy_leaves_the_original_alone(state: AgentState, step: Step) -> None:
    before = jsontext.dumps(state.to_json())
    state.with_step(step).with_messages("more").with_metadata(x=1).with_run().with_status("failed", "why")
    state.with_section("summary", ["short"])
    assert jsontext.dumps(state.to_json()) == before


def test_a_new_run_makes_history_of_the_last() -> None:
    state = AgentState.of("Hi").with_run().with_step(Step(usage=Usage(input=3))).with_status("completed")
    state = state.with_run().with_step(Step(usage=Usage(input=4, output=1), text="so"))
    assert (len(state.runs), len(state.steps), state.status, state.text) == (1, 1, "running", "so")
    assert state.usage == Usage(input=7, output=1)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "/"),
        ({}, "/version"),
        ({"version": 2}, "/version"),
        ({"version": 1, "mood": 1}, "/mood"),
        ({"version": 1, "status": "tired"}, "/status"),
        ({"version": 1, "sections": []}, "/sections"),
        ({"version": 1, "sections": {"messages": {}}}, "/sections/messages"),
        ({"version": 1, "sections": {"messages": [{"role": "king"}]}}, "/sections/messages/0/role"),
        ({"version": 1, "sections": {"messages": [{"role": "user", "parts": [{"type": "joke"}]}]}}, "/parts/0/type"),
        ({"version": 1, "sections": {"messages": [{"role": "user", "parts": [{"type": "text"}]}]}}, "/parts/0/text"),
        ({"version": 1, "steps": [{"executions": [{"id": 1}]}]}, "/steps/0/executions/0/id"),
        ({"version": 1, "begin": -1}, "/begin: -1"),
        ({"version": 1, "begin": -1, "status": "completed"}, "/begin: -1"),
        ({"version": 1, "begin": 99}, "/begin: 99"),
    ],
)
def test_what_is_no_state_is_refused_with_its_place(value: Any, place: str) -> None:
    with pytest.raises(ParseError, match=place):
        AgentState.from_json(value)


@pytest.mark.parametrize("places", [[-1], [1], [0, 0], [10**30]])
def test_a_call_that_waits_in_no_place_or_twice_is_refused(places: list[int]) -> None:
    answer = Message("assistant", (CallPart("f", {}, id="c"),))
    pending = [Pending(id=f"p{n}", call=ToolInvocation(name="f"), why="approval", at=at) for n, at in enumerate(places)]
    made = AgentState.of("Go").with_step(Step(messages=(answer,), pending=tuple(pending)))
    with pytest.raises(ParseError, match=r"^/steps/0/pending: "):
        AgentState.from_json(made.to_json())
    twice = dataclasses.replace(pending[0], at=0)
    made = AgentState.of("Go").with_step(
        Step(messages=(answer, answer), pending=(twice, dataclasses.replace(twice, at=1)))
    )
    with pytest.raises(ParseError, match="one of the calls waits twice"):
        AgentState.from_json(made.to_json())


def test_what_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(RenderError, match="/metadata/when"):
        AgentState.of("Hi").with_metadata(when={1, 2}).to_json()


def test_a_state_whose_talk_was_cut_after_a_run_is_read() -> None:
    state = AgentState.of("a", "b", "c").with_run().with_status("completed").with_section("messages", ["short"])
    assert AgentState.from_json(state.to_json()) == state


def test_a_call_with_half_a_surrogate_ends_a_run_with_the_reason() -> None:
    registry = ToolRegistry()
    registry.register(lambda a: a, name="f")
    state = AgentLoop(ScriptedDriver([call("f", {"a": ["\ud800"]}), final("ok")]), registry).run_sync("?")
    assert (state.status, state.executions) == ("failed", ())
    assert "/a/0: the text holds a lone surrogate" in state.reason
    jsontext.dumps(state.to_json()).encode()
    with pytest.raises(RenderError, match="the text holds a lone surrogate"):
        AgentState.of("\ud800").to_json()
