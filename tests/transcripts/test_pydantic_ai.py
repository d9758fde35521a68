"""pydantic-ai: what the parts of its requests and responses mean, instructions, odd input."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, JsonPart, MediaPart, Message, OpaquePart, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find

MADE = find("pydantic-ai")


def written(value: Any) -> Any:
    """Write messages that have no source."""
    found = MADE.read(value)
    for message in found.messages:
        message.origin = ""
    return MADE.write(found)


def returned(content: Any, **further: Any) -> dict[str, Any]:
    return {"part_kind": "tool-return", "tool_name": "f", "content": content, "tool_call_id": "1", **further}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"part_kind": "text", "content": "a"}, TextPart("a")),
        (
            {"part_kind": "thinking", "content": "a", "signature": "EqQB", "provider_name": "anthropic"},
            ReasoningPart("a", "EqQB", None, "anthropic"),
        ),
        (
            {"part_kind": "thinking", "content": "a", "signature": "EqQB", "provider_name": "bedrock"},
            ReasoningPart("a", "EqQB", None, "anthropic", {"pydantic-ai.provider_name": "bedrock"}),
        ),
        (
            {
                "part_kind": "thinking",
                "content": "",
                "signature": "Em",
                "provider_name": "anthropic",
                "id": "redacted_thinking",
            },
            ReasoningPart("", None, "Em", "anthropic", {"pydantic-ai.id": "redacted_thinking"}),
        ),
        (
            {"part_kind": "thinking", "content": "a", "signature": "gAAA", "provider_name": "openai", "id": "rs_1"},
            ReasoningPart("a", None, "gAAA", "openai", {"pydantic-ai.id": "rs_1"}),
        ),
        (
            {"part_kind": "tool-call", "tool_name": "f", "args": '{"a": ', "tool_call_id": "1"},
            CallPart("f", text='{"a": ', id="1"),
        ),
        (
            {"part_kind": "tool-call", "tool_name": "f", "args": {"a": 1.0}, "tool_call_id": "1"},
            CallPart("f", {"a": 1.0}, id="1"),
        ),
        (
            {"part_kind": "file", "content": {"kind": "binary", "data": PNG, "media_type": "image/png"}, "id": "a"},
            MediaPart("image", "image/png", PNG, extra={"pydantic-ai.part.id": "a"}),
        ),
        (
            {"part_kind": "builtin-tool-call", "tool_name": "web_search"},
            OpaquePart("pydantic-ai", {"part_kind": "builtin-tool-call", "tool_name": "web_search"}),
        ),
    ],
)
def test_a_part_of_a_response(part: Any, expected: Any) -> None:
    value = [{"kind": "response", "parts": [part]}]
    assert MADE.read(value).messages[0].parts == (expected,)
    assert written(value) == value


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (returned("18C"), ResultPart((TextPart("18C"),), "1", "f")),
        (returned({"t": 18.0}), ResultPart((JsonPart({"t": 18.0}),), "1", "f")),
        (returned(["a", "b"]), ResultPart((JsonPart(["a", "b"]),), "1", "f")),
        (
            returned(["a", {"kind": "image-url", "url": "https://a.b/c"}, {"t": 1}]),
            ResultPart((TextPart("a"), MediaPart("image", url="https://a.b/c"), JsonPart({"t": 1})), "1", "f"),
        ),
        (returned("no", outcome="failed"), ResultPart((TextPart("no"),), "1", "f", is_error=True)),
        (
            returned("no", outcome="retried"),
            ResultPart((TextPart("no"),), "1", "f", is_error=True, extra={"pydantic-ai.outcome": "retried"}),
        ),
        (
            returned("no", outcome="denied"),
            ResultPart((TextPart("no"),), "1", "f", extra={"pydantic-ai.outcome": "denied"}),
        ),
        (
            {"part_kind": "retry-prompt", "content": "again", "tool_name": "f", "tool_call_id": "1"},
            ResultPart((TextPart("again"),), "1", "f", is_error=True, extra={"pydantic-ai.part_kind": "retry-prompt"}),
        ),
    ],
)
def test_a_tools_return(part: Any, expected: ResultPart) -> None:
    value = [{"kind": "request", "parts": [part]}]
    assert MADE.read(value).messages == (Message("tool", (expected,)),)
    assert written(value) == value


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            ["a", {"kind": "text-content", "content": "b"}],
            (TextPart("a"), TextPart("b", (), {"pydantic-ai.kind": "text-content"})),
        ),
        ([{"kind": "binary", "data": "_-8=", "media_type": "audio/wav"}], (MediaPart("audio", "audio/wav", "/+8="),)),
        (
            ["a", {"kind": "cache-point", "ttl": "1h"}],
            (TextPart("a", extra={"cache_control": {"type": "ephemeral", "ttl": "1h"}}),),
        ),
        (
            [{"kind": "uploaded-file", "file_id": "f1", "provider_name": "openai", "media_type": "application/pdf"}],
            (MediaPart("document", "application/pdf", file_id="f1", owner="openai"),),
        ),
    ],
)
def test_a_prompts_contents(content: Any, expected: Any) -> None:
    value = [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": content, "timestamp": "t"}]}]
    found = MADE.read(value)
    assert found.messages == (Message("user", expected, extra={"pydantic-ai.timestamp": "t"}),)
    assert MADE.read(written(value)).messages == found.messages


def test_a_request_is_a_message_for_each_part() -> None:
    value = [
        {
            "kind": "request",
            "parts": [
                {"part_kind": "system-prompt", "content": "Be brief."},
                returned("18C"),
                {"part_kind": "user-prompt", "content": "And Rome?"},
            ],
            "run_id": "r",
        }
    ]
    assert [message.role for message in MADE.read(value).messages] == ["system", "tool", "user"]
    assert written(value) == value
    assert MADE.write(MADE.read(value))[0] is value[0]  # type: ignore[index]


def test_instructions_stand_where_they_change() -> None:
    def request(instructions: str) -> dict[str, Any]:
        return {
            "kind": "request",
            "parts": [{"part_kind": "user-prompt", "content": "a"}],
            "instructions": instructions,
        }

    value = [request("Be brief."), request("Be brief."), request("Be rude.")]
    found = MADE.read(value).messages
    assert [(message.role, message.parts[0].text) for message in found] == [  # type: ignore[union-attr]
        ("system", "Be brief."),
        ("user", "a"),
        ("user", "a"),
        ("system", "Be rude."),
        ("user", "a"),
    ]
    assert written(value) == value


def test_an_edit_leaves_the_other_messages_alone() -> None:
    value = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "a", "timestamp": "t"}], "run_id": "r"},
        {"kind": "response", "parts": [{"part_kind": "text", "content": "b"}], "model_name": "m"},
    ]
    there = convert(value, source="pydantic-ai", target="anthropic")
    there.value["messages"][1]["content"] = "c"  # type: ignore[index, call-overload]
    back = convert(there.value, source="anthropic", target="pydantic-ai", residue=there.residue)
    assert back.value == [value[0], {**value[1], "parts": [{"part_kind": "text", "content": "c"}]}]


@pytest.mark.parametrize("value", [None, 1, {}, [1], [{"kind": "request"}], [{"kind": [], "parts": []}]])
def test_what_is_no_conversation_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        MADE.read(value)


@pytest.mark.parametrize("odd", [1, "a", [], {}, {"part_kind": []}, {"part_kind": "text"}])
def test_odd_parts_are_kept(odd: Any) -> None:
    for kind in ("request", "response"):
        value = [{"kind": kind, "parts": [odd]}]
        assert MADE.read(value).messages[0].parts == (OpaquePart("pydantic-ai", odd),)
        assert written(value) == value
