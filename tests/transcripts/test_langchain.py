"""LangChain messages: both ways they are written down, calls that are no JSON, blocks, odd input."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG, answered, asked, call, result, tool

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, MediaPart, Message, OpaquePart, Part, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.fitting.shape import shape
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

LANGCHAIN = find("langchain")
VALID = {"type": "tool_call", "id": "call_A1", "name": "get_weather", "args": {"city": "Paris"}}
BROKEN = {"type": "invalid_tool_call", "id": "call_B2", "name": "get_weather", "args": '{"city": ', "error": "bad JSON"}


def ai(content: Any = "", **data: Any) -> Any:
    return {"type": "ai", "data": {"type": "ai", "content": content, **data}}


def made(name: str, **fields: Any) -> Any:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


def parts(message: Any) -> tuple[Part, ...]:
    return LANGCHAIN.read([message]).messages[0].parts


def rewritten(message: Any) -> Any:
    found = LANGCHAIN.read([message])
    found.messages[0].origin = ""
    return LANGCHAIN.write(found)[0]  # type: ignore[index]


def test_a_call_that_is_no_json_keeps_its_text() -> None:
    message = ai("Checking.", tool_calls=[VALID], invalid_tool_calls=[BROKEN])
    error = {"langchain.invalid": True, "langchain.error": "bad JSON"}
    assert parts(message) == (
        TextPart("Checking."),
        CallPart("get_weather", {"city": "Paris"}, id="call_A1"),
        CallPart("get_weather", text='{"city": ', id="call_B2", extra=error),
    )
    assert rewritten(message) == message


@pytest.mark.parametrize("text", ['{"city": ', "[]", "null", '"Paris"'])
def test_arguments_that_are_no_object_are_written_as_an_invalid_call(text: str) -> None:
    message = LANGCHAIN.write(shape(asked(answered(call(text=text)), *tool(result())), LANGCHAIN.rules))[1]  # type: ignore[index]
    assert message["data"]["tool_calls"] == []  # type: ignore[index, call-overload]
    assert [made["args"] for made in message["data"]["invalid_tool_calls"]] == [text]  # type: ignore[index, call-overload, union-attr]


def test_constructors_say_the_same_as_dicts() -> None:
    written = [
        made("SystemMessage", content="Be brief."),
        made("HumanMessage", content="Weather?"),
        made("AIMessageChunk", content="", tool_calls=[VALID], id="run-1"),
        made("ToolMessage", content="no such city", tool_call_id="call_A1", status="error"),
    ]
    assert LANGCHAIN.read(written).messages == (
        Message("system", (TextPart("Be brief."),)),
        Message("user", (TextPart("Weather?"),)),
        Message(
            "assistant", (CallPart("get_weather", {"city": "Paris"}, id="call_A1"),), extra={"langchain.id": "run-1"}
        ),
        Message("tool", (ResultPart((TextPart("no such city"),), "call_A1", is_error=True),)),
    )
    assert recognised(written).name == "langchain"
    assert LANGCHAIN.write(LANGCHAIN.read(written)) == written


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "reasoning", "reasoning": "a"}, ReasoningPart("a")),
        ({"type": "thinking", "thinking": "a", "signature": "EqQB"}, ReasoningPart("a", "EqQB", owner="anthropic")),
        ({"type": "redacted_thinking", "data": "EmwK"}, ReasoningPart("", encrypted="EmwK", owner="anthropic")),
        ({"type": "image", "base64": PNG, "mime_type": "image/png"}, MediaPart("image", "image/png", PNG)),
        ({"type": "audio", "url": "https://a.b"}, MediaPart("audio", url="https://a.b")),
        (
            {"type": "file", "file_id": "f1", "mime_type": "application/pdf"},
            MediaPart("document", "application/pdf", file_id="f1", owner="langchain"),
        ),
        (
            {"type": "non_standard", "value": {"a": 1}},
            OpaquePart("langchain", {"type": "non_standard", "value": {"a": 1}}),
        ),
        ({"type": "reasoning", "reasoning": 3}, OpaquePart("langchain", {"type": "reasoning", "reasoning": 3})),
    ],
)
def test_a_block_is_read_and_written_again(block: Any, expected: Part) -> None:
    message = ai([block])
    assert parts(message) == (expected,)
    assert rewritten(message) == message


def test_a_block_that_repeats_a_call_says_where_it_stands() -> None:
    content = [
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "call_A1", "name": "get_weather", "input": {"city": "Paris"}},
        {"type": "text", "text": "b"},
    ]
    found = parts(ai(content, tool_calls=[VALID]))
    assert [type(part) for part in found] == [TextPart, CallPart, TextPart]


def test_reasoning_beside_the_content_is_read() -> None:
    message = LANGCHAIN.read([ai("a", additional_kwargs={"reasoning_content": "b", "c": 1})]).messages[0]
    assert message.parts == (ReasoningPart("b"), TextPart("a"))
    assert message.extra == {"langchain.additional_kwargs": {"c": 1}}


def test_tools_are_a_loss() -> None:
    value = {
        "messages": [{"role": "user", "content": "a"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
    }
    assert [loss.code for loss in convert(value, source="openai-chat", target="langchain").losses] == ["tools"]


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"items": []}, "langchain"),
        (["a"], "/0"),
        ([ai(tool_calls="a")], "/0/data/tool_calls"),
        ([ai(tool_calls=["a"])], "/0/data/tool_calls"),
        ([ai(tool_calls=[{"name": 3, "args": {}}])], "/0/data/tool_calls/0/name"),
        ([made("ToolMessage", content="a", tool_call_id=["b"])], "/0/kwargs/tool_call_id"),
    ],
)
def test_what_would_mislead_is_refused_with_its_place(value: Any, where: str) -> None:
    with pytest.raises(ParseError, match=f"^{where}:"):
        LANGCHAIN.read(value)


@pytest.mark.parametrize(
    "message", [{"type": "remove", "data": {"id": "a"}}, {"type": ["ai"]}, {"type": "ai", "data": 3}]
)
def test_a_message_of_another_kind_is_refused(message: Any) -> None:
    with pytest.raises(ParseError, match=r"^/1/type: expected system, human, ai, tool, function or chat"):
        LANGCHAIN.read([{"type": "human", "data": {"content": "Hi."}}, message])
