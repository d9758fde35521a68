"""Bedrock Converse: what its blocks mean, cache points, what its service model refuses, odd input."""

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

BEDROCK = find("bedrock")
CITED = {"title": "t", "location": {"web": {"url": "https://a.b"}}}
MARK = {"cache_control": {"type": "ephemeral"}}
POINT = {"cachePoint": {"type": "default"}}


def parts(*blocks: Any) -> tuple[Part, ...]:
    return BEDROCK.read([{"role": "user", "content": list(blocks)}]).messages[0].parts


def rewritten(*blocks: Any) -> Any:
    """Write the blocks of a message that has no source."""
    found = BEDROCK.read([{"role": "user", "content": list(blocks)}])
    found.messages[0].origin = ""
    return BEDROCK.write(found)["messages"][0]["content"]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"text": "a"}, TextPart("a")),
        (
            {"reasoningContent": {"reasoningText": {"text": "a", "signature": "EqQB"}}},
            ReasoningPart("a", "EqQB", None, "anthropic"),
        ),
        ({"reasoningContent": {"reasoningText": {"text": "a"}}}, ReasoningPart("a", owner="bedrock")),
        ({"reasoningContent": {"redactedContent": "abc"}}, ReasoningPart("", None, "abc", "anthropic")),
        ({"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}, CallPart("f", {"a": 1}, id="1")),
        (
            {"toolResult": {"toolUseId": "1", "status": "error", "content": [{"json": {"a": 1}}, {"text": "no"}]}},
            ResultPart((JsonPart({"a": 1}), TextPart("no")), "1", is_error=True),
        ),
        ({"image": {"format": "png", "source": {"bytes": PNG}}}, MediaPart("image", "image/png", PNG)),
        (
            {"document": {"format": "pdf", "name": "r", "source": {"bytes": "JVBE"}, "context": "c"}},
            MediaPart("document", "application/pdf", "JVBE", name="r", extra={"context": "c"}),
        ),
        (
            {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://a/b", "bucketOwner": "1"}}}},
            MediaPart("video", "video/mp4", file_id="s3://a/b", owner="bedrock", extra={"bedrock.s3.bucketOwner": "1"}),
        ),
        ({"citationsContent": {"content": [{"text": "a"}], "citations": [CITED]}}, TextPart("a", (CITED,))),
    ],
)
def test_a_block_is_read_and_written_again(block: Any, expected: Part) -> None:
    assert parts(block) == (expected,)
    assert rewritten(block) == [block]


@pytest.mark.parametrize(
    "block",
    [
        {"guardContent": {"text": {"text": "a"}}},
        {"toolUse": {"toolUseId": "1", "name": "search", "input": {}, "type": "server_tool_use"}},
        {"document": {"format": "txt", "name": "r", "source": {"content": [{"image": {}}]}}},
        {"image": {"format": "png", "source": {}}},
        {"image": {"format": "bmp", "source": {"bytes": "Qk0"}}},
        {"image": {"format": "pdf", "source": {"bytes": "JVBE"}}},
        {"toolUse": {"input": {}}},
        {"toolResult": {"toolUseId": "1", "content": "x"}},
        {"text": 3},
        {"cachePoint": {"type": "default"}},
        {"cachePoint": {"type": "other"}},
        "x",
        None,
    ],
)
def test_what_only_bedrock_knows_is_kept(block: Any) -> None:
    assert parts(block) == (OpaquePart("bedrock", block),)
    assert rewritten(block) == ([] if block is None else [block])


def test_a_cache_point_marks_the_part_before_it() -> None:
    assert parts({"text": "a"}, POINT, POINT) == (TextPart("a", extra=MARK), OpaquePart("bedrock", POINT))
    assert rewritten({"text": "a"}, POINT, POINT) == [{"text": "a"}, POINT, POINT]
    hour = {"cachePoint": {"type": "default", "ttl": "1h"}}
    assert parts({"text": "a"}, hour) == (TextPart("a", extra={"cache_control": {"type": "ephemeral", "ttl": "1h"}}),)
    assert rewritten({"text": "a"}, hour) == [{"text": "a"}, hour]


def test_a_cache_point_marks_nothing_else() -> None:
    assert parts({"text": "a"}, {"text": "b"}, POINT) == (TextPart("a"), TextPart("b", extra=MARK))
    first, second, third = ({"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in "fgh")
    config = {"tools": [first, second, POINT, third]}
    value = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "toolConfig": config}
    there = convert(value, source="bedrock", target="anthropic")
    assert ["cache_control" in tool for tool in there.value["tools"]] == [False, True, False]


def test_cache_marks_cross_to_anthropic() -> None:
    value = {
        "system": [{"text": "Be brief."}, POINT],
        "messages": [{"role": "user", "content": [{"text": "hi"}, POINT]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}, POINT]},
    }
    there = convert(value, source="bedrock", target="anthropic", strict=True)
    assert there.value == {
        "system": [{"type": "text", "text": "Be brief.", **MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **MARK}]}],
        "tools": [{"name": "f", "input_schema": {"type": "object"}, **MARK}],
    }
    assert convert(there.value, source="anthropic", target="bedrock", strict=True).value == value


