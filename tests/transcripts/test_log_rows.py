"""Rows of logs and data sets as they are found: the format is found by evidence, or one question is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import ParseError, convert
from toolfmt.conversation import TextPart
from toolfmt.corpora.picks import options
from toolfmt.errors import FormatQuestionError
from toolfmt.transcripts.exchanges import exchange, inside, put_inside
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

USER = {"role": "user", "content": "Hi."}
SAID = {"role": "assistant", "content": "Hello."}
CHAT = [USER, SAID]
TOOL = {"name": "f", "parameters": {"type": "object", "properties": {}}}
CALLED = {"name": "f", "arguments": "{}"}
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
ANTHROPIC = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "Hello."}],
    "stop_reason": "end_turn",
}
GEMINI = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}
CANDIDATES = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}, "finishReason": "STOP"}]}
RESPONSE = {
    "id": "r",
    "object": "response",
    "status": "completed",
    "output": [
        {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Hello."}]}
    ],
}
LANGCHAIN = [{"type": "human", "content": "Hi."}, {"type": "ai", "content": "Hello."}]

FOUND: dict[str, tuple[Any, str]] = {
    "a list of messages": ([USER], "openai-chat"),
    "a row of messages": ({"messages": CHAT}, "openai-chat"),
    "a request": ({"model": "m", "messages": CHAT, "temperature": 0}, "openai-chat"),
    "a row of a data set": ({"messages": CHAT, "source": "web", "id": "7"}, "openai-chat"),
    "instructions beside": ({"system": "Be brief.", "messages": CHAT}, "anthropic"),
    "turns": ({"conversations": [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]}, "sharegpt"),
    "contents": (GEMINI, "gemini"),
    "a request of Responses": ({"model": "m", "input": "Hi."}, "openai-responses"),
    "chat.completion": (COMPLETION, "openai-chat"),
    "an answer of Anthropic": (ANTHROPIC, "anthropic"),
    "an answer of Gemini": (CANDIDATES, "gemini"),
    "an answer of Responses": (RESPONSE, "openai-responses"),
    "LangGraph's state": ({"messages": LANGCHAIN, "remaining_steps": 24}, "langchain"),
    "OpenTelemetry": (
        {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi."}]}]},
        "otel-genai",
    ),
    "preferences": (
        {"prompt": "Hi.", "chosen": CHAT, "rejected": [USER, {"role": "assistant", "content": "No."}]},
        "trl",
    ),
    "useChat": ([{"id": "1", "role": "user", "parts": [{"type": "text", "text": "Hi."}]}], "vercel-ui"),
}


@pytest.mark.parametrize("name", FOUND)
def test_the_format_is_found(name: str) -> None:
    value, expected = FOUND[name]
    assert recognised(value).name == expected
    for target in ("openai-chat", "anthropic", "gemini"):
        said = [
            part.text
            for message in find(target).read(convert(value, target=target).value).messages
            for part in message.parts
            if isinstance(part, TextPart)
        ]
        assert said[-1] in ("Hi.", "Hello.")


ASKED: dict[str, tuple[Any, str]] = {
    "OpenAI batch, asked": (
        {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": CHAT}},
        "give --at /body",
    ),
    "OpenAI batch, answered": (
        {"id": "b", "custom_id": "1", "response": {"status_code": 200, "body": COMPLETION}, "error": None},
        "an openai-chat answer at /response/body: give --at /response/body",
    ),
    "Anthropic batch, asked": (
        {"custom_id": "1", "params": {"model": "m", "max_tokens": 9, "system": "S", "messages": [USER]}},
        "an anthropic conversation at /params: give --at /params",
    ),
    "Anthropic batch, answered": (
        {"custom_id": "1", "result": {"type": "succeeded", "message": ANTHROPIC}},
        "an anthropic answer at /result/message",
    ),
    "Gemini batch": ({"key": "1", "request": GEMINI, "response": CANDIDATES}, "--at /request --answer /response"),
    "Langfuse": (
        {
            "id": "1",
            "type": "GENERATION",
            "input": {"messages": [USER], "model": "m"},
            "output": SAID,
            "level": "DEFAULT",
        },
        "--at /input --answer /output",
    ),
    "LiteLLM": (
        {"id": "1", "call_type": "completion", "messages": [USER], "response": COMPLETION, "model": "m"},
        "--answer /response",
    ),
    "a proxy": (
        {"request": {"messages": [USER], "model": "m"}, "response": COMPLETION},
        "--at /request --answer /response",
    ),
    "a proxy that keeps texts": (
        {"request": {"body": json.dumps({"messages": [USER]})}, "response": {"body": json.dumps(COMPLETION)}},
        "--at /request/body --answer /response/body",
    ),
    "a state's snapshot": ({"values": {"messages": LANGCHAIN}, "next": [], "config": {}}, "--at /values"),
    "messages under another key": ({"conversation_id": "1", "turns": CHAT}, "--at /turns"),
    "A2A in JSON-RPC": (
        {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"status": {}, "history": [{"role": "ROLE_USER", "parts": [{"text": "Hi."}]}]},
        },
        "an a2a conversation at /result: give --at /result",
    ),
    "a conversation of another shape": ({"conversations": CHAT}, "--at /conversations"),
    "Alpaca": ({"instruction": "Say hi.", "output": "Hi."}, "(an object with the keys 'instruction', 'output'"),
    "Alpaca with an input": (
        {"instruction": "Say hi.", "input": "To me.", "output": "Hi."},
        "(an object with the keys 'instruction', 'input', 'output'",
    ),
    "a speaker that nobody knows": (
        {"messages": [USER, {"role": "critic", "content": "{}"}]},
        "the most likely is openai-chat: /messages/1: the role is one of",
    ),
    "an item of OpenAI's": (
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        "this is one message: put it in a list",
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_one_question_is_asked(name: str) -> None:
    value, question = ASKED[name]
    with pytest.raises(ParseError) as raised:
        convert(value, target="anthropic")
    assert "--" not in str(raised.value), "the options are the command line's"
    asked = options(raised.value) if isinstance(raised.value, FormatQuestionError) else ""
    assert question in f"{raised.value}{asked}"
    words = question.split()
    paths = {option: words[words.index(option) + 1] for option in ("--at", "--answer") if option in words}
    if "--at" in paths:
        found = inside(value, paths["--at"])
        if "--answer" in paths:
            found = exchange(found, inside(value, paths["--answer"]))
        written = json.dumps(convert(found, target="bedrock").value)
        assert "Hello." in written or "Hi." in written
        assert "--answer" not in paths or ("Hello." in written and "Hi." in written)


CALLING = {"id": "c", "type": "function", "function": CALLED}
STEP = {"role": "assistant", "source": "generate", "content": "Hello."}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"messages": [USER, STEP], "output": {"choices": [{"message": SAID, "stop_reason": "stop"}]}}, "inspect"),
        ({"messages": CHAT, "tools": json.dumps([TOOL])}, "hf-chat"),
        ({"messages": [USER, {"role": "assistant", "tool_calls": [CALLING]}], "tools": json.dumps([TOOL])}, "hf-chat"),
        ({"messages": [USER, {**SAID, "thinking": "Hm."}]}, "openai-chat"),
        ({"messages": [USER, {"role": "assistant", "function_call": CALLED}], "functions": [TOOL]}, "openai-chat"),
        (
            [
                {"role": "user", "content": [{"type": "image", "image": "https://a.b/c"}]},
                {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "1", "toolName": "f", "result": 1}]},
            ],
            "vercel-model",
        ),
    ],
    ids=[
        "an answer that is repeated",
        "tools as text",
        "tools as text and calls",
        "thoughts",
        "functions",
        "an image beside results",
    ],
)
def test_what_reads_the_most_is_taken(value: Any, name: str) -> None:
    assert recognised(value).name == name


def test_several_formats_are_possible() -> None:
    value = [{"role": "user", "content": "Hi."}]
    assert convert(value, source=["gemini", "anthropic"], target="hf-chat").source == "anthropic"
    with pytest.raises(ParseError, match="nothing in the conversation identifies its format"):
        convert(value, source=["gemini", "bedrock"], target="hf-chat")


def test_what_is_text_of_json_stays_text() -> None:
    row = {"id": 1, "body": json.dumps({"messages": CHAT})}
    assert inside(row, "/body/messages/1") == SAID
    assert put_inside(row, "/body/messages", []) == {"id": 1, "body": '{"messages": []}'}


def test_what_an_answer_says_beside_its_message_is_listed() -> None:
    made = convert(COMPLETION, target="anthropic")
    assert {loss.detail for loss in made.all_losses} >= {"answer.usage", "answer.model"}
    assert convert(COMPLETION, target="openai-chat").value == {"messages": [SAID]}
    with pytest.raises(ParseError, match="2 choices"):
        convert({**COMPLETION, "choices": COMPLETION["choices"] * 2}, target="anthropic")


PLAIN = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]


@pytest.mark.parametrize("value", [PLAIN, {"messages": PLAIN}])
def test_plain_messages_are_of_the_most_common_format_that_they_may_be_of(value: Any) -> None:
    assert recognised(value).name == "openai-chat"
    assert recognised(value, ["ollama", "hf-chat"]).name in {"ollama", "hf-chat"}
    assert recognised(value, ["sharegpt", "anthropic"]).name == "anthropic"


@pytest.mark.parametrize("value", [{"foo": 1, "bar": [1]}, {"query": {"a": 1}}, "nonsense"])
def test_what_is_no_conversation_is_a_question_in_plain_words(value: Any) -> None:
    with pytest.raises(ParseError, match=r"name its format$"):
        recognised(value)


@pytest.mark.parametrize("value", [3, None])
def test_a_value_of_a_type_that_no_format_has_is_named(value: Any) -> None:
    with pytest.raises(ParseError, match="a conversation is a list or an object, not "):
        recognised(value)


@pytest.mark.parametrize("legacy", [{}, {"function_call": {"name": "f", "arguments": "{}"}}])
@pytest.mark.parametrize(
    "own",
    [
        {"annotations": [{"type": "url_citation", "url_citation": {"url": "https://a", "title": "T"}}]},
        {"audio": {"id": "a", "data": "AAAA", "transcript": "yes"}},
        {"refusal": "No."},
    ],
)
def test_keys_that_only_openai_has_are_evidence(own: dict[str, Any], legacy: dict[str, Any]) -> None:
    answer = {"role": "assistant", "content": "yes", **legacy, **own}
    assert recognised({"messages": [{"role": "user", "content": "Hi."}, answer]}).name == "openai-chat"


CHUNKS = [
    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}}]},
    {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": "lo."}, "finish_reason": "stop"}],
    },
]
EVENTS = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: [DONE]\n\n"


@pytest.mark.parametrize("answer", ["Hello.", CHUNKS, EVENTS, COMPLETION, SAID, [SAID]])
def test_an_answer_is_whole_a_stream_or_its_text(answer: Any) -> None:
    assert exchange({"model": "m", "messages": [USER]}, answer) == {"model": "m", "messages": CHAT}


@pytest.mark.parametrize("stream", [CHUNKS, EVENTS])
def test_a_row_of_a_request_and_a_stream_needs_no_options(stream: Any) -> None:
    with pytest.raises(FormatQuestionError) as question:
        recognised({"request": {"model": "m", "messages": [USER]}, "response": stream})
    assert (question.value.conversations, question.value.answers) == (("/request",), ("/response",))


def test_an_answer_of_another_api_decides_a_request_that_both_read_alike() -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hello."}], "model": "c"}
    request = {"max_tokens": 9, "messages": [USER]}
    made = exchange(request, answer)
    assert made == {**request, "messages": [USER, {"role": "assistant", "content": answer["content"]}]}
    with pytest.raises(ParseError, match="of openai-chat, and its answer of anthropic"):
        exchange(request, answer, "openai-chat")


@pytest.mark.parametrize("key", ["answer", "output", "response"])
def test_the_text_of_an_answer_beside_a_conversation_is_asked_about(key: str) -> None:
    with pytest.raises(FormatQuestionError, match=f"a text answer at /{key}") as question:
        recognised({"id": "7", "messages": [USER], key: "Hello."})
    assert question.value.answers == (f"/{key}",)
    assert recognised({"id": "7", "messages": CHAT, key: "Hello."}).name == "openai-chat"


def test_a_prompt_and_its_answer_are_a_row_of_both() -> None:
    with pytest.raises(FormatQuestionError, match="a text answer at /response"):
        recognised({"prompt": "Hi.", "response": "Hello."})
    made = exchange({"prompt": "Hi."}, "Hello.")
    assert convert(made, target="openai-chat").value["messages"] == CHAT


def test_parts_of_a_stream_without_text_stay_as_they_are() -> None:
    ran = {"executableCode": {"language": "PYTHON", "code": "1"}}
    pieces = ({"text": "a"}, {}, {"text": "b"}, ran, {"thought": True}, {"text": "c"}, {"text": "d"})
    chunks: list[dict[str, Any]] = [{"candidates": [{"content": {"role": "model", "parts": [one]}}]} for one in pieces]
    chunks.append({"candidates": [{"finishReason": "STOP"}]})
    made = exchange({"contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}, chunks, "gemini")
    parts = [{"text": "a"}, {}, {"text": "b"}, ran, {"thought": True}, {"text": "cd"}]
    assert made["contents"][1:] == [{"role": "model", "parts": parts}]


def test_a_stream_that_a_message_cannot_hold_is_refused() -> None:
    searched = {"type": "web_search_call", "id": "w", "status": "completed"}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": searched},
        {"type": "response.output_item.done", "output_index": 0, "item": searched},
    ]
    with pytest.raises(ParseError, match="only a whole answer keeps: web_search_call"):
        exchange({"input": "Hi."}, events, "openai-responses")
    with pytest.raises(ParseError, match="an API's error: too many"):
        exchange({"messages": [USER]}, [CHUNKS[0], {"error": {"message": "too many"}, "choices": []}], "openai-chat")
