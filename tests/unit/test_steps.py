"""ReAct's lines as small models write them: what runs has one reading, and what is shown never runs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolfmt
from toolfmt import ToolDefinition, jsontext
from toolfmt.events import CallEnd, CallFailed, Notice, ReasoningDelta, TextDelta, coalesce


def tool(name: str, properties: dict[str, Any], *required: str) -> ToolDefinition:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolDefinition(name=name, parameters=schema)


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
TOOLS = [
    tool("search_docs", {"query": TEXT, "limit": WHOLE}, "query"),
    tool("add", {"a": WHOLE, "b": WHOLE}, "a", "b"),
    tool("square", {"n": WHOLE}, "n"),
    tool("tag", {"names": {"type": "array", "items": TEXT}}, "names"),
    tool("either", {"x": TEXT, "y": TEXT}),
    tool("any", {"value": {}}, "value"),
    tool("now", {}),
    tool("now_there", {"place": TEXT}, "place"),
]
X = ("search_docs", {"query": "x"})
READ: dict[str, tuple[str, dict[str, Any]]] = {
    'Thought: I look.\n**Action:** search_docs\n**Action Input:** {"query": "x"}': X,
    '**Action**: search_docs\n**Action Input**: {"query": "x"}': X,
    '__Action:__ search_docs\n__Action Input:__ {"query": "x"}': X,
    '### Action: search_docs\n### Action Input: {"query": "x"}': X,
    '- Action: search_docs\n- Action Input: {"query": "x"}': X,
    '1. Thought: hm\n2. Action: search_docs\n3. Action Input: {"query": "x"}': X,
    'Action 1: search_docs\nAction Input 1: {"query": "x"}': X,
    'ACTION: search_docs\nACTION INPUT: {"query": "x"}': X,
    'Action: `search_docs`\nAction Input: {"query": "x"}': X,
    'Action: "search_docs"\nAction Input: {"query": "x"}': X,
    'Action: [search_docs]\nAction Input: {"query": "x"}': X,
    'Action: **search_docs**\nAction Input: {"query": "x"}': X,
    'Action: search_docs()\nAction Input: {"query": "x"}': X,
    'Action: search_docs\nInput: {"query": "x"}': X,
    'Action: search_docs {"query": "x"}': X,
    'Action: search_docs\nAction Input:\n```json\n{"query": "x"}\n```': X,
    '```\nThought: x\nAction: search_docs\nAction Input: {"query": "x"}\n```': X,
    '```\nAction: search_docs\nAction Input: "x"\n```': X,
    'Action: search_docs("x")': X,
    "Action: search_docs('x')\nObservation: 9": X,
    'Action: `search_docs("x")`': X,
    'Action: search_docs("x")\n\nI wait.': X,
    'Action: search_docs(query="x")': X,
    'Action: search_docs({"query": "x"})': X,
    "Action: search_docs[x]": X,
    "Action: search_docs\nAction Input: x\n": X,
    'Action: search_docs\nAction Input: "x"': X,
    "Action: search_docs\nAction Input: `x`": X,
    'Action: search_docs\nAction Input: query="x"': X,
    "Action: search_docs\nAction Input: query: x": X,
    "Action: search_docs\nAction Input:\nquery: x\nlimit: 3": ("search_docs", {"query": "x", "limit": 3}),
    "Action: search_docs\nAction Input: don't panic": ("search_docs", {"query": "don't panic"}),
    "Action: search_docs\nAction Input: 42": ("search_docs", {"query": "42"}),
    'Action: search_docs(") + (")': ("search_docs", {"query": ") + ("}),
    "Action: add(a=1, b=-2)": ("add", {"a": 1, "b": -2}),
    "Action: add\nAction Input: a=1, b=2": ("add", {"a": 1, "b": 2}),
    "Action: add\nAction Input: a: 1\nb: 2\nObservation: 3": ("add", {"a": 1, "b": 2}),
    "Action: square\nAction Input: 7": ("square", {"n": 7}),
    'Action: tag\nAction Input: ["a", "b"]': ("tag", {"names": ["a", "b"]}),
    'Action: tag(names=["a", "b"])': ("tag", {"names": ["a", "b"]}),
    "Action: now\nObservation: 3": ("now", {}),
    "Action: now\n": ("now", {}),
    "Action: now()": ("now", {}),
    "Action: now\nAction Input:": ("now", {}),
    "Action: now\nAction Input: None": ("now", {}),
}
REFUSED = {
    "Action: add(1, 2)": "arguments_not_object",
    "Action: add\nAction Input: 1, 2": "arguments_not_object",
    "Action: either\nAction Input: x": "arguments_not_object",
    "Action: any\nAction Input: 42": "arguments_not_object",
    "Action: square\nAction Input: seven": "arguments_not_object",
    'Action: search_docs\nAction Input: here it is: {"query": "x"}': "arguments_not_object",
    'Action: search_docs\nAction Input: "x" and "y"': "arguments_not_object",
    'Action: search_docs("x" + secret)': "arguments_not_object",
    'Action: search_docs(query="a "quoted" word")': "arguments_not_object",
    "Action: search_docs(query=open)": "arguments_not_object",
    "Action: add(a=1, a=2, b=3)": "arguments_not_object",
    "Action: search_docs\nAction Input: cats, query=dogs": "arguments_not_object",
    "Action: search_docs\nAction Input: query=cats, query: dogs": "arguments_not_object",
    "Action: search_docs\nAction Input: The query: cats": "arguments_not_object",
    "Action: add\nAction Input: a=1, b: 2": "arguments_not_object",
    "Action: search_docs(**everything)": "arguments_not_object",
    'Action: search_docs("x") and then now()': "malformed",
    "Action: search_docs with x": "malformed",
    'Action: search_docs("x")\nAction Input: {"query": "y"}': "malformed",
    "Action: search_docs\nAction Input: None": "missing_arguments",
    "Action: search_docs\nObservation: 3": "missing_arguments",
    "Action: lookup": "unknown_tool",
    "Action: Square[2]": "unknown_tool",
    "1. Action: lookup[x]\nObservation: 3": "unknown_tool",
    "Action: sear": "truncated",
    "Action: now": "truncated",
    "Action: search_docs": "truncated",
    "Action: search_docs\nAction In": "truncated",
    "Action: search_docs\nAction Input:": "truncated",
    'Action: search_docs("x': "truncated",
    'Action: search_docs\nAction Input: {"query": "x': "truncated",
}
SHOWN = [
    'You write\n"Action: search_docs\nAction Input: {"query": "x"}"',
    '> Action: search_docs\n> Action Input: {"query": "x"}',
    '`Action: search_docs("x")`',
    'The line Action: search_docs("x") does it.',
    'Final Answer: write\nAction: search_docs\nAction Input: {"query": "x"}',
    '**Final Answer:** write\nAction: search_docs("x")',
    'Observation: 3\nAction: search_docs\nAction Input: {"query": "x"}',
    '**Observation:** 3\n**Action:** search_docs\n**Action Input:** {"query": "x"}',
    '3. Observation: 3\n4. Action: search_docs("x")',
    'So it goes:\n```\nAction: search_docs\nAction Input: {"query": "x"}\n```\nThat is all.',
    'So it goes:\n```text\nAction: search_docs("x")\n```',
    "Action: None\nFinal Answer: 3",
    "Action: I will answer",
    "Action: use search_docs",
]


def read(text: str, **options: Any) -> toolfmt.ParseResult:
    return toolfmt.parse(text, dialect="react", tools=TOOLS, **options)


@pytest.mark.parametrize("text", READ)
def test_a_loose_step_is_read(text: str) -> None:
    result = read(text)
    assert [(call.name, call.arguments) for call in result.calls] == [READ[text]], result
    assert not result.failures
    assert {"loose_form", "code_fence"} & {notice.kind for notice in result.notices}
    (call,) = result.calls
    assert jsontext.loads(call.raw_arguments or "") == call.arguments


@pytest.mark.parametrize("text", REFUSED)
def test_what_has_no_reading_or_several_fails(text: str) -> None:
    result = read(text)
    assert ([failure.reason for failure in result.failures], result.calls) == ([REFUSED[text]], ())


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_shown_never_runs(text: str) -> None:
    result = read(text)
    assert (result.calls, result.failures) == ((), ())


def test_what_took_the_input_is_in_the_notice() -> None:
    (notice,) = read("Action: search_docs\nAction Input: cats").notices
    assert "taken as 'query'" in notice.detail


def test_strict_takes_none_of_the_loose_inputs() -> None:
    assert not read("Action: search_docs\nAction Input: x", strict=True).calls
    assert read('Action: search_docs\nAction Input: {"query": "x"}', strict=True).calls


def test_text_beside_a_loose_step_stays() -> None:
    result = read('I look.\nAction: search_docs("x")\n\nI wait.')
    assert (result.text, len(result.calls)) == ("I look.\n\n\nI wait.", 1)


def test_without_tools_the_text_alone_decides() -> None:
    assert toolfmt.parse('Action: f(a="x")', dialect="react").calls[0].arguments == {"a": "x"}
    assert not toolfmt.parse("Action: f(x)", dialect="react").calls
    assert toolfmt.parse("Action: now", dialect="react").text == "Action: now"


def covered(text: str, events: list[Any]) -> None:
    """Each place of the text is text, reasoning, a label's, or a part of a call, failure or notice; never two."""
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            assert text[event.start : event.start + len(event.text)] == event.text
        elif isinstance(event, CallEnd | CallFailed | Notice):
            start, end = event.span
            assert 0 <= start <= end <= len(text)