def test_ids_names_and_empty_descriptions_are_made_valid() -> None:
    value = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "tool_calls": [{"id": "a|b", "function": {"name": "f.g", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a|b", "content": "[1]"},
        ],
        "tools": [{"type": "function", "function": {"name": "f.g", "description": ""}}],
        "tool_choice": "none",
    }
    there = convert(value, source="openai-chat", target="bedrock")
    assert there.value == {
        "messages": [
            {"role": "user", "content": [{"text": "go"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a_b", "name": "f_g", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a_b", "content": [{"text": "[1]"}]}}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f_g", "inputSchema": {"json": {"type": "object"}}}}]},
    }
    assert {loss.code for loss in there.all_losses} == {"call_id", "tool_name", "tool", "tool_choice"}


def test_a_result_that_is_json_but_no_object_is_text() -> None:
    value = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": [1, 2]}}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"a": 1}}}]},
    ]
    messages = convert(value, source="gemini", target="bedrock").value["messages"]
    assert [messages[at]["content"][0]["toolResult"]["content"] for at in (2, 4)] == [
        [{"text": "[1, 2]"}],
        [{"json": {"a": 1}}],
    ]


def test_what_bedrock_can_not_hold_is_reported_and_leaves_no_empty_message() -> None:
    value = [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}]},
        {"role": "assistant", "reasoning_content": "Hm."},
        {"role": "user", "content": "hi"},
    ]
    there = convert(value, source="openai-chat", target="bedrock")
    assert there.value == {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    assert [(loss.code, loss.action) for loss in there.losses] == [("media", "dropped"), ("reasoning", "dropped")]


@pytest.mark.parametrize(("name", "expected"), [("a.b_c  d", "a-b-c d"), (None, "document ec5d8eb1")])
def test_a_document_has_a_name_that_is_allowed(name: str | None, expected: str) -> None:
    title = {} if name is None else {"title": name}
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}
    value = [{"role": "user", "content": [{"type": "document", "source": source, **title}]}]
    there = convert(value, source="anthropic", target="bedrock")
    document = there.value["messages"][0]["content"][0]["document"]
    assert document == {"format": "pdf", "name": expected, "source": {"bytes": "JVBE"}}
    assert convert(there.value, source="bedrock", target="anthropic", residue=there.residue).value == value


@pytest.mark.parametrize(
    ("written", "choice"),
    [
        ({"auto": {}}, ToolChoice("auto")),
        ({"any": {}}, ToolChoice("required")),
        ({"tool": {"name": "f"}}, ToolChoice("required", ("f",))),
    ],
)
def test_a_choice_is_read_and_written(written: Any, choice: ToolChoice) -> None:
    tools = [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}, {"systemTool": {"name": "s"}}]
    value = {"messages": [], "toolConfig": {"tools": tools, "toolChoice": written}}
    assert BEDROCK.read(value).tool_choice == choice
    assert BEDROCK.write(BEDROCK.read(value)) == value


@pytest.mark.parametrize(
    "value",
    ["x", {}, {"messages": [3]}, {"messages": [{"role": "tool", "content": []}]}, [{"role": "user", "content": "hi"}]],
)
def test_what_is_no_request_is_a_parse_error(value: Any) -> None:
    with pytest.raises(ParseError):
        BEDROCK.read(value)


