"""OpenTelemetry GenAI: what its parts mean, attributes as text, where the output begins, odd input."""

from __future__ import annotations

import json
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, JsonPart, MediaPart, OpaquePart, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find

MADE = find("otel-genai")
IN, OUT = "gen_ai.input.messages", "gen_ai.output.messages"


def said(text: str, role: str = "user", **further: Any) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}], **further}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "content": "a"}, TextPart("a")),
        ({"type": "reasoning", "content": "a", "b": 1}, ReasoningPart("a", extra={"otel-genai.b": 1})),
        (
            {"type": "blob", "mime_type": "image/png", "modality": "image", "content": PNG},
            MediaPart("image", "image/png", PNG),
        ),
        (
            {"type": "uri", "mime_type": None, "modality": "video", "uri": "https://a.b/c"},
            MediaPart("video", url="https://a.b/c"),
        ),
        (
            {"type": "file", "mime_type": None, "modality": "document", "file_id": "f"},
            MediaPart("document", file_id="f", owner="otel-genai"),
        ),
        ({"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": 1.0}}, CallPart("f", {"a": 1.0}, id="1")),
        ({"type": "tool_call", "id": "1", "name": "f", "arguments": '{"a": '}, CallPart("f", text='{"a": ', id="1")),
        ({"type": "tool_call_response", "id": "1", "response": "18C"}, ResultPart((TextPart("18C"),), "1")),
        ({"type": "tool_call_response", "id": "1", "response": {"t": 1.0}}, ResultPart((JsonPart({"t": 1.0}),), "1")),
        (
            {"type": "tool_call_response", "id": "1", "response": [{"type": "text", "content": "a"}]},
            ResultPart((TextPart("a"),), "1"),
        ),
        (
            {"type": "server_tool_call", "name": "web_search", "server_tool_call": {}},
            OpaquePart("otel-genai", {"type": "server_tool_call", "name": "web_search", "server_tool_call": {}}),
        ),
        ({"type": []}, OpaquePart("otel-genai", {"type": []})),
        (1, OpaquePart("otel-genai", 1)),
    ],
)
def test_a_part(part: Any, expected: Any) -> None:
    value = {IN: [{"role": "assistant", "parts": [part]}]}
    found = MADE.read(value)
    assert found.messages[0].parts == (expected,)
    found.messages[0].origin = ""
    assert MADE.read(MADE.write(found)).messages == found.messages


def test_attributes_may_be_json_text_and_keep_it() -> None:
    value = {IN: json.dumps([said("a")]), OUT: json.dumps([said("b", "assistant", finish_reason="stop")])}
    there = convert(value, source="otel-genai", target="anthropic")
    assert [message["content"] for message in there.value["messages"]] == ["a", "b"]  # type: ignore[index, call-overload, union-attr]
    there.value["messages"][1]["content"] = "c"  # type: ignore[index, call-overload]
    back = convert(there.value, source="anthropic", target="otel-genai", residue=there.residue)
    assert back.value == {IN: value[IN], OUT: [said("c", "assistant", finish_reason="stop")]}


def test_an_answer_that_is_no_longer_the_last_becomes_input() -> None:
    value = {IN: [said("a")], OUT: [said("b", "assistant", finish_reason="stop")]}
    there = convert(value, source="otel-genai", target="anthropic")
    there.value["messages"].append({"role": "user", "content": "c"})  # type: ignore[index, call-overload, union-attr]
    back = convert(there.value, source="anthropic", target="otel-genai", residue=there.residue)
    assert back.value == {IN: [said("a"), said("b", "assistant", finish_reason="stop"), said("c")]}


def test_that_a_result_is_an_error_has_no_place() -> None:
    call = {"type": "tool_use", "id": "1", "name": "f", "input": {}}
    failed = {"type": "tool_result", "tool_use_id": "1", "content": "no", "is_error": True}
    value = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [failed]}]
    assert [loss.code for loss in convert(value, source="anthropic", target="otel-genai").losses] == ["error_flag"]


def test_odd_fields_are_kept_as_they_came() -> None:
    tool = {"type": "function", "name": "f", "description": [1]}
    value = {IN: [said("a", name=1)], "gen_ai.tool.definitions": [tool]}
    found = MADE.read(value)
    assert found.messages[0].extra == {"otel-genai.name": 1}
    found.messages[0].origin = ""
    assert MADE.write(found) == value


@pytest.mark.parametrize(
    "value", [None, {}, [1], {IN: 1}, {IN: "{"}, {IN: [{"role": "user"}]}, {OUT: [said("a", "x")]}]
)
def test_what_is_no_conversation_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        MADE.read(value)


def test_a_span_is_read_as_an_object_as_json_and_among_others() -> None:
    attributes = {"gen_ai.input.messages": '[{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]'}
    span = SimpleNamespace(name="chat", attributes=MappingProxyType(attributes))
    written = {"name": "chat", "kind": "SpanKind.CLIENT", "attributes": attributes}
    other = {"name": "invoke_agent", "attributes": {}}
    expected = convert(attributes, source="otel-genai", target="openai-chat").value
    assert expected == {"messages": [{"role": "user", "content": "Hi"}]}
    for given in (span, span.attributes, written, [other, written], [span, other]):
        for source in ("otel-genai", "auto"):
            value: Any = given
            assert convert(value, source=source, target="openai-chat").value == expected
