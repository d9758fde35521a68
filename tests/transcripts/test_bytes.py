"""SDKs hold bytes where the wire has base64: both are read alike, in every format."""

from __future__ import annotations

from base64 import b64decode, b64encode
from typing import Any

import pytest

from toolfmt import check, convert, convert_answer, convert_request, read_stream, repair
from toolfmt.errors import ConversionError, LimitExceededError, ParseError, UnrepresentableError
from toolfmt.events import TextDelta
from toolfmt.transcripts.apis.bedrock_sdk import for_boto3
from toolfmt.transcripts.formats import formats
from toolfmt.transcripts.streams.relay import StreamConverter

PICTURE = b64encode(b"\x89PNG\r\n\x1a\n picture").decode()
PAPER = b64encode(b"%PDF-1.7 paper").decode()
ASKED = {
    "openai-chat": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See."},
                {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
            ],
        }
    ],
    "anthropic": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "See."},
                {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PAPER}},
            ],
        }
    ],
}
DATA = {"openai-chat": PICTURE, "anthropic": PAPER}


def with_bytes(value: Any, data: str) -> Any:
    if isinstance(value, dict):
        return {key: with_bytes(item, data) for key, item in value.items()}
    if isinstance(value, list):
        return [with_bytes(item, data) for item in value]
    return b64decode(value) if value == data else value


@pytest.mark.parametrize("origin", ASKED)
def test_bytes_are_read_like_base64_in_every_format(origin: str) -> None:
    tried: list[str] = []
    for made in formats():
        try:
            there = convert(ASKED[origin], source=origin, target=made.name).value
        except (ConversionError, UnrepresentableError, ParseError):
            continue
        held = with_bytes(there, DATA[origin])
        if held == there:
            continue
        tried.append(made.name)
        for target in ("openai-chat", "anthropic", made.name):
            as_text = convert(there, source=made.name, target=target)
            found = convert(held, source=made.name, target=target)
            if target != made.name:
                assert (found.value, found.losses) == (as_text.value, as_text.losses)
                assert DATA[origin] in repr(found.value)
            else:
                assert found.value == held
        assert check(held, format=made.name) == check(there, format=made.name)
        assert repair(held, format=made.name).value in (held, repair(there, format=made.name).value)
    assert {"bedrock", "gemini"} <= set(tried)


def test_spellings_of_the_sdks() -> None:
    raw = b64decode(PICTURE)
    gemini = {"contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": raw}}]}]}
    ollama = {"model": "m", "messages": [{"role": "user", "content": "See.", "images": [raw]}]}
    guarded = {"guardContent": {"image": {"format": "png", "source": {"bytes": raw}}}}
    bedrock = {"messages": [{"role": "user", "content": [guarded]}]}
    for source, value in (("gemini", gemini), ("ollama", ollama), ("bedrock", bedrock)):
        found = convert_request(value, source=source, target="openai-chat")
        assert PICTURE in repr(found.value), source
        assert "b'" not in repr(found.value), source


def test_bytes_in_answers_and_streams() -> None:
    block = {"reasoningContent": {"redactedContent": b"hidden"}}
    answer = {
        "output": {"message": {"role": "assistant", "content": [block, {"text": "Hi"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
    }
    content = convert_answer(answer, source="bedrock", target="anthropic").value["content"]
    assert content[0] == {"type": "redacted_thinking", "data": b64encode(b"hidden").decode()}
    stream = [
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": block}},
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "Hi"}}},
        {"messageStop": {"stopReason": "end_turn"}},
    ]
    events = read_stream(stream, source="bedrock")
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Hi"]
    assert events.info.proofs[0].encrypted == b64encode(b"hidden").decode()
    relay = StreamConverter("gemini", "gemini")
    signed = {"candidates": [{"content": {"parts": [{"text": "Hi", "thought_signature": b"sig"}]}}]}
    (made,) = relay.feed(signed)
    assert b64encode(b"sig").decode() in repr(made)


def test_a_request_for_boto3() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"source": {"bytes": "AAAA"}}'}}
    messages = [*ASKED["openai-chat"], {"role": "assistant", "tool_calls": [call]}]
    value = convert_request({"model": "m", "messages": messages}, source="openai-chat", target="bedrock").value
    sent = for_boto3(value)
    assert sent["messages"][0]["content"][1]["image"]["source"] == {"bytes": b64decode(PICTURE)}
    assert sent["messages"][1]["content"][0]["toolUse"]["input"] == {"source": {"bytes": "AAAA"}}
    assert with_bytes(value, PICTURE) == sent
    with pytest.raises(ParseError, match="base64"):
        for_boto3({"messages": [{"content": [{"image": {"source": {"bytes": "?"}}}]}]})


@pytest.mark.parametrize("deepest", ["text", b"bytes"])
def test_a_conversation_that_is_nested_too_deeply_is_refused(deepest: object) -> None:
    value = deepest
    for _ in range(200):
        value = [value]
    with pytest.raises(LimitExceededError, match="a value is nested more than 160 levels deep"):
        convert([{"role": "user", "content": "Hi.", "further": value}], source="openai-chat", target="anthropic")
