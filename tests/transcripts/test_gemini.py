"""Gemini generateContent: what its parts mean, both spellings of its keys, odd input."""

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

GEMINI = find("gemini")


def part(value: Any) -> Part:
    return GEMINI.read([{"role": "model", "parts": [value]}]).messages[0].parts[0]


def rewritten(value: Any) -> Any:
    """Write the part of a message that has no source."""
    found = GEMINI.read([{"role": "user", "parts": [value]}])
    found.messages[0].origin = ""
    return GEMINI.write(found)["contents"][0]["parts"]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"text": "a"}, TextPart("a")),
        ({"text": "a", "thoughtSignature": "c2ln"}, TextPart("a", extra={"gemini.thoughtSignature": "c2ln"})),
        ({"text": "a", "thought": True}, ReasoningPart("a")),
        ({"text": "a", "thought": True, "thoughtSignature": "s"}, ReasoningPart("a", "s", None, "google")),
        ({"functionCall": {"name": "f"}}, CallPart("f", {})),
        (
            {"function_call": {"name": "f", "args": {"a": 3.0}, "id": "1"}, "thought_signature": "s"},
            CallPart("f", {"a": 3.0}, id="1", signature="s", owner="google"),
        ),
        (
            {"functionCall": {"name": "f", "willContinue": True}},
            CallPart("f", {}, extra={"gemini.functionCall.willContinue": True}),
        ),
        ({"functionResponse": {"name": "f", "response": {"output": "18C"}}}, ResultPart((TextPart("18C"),), None, "f")),
        (
            {"functionResponse": {"name": "f", "response": {"error": "no"}}},
            ResultPart((TextPart("no"),), None, "f", is_error=True),
        ),
        ({"functionResponse": {"name": "f", "response": {"output": [1]}}}, ResultPart((JsonPart([1]),), None, "f")),
        (
            {"functionResponse": {"name": "f", "response": {"output": "a", "error": "b"}}},
            ResultPart((JsonPart({"output": "a", "error": "b"}),), None, "f"),
        ),
        ({"functionResponse": {"name": "f", "response": {}}}, ResultPart((JsonPart({}),), None, "f")),
        ({"inline_data": {"mime_type": "image/png", "data": PNG}}, MediaPart("image", "image/png", PNG)),
        ({"fileData": {"fileUri": "https://a.b/c.mp4"}}, MediaPart("video", url="https://a.b/c.mp4")),
        (
            {"fileData": {"mimeType": "image/png", "fileUri": "gs://a/b"}},
            MediaPart("image", "image/png", file_id="gs://a/b", owner="google"),
        ),
        (
            {"executableCode": {"language": "PYTHON", "code": "1"}},
            OpaquePart("gemini", {"executableCode": {"language": "PYTHON", "code": "1"}}),
        ),
        ({"functionCall": {"args": {}}}, OpaquePart("gemini", {"functionCall": {"args": {}}})),
        ({"functionResponse": {"response": "x"}}, OpaquePart("gemini", {"functionResponse": {"response": "x"}})),
        ({"text": None, "functionCall": {"name": "f"}}, CallPart("f", {}, extra={})),
        (3, OpaquePart("gemini", 3)),
    ],
)
def test_a_part_is_read(value: Any, expected: Part) -> None:
    assert part(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"text": "a", "thoughtSignature": "c2ln"},
        {"text": "a", "thought": True, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "1", "name": "f", "args": {"a": 1.0}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "f", "args": {}, "willContinue": True}},
        {"functionResponse": {"name": "f", "response": {"output": ""}}},
        {"functionResponse": {"name": "f", "response": {"output": {"output": 1}}}},
        {"functionResponse": {"name": "f", "response": {"error": {"code": 3}}, "scheduling": "SILENT"}},
        {"functionResponse": {"name": "f", "response": {"a": {"b": None}}}},
        {
            "functionResponse": {
                "name": "f",
                "response": {"output": "see"},
                "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
            }
        },
        {"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "x"}, "mediaResolution": {"level": "LOW"}},
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
    ],
)
def test_a_part_without_its_source_is_written_the_same(value: Any) -> None:
    assert rewritten(value) == [value]


def test_signatures_of_others_are_left_out_and_reported() -> None:
    value = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "One.", "signature": "EqQB"},
                {"type": "redacted_thinking", "data": "abc"},
                {"type": "text", "text": "Done."},
            ],
        },
    ]
    made = convert(value, source="anthropic", target="gemini")
    assert made.value == {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"text": "One.", "thought": True}, {"text": "Done."}]},
        ]
    }
    assert {(loss.code, loss.action) for loss in made.all_losses} == {
        ("signature", "dropped"),
        ("reasoning", "dropped"),
    }


