"""The SDKs' own objects for finished answers, read as the provider's answer that they are."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message
from cohere.v2.types import V2ChatResponse, V2ChatStreamResponse
from google.genai.types import GenerateContentResponse
from mistralai.client.models import ChatCompletionResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic import TypeAdapter

from toolfmt import ReasoningDelta, TextDelta, read_answer, read_stream
from toolfmt.transcripts.answering.answer_info import Usage
from toolfmt.transcripts.answers import answered

CALL = {"id": "a1b2c3d4e", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
COUNT = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
TEXT = {"type": "text", "text": "Hi"}


def choice(content: Any, **further: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": [CALL], **further}
    return {"index": 0, "finish_reason": "tool_calls", "message": message}


ANSWERS: dict[str, tuple[Any, Any]] = {
    "openai-chat": (ChatCompletion, CHAT | {"usage": COUNT, "choices": [choice("Hi", reasoning_content="Hm.")]}),
    "mistral": (ChatCompletionResponse, CHAT | {"usage": COUNT, "choices": [choice([THOUGHT, TEXT])]}),
    "openai-responses": (
        Response,
        {
            "id": "r",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "status": "completed",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Hi", "annotations": []}],
                },
                {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
            ],
            "usage": {
                "input_tokens": 12,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 9,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 21,
            },
        },
    ),
    "anthropic": (
        Message,
        {
            "id": "x",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
                TEXT,
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
            ],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 12, "output_tokens": 9},
        },
    ),
    "gemini": (
        GenerateContentResponse,
        {
            "candidates": [
                {
                    "content": {
                        "role": "model",
                        "parts": [
                            {"text": "Hm.", "thought": True},
                            {"text": "Hi"},
                            {"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "c2ln"},
                        ],
                    },
                    "finishReason": "STOP",
                }
            ],
            "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21},
        },
    ),
    "cohere": (
        V2ChatResponse,
        {
            "id": "x",
            "finish_reason": "TOOL_CALL",
            "message": {
                "role": "assistant",
                "tool_plan": "Hi",
                "tool_calls": [CALL],
                "content": [{"type": "thinking", "thinking": "Hm."}],
            },
            "usage": {"tokens": {"input_tokens": 12, "output_tokens": 9}},
        },
    ),
    "ollama": (
        ChatResponse,
        {
            "model": "m",
            "done": True,
            "done_reason": "stop",
            "message": {
                "role": "assistant",
                "thinking": "Hm.",
                "content": "Hi",
                "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}],
            },
            "prompt_eval_count": 12,
            "eval_count": 9,
        },
    ),
}


@pytest.mark.parametrize("provider", ANSWERS)
def test_a_client_s_object_is_read(provider: str) -> None:
    type_, value = ANSWERS[provider]
    given = type_.model_validate(value)
    read = read_answer(given)
    assert [(call.name, call.arguments) for call in read.calls] == [("f", {"a": 1})]
    assert "".join(event.text for event in read.events if isinstance(event, TextDelta)) == "Hi"
    assert "".join(event.text for event in read.events if isinstance(event, ReasoningDelta)) == "Hm."
    events = answered(given)
    list(events)
    assert events.info.usage == Usage(input=12, output=9)


def test_a_stream_of_cohere_s_objects_is_read() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    piece = {"function": {"arguments": '{"a": 1}'}}
    stream = [
        {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant"}}},
        {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "Hi"}}},
        {"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": call}}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": piece}}},
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"output_tokens": 9}}}},
    ]
    read = TypeAdapter(V2ChatStreamResponse).validate_python
    events = read_stream(map(read, stream))
    (made,) = read_answer(map(read, stream)).calls
    assert (made.name, made.arguments, made.id) == ("f", {"a": 1}, "a")
    assert TextDelta("Hi", 0) in list(events)
    assert (events.info.stop, events.info.usage) == ("tool_calls", Usage(output=9))
