"""Qwen-Agent: what its items mean, one call in a message, ids among the notes, functions, odd input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    TextPart,
    Transcript,
)
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

MADE = find("qwen-agent")


def called(name: str = "f", arguments: Any = '{"a": 1.0}', **further: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "function_call": {"name": name, "arguments": arguments}, **further}


def gave(content: Any, name: str = "f", **further: Any) -> dict[str, Any]:
    return {"role": "function", "name": name, "content": content, **further}


def written_anew(value: Any) -> Any:
    """Write messages that have no source."""
    found = MADE.read(value)
    for message in found.messages:
        message.origin = ""
    return MADE.write(found)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"image": "https://a.b/c"}, MediaPart("image", url="https://a.b/c")),
        ({"image": f"data:image/png;base64,{PNG}"}, MediaPart("image", "image/png", PNG)),
        ({"file": "/home/a.pdf"}, MediaPart("document", file_id="/home/a.pdf", owner="qwen-agent")),
        ({"audio": "a.wav"}, MediaPart("audio", file_id="a.wav", owner="qwen-agent")),
        ({"video": ["a.jpg", "b.jpg"]}, OpaquePart("qwen-agent", {"video": ["a.jpg", "b.jpg"]})),
        ({"image": ""}, OpaquePart("qwen-agent", {"image": ""})),
        ({"text": "a", "image": "b"}, OpaquePart("qwen-agent", {"text": "a", "image": "b"})),
        ({}, OpaquePart("qwen-agent", {})),
        (1, OpaquePart("qwen-agent", 1)),
    ],
)
def test_an_item(item: Any, expected: Any) -> None:
    value = [{"role": "user", "content": [{"text": "a"}, item]}]
    assert MADE.read(value).messages == (Message("user", (TextPart("a"), expected)),)
    assert written_anew(value) == value


def test_reasoning_text_and_a_call_are_one_message() -> None:
    value = [called(content="b", reasoning_content="a")]
    assert MADE.read(value).messages == (
        Message("assistant", (ReasoningPart("a"), TextPart("b"), CallPart("f", text='{"a": 1.0}'))),
    )
    assert written_anew(value) == [
        {"role": "assistant", "content": "b", "reasoning_content": "a", "function_call": value[0]["function_call"]}
    ]


def test_what_a_message_has_no_place_for_is_another_message() -> None:
    call = CallPart("f", text="{}")
    parts = (TextPart("a"), call, call, TextPart("b"), ReasoningPart("c"), TextPart("d"), call)
    value: Any = MADE.write(Transcript((Message("assistant", parts),)))
    assert [(item["content"], item.get("reasoning_content"), "function_call" in item) for item in value] == [
        ("a", None, True),
        ("", None, True),
        ("b", None, False),
        ("d", "c", True),
    ]
    assert [part for message in MADE.read(value).messages for part in message.parts] == list(parts)


def test_an_id_is_a_note() -> None:
    value = [
        called(extra={"function_id": "1", "more": 2}),
        called(extra={"function_id": "2"}),
        gave("a", extra={"function_id": "1"}),
        gave("b", extra={"function_id": "2", "more": 3}),
    ]
    found = MADE.read(value).messages
    assert [part.id for message in found for part in message.parts if isinstance(part, (CallPart, ResultPart))] == [
        "1",
        "2",
        "1",
        "2",
    ]
    assert found[0].extra == {"qwen-agent.extra": {"more": 2}}
    assert written_anew(value) == value


def test_results_without_ids_answer_the_calls_in_their_order() -> None:
    value = [called(), called(), gave("a"), gave("b")]
    found: Any = convert(value, source="qwen-agent", target="openai-chat").value
    calls = found["messages"][0]["tool_calls"]
    assert [call["id"] for call in calls] == [item["tool_call_id"] for item in found["messages"][1:]]
    assert [item["content"] for item in found["messages"][1:]] == ["a", "b"]


def test_an_id_that_no_call_has_is_none() -> None:
    value = [called(), called(), gave("a", extra={"function_id": "1"}), gave("b", extra={"function_id": "1"})]
    found: Any = convert(value, source="qwen-agent", target="openai-chat").value
    calls = found["messages"][0]["tool_calls"]
    assert [call["id"] for call in calls] == [item["tool_call_id"] for item in found["messages"][1:]]
    assert written_anew(value) == value


def test_results_are_put_in_the_order_of_the_calls() -> None:
    calls = [{"id": ident, "type": "function", "function": {"name": "f", "arguments": "{}"}} for ident in ("1", "2")]
    results = [{"role": "tool", "tool_call_id": ident, "content": ident} for ident in ("2", "1")]
    value = [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    found: Any = convert(value, source="openai-chat", target="qwen-agent").value
    assert [(item["name"], item["content"]) for item in found[2:]] == [("f", "1"), ("f", "2")]


def test_functions_are_the_tools() -> None:
    function = {"name": "f", "description": "Does", "parameters": {"type": "object"}, "more": 1}
    value = {"messages": [{"role": "user", "content": "a"}], "functions": [function], "stream": False}
    found = MADE.read(value)
    assert [(tool.name, tool.description, tool.parameters) for tool in found.tools or ()] == [
        ("f", "Does", {"type": "object"})
    ]
    assert MADE.write(found) == value
    there: Any = convert(value, source="qwen-agent", target="openai-chat")
    assert there.value["tools"] == [
        {"type": "function", "function": {key: function[key] for key in ("name", "description", "parameters")}}
    ]


def test_custom_calls_become_functions() -> None:
    call = {"id": "1", "type": "custom", "custom": {"name": "run", "input": "ls"}}
    found: Any = convert([{"role": "assistant", "tool_calls": [call]}], source="openai-chat", target="qwen-agent")
    assert found.value[0]["function_call"] == {"name": "run", "arguments": '{"input": "ls"}'}
    assert "call_kind" in {loss.code for loss in found.losses}


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": [{"text": "a"}, {"image": "b.png"}]}],
        [called(reasoning_content="a")],
        [called(extra={"function_id": "1"})],
    ],
)
def test_it_is_recognised(value: Any) -> None:
    assert recognised(value).name == "qwen-agent"


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, "qwen-agent"),
        ({}, "qwen-agent"),
        ([1], "/messages/0"),
        ([{"role": "tool"}], "/messages/0"),
        ([{"role": []}], "/messages/0"),
        ({"messages": [], "functions": 1}, "/functions"),
        ({"messages": [], "functions": [1]}, "/functions/0"),
        ({"messages": [], "functions": [{"name": 1}]}, "/functions/0/name"),
    ],
)
def test_what_is_no_conversation_is_refused(value: Any, where: str) -> None:
    with pytest.raises(ParseError) as caught:
        MADE.read(value)
    assert str(caught.value).startswith(where)


@pytest.mark.parametrize(
    "item",
    [
        {"role": "user"},
        {"role": "user", "content": {"a": 1}, "name": "b", "function_call": {"name": "f"}},
        {"role": "user", "content": "a", "name": 1},
        {"role": "assistant", "content": None, "reasoning_content": [{"text": "a"}], "function_call": 1},
        {"role": "assistant", "content": "a", "function_call": {"name": []}, "extra": []},
        called(arguments={"a": 1.0}),
        called(arguments="{"),
        called(extra={"function_id": 1}),
        {"role": "function", "content": None},
    ],
)
def test_odd_messages_come_back_as_they_were(item: Any) -> None:
    value = [{"role": "user", "content": "Hi"}, item]
    there = convert(value, source="qwen-agent", target="anthropic")
    back = convert(there.value, source="anthropic", target="qwen-agent", residue=there.residue).value
    assert json.dumps(back) == json.dumps(value)