def test_results_have_a_turn_of_their_own_with_all_of_them() -> None:
    value = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": name, "name": "f", "input": {}} for name in ("a", "b")],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
                {"type": "text", "text": "And?"},
            ],
        },
    ]
    contents = convert(value, source="anthropic", target="gemini").value["contents"]
    assert [list(item) for content in contents for item in content["parts"]] == [
        ["text"],
        ["functionCall"],
        ["functionCall"],
        ["functionResponse"],
        ["functionResponse"],
        ["text"],
    ]
    assert [len(content["parts"]) for content in contents] == [1, 2, 2, 1]


def test_a_schema_of_its_own_is_json_schema_elsewhere_and_comes_back_as_it_was() -> None:
    parameters = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "nullable": True, "enum": ["a"]},
            "n": {"type": "ARRAY", "minItems": "2", "items": {"anyOf": [{"type": "INTEGER"}]}},
        },
    }
    declared = [{"functionDeclarations": [{"name": "f", "parameters": parameters}]}, {"googleSearch": {}}]
    value = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": declared}
    there = convert(value, source="gemini", target="anthropic")
    assert there.value["tools"] == [
        {
            "name": "f",
            "input_schema": {
                "type": "object",
                "properties": {
                    "type": {"type": ["string", "null"], "enum": ["a", None]},
                    "n": {"type": "array", "minItems": 2, "items": {"anyOf": [{"type": "integer"}]}},
                },
            },
        },
        {"type": "web_search_20250305", "name": "web_search"},
    ]
    assert [(loss.code, loss.action) for loss in there.losses] == [("tool", "changed")]
    assert GEMINI.write(GEMINI.read(value))["tools"] == declared  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("calling", "choice"),
    [
        ({"mode": "AUTO"}, ToolChoice("auto")),
        ({"mode": "NONE"}, ToolChoice("none")),
        ({"mode": "ANY"}, ToolChoice("required")),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, ToolChoice("required", ("f",))),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f", "g"]}, ToolChoice("auto", ("f", "g"))),
        ({"mode": "VALIDATED"}, None),
        ({"mode": "ANY", "streamFunctionCallArguments": True}, ToolChoice("required")),
    ],
)
def test_a_choice_is_read_and_written(calling: Any, choice: ToolChoice | None) -> None:
    value = {"contents": [], "toolConfig": {"functionCallingConfig": calling, "retrievalConfig": {"a": 1}}}
    found = GEMINI.read(value)
    assert found.tool_choice == choice
    assert GEMINI.write(found) == value


def test_an_edit_reaches_a_field_in_the_other_spelling() -> None:
    value = {
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "contents": "hi",
        "generation_config": {"topK": 1},
    }
    there = convert(value, source="gemini", target="anthropic")
    there.value["system"] = "Be rude."
    back = convert(there.value, source="anthropic", target="gemini", residue=there.residue)
    assert back.value == value | {"system_instruction": {"parts": [{"text": "Be rude."}]}}


def test_names_are_spelled_as_gemini_wants_them() -> None:
    value = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "1 a", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
    ]
    contents = convert(value, source="openai-chat", target="gemini").value["contents"]
    assert contents[1]["parts"] == [{"functionCall": {"id": "1", "name": "_1_a", "args": {}}}]
    assert contents[2]["parts"] == [{"functionResponse": {"id": "1", "name": "_1_a", "response": {"output": "x"}}}]


@pytest.mark.parametrize(
    "value",
    [
        "x",
        {},
        {"contents": [3]},
        {"contents": [{"role": "narrator", "parts": []}]},
        {"contents": [{"role": [], "parts": []}]},
        {"contents": [{"parts": "x"}]},
        {"contents": [], "tools": [3]},
        {"contents": [], "tools": [{"functionDeclarations": [{}]}]},
    ],
)
def test_what_is_no_request_is_a_parse_error(value: Any) -> None:
    with pytest.raises(ParseError):
        GEMINI.read(value)


def test_an_id_that_a_conversion_adds_is_named_alone() -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}
    value = {"contents": [{"role": "user", "parts": [{"text": "Hi."}]}, call]}
    losses = convert(value, source="gemini", target="openai-chat").all_losses
    assert [(loss.action, loss.detail) for loss in losses if loss.code == "call_id"] == [("added", "call_0")]