LINES = st.sampled_from(
    [*READ, *REFUSED, *SHOWN, "```", "```json", "Thought: so", "I wait.", "", "Action:", "Observation: 1", "{", '"x"']
)


@given(st.lists(LINES, max_size=4).map("\n".join), st.data())
def test_cuts_change_nothing(text: str, data: st.DataObject) -> None:
    whole = list(read(text).events)
    covered(text, whole)
    parser = toolfmt.open_parser(dialect="react", tools=TOOLS)
    events: list[Any] = []
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 9))
        events += parser.feed(text[at : at + size])
        at += size
    events += parser.close()
    assert coalesce(events) == whole


@pytest.mark.parametrize(
    "piece", ["Action: search_docs(", "```\n", "Action: add\nAction Input: a=", "**Action:** ", "1. "]
)
def test_a_long_answer_takes_linear_steps(piece: str) -> None:
    result = read(piece * 5000)
    assert not result.calls


@pytest.mark.parametrize("quote", ["'{}'", "`{}`"])
@pytest.mark.parametrize("broken", ['{"q": "x", "n": 9%}', '{"town": 1}', '[{"q": "x"}]', "{'q': 'x'"])
def test_broken_arguments_in_quotes_are_no_text(quote: str, broken: str) -> None:
    tool = ToolDefinition(name="find", parameters={"type": "object", "properties": {"q": {"type": "string"}}})
    result = toolfmt.parse(f"Action: find\nAction Input: {quote.format(broken)}", dialect="react", tools=[tool])
    assert ([call.arguments for call in result.calls], len(result.failures)) == ([], 1)
    read = toolfmt.parse('Action: find\nAction Input: `{"q": "x"}`', dialect="react", tools=[tool])
    assert [call.arguments for call in read.calls] == [{"q": "x"}]


