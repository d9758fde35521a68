"""A run does not end on a call that nobody could read; a mention of a tool or a marker is an answer."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pydantic import BaseModel

import toolfmt
from tests import sampling, slips
from tests.execution.models import Api, Texts, said, toolbox
from toolfmt.agents import AgentLoop, AgentState, NativeDriver, TextDriver
from toolfmt.agents.drivers.unread import with_unread
from toolfmt.agents.state import AgentFailedError
from toolfmt.dialect.record import Dialect
from toolfmt.errors import ParseError
from toolfmt.execution.events import ValidationFailed

REASONED = {
    "react": ("Thought: I know this.\nIt is 3.", "Final Answer: 3", "write Final Answer: and your answer"),
    "qwen25": ("<think>I know: it is 3.", "3", "write </think> and your answer"),
}
CALLS = {
    "hermes": '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>',
    "react": 'Action: add\nAction Input: {"a": 1}',
}
READ_AS_REACT = [
    "Action: add(1)",
    '**Action:** add\n**Action Input:** {"a": 1}',
    '1. Action: "add"\nAction Input: {"a": 1}',
    "Action: add\nAction Input: a=1",
]
UNREAD = [
    "Action: add\nAction Input: 1, 2, 3",
    'I add.\n```\nAction: add\nAction Input: {"a": 1}\n```',
    'Final Answer: 3\nAction: add\nAction Input: {"a": 1}',
    'Let me.\n```json\n{"name": "add", "arguments": {"a": 1}}\n```',
    '```json\n{"action": "add", "action_input": {"a": 1}}\n```',
    "<function=add><parameter=a>1</parameter></function>",
    "add(a=1)",
    "**add**(1)",
    'Thought: hm\nAction: add["1"]',
    "[add(a=1)]",
]
MISSPELT = [
    '<toolcall>{"name": "add", "arguments": {"a": 1}}</toolcall>',
    'Let me. <toolcal>\n{"name": "add", "arguments": {"a": 1}}\n</toolcal>',
    '<|tool_call|>{"name": "add", "arguments": {"a": 1}}<|/tool_call|>',
    '&lt;tool_call&gt;{"name": "add", "arguments": {"a": 1}}&lt;/tool_call&gt;',
    '```xml\n<toolcall>{"name": "add", "arguments": {"a": 1}}</toolcall>\n```',
    "<functon=add>\n<paramter=a>\n1\n</paramter>\n</functon>",
    '<invok name="add"><paramter name="a">1</paramter></invok>',
    '[TOL_CALLS]add[AGS]{"a": 1}',
    '✿FNCTION✿: add\n✿AGS✿: {"a": 1}',
    "<tol_call>add(a=1)</tol_call>",
    "<tol_call>\nname: add\na: 1\n</tol_call>",
    '<tool_call {"name": "add", "arguments": {"a": 1}} />',
    'I add:\n`<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>`',
]
NO_STEP = [
    "Thought: go\nAction: Add[1]\nObservation: foo\nFinal Answer: foo",
    "Thought 1: go\nAction 1: Add[1]\nObservation 1: foo",
    "Action: Add[1]",
    "Action 1: look_up[x]",
    "I act.\nAction: look_up",
    "Action: Use add to find it",
    "Action: None",
    "Action Input: 1",
    "Observation: foo",
    "Step 2: Action: add(a=1)",
    "Step 1: Action: add\nStep 2: Action Input: 1",
    "**Step 1** - **Action:** add(1)",
    "> Action: add\n> Action Input: 1",
]
"""Answers in which ReAct has no step that can be read, and no final answer."""
WHOLE = [
    "1. add(1)",
    "- add(a=1)",
    '"add": {"a": 1}',
    'functions.add({"a": 1})',
    "add(a=1",
    "add(\n  a=1\n)",
    "Act: add[1]",
    "Use tool: add\nInput: 1",
    "Using tool: add\na: 1",
    "add\na: 1",
    "add: 1",
    "/add 1",
    "#add(1)",
    "Action - roll",
    '{"a": 1}',
    '```json\n{"a": 1}\n```',
]
"""Answers that are nothing but an attempt at a call."""
ANSWERS = [
    "Write `<toolcall>` before a call of add.",
    "<toolcall> begins a call of add (see the docs).",
    'Write `<toolcall>{"name": "add"}</toolcall>` and wait.',
    'You could write `<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>` to add.',
    'They say:\n> <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>',
    'A call is\n```\n<toolcall>{"name": "add", "arguments": {}}</toolcall>\n```\nas you see.',
    "Tools: add (a sum), boom (nothing)",
    "<b>add</b> takes two numbers, see [add](https://example.org/add).",
    "Function: add\nReturns: {sum}",
    'I called add with {"a": 1}: 3.',
    "I used add to get it: 3.",
    "You could call add(1) yourself.",
    "The tools:\n- add(a, b)\n- boom()\n",
    "`add(a=1)` adds.",
    '```python\nprint("add(1)")\n```',
    'Here is JSON: {"name": "Bob"}',
    "Write it as\n```python\nadd(1)\n```\nin your file.",
    '{"sum": 3, "used": "add"}',
    '{"tools": ["add", "boom"]}',
    "name: add\nsee the manual",
    "In short: add, then boom.",
    '"add", they say: it adds.',
    "total = 3",
    "add.call(1) is how it begins.",
    "Call add(1)<br>or wait.",
    "The token |tool_call|> begins a call of add.",
    "|name|>\n|---|\n|add|a sum|",
    "numbers.add(1)",
    "add(a=1) adds.",
    "Add: a word for plus.",
    "I would add: it depends",
    '{"a": "one"}',
    '{"a": 1, "why": "so"}',
    "The line Action: add begins a call.",
    "Roll on.\n\nNext time I will roll.",
]


def run(model: Any, dialect: str, **options: Any) -> tuple[AgentState, list[ValidationFailed]]:
    events: list[Any] = []
    loop = AgentLoop(TextDriver(model, dialect=dialect), toolbox(), on_event=events.append, **options)
    return loop.run_sync("1 + 2?"), [event for event in events if isinstance(event, ValidationFailed)]


@pytest.mark.parametrize("text", UNREAD)
@pytest.mark.parametrize("dialect", CALLS)
def test_what_looks_like_a_call_is_asked_for_again(dialect: str, text: str) -> None:
    model = Texts(text, CALLS[dialect], "3")
    state, failed = run(model, dialect)
    assert [one.result.content for one in state.executions] == [3]
    assert (state.status, state.text) == ("completed", "3")
    assert len(failed) == 1
    assert failed[0].failure is not None
    assert "could not be used" in model.chats[1][-1]["content"]


@pytest.mark.parametrize("text", NO_STEP)
def test_a_step_that_cannot_be_read_never_ends_a_run(text: str) -> None:
    state, failed = run(Texts(text, CALLS["react"], "Final Answer: 3"), "react")
    assert [one.result.content for one in state.executions] == [3]
    assert (state.status, state.text, len(failed)) == ("completed", "3", 1)


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("dialect", CALLS)
def test_an_answer_that_is_only_an_attempt_at_a_call_never_ends_a_run(dialect: str, text: str) -> None:
    tools = toolbox()
    tools.register(lambda: 6, name="roll")
    loop = AgentLoop(TextDriver(Texts(text, CALLS[dialect], "Final Answer: 3"), dialect=dialect), tools)
    state = loop.run_sync("1 + 2?")
    assert [one.result.content for one in state.executions] == [3]
    assert [failure.reason for step in state.steps for failure in step.failures] == ["unread_call"]


def test_json_is_the_answer_where_one_is_due() -> None:
    class Sum(BaseModel):
        a: int

    state, failed = run(Texts('{"a": 1}'), "hermes", output=Sum)
    assert (state.status, state.output, failed) == ("completed", Sum(a=1), [])


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_marker_does_not_end_a_run(text: str) -> None:
    state, failed = run(Texts(text, CALLS["hermes"], "3"), "hermes")
    assert [one.failure.reason for one in failed if one.failure] == ["unread_call"]
    assert ([one.result.content for one in state.executions], state.text) == ([3], "3")


@pytest.mark.parametrize("dialect", sampling.dialects(), ids=lambda dialect: dialect.name)
def test_no_dialects_marker_may_be_misspelt(dialect: Dialect[str]) -> None:
    call = slips.call(dialect, "look_up", {"where": "Rome", "count": 2})
    tools = [slips.tool(call.name, call.arguments)]
    text = slips.written(dialect, [call])
    assert text
    for word in dict.fromkeys(re.findall(r"(?<=[<|/\[✿_])[a-zA-Z]{4,}", text)):
        if text.startswith(" to=") or word in {"look", "where"}:  # a frame of channels: part of it is reasoning
            continue
        answer = f"Let me.\n{text.replace(word, word[0] + word[2:])}"
        result = toolfmt.parse(answer, dialect=dialect, tools=tools)
        found = with_unread(result, answer, tools)
        assert found.calls or found.failures, answer


def beginnings(text: str, name: str) -> list[str]:
    """A call of which the beginning is damaged, in one place each."""
    head = text.find(name)
    places = [match.start() for match in re.finditer(r"[<\[\]>|\"{:=✿]", text[: max(0, head - 1)])]
    opener = re.match(r"\s*(?:<[^<>\n]*>|\[[A-Z_]+\])", text)
    return [
        *(text[:at] + text[at + 1 :] for at in places),
        *([text[opener.end() :]] if opener else []),
        text[head:],
        text.replace('"', "”"),
        re.sub(r'"(\w+)":', r"\1:", text),
        f"result = {text}",
        f"```json\n{text}\n```",
    ]


@pytest.mark.parametrize("dialect", sampling.dialects(), ids=lambda dialect: dialect.name)
def test_a_call_in_a_format_whose_beginning_is_damaged_does_not_end_a_run(dialect: Dialect[str]) -> None:
    call = slips.call(dialect, "look_up", {"where": "Rome", "count": 2})
    tools = [slips.tool(call.name, call.arguments)]
    text = slips.written(dialect, [call])
    assert text
    if text.startswith(" to=") or text.endswith("```"):  # part of it is reasoning; its closer is a fence
        return
    for answer in beginnings(text, call.name):
        result = toolfmt.parse(answer, dialect=dialect, tools=tools)
        found = with_unread(result, answer, tools)
        assert found.calls or found.failures, answer


BARE = {
    "llama3-json": '{name: "add", parameters: {a: 1}}',
    "gemini-json": "{“name”: “add”, “args”: {“a”: 1}}",
    "pythonic": "```python\nadd(a=1)\n```",
    "llama4-pythonic": "result = add(a=1)",
    "xml-items": '<tool><name>add</name><arguments><arg name="a">1</arg></arguments></tool>',
    "anthropic-json": '<tool><arguments><arg name="a">1</arg></arguments></tool>',
}


@pytest.mark.parametrize(("dialect", "text"), BARE.items(), ids=BARE)
def test_a_call_that_lacks_what_marks_it_is_asked_for_again(dialect: str, text: str) -> None:
    state, failed = run(Texts(text, "Never mind."), dialect)
    assert (state.text, state.executions, len(failed)) == ("Never mind.", (), 1)


def test_the_failure_names_the_marker_and_the_run_names_the_dialect() -> None:
    texts = ['<toolcall>{"name": "add", "arguments": {"a": 1}}</toolcall>'] * 3
    model = Texts(*texts)
    run(model, "hermes")
    assert "write <tool_call> instead of '<toolcall>'" in model.chats[1][-1]["content"]
    state = AgentLoop(TextDriver(Texts(*[CALLS["hermes"]] * 3)), toolbox()).run_sync("1 + 2?")
    assert "give dialect='hermes'" in state.reason
    model = Texts(*["I add.\n```tool_code\nprint(add(a=1))\n```"] * 3)
    state, _ = run(model, "hermes")
    feedback = model.chats[1][-1]["content"]
    assert ("it looks like Python calls in a code fence" in feedback, "dialect=" in feedback) == (True, False)
    assert "dialect='pythonic' reads" in state.reason


@pytest.mark.parametrize("text", READ_AS_REACT)
def test_a_loose_step_is_read_by_react_and_asked_for_again_elsewhere(text: str) -> None:
    state, failed = run(Texts(text, "Final Answer: 3"), "react")
    assert ([one.result.content for one in state.executions], state.status, failed) == ([3], "completed", [])
    state, failed = run(Texts(text, CALLS["hermes"], "3"), "hermes")
    assert ([one.result.content for one in state.executions], len(failed)) == ([3], 1)


def test_a_step_without_an_input_is_asked_for_again() -> None:
    state, failed = run(Texts("Action: add with 1", "Final Answer: 3"), "react")
    assert (state.status, state.executions) == ("completed", ())
    assert [one.failure.reason for one in failed if one.failure] == ["malformed"]


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("dialect", CALLS)
def test_a_mention_is_an_answer(dialect: str, text: str) -> None:
    state, failed = run(Texts(text), dialect)
    assert (state.status, state.text, failed) == ("completed", text.strip(), [])


def test_a_model_that_goes_on_fails_the_run_and_says_so() -> None:
    state, failed = run(Texts(*["Action: add it"] * 3), "react")
    assert (state.status, len(failed)) == ("failed", 3)
    assert state.text == f"[failed: {state.reason}]"
    assert "3 answers in a row could not be used" in state.reason
    with pytest.raises(AgentFailedError, match="3 answers in a row") as caught:
        state.raise_for_failure()
    assert caught.value.state is state


def test_a_call_in_the_text_of_an_api_is_asked_for_again() -> None:
    api = Api(said(CALLS["hermes"]), said("", ("c1", "add", '{"a": 1}')), said("3"))
    state = AgentLoop(NativeDriver(api), toolbox()).run_sync("1 + 2?").raise_for_failure()
    assert [one.result.content for one in state.executions] == [3]
    assert "unread_call" in api.requests[1]["messages"][-1]["content"]


def test_a_run_begins_with_instructions_and_with_message_objects() -> None:
    model = Texts("Hi", "Bye")
    loop = AgentLoop(TextDriver(model, dialect="hermes"), system="Be brief.")
    state = loop.run_sync([{"role": "user", "content": "Hello"}])
    assert model.chats[0] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    again = loop.run_sync({"role": "user", "content": "Bye"}, state=state)
    assert [message.role for message in again.messages] == ["system", "user", "assistant", "user", "assistant"]
    with pytest.raises(ParseError):
        loop.run_sync([{"speaker": "me"}])
    with pytest.raises(TypeError, match="system= must be a str, not list"):
        AgentLoop(TextDriver(model, dialect="hermes"), system=["Be brief."])  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", REASONED)
def test_an_answer_that_ends_within_its_reasoning_is_asked_for_again(dialect: str) -> None:
    unfinished, finished, advice = REASONED[dialect]
    model, events = Texts(unfinished, finished), list[object]()
    loop = AgentLoop(TextDriver(model, dialect=dialect), toolbox(), on_event=events.append)
    state = loop.run_sync("1 + 2?")
    assert (state.status, state.text) == ("completed", "3")
    assert advice in model.chats[1][-1]["content"]
    (reported,) = [event for event in events if isinstance(event, ValidationFailed)]
    assert reported.error == "the answer has only reasoning"


@pytest.mark.parametrize("dialect", REASONED)
def test_a_model_that_never_ends_its_reasoning_fails_the_run(dialect: str) -> None:
    state = AgentLoop(TextDriver(Texts(*[REASONED[dialect][0]] * 3), dialect=dialect), toolbox()).run_sync("1 + 2?")
    assert (state.status, "has only reasoning" in state.reason) == ("failed", True)


@pytest.mark.parametrize("said", ["", "\n", "<think>done</think>", "<think>done</think>\n\n<|im_end|>"])
@pytest.mark.parametrize("tools", [(), (toolbox(),)])
def test_an_answer_without_text_and_calls_is_asked_for_again(said: str, tools: tuple[object, ...]) -> None:
    model, events = Texts(said, "3"), list[object]()
    state = AgentLoop(TextDriver(model, dialect="qwen25"), *tools, on_event=events.append).run_sync("1 + 2?")
    assert (state.status, state.text, [message.role for message in state.messages]) == (
        "completed",
        "3",
        ["user", "assistant"],
    )
    asked = model.chats[1][-1]["content"]
    assert asked.startswith("Your answer has no text and no call.")
    assert "If you are done" not in asked
    assert len([event for event in events if isinstance(event, ValidationFailed)]) == 1


def test_a_model_that_says_nothing_fails_the_run() -> None:
    state = AgentLoop(TextDriver(Texts("", "", ""), dialect="hermes"), toolbox()).run_sync("1 + 2?")
    assert (state.status, state.reason) == ("failed", "3 answers in a row could not be used: the answer is empty")


@pytest.mark.parametrize("answer", ["<tool_call>\n</tool_call>", "<tool_call>[]</tool_call>"])
def test_a_run_does_not_end_on_the_markers_of_a_call_without_one(answer: str) -> None:
    answers = iter([answer, "Done."])
    state = AgentLoop(TextDriver(lambda _: next(answers), dialect="hermes"), toolbox()).run_sync("Go.")
    assert (state.text, [failure.reason for failure in state.steps[0].failures]) == ("Done.", ["missing_answer"])
