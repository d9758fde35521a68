"""Gemini Interactions: what its steps mean, the forms of its input, odd input."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import (
    CallPart,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    ResultPart,
    TextPart,
    ToolChoice,
)
from toolfmt.transcripts.formats import find

INTERACTIONS = find("gemini-interactions")
CITED = {"type": "url_citation", "url": "https://a.b", "start_index": 0, "end_index": 1}
FILE = "https://generativelanguage.googleapis.com/v1beta/files/a"
SEARCH = {"type": "google_search_call", "id": "1", "arguments": {"queries": ["a"]}, "signature": "c2ln"}


def rewritten(*steps: Any) -> Any:
    """Write steps of messages that have no source."""
    found = INTERACTIONS.read(list(steps))
    for message in found.messages:
        message.origin = ""
    return INTERACTIONS.write(found)["input"]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"type": "model_output", "content": [{"type": "text", "text": "a"}]}, TextPart("a")),
        (
            {"type": "model_output", "content": [{"type": "text", "text": "a", "annotations": [CITED]}]},
            TextPart("a", (CITED,)),
        ),
        (
            {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "a"}]},
            ReasoningPart("a", "c2ln", None, "google"),
        ),
        ({"type": "thought", "signature": "c2ln"}, ReasoningPart("", "c2ln", None, "google")),
        (
            {"type": "function_call", "id": "1", "name": "f", "arguments": {"a": 1.0}, "signature": "c2ln"},
            CallPart("f", {"a": 1.0}, id="1", signature="c2ln", owner="google"),
        ),
        (
            {"type": "function_result", "call_id": "1", "name": "f", "result": "no", "is_error": True},
            ResultPart((TextPart("no"),), "1", "f", is_error=True),
        ),
        (
            {"type": "function_result", "call_id": "1", "name": "f", "result": {"a": [1]}},
            ResultPart((JsonPart({"a": [1]}),), "1", "f"),
        ),
        ({"type": "function_result", "call_id": "1", "name": "f", "result": ""}, ResultPart((), "1", "f")),
        (
            {
                "type": "function_result",
                "call_id": "1",
                "result": [{"type": "text", "text": "a"}, {"type": "image", "mime_type": "image/png", "data": PNG}],
            },
            ResultPart((TextPart("a"), MediaPart("image", "image/png", PNG)), "1"),
        ),
        (
            {"type": "user_input", "content": [{"type": "document", "mime_type": "application/pdf", "uri": FILE}]},
            MediaPart("document", "application/pdf", file_id=FILE, owner="google"),
        ),
        (
            {
                "type": "user_input",
                "content": [{"type": "image", "mime_type": "image/png", "data": PNG, "resolution": "low"}],
            },
            MediaPart("image", "image/png", PNG, extra={"gemini-interactions.resolution": "low"}),
        ),
        (SEARCH, OpaquePart("gemini-interactions", SEARCH)),
        ({"type": "user_input", "content": [3]}, OpaquePart("gemini-interactions", 3)),
        (
            {"type": "model_output", "content": [{"type": "hologram"}]},
            OpaquePart("gemini-interactions", {"type": "model_output", "content": [{"type": "hologram"}]}),
        ),
        ({"type": "function_call", "id": "1"}, OpaquePart("gemini-interactions", {"type": "function_call", "id": "1"})),
    ],
)
def test_a_step_is_read_and_written_again(step: Any, expected: Part) -> None:
    assert INTERACTIONS.read([step]).messages[0].parts == (expected,)
    assert rewritten(step) == [step]


def test_the_steps_of_a_turn_of_the_models_are_one_message() -> None:
    steps: list[Any] = [
        {"type": "thought", "signature": "c2ln"},
        {"type": "model_output", "content": [{"type": "text", "text": "Two."}]},
        SEARCH,
        {"type": "function_call", "id": "1", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "1", "name": "f", "result": "a"},
        {"type": "model_output", "content": [{"type": "text", "text": "Done."}]},
        {"type": "user_input", "content": [{"type": "text", "text": "More."}]},
        {"type": "user_input", "content": [{"type": "text", "text": "Now."}]},
    ]
    found = INTERACTIONS.read({"input": steps})
    assert [(message.role, message.where[1:]) for message in found.messages] == [
        ("assistant", (0,)),
        ("tool", (4,)),
        ("assistant", (5,)),
        ("user", (6,)),
        ("user", (7,)),
    ]
    assert INTERACTIONS.write(found) == {"input": steps}
    assert rewritten(*steps) == steps


@pytest.mark.parametrize("given", ["hi", {"type": "text", "text": "hi"}, [{"type": "text", "text": "hi"}], ["hi"]])
def test_every_form_of_input_is_a_turn_of_the_users(given: Any) -> None:
    value = {"model": "m", "input": given}
    there = convert(value, source="gemini-interactions", target="anthropic")
    assert there.value == {"messages": [{"role": "user", "content": "hi"}]}
    back = convert(there.value, source="anthropic", target="gemini-interactions", residue=there.residue)
    assert back.value == value


def test_signatures_cross_to_the_other_api_of_google() -> None:
    value = [
        {"role": "user", "parts": [{"text": "go"}]},
        {
            "role": "model",
            "parts": [
                {"text": "One.", "thought": True, "thoughtSignature": "YQ=="},
                {"functionCall": {"id": "1", "name": "f", "args": {}}, "thoughtSignature": "Yg=="},
            ],
        },
        {"role": "user", "parts": [{"functionResponse": {"id": "1", "name": "f", "response": {"a": 1}}}]},
    ]
    there = convert(value, source="gemini", target="gemini-interactions", strict=True)
    assert [step.get("signature") for step in there.value["input"]] == [None, "YQ==", "Yg==", None]
    assert convert(there.value, source="gemini-interactions", target="gemini", strict=True).value == {"contents": value}


def test_only_the_assistants_turn_is_taken_together_for_chat() -> None:
    steps = [
        {"type": "user_input", "content": "go"},
        {"type": "model_output", "content": [{"type": "text", "text": "Two."}]},
        {"type": "function_call", "id": "1", "name": "f", "arguments": {}},
        {"type": "function_call", "id": "2", "name": "g", "arguments": {}},
        {"type": "function_result", "call_id": "2", "result": "b"},
        {"type": "function_result", "call_id": "1", "result": "a"},
    ]
    messages = convert(steps, source="gemini-interactions", target="openai-chat").value["messages"]
    assert [(message["role"], message["content"]) for message in messages] == [
        ("user", "go"),
        ("assistant", "Two."),
        ("tool", "b"),
        ("tool", "a"),
    ]
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["1", "2"]


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ("auto", ToolChoice("auto")),
        ("any", ToolChoice("required")),
        ("none", ToolChoice("none")),
        ("validated", None),
        ({"allowed_tools": {"mode": "auto", "tools": ["f", "g"]}}, ToolChoice("auto", ("f", "g"))),
        ({"allowed_tools": {"mode": "validated", "tools": ["f"]}}, None),
        ({"allowed_tools": {"mode": "any", "tools": "f"}}, None),
    ],
)
def test_a_choice_is_read_and_written(written: Any, choice: ToolChoice | None) -> None:
    value = {"input": [], "generation_config": {"temperature": 0, "tool_choice": written}}
    found = INTERACTIONS.read(value)
    assert found.tool_choice == choice
    assert INTERACTIONS.write(found) == value


def test_tools_are_read_and_written() -> None:
    tools = [
        {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}},
        {"type": "google_search"},
        {"type": "mcp_server", "name": "m", "url": "https://a.b"},
    ]
    found = INTERACTIONS.read({"input": [], "tools": tools})
    assert [(tool.name, tool.kind) for tool in found.tools or ()] == [
        ("f", "function"),
        ("google_search", "hosted"),
        ("m", "hosted"),
    ]
    assert INTERACTIONS.write(found) == {"input": [], "tools": tools}


@pytest.mark.parametrize(
    "value", ["x", {}, {"input": 3}, {"input": [3]}, [{"content": "x"}], {"input": [], "tools": [3]}]
)
def test_what_is_no_request_is_a_parse_error(value: Any) -> None:
    with pytest.raises(ParseError):
        INTERACTIONS.read(value)
