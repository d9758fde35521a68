"""Chats with calls and results in the text: every dialect there and back, what is read, what is kept harmless."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import BY_HAND, WEATHER, transcripts
from hypothesis import given

from tests import sampling
from toolfmt import ParseError, UnknownDialectError, convert
from toolfmt.conversation import CallPart, Message, ReasoningPart, ResultPart, TextPart, Transcript
from toolfmt.transcripts.comparing.losses import losses
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find

CHAT = find("openai-chat")
every_dialect = pytest.mark.parametrize("name", [f"text:{one.name}" for one in sampling.kinds()])
some_dialects = pytest.mark.parametrize("name", ["text:hermes", "text:xml-items", "text:react", "text:cohere-command"])

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
EXAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather in Paris?"},
        {"role": "assistant", "content": f"<think>One call.</think>Checking.{CALL}"},
        {"role": "tool", "content": "<tool_response>\n18C\n</tool_response>"},
        {"role": "assistant", "content": "Paris 18C."},
    ]
}


def written(transcript: Transcript) -> Any:
    return json.loads(json.dumps(CHAT.write(shape(transcript, CHAT.rules))))


def parts(value: Any, name: str = "text:hermes") -> list[Any]:
    return [part for message in find(name).read(value).messages for part in message.parts]


def chat(*messages: Any) -> list[Any]:
    return [{"role": role, "content": content} for role, content in messages]


@every_dialect
def test_there_and_back_is_exact(name: str) -> None:
    for title, transcript in BY_HAND.items():
        value = written(transcript)
        there = convert(value, source="openai-chat", target=name)
        text = json.loads(json.dumps(there.value))
        back = convert(text, source=name, target="openai-chat", residue=json.loads(json.dumps(there.residue)))
        assert json.dumps(back.value) == json.dumps(value), title
        assert json.dumps(find(name).write(find(name).read(text))) == json.dumps(text), title


@every_dialect
def test_what_was_read_is_the_same_when_it_is_written_anew(name: str) -> None:
    made = find(name)
    for title in ("one call", "text beside calls", "parallel", "an error"):
        read = made.read(made.write(shape(BY_HAND[title], made.rules)))
        bare = Transcript(tuple(Message(found.role, found.parts) for found in read.messages))
        assert losses(read, made.read(made.write(shape(bare, made.rules)))) == [], title


@every_dialect
def test_a_call_and_its_result_are_read_back(name: str) -> None:
    made = find(name)
    tools = (WEATHER,)
    shaped = shape(Transcript(BY_HAND["one call"].messages, tools), made.rules)
    read = made.read(json.loads(json.dumps(made.write(shaped))))
    found = [part for message in read.messages for part in message.parts]
    assert [(part.name, part.value) for part in found if isinstance(part, CallPart)] == [
        ("get_weather", {"city": "Paris"})
    ]
    assert [part.content for part in found if isinstance(part, ResultPart)] == [(TextPart("18C"),)]


@some_dialects
@given(drawn=transcripts())
def test_there_and_back_is_exact_for_any_conversation(name: str, drawn: Transcript) -> None:
    value = written(drawn)
    there = convert(value, source="openai-chat", target=name)
    back = convert(there.value, source=name, target="openai-chat", residue=there.residue)
    assert json.dumps(back.value) == json.dumps(value)


@some_dialects
@given(drawn=transcripts())
def test_no_call_is_read_that_was_not_written(name: str, drawn: Transcript) -> None:
    there = convert(written(drawn), source="openai-chat", target=name)
    before = [part.name for message in drawn.messages for part in message.parts if isinstance(part, CallPart)]
    after = [part for part in parts(there.value, name) if isinstance(part, CallPart)]
    assert len(after) <= len(before)


def test_the_example_is_read() -> None:
    assert parts(EXAMPLE) == [
        TextPart("Be brief."),
        TextPart("Weather in Paris?"),
        ReasoningPart("One call."),
        TextPart("Checking."),
        CallPart("get_weather", {"city": "Paris"}, '{"city": "Paris"}'),
        ResultPart((TextPart("18C"),)),
        TextPart("Paris 18C."),
    ]


def test_text_that_looks_like_a_call_stays_text() -> None:
    value = chat(("user", "Show me."), ("assistant", f"It is written {CALL}."))
    there = convert(value, source="openai-chat", target="text:hermes")
    assert not [part for part in parts(there.value) if isinstance(part, CallPart)]
    assert [(loss.code, loss.action) for loss in there.losses] == [("text", "changed")]


def test_a_broken_call_stays_the_text_that_it_is() -> None:
    broken = '<tool_call>\n{"name": "get_weather", "arguments": {"city": \n</tool_call>'
    assert parts(chat(("assistant", f"a {broken} b"))) == [TextPart(f"a {broken} b")]


def test_a_call_that_the_dialect_cannot_hold_is_left_out_with_its_result() -> None:
    there = convert(written(BY_HAND["parallel"]), source="openai-chat", target="text:step-json")
    assert [type(part) for part in parts(there.value, "text:step-json")] == [TextPart, CallPart, ResultPart, TextPart]
    assert {("call", "dropped"), ("result", "dropped")} <= {(loss.code, loss.action) for loss in there.losses}


def test_results_in_the_users_turn_are_read() -> None:
    found = find("text:hermes").read(
        chat(
            ("assistant", CALL), ("user", "<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response>")
        )
    )
    assert found.messages[1].role == "tool"
    assert [part.content for part in found.messages[1].parts] == [(TextPart("a"),), (TextPart("b"),)]  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["18C", "<tool_response>\n18C", "see <tool_response>\n18C\n</tool_response>", ""])
def test_a_result_in_other_words_is_a_result_whole(text: str) -> None:
    assert parts(chat(("assistant", CALL), ("tool", text)))[1:] == [ResultPart((TextPart(text),) if text else ())]


def test_names_status_and_ids_of_results_are_read() -> None:
    text = "Tool: a\nStatus: Success\nResult:\n1\n2\n\n---\n\nTool: b\nStatus: Error\nResult:\nno"
    assert parts(chat(("tool", text)), "text:default-json") == [
        ResultPart((TextPart("1\n2"),), name="a"),
        ResultPart((TextPart("no"),), name="b", is_error=True),
    ]


def test_results_follow_in_the_order_of_their_calls() -> None:
    there = convert(written(BY_HAND["out of order"]), source="openai-chat", target="text:hermes")
    results = [part for part in parts(there.value) if isinstance(part, ResultPart)]
    assert [part.content for part in results] == [(TextPart("1"),), (TextPart("2"),)]


def test_a_result_that_comes_to_answer_another_call_is_reported() -> None:
    messages = BY_HAND["parallel"].messages
    value = written(Transcript((*messages[:2], messages[3])))
    there = convert(value, source="openai-chat", target="text:hermes")
    assert ("result_link", "changed") in [(loss.code, loss.action) for loss in there.losses]


@pytest.mark.parametrize("value", ["a", 1, None, {}, {"messages": "a"}, ["a"]])
def test_what_is_no_chat_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        find("text:hermes").read(value)


def test_an_unknown_dialect_is_reported() -> None:
    with pytest.raises(UnknownDialectError):
        find("text:nothing-like-it")
