"""Rows for training: what their turns mean, where their tools stand, odd input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import BY_HAND, WEATHER

from toolfmt import ConversionError, ParseError, check, convert
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
from toolfmt.transcripts.convert import convert_row
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

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
        ('{"name": "f", "id": "1"}', CallPart("f", {}, extra={"sharegpt.id": "1"})),
    ],
)
def test_a_call_is_read(text: str, expected: CallPart) -> None:
    assert parts(turns(("function_call", text)), "sharegpt") == [expected]


@pytest.mark.parametrize("speaker", ["gpt", "function_call"])
@pytest.mark.parametrize("thought", ["<think>Hm.</think>", "\n<think>\nHm.\n</think>\n\n"])
def test_a_thought_before_an_answer_is_reasoning(speaker: str, thought: str) -> None:
    words, meant = ("Hi.", TextPart("Hi.")) if speaker == "gpt" else ('{"name": "f"}', CallPart("f", {}))
    assert parts(turns((speaker, thought + words)), "sharegpt") == [ReasoningPart("Hm."), meant]
    there = convert(turns((speaker, thought + words)), source="sharegpt", target="hf-chat")
    back = convert(there.value, source="hf-chat", target="sharegpt")
    assert parts(back.value, "sharegpt") == [ReasoningPart("Hm."), meant]
    assert [loss.code for loss in (*there.losses, *back.losses)] == []


@pytest.mark.parametrize("text", ["<think>Hm.", "Hm.</think>Hi.", "So <think>Hm.</think>"])
def test_what_is_no_thought_stays_text(text: str) -> None:
    assert parts(turns(("gpt", text)), "sharegpt") == [TextPart(text)]
    assert parts(turns(("gpt", "<think>\n\n</think>\n\nHi.")), "sharegpt") == [TextPart("Hi.")]


def test_null_beside_a_tool_says_nothing() -> None:
    row = {"system": json.dumps([{**TOOL, "required": None}]), "conversations": turns(("user", "Hi."))}
    assert convert(row, source="toolace", target="openai-chat").losses == ()


def test_a_name_with_spaces_is_called_in_toolace() -> None:
    tools = json.dumps([{**TOOL, "name": "Get Weather", "required": None}])
    said = '[Get Weather(city="see Get Weather(x)"), Get Weather(city="Rome")]'
    row = {"system": f"Use these: {tools}", "conversations": turns(("user", "Hi."), ("assistant", said))}
    found = find("toolace").read(row)
    calls = (CallPart("Get Weather", {"city": "see Get Weather(x)"}), CallPart("Get Weather", {"city": "Rome"}))
    assert found.messages[2].parts == calls
    there = convert(row, source="toolace", target="openai-chat")
    assert {(loss.code, loss.detail) for loss in there.losses} == {
        ("tool_name", "Get Weather -> Get_Weather"),
        ("tool", "Get Weather"),
    }
    assert convert(there.value, source="openai-chat", target="toolace", residue=there.residue).value == row


@pytest.mark.parametrize("name", ["hf-chat", "trl"])
def test_tools_may_be_text(name: str) -> None:
    row = {
        "messages": [{"role": "user", "content": "Hi."}],
        "tools": json.dumps([{"type": "function", "function": TOOL}]),
    }
    made = find(name)
    assert [tool.name for tool in made.read(row).tools or ()] == ["get_weather"]
    there = convert(row, source=name, target="anthropic")
    assert convert(there.value, source="anthropic", target=name, residue=there.residue).value == row


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
        {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "array"}}, "required": ["city"]}
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


CUT = '{"q": "cut'
ODD_CALLS: list[tuple[str, Any, Any]] = [
    ("openai-chat", {"function": {"name": "f", "arguments": CUT}}, "arguments"),
    ("openai-chat", {"function": {"arguments": "{}"}}, "tool_name"),
    ("anthropic", {"name": "f", "input": CUT}, "arguments"),
    ("anthropic", {"name": "f", "input": [1]}, "arguments"),
    ("anthropic", {"input": {}}, "tool_name"),
    ("langchain", {"args": {"q": "x"}, "type": "tool_call"}, "tool_name"),
]


def odd_call(source: str, call: dict[str, Any]) -> Any:
    """A conversation with one call, in the form that the source has for it."""
    match source:
        case "anthropic":
            answer: dict[str, Any] = {"content": [{"type": "tool_use", "id": "a", **call}]}
        case "langchain":
            said = {"type": "ai", "data": {"content": "", "tool_calls": [call | {"id": "a"}]}}
            return [{"type": "human", "data": {"content": "Go"}}, said]
        case _:
            answer = {"tool_calls": [{"id": "a", "type": "function", **call}]}
    return {"messages": [{"role": "user", "content": "Go"}, {"role": "assistant", **answer}]}


@pytest.mark.parametrize("target", ["hf-chat", "sharegpt", "openai-finetune", "hermes-rows", "xlam", "trl", "toolace"])
@pytest.mark.parametrize(("source", "call", "code"), ODD_CALLS)
def test_no_row_to_train_on_has_a_call_without_a_name_or_an_object(
    source: str, call: dict[str, Any], code: str, target: str
) -> None:
    value = odd_call(source, call)
    with pytest.raises(ConversionError, match="/1: not a row to train on: "):
        convert_row(value, source=source, target=target)
    if target == "hf-chat":
        assert code in [loss.code for loss in convert(value, source=source, target=target).losses]


def test_an_input_of_text_is_the_object_that_it_says() -> None:
    made = convert(odd_call("anthropic", {"name": "f", "input": '{"q": 1}'}), source="anthropic", target="hf-chat")
    assert made.value["messages"][1]["tool_calls"][0]["function"]["arguments"] == {"q": 1}
    assert made.losses == ()


def test_a_result_without_a_call_is_a_loss() -> None:
    value = {"messages": [{"role": "user", "content": "Go"}, {"role": "tool", "tool_call_id": "zz", "content": "r"}]}
    (loss,) = convert(value, source="openai-chat", target="hf-chat").losses
    assert (loss.code, loss.path, loss.action) == ("result_link", "/messages/1", "missing")
    assert loss.detail == "no open call has the id 'zz'"


@pytest.mark.parametrize("target", ["openai-finetune", "sharegpt"])
def test_a_row_to_train_on_ends_with_an_answer(target: str) -> None:
    asked = {"role": "user", "content": "Hi"}
    answer = {"role": "assistant", "content": "Hello."}
    for messages in ([asked], [asked, answer, asked], [asked, answer, {"role": "system", "content": "Stop."}]):
        value = {"messages": messages}
        with pytest.raises(ConversionError, match=r"^/messages/\d: not a row to train on: (a row ends|no message)"):
            convert_row(value, source="openai-chat", target=target, repair="fill")
    found = convert_row({"messages": [asked, answer, asked]}, source="openai-chat", target=target, repair="drop")
    assert [(loss.code, loss.path, loss.action) for loss in found.losses] == [("text", "/messages/2", "dropped")]
    assert found.value == convert({"messages": [asked, answer]}, source="openai-chat", target=target).value
    with pytest.raises(ConversionError, match="no message is the assistant's"):
        convert_row({"messages": [asked]}, source="openai-chat", target=target, repair="drop")


def test_a_row_of_which_nothing_is_learned_is_refused() -> None:
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello.", "weight": 0}]
    with pytest.raises(ConversionError, match="the `weight` of every answer is 0"):
        convert_row({"messages": messages}, source="openai-finetune", target="openai-finetune")
    more = [*messages, {"role": "user", "content": "Go"}, {"role": "assistant", "content": "Gone."}]
    assert convert_row({"messages": more}, source="openai-finetune", target="openai-finetune").losses == ()


def test_a_cut_call_of_a_sharegpt_row_is_refused() -> None:
    value = {"conversations": turns(("human", "Go"), ("function_call", '{"name": "f", "arguments": {"q": '))}
    for target in ("hf-chat", "sharegpt"):
        with pytest.raises(ConversionError, match="/conversations/1: not a row to train on: the turn is not"):
            convert_row(value, source="sharegpt", target=target)


def test_results_with_values_pass_the_check_of_their_own_format() -> None:
    said = [{"functionCall": {"name": name, "args": {}}} for name in "ab"]
    results = [("a", {"output": "a"}), ("b", {"result": {"x": 1}})]
    answers = [{"functionResponse": {"name": name, "response": response}} for name, response in results]
    value = [
        {"role": "user", "parts": [{"text": "Go"}]},
        {"role": "model", "parts": said},
        {"role": "user", "parts": answers},
    ]
    made = convert(value, source="gemini", target="sharegpt").value
    assert json.loads(made["conversations"][2]["value"]) == ["a", {"result": {"x": 1}}]
    assert [found.rule for found in check(made, format="sharegpt")] == ["untrained"]  # nobody answers the results


SHOWN = {
    "conversations": turns(
        ("human", "Look: <image>What is it?"), ("gpt", "A cat."), ("human", "<image>And <b>this</b>?"), ("gpt", "No.")
    ),
    "images": ["a.png", "https://e.com/b.png"],
}


def test_what_a_sharegpt_row_shows_is_read_and_written() -> None:
    there = convert(SHOWN, source="sharegpt", target="hf-chat")
    assert there.value["messages"][0]["content"] == [
        {"type": "text", "text": "Look: "},
        {"type": "image", "url": "a.png"},
        {"type": "text", "text": "What is it?"},
    ]
    assert there.value["messages"][2]["content"][0] == {"type": "image", "url": "https://e.com/b.png"}
    assert there.all_losses == ()
    assert convert(there.value, source="hf-chat", target="sharegpt").value == SHOWN
    assert not check(SHOWN, format="sharegpt")


@pytest.mark.parametrize("images", [["a.png"], ["a.png"] * 3])
def test_a_row_with_more_marks_or_files_than_the_other_is_refused(images: list[str]) -> None:
    with pytest.raises(ParseError, match="/images: "):
        convert({**SHOWN, "images": images}, source="sharegpt", target="hf-chat")


def test_answers_that_are_compared_are_read_and_written() -> None:
    value = {
        "conversations": turns(("human", "q")),
        "chosen": {"from": "gpt", "value": "good"},
        "rejected": {"from": "gpt", "value": "bad"},
    }
    there = convert(value, target="trl")
    assert there.source == "sharegpt"
    assert there.value["chosen"] == [{"role": "assistant", "content": "good"}]
    assert there.value["rejected"] == [{"role": "assistant", "content": "bad"}]
    assert there.losses == ()
    assert convert(there.value, source="trl", target="sharegpt").value == value
    there = convert(value, source="sharegpt", target="hf-chat")
    assert [message["content"] for message in there.value["messages"]] == ["q", "good"]
    assert [loss.code for loss in there.losses] == ["choice"]
    rated = {"conversations": turns(("human", "q"), ("gpt", "a")), "kto_tag": False}
    there = convert(rated, source="sharegpt", target="trl")
    assert (there.value["label"], there.all_losses) == (False, ())
    assert convert(there.value, source="trl", target="sharegpt").value == rated


def test_what_is_said_beside_the_messages_is_content() -> None:
    result = {"type": "tool", "data": {"content": "ok", "tool_call_id": "a", "artifact": "The whole report."}}
    call = {"name": "f", "args": {}, "id": "a", "type": "tool_call"}
    asked = [
        {"type": "human", "data": {"content": "Go"}},
        {"type": "ai", "data": {"content": "", "tool_calls": [call]}},
    ]
    made = convert([*asked, result], source="langchain", target="hf-chat")
    assert [(loss.code, loss.detail) for loss in made.losses] == [("beside", "langchain.artifact")]
    spoken = {"role": "assistant", "content": "Hi.", "audio": {"id": "audio_1"}}
    made = convert([{"role": "user", "content": "Go"}, spoken], source="openai-chat", target="hf-chat")
    assert [(loss.code, loss.detail) for loss in made.losses] == [("beside", "openai-chat.audio")]


def test_images_in_a_column_are_those_of_the_parts_without_an_address() -> None:
    asked = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What?"}, {"type": "image"}]}
    row = {"messages": [asked, {"role": "assistant", "content": "A cat."}], "images": ["a.png", "b.png"]}
    there = convert(row, source="hf-chat", target="sharegpt")
    assert there.value["images"] == row["images"]
    assert there.value["conversations"][0]["value"] == "<image>What?<image>"
    assert there.losses == ()
    assert convert(there.value, source="sharegpt", target="hf-chat", residue=there.residue).value == row
    fewer = convert(row | {"images": ["a.png"]}, source="hf-chat", target="sharegpt")
    assert [loss.code for loss in fewer.losses] == ["provider_part", "provider_part"]


def test_an_answer_that_is_not_to_train_on_does_not_become_one_in_silence() -> None:
    answers = [{"role": "assistant", "content": text, "weight": weight} for text, weight in (("bad", 0), ("good", 1))]
    row = {"messages": [{"role": "user", "content": "q"}, *answers]}
    losses = convert(row, source="openai-finetune", target="hf-chat").losses
    assert [(loss.code, loss.severity) for loss in losses] == [("label", "meaning")]
    with pytest.raises(ParseError, match="it looks like openai-finetune"):
        convert(row, source="openai-chat", target="sharegpt")


def swift(*said: tuple[str, str], **beside: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text} for role, text in said], **beside}


SWIFT_CALLS = [("tool_call", json.dumps({"name": "f", "arguments": {"n": number}})) for number in (1, 2)]


def test_rows_of_ms_swift_have_calls_and_results_in_turns_of_their_own() -> None:
    said = [("user", "<image>Go"), *SWIFT_CALLS, ("tool_response", "a"), ("tool", "b"), ("assistant", "Done.")]
    row = swift(*said, images=["a.png"], label=True)
    made = convert_row(row, source="auto", target="openai-chat")
    assert [loss.code for loss in made.losses] == ["label"]
    _, called, first, second, answer = made.value["messages"]
    assert [call["function"]["arguments"] for call in called["tool_calls"]] == ['{"n":1}', '{"n":2}']
    assert [call["id"] for call in called["tool_calls"]] == [first["tool_call_id"], second["tool_call_id"]]
    assert (first["content"], second["content"], answer["content"]) == ("a", "b", "Done.")
    assert convert(made.value, source="openai-chat", target="ms-swift", residue=made.residue).value == row
    again = convert(made.value, source="openai-chat", target="ms-swift").value["messages"]
    assert [item["role"] for item in again] == [*["user"], *["tool_call"] * 2, *["tool_response"] * 2, "assistant"]


@pytest.mark.parametrize(
    "row",
    [
        {"system": "s", "query": "q2", "response": "r2", "history": [["q1", "r1"]]},
        {"system": "s", "conversation": [{"human": "q1", "assistant": "r1"}, {"human": "q2", "assistant": "r2"}]},
    ],
)
def test_pairs_of_ms_swift_are_turns(row: dict[str, Any]) -> None:
    made = convert_row(row, source="auto", target="openai-chat").value["messages"]
    assert [(item["role"], item["content"]) for item in made] == [
        ("system", "s"),
        ("user", "q1"),
        ("assistant", "r1"),
        ("user", "q2"),
        ("assistant", "r2"),
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            swift(("user", "q"), ("tool_call", "{"), ("tool", "r"), ("assistant", "z")),
            "/messages/1: .* no JSON: the text ends",
        ),
        (swift(("user", "q"), ("narrator", "z")), "/messages/1: the role is one of"),
        (swift(("user", "q"), rejected_response="z"), "/rejected_response: the row ends with no answer"),
        ({"query": "q", "response": "r", "history": ["q1"]}, "/history: expected a list of pairs"),
        ({"messages": [{"role": "assistant", "content": None, "tool_calls": []}]}, "/messages/0: a call is a message"),
        ({"text": "q"}, "expected a row with `messages`"),
        ({"conversation": [{"human": "q", "assistant": "a"}, "junk"]}, "/conversation: expected a list of objects"),
        (
            {"conversation": [{"human": "q", "assistant": "a", "note": "n"}]},
            "/conversation: expected a list of objects",
        ),
    ],
)
def test_a_broken_row_of_ms_swift_says_where(row: dict[str, Any], message: str) -> None:
    with pytest.raises((ParseError, ConversionError), match=message):
        convert_row(row, source="ms-swift", target="openai-chat")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "f", "arguments": {', "no JSON: the text ends"),
        ("f(a=1)", "no JSON"),
        ('[{"name": "f"}, {"nome": "g"}]', "a call is an object with the text `name`"),
    ],
)
def test_a_turn_of_calls_that_is_not_understood_says_why_and_stays_as_text(text: str, reason: str) -> None:
    row = {"conversations": turns(("human", "Go"), ("function_call", text), ("gpt", "Done."))}
    with pytest.raises(ConversionError, match=f"/conversations/1: .* is not understood: {reason}"):
        convert_row(row, source="sharegpt", target="openai-chat")
    made = convert(row, source="sharegpt", target="openai-chat")
    assert made.value["messages"][1] == {"role": "assistant", "content": text}
    assert [loss.code for loss in made.losses] == ["provider_part"]