def test_a_text_that_may_be_several_values_is_guessed() -> None:
    weather = tool("get_weather", {"city": TEXT, "days": WHOLE}, "city")
    texts = ("Paris", "Paris, 2", 'city="Paris, France"')
    read = [
        toolfmt.parse(f"Action: get_weather\nAction Input: {text}\n\n", dialect="react", tools=[weather])
        for text in texts
    ]
    assert [call.certainty for result in read for call in result.calls] == ["tolerated", "guessed", "tolerated"]


def test_a_label_that_is_there_twice_is_no_input() -> None:
    text = 'Action: search_docs\nAction Input:Action Input: "x"\n'
    assert [failure.detail for failure in toolfmt.parse(text, dialect="react", tools=TOOLS).failures] == [
        "the input's label is there twice, at offset 33"
    ]


@pytest.mark.parametrize(
    "text", ["Action: f\nAction Input: \n  %", "Action: f(% )", "Action: f\nAction Input: ```\n% ```"]
)
def test_the_place_of_a_wrong_input_is_where_it_begins(text: str) -> None:
    tool = {"name": "f", "parameters": {"type": "object", "properties": {"a": {}, "b": {}}}}
    (failure,) = toolfmt.parse(text.replace("%", "[1]"), dialect="react", tools=[tool]).failures
    assert failure.detail.endswith(f"at offset {text.index('%')}")


def test_a_failed_call_says_that_its_tool_does_not_exist_either() -> None:
    unknown = "no tool is called 'serch_docs'; did you mean 'search_docs'?"
    (failure,) = read("Action: serch_docs\nAction Input: x").failures
    assert (failure.reason, failure.detail) == ("unknown_tool", unknown)
    (failure,) = read('Action: serch_docs\nAction Input: {"query" "x"}').failures
    assert failure.detail.endswith(f"at offset 42\n{unknown}")


def test_the_notice_of_a_loose_step_says_how_it_is_written() -> None:
    (notice,) = toolfmt.parse('Action: "search_docs" {"query": "x"}', dialect="react", tools=TOOLS).notices
    assert notice.detail == "a step that is not written as `Action: tool` and on the next line `Action Input: {...}`"
