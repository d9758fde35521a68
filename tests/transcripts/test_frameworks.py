"""What frameworks' messages hold beside the plain: calls that a provider ran, files as objects, other spellings."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from toolfmt import check, convert
from toolfmt.conversation import CallPart, MediaPart, ReasoningPart, ResultPart, TextPart
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.recognising import recognised

SEARCH = {"query": "news"}
RAN: dict[str, Any] = {
    "vercel-model": [
        {"role": "user", "content": "What is new?"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool-call",
                    "toolCallId": "a",
                    "toolName": "web_search",
                    "input": SEARCH,
                    "providerExecuted": True,
                },
                {
                    "type": "tool-result",
                    "toolCallId": "a",
                    "toolName": "web_search",
                    "output": {"type": "json", "value": [{"url": "https://e.com"}]},
                },
                {"type": "text", "text": "Rain."},
            ],
        },
    ],
    "vercel-ui": [
        {"id": "1", "role": "user", "parts": [{"type": "text", "text": "What is new?"}]},
        {
            "id": "2",
            "role": "assistant",
            "parts": [
                {
                    "type": "tool-web_search",
                    "toolCallId": "a",
                    "state": "output-available",
                    "input": SEARCH,
                    "output": [{"url": "https://e.com"}],
                    "providerExecuted": True,
                },
                {"type": "text", "text": "Rain."},
            ],
        },
    ],
    "pydantic-ai": [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "What is new?"}]},
        {
            "kind": "response",
            "parts": [
                {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": SEARCH, "tool_call_id": "a"},
                {
                    "part_kind": "builtin-tool-return",
                    "tool_name": "web_search",
                    "content": [{"url": "https://e.com"}],
                    "tool_call_id": "a",
                },
                {"part_kind": "text", "content": "Rain."},
            ],
        },
    ],
    "langchain": [
        {"type": "human", "data": {"type": "human", "content": "What is new?"}},
        {
            "type": "ai",
            "data": {
                "type": "ai",
                "content": [
                    {"type": "server_tool_call", "id": "a", "name": "web_search", "args": SEARCH},
                    {"type": "server_tool_result", "tool_call_id": "a", "output": [{"url": "https://e.com"}]},
                    {"type": "text", "text": "Rain."},
                ],
            },
        },
    ],
    "inspect": [
        {"role": "user", "content": "What is new?"},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "tool_type": "web_search",
                    "id": "a",
                    "name": "web_search",
                    "arguments": '{"query":"news"}',
                    "result": '[{"url": "https://e.com"}]',
                },
                {"type": "text", "text": "Rain."},
            ],
        },
    ],
}


@pytest.mark.parametrize("source", RAN)
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
def test_what_a_provider_ran_is_a_call_and_its_result(source: str, target: str) -> None:
    there = convert(RAN[source], source=source, target=target)
    assert check(there.value, format=target) == ()
    parts = [part for message in find(target).read(there.value).messages for part in message.parts]
    assert [type(part) for part in parts] == [TextPart, CallPart, ResultPart, TextPart]
    assert parts[1].name == "web_search"  # type: ignore[union-attr]
    assert parts[1].value == SEARCH  # type: ignore[union-attr]
    assert "https://e.com" in repr(parts[2])
    back = convert(there.value, source=target, target=source, residue=there.residue)
    assert json.dumps(back.value) == json.dumps(RAN[source])


FILES: list[tuple[Any, MediaPart]] = [
    (
        {"data": {"type": "url", "url": "https://e.com/a.png"}, "mediaType": "image"},
        MediaPart("image", url="https://e.com/a.png"),
    ),
    (
        {"data": {"type": "data", "data": "iVBORw0KGgo"}, "mediaType": "image/png"},
        MediaPart("image", "image/png", "iVBORw0KGgo"),
    ),
    (
        {"data": {"type": "reference", "reference": {"openai": "file-1"}}, "mediaType": "application/pdf"},
        MediaPart("document", "application/pdf", file_id="file-1", owner="openai"),
    ),
    (
        {"data": {"type": "text", "text": "a,b"}, "mediaType": "text/csv", "filename": "a.csv"},
        MediaPart("document", "text/csv", b64encode(b"a,b").decode(), name="a.csv"),
    ),
]


@pytest.mark.parametrize(("file", "expected"), FILES)
def test_a_file_is_read_whatever_holds_it(file: Any, expected: MediaPart) -> None:
    part: Any = {"type": "file", **file}
    said = find("vercel-model").read([{"role": "user", "content": [part]}]).messages[0].parts
    assert said == (expected,)
    output = {"type": "content", "value": [part]}
    result = {"type": "tool-result", "toolCallId": "a", "toolName": "f", "output": output}
    (came,) = find("vercel-model").read([{"role": "tool", "content": [result]}]).messages[0].parts
    assert came.content == (expected,)  # type: ignore[union-attr]


HUMAN: dict[str, Any] = {"type": "human", "content": "Hi", "additional_kwargs": {}, "response_metadata": {}, "id": None}
AI: dict[str, Any] = {
    "type": "ai",
    "content": "Yes.",
    "tool_calls": [],
    "usage_metadata": None,
    "additional_kwargs": {},
}


@pytest.mark.parametrize("value", [[HUMAN, AI], {"messages": [HUMAN, AI], "next": "end"}])
def test_langchain_s_own_dump_is_read(value: Any) -> None:
    assert recognised(value).name == "langchain"
    there = convert(value, source="langchain", target="openai-chat")
    assert there.value["messages"] == [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}]
    assert convert(there.value, source="openai-chat", target="langchain", residue=there.residue).value == value


def read(*content: Any, **data: Any) -> tuple[Any, ...]:
    message = {"type": "ai", "data": {"type": "ai", "content": list(content), **data}}
    return find("langchain").read([message]).messages[0].parts


def test_langchain_s_blocks_are_read() -> None:
    used = {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}
    assert read(used) == (CallPart("f", {"x": 1}, id="a"),)
    assert read({"type": "tool_call", "id": "a", "name": "f", "args": {"x": 1}}) == (CallPart("f", {"x": 1}, id="a"),)
    signed = {"type": "reasoning", "reasoning": "Hm.", "extras": {"signature": "c2ln"}}
    assert read(signed) == (ReasoningPart("Hm.", "c2ln", owner="anthropic"),)
    google = read(signed, response_metadata={"model_provider": "google_genai"})
    assert google == (ReasoningPart("Hm.", "c2ln", owner="google"),)
    hidden = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x"}
    assert read(hidden) == (ReasoningPart("Hm.", None, "x", owner="openai"),)


def test_langchain_s_older_messages_are_read() -> None:
    function = {"type": "function", "data": {"type": "function", "name": "f", "content": "1"}}
    chat = {"type": "chat", "data": {"type": "chat", "role": "assistant", "content": "Yes."}}
    first, second = find("langchain").read([function, chat]).messages
    assert first.parts == (ResultPart((TextPart("1"),), None, "f"),)
    assert (second.role, second.parts) == ("assistant", (TextPart("Yes."),))
