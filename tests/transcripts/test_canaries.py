"""What is rare in a conversation is in the output, or among the losses of content: each was lost once."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from toolfmt import check, convert, convert_request
from toolfmt.conversation import MediaPart, TextPart
from toolfmt.transcripts.formats import find

PICTURE = b64encode(b"\x89PNG\r\n\x1a\n picture").decode()
PAPER = b64encode(b"%PDF-1.7 paper").decode()
ASKED: dict[str, Any] = {"role": "user", "content": "Go on."}
BEDROCK_ASKED = {"role": "user", "content": [{"text": "Go on."}]}


def human(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "human", "data": {"type": "human", "content": list(parts)}}]


SEEN: dict[str, tuple[str, Any, str]] = {
    "a document made of blocks": (
        "anthropic",
        [
            {
                "role": "user",
                "content": [
                    {
                        "type": "document",
                        "title": "T",
                        "source": {"type": "content", "content": [{"type": "text", "text": "needle"}]},
                    }
                ],
            }
        ],
        "needle",
    ),
    "a document that is text": (
        "bedrock",
        [{"role": "user", "content": [{"document": {"format": "txt", "name": "n", "source": {"text": "needle"}}}]}],
        "needle",
    ),
    "a document of chunks": (
        "bedrock",
        [
            {
                "role": "user",
                "content": [{"document": {"format": "txt", "name": "n", "source": {"content": [{"text": "needle"}]}}}],
            }
        ],
        "needle",
    ),
    "a guarded image": (
        "bedrock",
        [{"role": "user", "content": [{"guardContent": {"image": {"format": "png", "source": {"bytes": PICTURE}}}}]}],
        PICTURE,
    ),
    "a search result in a result": (
        "bedrock",
        [
            BEDROCK_ASKED,
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}]},
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": "t",
                            "content": [{"searchResult": {"source": "s", "content": [{"text": "needle"}]}}],
                        }
                    }
                ],
            },
        ],
        "needle",
    ),
    "a thought with references": (
        "mistral",
        [
            ASKED,
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "thinking",
                        "thinking": [{"type": "text", "text": "needle"}, {"type": "reference", "reference_ids": [1]}],
                    },
                    {"type": "text", "text": "It rains."},
                ],
            },
            ASKED,
        ],
        "needle",
    ),
    "a name that waits for approval": (
        "openai-responses",
        [
            ASKED,
            {"type": "mcp_approval_request", "id": "m", "name": "needle", "server_label": "s", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
        ],
        "needle",
    ),
    "plain text as a block": ("langchain", human({"type": "text-plain", "text": "needle"}), "needle"),
    "a file of the older kind": (
        "langchain",
        human({"type": "file", "source_type": "text", "text": "needle"}),
        "needle",
    ),
    "Google's media": ("langchain", human({"type": "media", "mime_type": "application/pdf", "data": PAPER}), PAPER),
    "Anthropic's document": (
        "langchain",
        human(
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PAPER}},
            {"type": "text", "text": "Read it."},
        ),
        PAPER,
    ),
    "calls in OpenAI's words": (
        "langchain",
        [
            *human({"type": "text", "text": "Go on."}),
            {
                "type": "ai",
                "data": {
                    "type": "ai",
                    "content": "",
                    "additional_kwargs": {
                        "tool_calls": [
                            {"id": "k", "type": "function", "function": {"name": "f", "arguments": '{"q": "needle"}'}}
                        ]
                    },
                },
            },
            {"type": "tool", "data": {"type": "tool", "tool_call_id": "k", "content": "18C"}},
        ],
        "needle",
    ),
    "who speaks in a role of their own": (
        "langchain",
        [{"type": "chat", "data": {"type": "chat", "role": "critic", "content": "needle"}}],
        "needle",
    ),
    "an older client's file": (
        "ag-ui",
        [{"id": "1", "role": "user", "content": [{"type": "binary", "mimeType": "image/png", "data": PICTURE}]}],
        PICTURE,
    ),
    "an error beside a result": (
        "ag-ui",
        [
            {"id": "1", "role": "user", "content": "Go on."},
            {
                "id": "2",
                "role": "assistant",
                "toolCalls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"id": "3", "role": "tool", "toolCallId": "c", "content": "half", "error": "needle"},
        ],
        "needle",
    ),
    "a compacted session": (
        "codex",
        [{"type": "compacted", "payload": {"message": "needle", "replacement_history": None}}],
        "needle",
    ),
    "images of a result": (
        "ollama",
        {
            "messages": [
                ASKED,
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
                {"role": "tool", "tool_name": "f", "content": "18C", "images": [PICTURE]},
            ]
        },
        PICTURE,
    ),
}


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "gemini", "pydantic-ai"])
@pytest.mark.parametrize("what", SEEN)
def test_what_is_rare_is_carried(what: str, target: str) -> None:
    source, value, needle = SEEN[what]
    made = convert(value, source=source, target=target, strict=False)
    found = json.dumps(made.value)
    assert (
        needle in found
        or b64encode(needle.encode()).decode() in found
        or (what.startswith("a thought") and made.losses)
    )
    assert not check(made.value, format=target)


SHOWN: dict[str, tuple[str, Any]] = {
    "openai-chat": (
        "a gateway's answer",
        {
            "role": "assistant",
            "content": "Here.",
            "images": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}}],
        },
    ),
    "vercel-model": (
        "a file",
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Here."}, {"type": "file", "data": PICTURE, "mediaType": "image/png"}],
        },
    ),
}


@pytest.mark.parametrize("target", ["anthropic", "openai-responses", "bedrock", "mistral", "cohere"])
@pytest.mark.parametrize("source", SHOWN)
def test_what_the_assistant_shows_is_the_users_where_only_the_user_shows(source: str, target: str) -> None:
    value = {"messages": [ASKED, SHOWN[source][1], {"role": "user", "content": "Bluer."}]}
    made = convert(value, source=source, target=target)
    last = find(target).read(made.value).messages[-1 if target in ("anthropic", "bedrock") else -2]
    assert last.role == "user"
    assert isinstance(last.parts[0], MediaPart)
    assert last.parts[0].data == PICTURE
    assert [(loss.code, loss.action) for loss in made.losses] == [("role", "moved")]
    assert not check(made.value, format=target)


def test_what_the_assistant_shows_last_is_a_loss() -> None:
    made = convert({"messages": [ASKED, SHOWN["openai-chat"][1]]}, source="openai-chat", target="anthropic")
    assert [(loss.code, loss.action) for loss in made.losses] == [("media", "dropped")]


@pytest.mark.parametrize("target", ["anthropic", "cohere", "openai-chat"])
def test_an_example_of_thinking_is_an_instruction(target: str) -> None:
    shown = {"type": "thinking", "thinking": [{"type": "text", "text": "Look first."}]}
    value = {"messages": [{"role": "system", "content": [{"type": "text", "text": "Think."}, shown]}, ASKED]}
    parts = find(target).read(convert(value, source="mistral", target=target).value).messages[0].parts
    assert "".join(part.text for part in parts if isinstance(part, TextPart)).endswith(
        "<thinking>\nLook first.\n</thinking>"
    )


def test_the_id_of_a_file_is_no_data() -> None:
    output = {
        "type": "content",
        "value": [{"type": "image-file-id", "fileId": "file-1"}, {"type": "text", "text": "a"}],
    }
    call = {"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}}
    result = {"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": output}
    value = [ASKED, {"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]
    made = convert(value, source="vercel-model", target="gemini")
    assert "file-1" not in json.dumps(made.value)
    assert [loss.code for loss in made.losses] == ["result_content"]


def test_a_result_that_no_call_has_and_no_id_names_is_text() -> None:
    value = [
        *human({"type": "text", "text": "Go on."}),
        {"type": "function", "data": {"type": "function", "name": "f", "content": "18C"}},
    ]
    made = convert_request(value, source="langchain", target="bedrock", defaults={"model": "m"})
    assert not check(made.value, format="bedrock")
    assert "<tool_result" in json.dumps(made.value)
    assert [loss.code for loss in made.losses] == ["result"]


def test_the_pages_that_an_answer_of_gemini_rests_on_are_its_text_s() -> None:
    grounds = {
        "groundingChunks": [{"web": {"uri": "https://needle", "title": "N"}}],
        "groundingSupports": [{"segment": {"endIndex": 4}, "groundingChunkIndices": [0]}],
    }
    content = {"role": "model", "parts": [{"text": "Rain."}]}
    answer = {
        "candidates": [{"content": content, "groundingMetadata": grounds, "avgLogprobs": -0.5}],
        "modelVersion": "m",
    }
    made = convert(answer, source="gemini", target="openai-chat", include="request")
    (cited,) = made.value["messages"][0]["annotations"]
    assert cited["url_citation"]["url"] == "https://needle"
    assert {loss.path for loss in made.bookkeeping} == {"/candidates.avgLogprobs", "/modelVersion"}
    assert "citations" in {loss.code for loss in convert(answer, source="gemini", target="anthropic").losses}


def test_parameters_that_are_a_list_of_names_are_a_schema() -> None:
    listed = [
        {"name": "q", "type": "string", "description": "needle", "required": True},
        {"name": "n", "type": "integer"},
    ]
    value = {"messages": [ASKED], "functions": [{"name": "f", "parameters": listed}]}
    made = convert(value, source="qwen-agent", target="anthropic")
    assert made.value["tools"][0]["input_schema"] == {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "needle"}, "n": {"type": "integer"}},
        "required": ["q"],
    }
    assert made.losses == ()
    assert convert(made.value, source="anthropic", target="qwen-agent", residue=made.residue).value == value
    odd = {"messages": [ASKED], "tools": [{"type": "function", "function": {"name": "f", "parameters": ["needle"]}}]}
    assert "schema" in {loss.code for loss in convert(odd, source="openai-chat", target="anthropic").losses}


@pytest.mark.parametrize("target", ["qwen-agent", "ag-ui", "openai-chat", "langchain"])
def test_a_tool_s_message_of_which_nothing_is_left_is_not_written(target: str) -> None:
    refused = {"type": "tool-approval-response", "approvalId": "z", "approved": False}
    value = {"messages": [{"role": "user", "content": "Go on."}, {"role": "tool", "content": [refused]}]}
    made = convert(value, source="vercel-model", target=target)
    assert [message.role for message in find(target).read(made.value).messages] == ["user"]
    assert [loss.code for loss in made.losses] == ["provider_part"]


def test_a_part_beside_a_result_that_has_no_place_leaves_no_message_behind() -> None:
    calls = [{"type": "tool-call", "toolCallId": ident, "toolName": "f", "input": {}} for ident in "ab"]
    output = {"type": "text", "value": "18C"}
    results = [{"type": "tool-result", "toolCallId": ident, "toolName": "f", "output": output} for ident in "ab"]
    value = [
        {"role": "user", "content": "Go on."},
        {"role": "assistant", "content": calls},
        {"role": "tool", "content": results[1:]},
        {"role": "assistant", "content": [{"type": "tool-approval-request", "approvalId": "z", "toolCallId": "a"}]},
        {
            "role": "tool",
            "content": [results[0], {"type": "tool-approval-response", "approvalId": "z", "approved": True}],
        },
    ]
    made = convert({"messages": value}, source="vercel-model", target="ag-ui")
    written = [item for item in made.value["messages"] if item["role"] == "tool"]
    assert sorted(item["toolCallId"] for item in written) == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (
            "atif",
            {
                "agent": {"name": "a", "version": "1"},
                "notes": "A needle.",
                "steps": [{"step_id": 1, "source": "user", "message": "Hi."}],
            },
        ),
        ("atif", {"steps": [{"step_id": 1, "source": "user", "message": "Hi.", "extra": {"comment": "A needle."}}]}),
        ("inspect", [{"role": "user", "source": "input", "content": "Hi.", "metadata": {"note": "A needle."}}]),
        (
            "vercel-ui",
            [
                {
                    "id": "1",
                    "role": "assistant",
                    "parts": [
                        {
                            "type": "tool-f",
                            "toolCallId": "1",
                            "state": "approval-responded",
                            "input": {},
                            "approval": {"id": "1", "approved": False, "reason": "A needle."},
                        }
                    ],
                }
            ],
        ),
    ],
)
def test_words_in_fields_that_a_format_does_not_know_are_content(source: str, value: Any) -> None:
    assert "beside" in [loss.code for loss in convert(value, source=source, target="openai-chat").losses]
