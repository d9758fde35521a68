"""What says nothing is refused or named: no conversation, answer or list of tools becomes an empty one in silence."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import ConversionError, ParseError, check, convert, read_answer

FOREIGN = {"type": "a-kind-of-tomorrow", "data": 1}


@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini", "bedrock", "openai-responses", "hf-chat"])
@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("openai-chat", {"messages": [{"role": "user", "content": [FOREIGN]}]}),
        (
            "anthropic",
            {"messages": [{"role": "user", "content": [FOREIGN]}, {"role": "assistant", "content": [FOREIGN]}]},
        ),
        ("gemini", {"contents": [{"role": "user", "parts": [{"tomorrow": {"a": 1}}]}]}),
    ],
)
def test_a_conversation_of_nothing_known_is_refused(source: str, value: Any, target: str) -> None:
    if source != target:
        with pytest.raises(ConversionError, match="nothing is left"):
            convert(value, source=source, target=target)


@pytest.mark.parametrize(
    "answer",
    [
        {"object": "chat.completion", "choices": []},
        {"candidates": []},
        {"choices": [{"message": None}]},
        {"choices": [{}]},
        {"candidates": [{"content": None}]},
        {"output": []},
        {"object": "response", "output": []},
        {"output": {"message": None}},
        {"steps": []},
    ],
)
def test_an_answer_without_a_message_is_refused(answer: Any) -> None:
    with pytest.raises(ParseError, match="the answer has no message"):
        read_answer(answer)


@pytest.mark.parametrize("answer", [{}, [], [{}], "[]", "{}", b"[]", iter(())], ids=lambda answer: f"{answer!r:.11}")
def test_an_answer_of_nothing_is_refused(answer: object) -> None:
    with pytest.raises(ParseError, match="the answer is empty"):
        read_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"role": "assistant", "content": ""}}]},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"object": "response", "status": "completed", "output": []},
        {"output": {"message": {"role": "assistant", "content": []}}},
    ],
)
def test_an_empty_message_is_an_answer(answer: Any) -> None:
    assert not read_answer(answer).parts


def said(text: str, **fields: Any) -> dict[str, Any]:
    return {"message": {"role": "assistant", "content": text}, "finish_reason": "stop", **fields}


@pytest.mark.parametrize("fields", [{}, {"index": None}, {"index": 0}])
def test_of_several_choices_the_first_is_read_and_the_others_are_reported(fields: Any) -> None:
    found = read_answer({"choices": [said("a", **fields), said("b", **fields)]})
    assert found.text == "a"
    assert [(notice.kind, notice.detail) for notice in found.notices] == [("choice", "1")]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("openai-chat", {"model": "gpt-5.1", "messages": [{"role": "user", "content": "Hi"}], "tools": []}),
        ("bedrock", {"messages": [{"role": "user", "content": [{"text": "Hi"}]}], "toolConfig": {"tools": []}}),
    ],
)
def test_an_empty_list_of_tools_is_found_and_not_written(source: str, value: Any) -> None:
    assert [found.rule for found in check(value, format=source)] == ["no_tools"]
    anthropic = {"messages": [{"role": "user", "content": "Hi"}], "tools": []}
    assert check(anthropic, format="anthropic") == ()
    made = convert(anthropic, source="anthropic", target=source)
    assert made.losses == ()
    assert check(made.value, format=source) == ()


def test_a_message_of_sound_alone_is_not_empty() -> None:
    asked = {"role": "user", "content": "Hi"}
    said: dict[str, Any] = {"role": "assistant", "audio": {"id": "audio_1"}}
    assert check([asked, said, asked], format="openai-chat") == ()
    assert [
        found.rule for found in check([asked, {"role": "assistant", "audio": None}, asked], format="openai-chat")
    ] == ["empty"]


def test_lost_tools_are_named() -> None:
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in ("f", "g")]
    (loss,) = convert({"messages": [{"role": "user", "content": "Hi"}], "tools": tools}, target="langchain").losses
    assert (loss.code, loss.action, loss.detail) == ("tools", "dropped", "f, g")


def test_copies_of_an_api_take_an_empty_list_of_tools() -> None:
    value = {"model": "deepseek-ai/DeepSeek-R1", "messages": [{"role": "user", "content": "Hi"}], "tools": []}
    assert check(value, format="openai-chat") == ()


@pytest.mark.parametrize("target", ["sharegpt", "ms-swift"])
def test_a_result_without_its_name_is_linked_by_its_call(target: str) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    asked = {"role": "user", "parts": [{"text": "Go"}]}
    for name, codes in (("f", set()), ("g", {"result_link"})):
        result = {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"output": "r"}}}]}
        made = convert({"contents": [asked, call, result]}, source="gemini", target=target)
        assert {loss.code for loss in made.losses} == codes