def test_a_tool_without_words_loses_none_and_one_that_is_gone_does_not_touch_the_next() -> None:
    value = {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "tools": [
            {"googleSearch": {}},
            {"functionDeclarations": [{"name": "f", "description": "", "parametersJsonSchema": {"type": "object"}}]},
        ],
    }
    there = convert(value, source="gemini", target="bedrock")
    assert there.value["toolConfig"] == {
        "tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]
    }
    assert [(loss.code, loss.action, loss.detail) for loss in there.losses] == [("tool", "dropped", "googleSearch")]


def test_no_tools_are_nothing_to_lose() -> None:
    value = {"messages": [{"role": "user", "content": "hi"}], "tools": []}
    assert convert(value, source="openai-chat", target="bedrock", strict=True).value == {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}]
    }


def test_what_is_said_of_a_document_is_the_same_to_anthropic() -> None:
    about = {"context": "From 1999.", "citations": {"enabled": True}}
    document = {"format": "pdf", "name": "a", "source": {"bytes": "JVBERi0="}, **about}
    value = {"messages": [{"role": "user", "content": [{"text": "Read."}, {"document": document}]}]}
    there = convert(value, source="bedrock", target="anthropic")
    assert there.value["messages"][0]["content"][1].items() >= about.items()
    assert not there.all_losses
    again = convert(there.value, source="anthropic", target="bedrock")
    assert (again.value, again.all_losses) == (value, ())


DOCUMENTS = [
    (
        {"document": {"format": "txt", "name": "a", "source": {"text": "One."}}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "One."}, "title": "a"},
        {"document": {"format": "txt", "name": "a", "source": {"bytes": "T25lLg=="}}},
    ),
    (
        {"document": {"format": "txt", "name": "a", "source": {"content": [{"text": "One."}, {"text": "Two."}]}}},
        {
            "type": "document",
            "source": {"type": "content", "content": [{"type": "text", "text": text} for text in ("One.", "Two.")]},
            "title": "a",
        },
        {"document": {"format": "txt", "name": "a", "source": {"content": [{"text": "One."}, {"text": "Two."}]}}},
    ),
]


@pytest.mark.parametrize(("block", "theirs", "again"), DOCUMENTS)
def test_documents_of_text_go_to_anthropic_and_back(block: Any, theirs: Any, again: Any) -> None:
    made = convert([{"role": "user", "content": [block]}], source="bedrock", target="anthropic")
    assert (made.value["messages"][0]["content"], made.losses) == ([theirs], ())
    back = convert(made.value, source="anthropic", target="bedrock")
    assert (back.value["messages"][0]["content"], back.losses) == ([again], ())
    elsewhere = convert(made.value, source="anthropic", target="cohere").value["messages"][0]["content"]
    assert all(text in str(elsewhere) for text in ("One.", "Two.")[: 1 + ("content" in str(again))])


@pytest.mark.parametrize(
    "block",
    [
        {"type": "search_result", "source": "https://e.com", "title": "T", "content": [{"type": "text", "text": "x"}]},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
    ],
)
def test_an_empty_citations_setting_of_anthropic_gets_the_value_that_bedrock_requires(block: dict[str, Any]) -> None:
    value = [{"role": "user", "content": [{"type": "text", "text": "Go on."}, block | {"citations": {}}]}]
    made: Any = convert(value, source="anthropic", target="bedrock")
    (body,) = made.value["messages"][0]["content"][1].values()
    assert body["citations"] == {"enabled": False}
    assert convert(made.value, source="bedrock", target="anthropic", residue=made.residue).value == value


def test_a_field_beside_the_text_of_reasoning_is_a_loss() -> None:
    reasoning = {"reasoningContent": {"reasoningText": {"text": "Hm."}, "novel": "needle"}}
    value = [{"role": "user", "content": [{"text": "Go on."}]}, {"role": "assistant", "content": [reasoning]}]
    losses = convert(value, source="bedrock", target="gemini-interactions").all_losses
    assert "bedrock.reasoningContent.novel" in {loss.detail for loss in losses}
