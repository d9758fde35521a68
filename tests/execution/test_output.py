"""A typed final answer: asked for in the instructions, validated, asked for again, bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from tests.execution.models import Texts, toolbox
from toolfmt.agents import AgentLoop, AgentState, TextDriver
from toolfmt.agents.output import Output
from toolfmt.execution.events import ValidationFailed


class Sum(BaseModel):
    total: int


@dataclass
class Note:
    text: str


ADD = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def run(model: Any, output: Any, **options: Any) -> tuple[AgentState, list[ValidationFailed]]:
    events: list[Any] = []
    loop = AgentLoop(TextDriver(model, dialect="hermes"), toolbox(), output=output, on_event=events.append, **options)
    return loop.run_sync("1 + 2?"), [event for event in events if isinstance(event, ValidationFailed)]


@pytest.mark.parametrize("answer", ['{"total": 3}', '```json\n{"total": 3}\n```', ' {"total": 3}\n'])
def test_the_final_answer_is_a_value_of_its_type(answer: str) -> None:
    model = Texts(ADD, answer)
    state, failed = run(model, Sum, system="Be brief.")
    assert state.output == Sum(total=3)
    assert failed == []
    shown = model.chats[0][0]["content"]
    assert shown.startswith("Be brief.")
    assert '"total"' in shown
    assert [message.role for message in state.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert AgentState.from_json(state.to_json()).output == {"total": 3}


def test_an_answer_that_does_not_fit_is_asked_for_again() -> None:
    model = Texts("It is 3.", '{"total": "three"}', '{"total": 3}')
    state, failed = run(model, Sum)
    assert (state.status, state.output, len(failed)) == ("completed", Sum(total=3), 2)
    assert "/total: Input should be a valid integer" in model.chats[2][-1]["content"]


def test_it_is_asked_for_so_often_and_no_more() -> None:
    state, failed = run(Texts(*["It is 3."] * 3), Sum)
    assert (state.status, state.output, len(failed)) == ("failed", None, 3)
    assert state.reason.startswith("3 final answers did not fit their schema")


def test_any_type_that_pydantic_validates_will_do() -> None:
    assert run(Texts('["a", "b"]'), list[str])[0].output == ["a", "b"]
    assert run(Texts('{"text": "a"}'), Note)[0].output == Note("a")
    with pytest.raises(TypeError, match="output is a type that pydantic validates"):
        run(Texts(""), toolbox())


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("It is 3.", "- /: it is not JSON: expected a JSON value, not 'It', at line 1, column 1"),
        ("{'total': 3}", "- /: it is not JSON: a key without double quotes at line 1, column 2"),
        ('{"total": 3', "- /: it is not JSON: the text ends inside an object at line 1, column 11"),
        ("{}", "- /total: it is missing"),
    ],
)
def test_the_model_is_told_what_is_wrong_with_its_answer(answer: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"{re.escape(said)}\\Z"):
        Output(Sum).read(answer)
