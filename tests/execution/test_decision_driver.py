"""Decisions: calls with normalised arguments, final answers, and what is neither."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.execution.models import Api, Texts, said, toolbox
from toolfmt import ToolDefinition, jsontext
from toolfmt.agents import AgentLoop, AgentState, DecisionDriver
from toolfmt.agents.drivers.deciding import normalised
from toolfmt.execution.events import (
    ArgumentsNormalised,
    DecisionExtractionFailed,
    InferenceRequestStarted,
    ToolCallStarted,
    ValidationFailed,
)


def act(tool: str = "add", args: Any = None) -> str:
    return json.dumps(
        {"thought": "Add.", "type": "call_tool", "tool": tool, "args": {"a": 1} if args is None else args}
    )


def answer(text: str = "3") -> str:
    return json.dumps({"thought": "I know.", "type": "final_answer", "answer": text})


def run(model: Any, **options: Any) -> tuple[AgentState, list[Any]]:
    events: list[Any] = []
    loop = AgentLoop(DecisionDriver(model, **options), toolbox(), on_event=events.append)
    return loop.run_sync("1 + 2?"), events


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (act(), answer()),
        (f"```json\n{act()}\n```", "Thought: I know.\nFinal Answer: 3"),
        ('Thought: Add.\nAction: add\nAction Input: {"a": 1}\nObservation: 9', answer()),
    ],
)
def test_a_decision_is_done_and_reported_in_lines(first: str, last: str) -> None:
    model = Texts(first, last)
    state, events = run(model)
    assert (state.status, state.text, len(of(events, ToolCallStarted))) == ("completed", "3", 1)
    assert model.chats[1][1:] == [
        {"role": "user", "content": "1 + 2?"},
        {"role": "assistant", "content": 'Thought: Add.\nAction: add\nAction Input: {"a": 1, "b": 2}'},
        {"role": "user", "content": "Observation: 3"},
    ]


def test_the_prompt_asks_for_a_decision_object() -> None:
    model = Texts(answer())
    run(model)
    assert "type=call_tool" in model.chats[0][0]["content"]


@pytest.mark.parametrize("broken", ["Let me think.", "", '{"thought": "t", "type": "call_tool"', "Thought: hm"])
def test_an_answer_without_a_decision_is_asked_for_again(broken: str) -> None:
    model = Texts(broken, act(), answer())
    state, events = run(model)
    (failed,) = of(events, DecisionExtractionFailed)
    assert (failed.attempt, failed.text, state.status) == (1, broken, "completed")
    assert model.chats[1][-2] == {"role": "assistant", "content": broken}
    assert all("could not be used" not in message["content"] for message in model.chats[2])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (act() + act(), "2 decisions at once"),
        (act("ad"), "unknown_tool"),
        (act(args=[1]), "arguments_not_object"),
        ('{"thought": "t", "type": "call_tool", "tool": "add"}', "missing_arguments"),
        (act(args={"a": "x"}), "invalid_arguments"),
        (answer(""), "missing_answer"),
        ("Thought: t\nFinal Answer:  ", "blank"),
        ('{"thought": "t", "type": "sing", "answer": "la"}', "`type`"),
    ],
)
def test_a_decision_that_cannot_be_done_is_asked_for_again(broken: str, why: str) -> None:
    model = Texts(broken, answer())
    state, events = run(model)
    (failed,) = of(events, ValidationFailed)
    assert why in failed.error
    assert (state.status, state.executions, of(events, ToolCallStarted)) == ("completed", (), [])


@pytest.mark.parametrize(("broken", "kind"), [("Hm.", "decision_extraction"), (act("ad"), "decision_validation")])
def test_a_model_that_never_decides_fails_with_a_record(broken: str, kind: str) -> None:
    state, events = run(Texts(*[broken] * 5), retries=1)
    (record,) = state.executions
    assert (state.status, record.name, record.failure, record.has_error) == ("failed", kind, kind, True)
    assert state.reason.startswith("2 decisions in a row")
    assert len(of(events, DecisionExtractionFailed)) + len(of(events, ValidationFailed)) == 2
    assert len(state.messages) == 1


def test_what_is_changed_in_the_arguments_is_reported() -> None:
    state, events = run(Texts(act(args={"a": 1, "mood": "good"}), answer()))
    assert of(events, ToolCallStarted)[0].call.arguments == {"a": 1, "b": 2}
    (reported,) = of(events, ArgumentsNormalised)
    assert (reported.call.name, [text.partition(":")[0] for text in reported.changes]) == ("add", ["/mood", "/b"])
    assert state.status == "completed"


def test_the_final_answer_can_be_written_by_a_request_of_its_own() -> None:
    decider, writer = Texts(act(), answer("draft")), Texts(["It is ", "three: Action: add"])
    state, events = run(decider, final_via_inference=True, final_model=writer)
    assert state.text == "It is three: Action: add"
    assert len(of(events, InferenceRequestStarted)) == 3
    (chat,) = writer.chats
    assert [message["role"] for message in chat] == ["user", "assistant", "user", "assistant", "user"]
    assert chat[2]["content"] == "Observation: 3"
    state, _ = run(Texts(answer("draft"), " "), final_via_inference=True)
    assert state.text == "draft"


def test_the_final_request_has_its_own_model_and_options() -> None:
    api = Api(said("Three."))
    state, _ = run(Texts(answer()), final_via_inference=True, final_model=api, final_options={"model": "big"})
    assert (state.text, api.requests[0]["model"], state.usage.output) == ("Three.", "big", 3)
    wrong: list[Any] = [{"final_model": Texts()}, {"final_options": {}}]
    for options in wrong:
        with pytest.raises(ValueError, match="final_via_inference"):
            DecisionDriver(Texts(), **options)
    with pytest.raises(TypeError, match="only a model client"):
        DecisionDriver(Texts(), final_via_inference=True, final_options={"model": "big"})


SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "default": 1},
        "where": {"$ref": "#/$defs/place"},
        "tags": {"type": "array", "items": {"type": "object", "properties": {"key": {"type": "string"}}}},
        "free": {"type": "object"},
    },
    "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number", "default": 0.5}}}},
}


def test_arguments_are_normalised_at_any_depth() -> None:
    tool = ToolDefinition(name="f", parameters=SCHEMA)
    given = {"city": "P", "x": 1, "where": {"y": 2}, "tags": [{"key": "k", "z": 3}, 5], "free": {"w": 4}}
    fitted, changes = normalised(tool, given)
    wanted = {"city": "P", "where": {"lat": 0.5}, "tags": [{"key": "k"}, 5], "free": {"w": 4}, "days": 1}
    assert jsontext.equal(fitted, wanted)
    assert {change.partition(":")[0] for change in changes} == {"/x", "/where/y", "/where/lat", "/tags/0/z", "/days"}
    assert normalised(tool, wanted) == (wanted, [])
    assert given["x"] == 1


def test_what_a_schema_lets_pass_in_so_many_words_stays() -> None:
    tool = ToolDefinition(name="f", parameters={"type": "object", "additionalProperties": {"type": "integer"}})
    assert normalised(tool, {"x": 1}) == ({"x": 1}, [])
