"""The streams that toolfmt writes, judged by the SDKs of the providers: their types and their accumulators."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from answer_streams import MARK, Answer, answers
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import RawMessageStreamEvent
from botocore.session import Session
from botocore.validate import ParamValidator
from cohere.v2.types import V2ChatStreamResponse
from google.genai.interactions import InteractionSSEEvent
from google.genai.types import GenerateContentResponse
from hypothesis import given
from mistralai.client.models import CompletionChunk
from ollama import ChatResponse
from openai import omit
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import BaseModel, TypeAdapter

from toolfmt import Message, read_stream, write_stream
from toolfmt.conversation import ReasoningPart, TextPart
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Usage

INFO = AnswerInfo(id="a", model="m", created=7, stop="stop", usage=Usage(input=12, output=9, cached=5, reasoning=4))
TYPES: dict[str, TypeAdapter[Any]] = {
    "openai-chat": TypeAdapter(ChatCompletionChunk),
    "openai-responses": TypeAdapter(ResponseStreamEvent),
    "anthropic": TypeAdapter(RawMessageStreamEvent),
    "gemini": TypeAdapter(GenerateContentResponse),
}
OTHERS: dict[str, TypeAdapter[Any]] = {
    "cohere": TypeAdapter(V2ChatStreamResponse),
    "gemini-interactions": TypeAdapter(InteractionSSEEvent),
    "mistral": TypeAdapter(CompletionChunk),
    "ollama": TypeAdapter(ChatResponse),
}
"""Types whose objects do not give back what they were made of."""
CONVERSE: Any = Session().get_service_model("bedrock-runtime").operation_model("ConverseStream").output_shape
BESIDE = {"reasoning_content"}
"""What no SDK knows and many servers send."""


def relayed(answer: Answer, target: str) -> tuple[list[Any], list[dict[str, Any]]]:
    stream = list(write_stream(answer.events, target=target, info=INFO))
    return [TYPES[target].validate_python(event) for event in stream], stream


def unknown(value: object) -> set[str]:
    """Find what a type took without knowing it."""
    if isinstance(value, BaseModel):
        fields = [vars(value)[name] for name in type(value).model_fields if name in vars(value)]
        return set(value.model_extra or ()).union(*map(unknown, fields))
    if isinstance(value, list):
        return set[str]().union(*map(unknown, value))
    return set()


@pytest.mark.parametrize("target", TYPES)
@given(answer=answers())
def test_every_event_has_its_type(target: str, answer: Answer) -> None:
    typed, stream = relayed(answer, target)
    for event, made in zip(typed, stream, strict=True):
        assert unknown(event) <= BESIDE
        if target != "gemini":  # whose own spelling differs from the wire's
            assert event.model_dump(exclude_unset=True) == made


@pytest.mark.parametrize("target", OTHERS)
@given(answer=answers())
def test_every_event_of_others_has_its_type(target: str, answer: Answer) -> None:
    for event in write_stream(answer.events, target=target, info=INFO):
        assert not unknown(OTHERS[target].validate_python(event)), event


@given(answer=answers())
def test_every_event_of_bedrock_has_its_shape(answer: Answer) -> None:
    for event in write_stream(answer.events, target="bedrock", info=INFO):
        errors = ParamValidator().validate(event, CONVERSE.members["stream"])
        assert not errors.has_errors(), errors.generate_report()


@pytest.mark.parametrize("target", TYPES)
@given(answer=answers())
def test_an_sdk_s_objects_are_read_as_the_json_they_came_as(target: str, answer: Answer) -> None:
    typed, stream = relayed(answer, target)
    objects, plain = read_stream(typed), read_stream(stream)
    assert list(objects) == list(plain)
    assert objects.info == plain.info


def calls_of(answer: Answer) -> dict[str, str]:
    return {f"tool_{index}": text for index, text in answer.texts.items()}


@given(answer=answers())
def test_chunks_add_up_to_the_message(answer: Answer) -> None:
    state = ChatCompletionStreamState()
    for chunk in relayed(answer, "openai-chat")[0]:
        list(state.handle_chunk(chunk))
    completion = state.current_completion_snapshot
    (choice,) = completion.choices
    assert MARK.sub("", choice.message.content or "") == answer.text
    assert getattr(choice.message, "reasoning_content", "") == answer.reasoning
    found = {call.function.name: call.function.arguments for call in choice.message.tool_calls or ()}
    whole = calls_of(answer)
    assert {name: text for name, text in found.items() if name in whole} == whole
    for name in found.keys() - whole.keys():
        assert_broken(found[name])
    assert (choice.finish_reason == "tool_calls") == (bool(whole) and not broken(answer))
    assert completion.usage is not None
    assert completion.usage.total_tokens == 21


def broken(answer: Answer) -> bool:
    return bool(answer.begun) or answer.truncated


def assert_broken(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json.loads(text)


@given(answer=answers())
def test_response_events_add_up_to_the_response(answer: Answer) -> None:
    state: Any = ResponseStreamState(input_tools=[], text_format=omit)
    typed, _ = relayed(answer, "openai-responses")
    for number, event in enumerate(typed):
        assert event.sequence_number == number
        for reported in state.handle_event(event):
            if reported.type == "response.output_text.delta":
                assert reported.snapshot.endswith(reported.delta)
    response = typed[-1].response
    output = [event.item for event in typed if event.type == "response.output_item.done"]
    assert sorted(map(repr, output)) == sorted(map(repr, response.output))
    text = "".join(part.text for item in response.output if item.type == "message" for part in item.content)
    thoughts = (part.text for item in response.output if item.type == "reasoning" for part in item.summary)
    assert MARK.sub("", text) == answer.text
    assert "".join(thoughts) == answer.reasoning
    calls = [item for item in response.output if item.type == "function_call"]
    assert {call.name: call.arguments for call in calls if call.status == "completed"} == calls_of(answer)
    for call in calls:
        if call.status != "completed":
            assert_broken(call.arguments)
    assert (response.status == "incomplete") == broken(answer)


@given(answer=answers())
def test_anthropic_s_events_add_up_to_the_message(answer: Answer) -> None:
    message: Any = None
    buffers: dict[int, bytes] = {}
    for event in relayed(answer, "anthropic")[0]:
        message = accumulate_event(event=event, current_snapshot=message, json_bufs=buffers)
    assert MARK.sub("", "".join(block.text for block in message.content if block.type == "text")) == answer.text
    assert "".join(block.thinking for block in message.content if block.type == "thinking") == answer.reasoning
    uses = {block.name: block.input for block in message.content if block.type == "tool_use"}
    whole = {call.name: call.arguments for call in answer.calls.values()}
    assert {name: value for name, value in uses.items() if name in whole} == whole
    assert (message.stop_reason == "tool_use") == (bool(whole) and not broken(answer))
    assert uses.keys() == whole.keys() or message.stop_reason == "max_tokens"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (7, 9)


@given(answer=answers())
def test_gemini_s_chunks_hold_the_message(answer: Answer) -> None:
    typed: Sequence[GenerateContentResponse] = relayed(answer, "gemini")[0]
    parts = [part for chunk in typed for part in chunk.candidates[0].content.parts]  # pyright: ignore[reportOptionalIterable, reportOptionalMemberAccess, reportOptionalSubscript]
    assert MARK.sub("", "".join(part.text for part in parts if part.text and not part.thought)) == answer.text
    assert "".join(part.text for part in parts if part.text and part.thought) == answer.reasoning
    found = {call.name: call.args for chunk in typed for call in chunk.function_calls or ()}
    assert found == {call.name: call.arguments for call in answer.calls.values()}


def test_a_signature_reaches_the_sdk() -> None:
    parts = (ReasoningPart("Hm.", "sig", None, "anthropic"), TextPart("Hi"))
    message: Any = None
    for event in write_stream(Message("assistant", parts), target="anthropic"):
        typed = TYPES["anthropic"].validate_python(event)
        message = accumulate_event(event=typed, current_snapshot=message, json_bufs={})
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].signature == "sig"
