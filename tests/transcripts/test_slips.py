"""Slips in hand-made conversations: a misspelt key is a loss that is told, a wrong type is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolfmt import ParseError, convert
from toolfmt.errors import ConversionError

MISSPELT: list[tuple[str, Any]] = [
    ("anthropic", {"messages": [{"role": "user", "contnet": "Pay 100 EUR"}]}),
    ("gemini", {"contents": [{"role": "user", "part": [{"text": "Pay 100 EUR"}]}]}),
    ("openai-chat", {"messages": [{"role": "user", "contnet": "Pay 100 EUR"}]}),
    ("bedrock", {"messages": [{"role": "user", "content": [{"txt": "Pay 100 EUR"}]}]}),
    ("openai-chat", {"messages": [{"role": "assistant", "content": "Yes", "tool_call": [{"id": "1"}]}]}),
    ("openai-chat", {"messages": [{"role": "assistant", "content": "Yes", "toolCalls": [{"id": "1"}]}]}),
    ("openai-chat", {"messages": [{"role": "user", "content": "", "contents": "Pay 100 EUR"}]}),
]
REFUSED: list[tuple[str, Any, str]] = [
    ("bedrock", {"system": "Never pay.", "messages": []}, "/system: expected a list of blocks"),
    ("bedrock", {"toolConfig": {"tools": {}}, "messages": []}, "/tools: expected a list"),
    ("bedrock", {"toolConfig": [], "messages": []}, "/toolConfig: expected an object"),
    ("openai-responses", {"input": {"role": "user", "content": "Pay"}}, "/input: expected text or a list"),
    ("openai-responses", {"input": "Pay", "instructions": {"a": []}}, "/instructions: expected text, not dict"),
    (
        "gemini-interactions",
        {"input": "Hi", "system_instruction": ["Never pay."]},
        "/system_instruction: expected text",
    ),
    ("sharegpt", {"conversations": [], "system": ["Never pay."]}, "/system: expected text"),
    ("openai-chat", [{"messages": []}], "/messages/0: a message has a role"),
    ("openai-chat", [{"role": "user", "content": "Hi"}, {"role": "asistant"}], "/messages/1: .* not 'asistant'"),
    ("openai-responses", [{"role": "user", "content": "Hi"}, {"role": "asistant"}], "/1/role: .* not 'asistant'"),
    ("ag-ui", [{"role": "user", "content": "Hi"}, {"role": "asistant"}], "/messages/1: .* not 'asistant'"),
    (
        "openai-responses",
        {"input": [{"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": {"x": "SELECT 1"}}]},
        "/input/0/input: expected text, not dict",
    ),
    (
        "openai-chat",
        [{"role": "assistant", "tool_calls": [{"type": "custom", "custom": {"name": "sql", "input": {"x": 1}}}]}],
        "/messages/0/.*input: expected text, not dict",
    ),
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


@pytest.mark.parametrize(("source", "value"), MISSPELT[:3])
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
    ("pydantic-ai", [{"kind": "request", "parts": [{"part_kind": "tool-return", "tool_name": ["f"], "content": "1"}]}]),
]


@pytest.mark.parametrize(("source", "value"), UNNAMED)
def test_what_is_no_text_where_one_is_due_is_reported(source: str, value: Any) -> None:
    found = convert(value, source=source, target="openai-chat")
    assert "provider_field" in {loss.code for loss in found.all_losses}
    back = convert(found.value, source="openai-chat", target=source, residue=found.residue)
    assert json.dumps(back.value) == json.dumps(value)


DAMAGED: list[tuple[Any, str]] = [
    (7, "expected a list of messages"),
    (None, "expected a list of messages"),
    ("hello", "expected a list of messages"),
    ({}, "expected a list of messages"),
    ({"foo": 1}, "expected a list of messages"),
    ({"messages": "hello"}, "expected a list of messages"),
    ({"messages": [7]}, "/messages/0: a message is an object"),
    ({"messages": [{"role": "bogus", "content": "x"}]}, "/messages/0: the role is one of .* not 'bogus'"),
    ({"messages": [{"role": "user", "content": 5}]}, "/messages/0: expected text or a part"),
    ({"messages": [{"role": "user", "content": [5]}]}, "/messages/0: expected text or a part"),
    ({"messages": [{"role": "assistant", "tool_calls": [{"id": 1}]}]}, "/messages/0/tool_calls/0"),
    ({"messages": [{"role": "user", "content": "Hi"}], "tools": "abc"}, "/tools: expected a list"),
]


@pytest.mark.parametrize(("value", "said"), DAMAGED)
@pytest.mark.parametrize("target", ["openai-chat", "anthropic"])
def test_a_damaged_value_is_never_passed_on(value: Any, said: str, target: str) -> None:
    with pytest.raises(ParseError, match=said):
        convert(value, source="openai-chat", target=target)


@pytest.mark.parametrize(
    "value",
    [
        {"model": "gpt-4o", "messages": "hello"},
        {"model": "gpt-4o", "messages": "hello", "temperature": 0},
        {"messages": [{"role": "user", "content": "Hi"}], "tools": "abc"},
        {"messages": [{"role": "user", "content": "Hi"}], "model": "m", "tools": 1},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": 1}]}]},
        {"messages": [{"role": "user", "content": 5}]},
    ],
)
def test_a_damaged_value_is_of_no_other_format(value: Any) -> None:
    with pytest.raises(ParseError):
        convert(value, target="openai-chat")


@pytest.mark.parametrize("value", [[], {"messages": []}, {"messages": [{"role": "assistant"}]}])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
def test_a_conversation_without_a_message_is_not_written(value: Any, target: str) -> None:
    with pytest.raises(ConversionError, match="no message"):
        convert(value, source="openai-chat", target=target)


def test_what_a_format_does_not_know_yet_stays_in_it() -> None:
    value = {
        "messages": [{"role": "user", "content": [{"type": "smell", "a": 1}], "b": 2}, {"role": "assistant"}],
        "new": [3],
    }
    assert convert(value, source="openai-chat", target="openai-chat").value is value
