"""Inspect's messages: what their contents mean, calls that could not be parsed, errors, odd input."""

from __future__ import annotations

from typing import Any

import pytest
from conversations import PNG

from toolfmt import ParseError, convert
from toolfmt.conversation import CallPart, MediaPart, OpaquePart, ReasoningPart, RefusalPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find

MADE = find("inspect")


def written(value: Any) -> Any:
    """Write messages that have no source."""
    found = MADE.read(value)
    for message in found.messages:
        message.origin = ""
    return MADE.write(found)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "text", "text": "a", "refusal": True}, RefusalPart("a")),
        (
            {"type": "text", "text": "a", "citations": [{"type": "url", "url": "https://a.b"}]},
            TextPart("a", ({"type": "url", "url": "https://a.b"},)),
        ),
        (
            {"type": "reasoning", "reasoning": "a", "signature": "EqQB", "redacted": False},
            ReasoningPart("a", "EqQB", None, "anthropic"),
        ),
        (
            {"type": "reasoning", "reasoning": "Em", "summary": "a", "redacted": True},
            ReasoningPart("a", None, "Em", "anthropic"),
        ),
        (
            {"type": "image", "image": f"data:image/png;base64,{PNG}", "detail": "low"},
            MediaPart("image", "image/png", PNG, detail="low"),
        ),
        (
            {"type": "audio", "audio": "https://a.b/c", "format": "mp3"},
            MediaPart("audio", "audio/mp3", url="https://a.b/c"),
        ),
        ({"type": "video", "video": "a.mov", "format": "mov"}, MediaPart("video", "video/quicktime", url="a.mov")),
        (
            {
                "type": "document",
                "document": "data:application/pdf;base64,JVBE",
                "filename": "a.pdf",
                "mime_type": "application/pdf",
            },
            MediaPart("document", "application/pdf", "JVBE", name="a.pdf"),
        ),
        ({"type": "data", "data": {"a": 1.0}}, OpaquePart("inspect", {"type": "data", "data": {"a": 1.0}})),
        ({"type": []}, OpaquePart("inspect", {"type": []})),
        (1, OpaquePart("inspect", 1)),
    ],
)
def test_a_content(item: Any, expected: Any) -> None:
    value = [{"role": "assistant", "content": [item], "model": "anthropic/claude-sonnet-4-5"}]
    assert MADE.read(value).messages[0].parts == (expected,)
    assert written(value) == value


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"id": "1", "function": "f", "arguments": {"a": 1.0}, "type": "function"}, CallPart("f", {"a": 1.0}, id="1")),
        (
            {"id": "1", "function": "f", "arguments": {"input": "ls"}, "type": "custom"},
            CallPart("f", text="ls", id="1", custom=True),
        ),
        (
            {"id": "1", "function": "f", "arguments": {}, "type": "function", "parse_error": "no"},
            CallPart("f", {}, id="1", extra={"inspect.parse_error": "no"}),
        ),
    ],
)
def test_a_call(call: Any, expected: CallPart) -> None:
    value = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    assert MADE.read(value).messages[0].parts == (expected,)
    assert written(value) == value


def test_arguments_that_are_no_json_are_kept_beside_why() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": '}}
    found: Any = convert([{"role": "assistant", "tool_calls": [call]}], source="openai-chat", target="inspect").value
    made = found[0]["tool_calls"][0]
    assert made["arguments"] == {"INVALID_JSON": '{"a": '}
    assert made["parse_error"]


def test_an_error_is_reported_by_its_message() -> None:
    error = {"type": "timeout", "message": "too slow"}
    value = [{"role": "tool", "content": "", "tool_call_id": "1", "function": "f", "error": error}]
    expected = ResultPart((TextPart("too slow"),), "1", "f", is_error=True, extra={"inspect.error": error})
    assert MADE.read(value).messages[0].parts == (expected,)
    assert written(value) == [value[0] | {"content": "too slow"}]


def test_a_sample_keeps_what_stands_beside_its_messages() -> None:
    value = {"id": 1, "target": "a", "messages": [{"role": "user", "content": "a"}]}
    assert MADE.write(MADE.read(value)) == value


@pytest.mark.parametrize("value", [None, 1, {}, [1], [{"role": "x"}], [{"role": []}]])
def test_what_is_no_conversation_is_refused(value: Any) -> None:
    with pytest.raises(ParseError):
        MADE.read(value)
