"""Slips in hand-made conversations: a misspelt key is a loss that is told, a wrong type is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import ParseError, convert

MISSPELT: list[tuple[str, Any]] = [
    ("anthropic", {"messages": [{"role": "user", "contnet": "Pay 100 EUR"}]}),
    ("gemini", {"contents": [{"role": "user", "part": [{"text": "Pay 100 EUR"}]}]}),
    ("openai-chat", {"messages": [{"role": "user", "contnet": "Pay 100 EUR"}]}),
    ("openai-chat", {"messages": [{"role": "asistant", "content": "Pay 100 EUR"}]}),
    ("bedrock", {"messages": [{"role": "user", "content": [{"txt": "Pay 100 EUR"}]}]}),
]
REFUSED: list[tuple[str, Any, str]] = [
    ("bedrock", {"system": "Never pay.", "messages": []}, "/system: expected a list of blocks"),
    ("bedrock", {"toolConfig": {"tools": {}}, "messages": []}, "/tools: expected a list"),
    ("bedrock", {"toolConfig": [], "messages": []}, "/toolConfig: expected an object"),
    ("openai-responses", {"input": {"role": "user", "content": "Pay"}}, "/input: expected text or a list"),
    (
        "gemini-interactions",
        {"input": "Hi", "system_instruction": ["Never pay."]},
        "/system_instruction: expected text",
    ),
    ("sharegpt", {"conversations": [], "system": ["Never pay."]}, "/system: expected text"),
    ("openai-chat", [{"messages": []}], "/messages/0: a message has a role"),
]


SOUND = {
    "gemini": {"role": "user", "parts": [{"text": "Hi"}]},
    "bedrock": {"role": "user", "content": [{"text": "Hi"}]},
}


@pytest.mark.parametrize(("source", "value"), MISSPELT)
def test_what_is_misspelt_is_reported(source: str, value: Any) -> None:
    for target in ("openai-chat", "anthropic"):
        if target != source:
            ((key, messages),) = value.items()
            sound = SOUND.get(source, {"role": "user", "content": "Hi"})
            assert convert({key: [sound, *messages]}, source=source, target=target).losses


@pytest.mark.parametrize(("source", "value"), MISSPELT[:4])
def test_a_value_of_which_nothing_is_understood_is_refused(source: str, value: Any) -> None:
    with pytest.raises(ParseError, match="nothing in the value is understood"):
        convert(value, source=source, target="hf-chat")


@pytest.mark.parametrize(("source", "value", "said"), REFUSED)
def test_a_wrong_type_is_refused_with_its_place(source: str, value: Any, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        convert(value, source=source, target="hf-chat")


@pytest.mark.parametrize("ident", [["a"], {"a": 1}, 7])
def test_an_id_that_is_no_text_is_reported(ident: Any) -> None:
    use = {"toolUse": {"toolUseId": ident, "name": "f", "input": {}}}
    value = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}, {"role": "assistant", "content": [use]}]}
    found = convert(value, source="bedrock", target="openai-chat")
    assert found.losses
    back = convert(found.value, source="openai-chat", target="bedrock", residue=found.residue)
    assert back.value == value


UNNAMED: list[tuple[str, Any]] = [
    ("inspect", [{"role": "tool", "tool_call_id": [1], "function": "f", "content": "1"}]),
    ("inspect", [{"role": "tool", "tool_call_id": "a", "function": {"f": 1}, "content": "1"}]),
    ("qwen-agent", [{"role": "function", "name": ["f"], "content": "1"}]),
    ("mcp", [{"jsonrpc": "2.0", "id": 1, "result": {"content": [], "isError": "yes"}}]),
    (
        "pydantic-ai",
        [{"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name": "f", "args": {}, "tool_call_id": 1}]}],
    ),
    (
        "pydantic-ai",
        [{"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": ["f"], "content": "1"}]}],
    ),
]


@pytest.mark.parametrize(("source", "value"), UNNAMED)
def test_what_is_no_text_where_one_is_due_is_reported(source: str, value: Any) -> None:
    found = convert(value, source=source, target="openai-chat")
    assert "provider_field" in {loss.code for loss in found.all_losses}
    back = convert(found.value, source="openai-chat", target=source, residue=found.residue)
    assert json.dumps(back.value) == json.dumps(value)
