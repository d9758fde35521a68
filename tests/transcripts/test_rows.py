"""Rows for training: what their turns mean, where their tools stand, odd input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import BY_HAND, WEATHER

from toolfmt import ParseError, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised
from toolfmt.transcripts.shape import shape

TOOL = {
    "name": "get_weather",
    "description": "Get the weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
DICT = TOOL | {"parameters": TOOL["parameters"] | {"type": "dict"}}  # type: ignore[operator]
CALLED = [{"name": "get_weather", "arguments": {"city": city}} for city in ("Paris", "Atlantis")]
ASKED = "Weather here and in Atlantis?"
ANSWER = "Paris 18C; Atlantis unknown."


def turns(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"from": name, "value": text} for name, text in said]


ROWS: dict[str, Any] = {
    "sharegpt": {
        "conversations": turns(
            ("human", ASKED),
            ("function_call", json.dumps(CALLED)),
            ("observation", json.dumps(["18C", "unknown"])),
            ("gpt", ANSWER),
        ),
        "system": "Be brief.",
        "tools": json.dumps([TOOL]),
    },
    "hermes-rows": {
        "id": "r1",
        "conversations": turns(
            ("system", f"Be brief.\n\n<tools>\n{json.dumps([{'type': 'function', 'function': TOOL}])}\n</tools>"),
            ("human", ASKED),
            (
                "gpt",
                "<think>\nTwo calls.\n</think>\n\n"
                + "\n".join(f"<tool_call>\n{json.dumps(made)}\n</tool_call>" for made in CALLED),
            ),
            (
                "tool",
                "\n".join(
                    f"<tool_response>\n{json.dumps({'name': 'get_weather', 'content': said})}\n</tool_response>"
                    for said in ("18C", "unknown")
                ),
            ),
            ("gpt", ANSWER),
        ),
    },
    "toolace": {
        "system": f"Be brief.\n\n{json.dumps([DICT])}",
        "conversations": turns(
            ("user", ASKED),
            ("assistant", "[get_weather(city='Paris'), get_weather(city='Atlantis')]"),
            ("tool", '[{"name": "get_weather", "results": "18C"}, {"name": "get_weather", "results": "unknown"}]'),
            ("assistant", ANSWER),
        ),
    },
}
every_row = pytest.mark.parametrize("name", ROWS)


def parts(value: Any, name: str) -> list[Any]:
    return [part for message in find(name).read(value).messages for part in message.parts]


@every_row
def test_the_row_is_read(name: str) -> None:
    found = find(name).read(ROWS[name])
    said = [part for part in parts(ROWS[name], name) if not isinstance(part, ReasoningPart)]
    assert [part.text for part in said if isinstance(part, TextPart)] == ["Be brief.", ASKED, ANSWER]
    assert [(part.name, part.value) for part in said if isinstance(part, CallPart)] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "Atlantis"}),
    ]
    assert [part.content for part in said if isinstance(part, ResultPart)] == [
        (TextPart("18C"),),
        (TextPart("unknown"),),
    ]
    assert found.tools == (WEATHER,)


@every_row
def test_the_row_is_written_anew_as_it_was(name: str) -> None:
    made = find(name)
    found = made.read(ROWS[name])
    bare = tuple(Message(message.role, message.parts, message.name, message.extra) for message in found.messages)
    assert made.write(Transcript(bare, found.tools, extra=found.extra)) == ROWS[name]


@every_row
def test_it_is_recognised(name: str) -> None:
    assert recognised(ROWS[name]).name == name


@every_row
def test_tools_without_instructions_are_written_and_no_text_is_made_of_them(name: str) -> None:
    made = find(name)
    value = json.loads(json.dumps(made.write(shape(Transcript(BY_HAND["one call"].messages, (WEATHER,)), made.rules))))
    assert made.read(value).tools == (WEATHER,)
    assert [part.text for part in parts(value, name) if isinstance(part, TextPart)] == ["Weather in Paris?", "18C."]


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("hermes-rows", f"Use <tools>[{json.dumps({'type': 'function', 'function': TOOL})}]</tools> now."),
        ("toolace", f"Use [1], {json.dumps([DICT])} now."),
    ],
)
def test_tools_in_the_middle_of_a_text_are_read_and_not_written_twice(name: str, system: str) -> None:
    made = find(name)
    value = made.write(Transcript((Message("system", (TextPart(system),)),), (WEATHER,)))
    found = made.read(value)
    assert found.tools == (WEATHER,)
    assert found.messages[0].parts == (TextPart(system),)


def test_changed_tools_are_written_into_instructions_that_were_read() -> None:
    made = find("hermes-rows")
    there = convert(ROWS["hermes-rows"], target="openai-chat")
    edited = json.loads(json.dumps(there.value).replace("Get the weather", "The weather"))
    back = convert(edited, source="openai-chat", target="hermes-rows", residue=there.residue)
    assert [tool.description for tool in made.read(back.value).tools or ()] == ["The weather"]


def test_text_beside_calls_is_lost_in_sharegpt_and_reported() -> None:
    made = find("openai-chat")
    value = made.write(shape(BY_HAND["text beside calls"], made.rules))
    there = convert(value, source="openai-chat", target="sharegpt")
    assert ("text", "dropped") in [(loss.code, loss.action) for loss in there.losses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', CallPart("f", {"a": 1})),
        ('{"name": "f", "arguments": "{}"}', CallPart("f", text="{}")),
        ('{"name": "f"}', CallPart("f", {})),
    ],
)
def test_a_call_is_read(text: str, expected: CallPart) -> None:
    assert parts(turns(("function_call", text)), "sharegpt") == [expected]


@pytest.mark.parametrize("text", ["", "f()", "[1]", '{"a": 1}', '{"name": 1}'])
def test_what_is_no_call_is_kept_whole(text: str) -> None:
    value = turns(("function_call", text))
    assert parts(value, "sharegpt") == [OpaquePart("sharegpt", value[0])]


@pytest.mark.parametrize("text", ['["a"]', "a", '["a", "b", "c"]', "{}"])
def test_what_is_observed_of_two_calls_is_one_result_unless_it_lists_two(text: str) -> None:
    found = parts(turns(("function_call", json.dumps(CALLED)), ("observation", text)), "sharegpt")
    assert found[2:] == [ResultPart((TextPart(text),))]


def test_values_in_results_are_json() -> None:
    value = turns(("function_call", json.dumps(CALLED)), ("observation", '["a", {"b": 1}]'))
    assert parts(value, "sharegpt")[2:] == [ResultPart((TextPart("a"),)), ResultPart((JsonPart({"b": 1}),))]


def test_a_single_value_is_written_without_a_list_around_it() -> None:
    row = find("sharegpt").write(BY_HAND["a result of JSON"])
    assert row["conversations"][-1] == {"from": "observation", "value": '{"degrees": 18}'}


@every_row
@pytest.mark.parametrize(
    "value", ["a", 1, {}, {"conversations": "a"}, ["a"], [{"from": "human", "value": 1}], {"conversations": [[]]}]
)
def test_what_is_no_row_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ParseError):
        find(name).read(value)


@every_row
@pytest.mark.parametrize("turn", [{"from": "narrator", "value": "a"}, {"from": [], "value": "a"}, {"value": "a"}])
def test_a_turn_of_another_speaker_is_refused(name: str, turn: Any) -> None:
    with pytest.raises(ParseError, match="/conversations/1: `from` is one of"):
        find(name).read([{"from": "human", "value": "Hi"}, turn])


XLAM: dict[str, Any] = {
    "id": 0,
    "query": ASKED,
    "tools": json.dumps([TOOL | {"parameters": {"city": {"type": "str"}, "days": {"type": "List[int], optional"}}}]),
    "answers": json.dumps(CALLED),
}


def test_a_question_and_its_calls_are_read() -> None:
    found = find("xlam").read(XLAM)
    assert [message.parts for message in found.messages] == [
        (TextPart(ASKED),),
        (CallPart("get_weather", {"city": "Paris"}), CallPart("get_weather", {"city": "Atlantis"})),
    ]
    assert [tool.parameters for tool in found.tools or ()] == [
        {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "array"}},
            "required": ["city"],
        }
    ]
    assert recognised(XLAM).name == "xlam"


def test_a_question_and_its_calls_come_back_as_they_were() -> None:
    there = convert(XLAM, target="openai-chat")
    assert convert(there.value, source="openai-chat", target="xlam", residue=there.residue).value == XLAM


def test_parameters_are_written_with_the_names_of_pythons_types() -> None:
    optional = {"type": "object", "properties": {"city": {"type": "string"}, "n": {"type": "integer"}, "a": {}}}
    tool = replace(WEATHER, parameters=optional | {"required": ["city"]})
    value: Any = find("xlam").write(Transcript((), (tool,)))
    assert json.loads(value["tools"])[0]["parameters"] == {
        "city": {"type": "str"},
        "n": {"type": "int, optional"},
        "a": {},
    }


def test_what_follows_the_first_calls_is_lost_and_reported() -> None:
    chat = find("openai-chat")
    there = convert(chat.write(BY_HAND["one call"]), source="openai-chat", target="xlam")
    assert there.value == {"query": "Weather in Paris?", "answers": json.dumps(CALLED[:1])}
    assert {("result", "dropped"), ("text", "dropped")} <= {(loss.code, loss.action) for loss in there.losses}


@pytest.mark.parametrize("value", ["a", 1, None, [], {}, {"query": 1}])
def test_what_is_no_question_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        find("xlam").read(value)


@pytest.mark.parametrize("odd", ["", "f()", 1, None, {"a": 1}, "[1]"])
def test_answers_that_are_no_calls_are_kept_whole(odd: Any) -> None:
    made = find("xlam")
    value = {"query": "a", "answers": odd}
    assert made.read(value).messages[1].parts == (OpaquePart("xlam", odd),)
    assert made.write(made.read(value)) == value


@pytest.mark.parametrize("tools", ["", 1, "{}", [1], '[{"name": 1}]', '[{"name": "f", "parameters": {"a": 1}}]'])
def test_odd_tools_are_read(tools: Any) -> None:
    made = find("xlam")
    assert made.read({"query": "a", "tools": tools}).messages[0].parts == (TextPart("a"),)


def test_a_turn_of_calls_without_a_value_is_kept_whole() -> None:
    assert parts([{"from": "function_call"}], "sharegpt") == [OpaquePart("sharegpt", {"from": "function_call"})]


@pytest.mark.parametrize("name", [*ROWS, "xlam", "text:hermes", "text:xml-items"])
def test_half_a_surrogate_pair_is_no_error(name: str) -> None:
    half = "\ud800"
    used = {"type": "tool_use", "id": "a", "name": "f", "input": {"a": half}}
    value = [
        {"role": "user", "content": half},
        {"role": "assistant", "content": [{"type": "text", "text": half}, used]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": f"18C {half}"}]},
    ]
    there = convert(value, source="anthropic", target=name)
    assert convert(there.value, source=name, target="anthropic", residue=there.residue).value == value
