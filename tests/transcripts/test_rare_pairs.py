"""Fields that are seldom beside each other: none hides the other, and what has no place is a loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import Loss, convert, repair
from toolfmt.conversation import CallPart, OpaquePart, ReasoningPart, TextPart
from toolfmt.transcripts.formats import find

USER = {"role": "user", "content": "a"}
BLOCK = {"type": "thinking", "thinking": "same", "signature": "s"}
IMAGE = {"type": "image", "mime_type": "image/png", "data": "aGk=", "uri": "https://x.y/z.png"}


def asked_for(ident: str, name: str) -> dict[str, Any]:
    return {"id": ident, "type": "function", "function": {"name": name, "arguments": "{}"}}


def there(value: Any, source: str, target: str) -> tuple[Any, list[tuple[str, str, str]]]:
    """Convert, and check that the way back is exact."""
    found = convert(value, source=source, target=target)
    back = convert(found.value, source=target, target=source, residue=found.residue)
    assert json.dumps(back.value) == json.dumps(value)
    return found.value, [(loss.code, loss.action, loss.path) for loss in (*found.losses, *found.bookkeeping)]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("plain", ["same", "other"])
def test_signed_blocks_beside_plain_reasoning(key: str, plain: str) -> None:
    answer = {"role": "assistant", "content": "Hi", "thinking_blocks": [BLOCK], key: plain}
    value = {"messages": [USER, answer]}
    parts = find("openai-chat").read(value).messages[1].parts
    assert parts == (ReasoningPart("same", signature="s", owner="anthropic"), TextPart("Hi"))
    made, lost = there(value, "openai-chat", "anthropic")
    assert made["messages"][1]["content"][0] == BLOCK
    assert lost == ([] if plain == "same" else [("beside", "dropped", "/messages/1")])


def test_data_beside_an_address_are_neither_chosen_nor_lost() -> None:
    value = {"input": [{"type": "user_input", "content": [IMAGE, {"type": "text", "text": "a"}]}]}
    read = find("gemini-interactions").read(value)
    assert read.messages[0].parts == (OpaquePart("gemini-interactions", IMAGE), TextPart("a"))
    made, lost = there(value, "gemini-interactions", "openai-chat")
    assert made["messages"] == [USER]
    assert lost == [("provider_part", "dropped", "/input/0")]


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_the_namespace_of_a_call_is_a_loss_elsewhere(target: str) -> None:
    value = {
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "namespace": "n"},
            {"type": "function_call_output", "call_id": "c1", "output": "1"},
        ]
    }
    assert there(value, "openai-responses", target)[1] == [("namespace", "dropped", "/input/1")]


def test_arguments_that_were_edited_replace_their_text_too() -> None:
    spaced = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{ "a" : 1 }'}}
    value = {"messages": [USER, {"role": "assistant", "content": None, "tool_calls": [spaced]}]}
    found = convert(value, source="openai-chat", target="anthropic")
    found.value["messages"][1]["content"][0]["input"] = {"a": 2}
    back = convert(found.value, source="anthropic", target="openai-chat", residue=found.residue).value
    assert json.loads(back["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"a": 2}
    (part,) = find("openai-chat").read(back).messages[1].parts
    assert isinstance(part, CallPart)
    assert part.value == {"a": 2}


CALLS = {"role": "assistant", "content": None, "tool_calls": [asked_for("a", "f"), asked_for("b", "g")]}
RESULT = {"role": "tool", "tool_call_id": "b", "content": "1"}


def test_the_last_calls_wait_for_their_results_and_stay() -> None:
    value = {"messages": [USER, CALLS]}
    for drop in (False, True):
        mended = repair(value, format="openai-chat", drop=drop)
        assert (mended.value, mended.changes) == (value, ())


@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_the_call_that_was_dropped_is_the_one_that_is_reported(target: str) -> None:
    value = convert({"messages": [USER, CALLS, RESULT, USER]}, source="openai-chat", target=target).value
    mended = repair(value, format=target, drop=True)
    assert mended.changes[0] == Loss("call", "/messages/1", "dropped", "f")
    assert {loss.code for loss in mended.changes} == {"call"}
    kept = [
        part.name
        for made in find(target).read(mended.value).messages
        for part in made.parts
        if isinstance(part, CallPart)
    ]
    assert kept == ["g"]


NAMED = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}


@pytest.mark.parametrize(
    "target", ["anthropic", "openai-responses", "inspect", "langchain", "mistral", "vercel-model", "vercel-ui"]
)
def test_the_name_of_a_file_is_kept(target: str) -> None:
    made, lost = there({"messages": [{"role": "user", "content": [NAMED]}]}, "openai-chat", target)
    assert (json.dumps(made).count("a.pdf"), lost) == (1, [])


@pytest.mark.parametrize("target", ["gemini", "gemini-interactions", "bedrock", "otel-genai", "pydantic-ai"])
def test_the_name_of_a_file_is_a_loss_where_none_fits(target: str) -> None:
    value = {"messages": [{"role": "user", "content": [NAMED]}]}
    made, _ = there(value, "openai-chat", target)
    assert "JVBERi0=" in json.dumps(made)
    details = [(loss.code, loss.detail) for loss in convert(value, source="openai-chat", target=target).losses]
    assert details == [("media", "name of document: a.pdf")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("openai-responses", {"role": "assistant", "content": [{"type": "refusal", "refusal": "No.", "code": 7}]}),
        ("openai-chat", {"role": "assistant", "content": [{"type": "refusal", "refusal": "No.", "code": 7}]}),
        ("langchain", {"type": "ai", "content": [{"type": "refusal", "refusal": "No.", "code": 7}]}),
    ],
)
def test_an_unknown_key_of_a_refusal_comes_back_or_is_a_loss(name: str, value: dict[str, Any]) -> None:
    there = convert([value], source=name, target="anthropic")
    assert [loss.code for loss in there.losses][:1] == ["refusal"]
    assert convert(there.value, source="anthropic", target=name, residue=there.residue).value == [value]
    same = convert([value], source=name, target=name)
    assert same.value == [value] or [loss.detail for loss in same.bookkeeping] == [f"{name}.code"]
