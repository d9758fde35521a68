"""A conversation of one format under the name of another: the same content, or an error, or losses that are listed."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from toolfmt import ParseError, check, convert
from toolfmt.conversation import CallPart, JsonPart, ReasoningPart, RefusalPart, ResultPart, TextPart, Transcript
from toolfmt.errors import ToolFmtError
from toolfmt.transcripts.formats import find, formats

FOLDER = Path(__file__).parent / "examples"
EXAMPLES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
_TURNS = [
    {"from": "human", "value": "Weather here and in Atlantis?"},
    {"from": "function_call", "value": '{"name": "get_weather", "arguments": {"city": "Paris"}}'},
    {"from": "observation", "value": "18C"},
    {"from": "gpt", "value": "Paris 18C."},
]
_SESSION = {"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s"}
_ROLLOUT = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather in Oslo?"}]}
EXAMPLES |= {
    "sharegpt": {"conversations": _TURNS},
    "hermes-rows": {
        "conversations": [
            {"from": "human", "value": "Weather in Oslo?"},
            {"from": "gpt", "value": '<tool_call>\n{"name": "sky", "arguments": {"city": "Oslo"}}\n</tool_call>'},
        ]
    },
    "toolace": {
        "system": "Be brief.",
        "conversations": [{"from": "user", "value": "In Oslo?"}, {"from": "assistant", "value": '[sky(city="Oslo")]'}],
    },
    "xlam": {"query": "Weather in Oslo?", "tools": "[]", "answers": '[{"name": "sky", "arguments": {"c": "Oslo"}}]'},
    "claude-code": [{**_SESSION, "message": {"role": "user", "content": "Weather in Oslo?"}}],
    "codex": [{"type": "response_item", "payload": _ROLLOUT}],
    "mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sky", "arguments": {"c": "Oslo"}}},
}
NAMES = [made.name for made in formats()]


def strings(value: Any) -> set[str]:
    """Collect the texts in a JSON value."""
    if isinstance(value, str):
        return {value.strip()} - {""}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*map(strings, inner))


def words(transcript: Transcript) -> set[str]:
    """Collect all that a conversation says: texts, names, arguments, results."""
    found: set[str] = set()
    for part in (part for message in transcript.messages for part in message.parts):
        match part:
            case TextPart() | ReasoningPart() | RefusalPart():
                found |= strings(part.text)
            case CallPart():
                found |= strings([part.name, part.value])
            case ResultPart():
                for inner in part.content:
                    found |= strings(
                        inner.text
                        if isinstance(inner, TextPart)
                        else inner.value
                        if isinstance(inner, JsonPart)
                        else None
                    )
            case _:
                pass
    return found


@pytest.mark.parametrize("origin", EXAMPLES)
def test_nothing_is_less_without_a_word(origin: str) -> None:
    value = EXAMPLES[origin]
    said = words(find(origin).read(value))
    for name in NAMES:
        target = "anthropic" if name == "openai-chat" else "openai-chat"
        try:
            made = convert(value, source=name, target=target)
        except ToolFmtError:
            assert name != origin
            continue
        written = json.dumps(made.value, ensure_ascii=False).replace('\\"', '"')
        missing = [
            text for text in said if json.dumps(text, ensure_ascii=False)[1:-1] not in written and text not in written
        ]
        assert not missing or [loss for loss in made.losses if loss.severity in ("content", "meaning")], name


CHAT = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
LANGCHAIN = [{"type": "human", "content": "Hi."}, {"type": "ai", "content": "Hello."}]
DUMPED = [{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"], "kwargs": {"content": "Hi."}}]
FOREIGN: list[tuple[str, Any, str]] = [
    ("openai-chat", LANGCHAIN, "it looks like langchain"),
    ("langchain", CHAT, "/0/type: expected system, human"),
    ("langchain", {"messages": CHAT}, "/messages/0/type: expected system, human"),
    (
        "claude-code",
        CHAT,
        "nothing in the value is understood; found a list of 2 objects with the keys 'role', 'content'",
    ),
    ("sharegpt", {"conversations": CHAT}, "`from` is one of"),
    ("sharegpt", {"conversations": [{"from": "chatgpt", "value": "Hello."}]}, "not 'chatgpt'"),
    *(
        (name, value, "langchain")
        for name in (
            "sharegpt",
            "toolace",
            "openai-responses",
            "gemini",
            "gemini-interactions",
            "codex",
            "claude-code",
            "hermes-rows",
        )
        for value in (LANGCHAIN, DUMPED)
    ),
    ("openai-chat", {"messages": CHAT, "system": "Be brief."}, "only a part of the value is understood; it looks like"),
]


@pytest.mark.parametrize(("source", "value", "said"), FOREIGN)
def test_a_foreign_value_is_refused(source: str, value: Any, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        convert(value, source=source, target="hf-chat")
    assert [found.rule for found in check(value, format=source)] == ["unreadable"]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("openai-chat", {"messages": []}),
        ("openai-chat", []),
        ("openai-responses", {"input": [{"type": "item_reference", "id": "m"}], "previous_response_id": "r"}),
        ("openai-chat", {"messages": CHAT, "model": "m", "metadata": {"a": "b"}, "source": "a data set"}),
        ("anthropic", {"messages": [{"role": "user", "content": [{"type": "not_known_yet", "a": 1}]}]}),
    ],
)
def test_what_is_the_formats_own_is_read(source: str, value: Any) -> None:
    assert "unreadable" not in [found.rule for found in check(value, format=source)]


ASKED = {"role": "user", "content": "Hi."}
ODD: dict[str, Any] = {
    "anthropic": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}]},
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]},
    "bedrock": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}}]},
    "openai-chat": {
        "role": "assistant",
        "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
    },
    "openai-responses": {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'},
    "langchain": {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]},
    "sharegpt": {"from": "function_call", "value": '{"name": "f", "arguments": {"a": 1}}'},
    "vercel-ui": {"role": "assistant", "parts": [{"type": "text", "text": "Yes."}]},
}


@pytest.mark.parametrize(("first", "second"), list(permutations(ODD, 2)))
def test_rows_of_two_formats_are_read_whole_or_refused(first: str, second: str) -> None:
    value = [ASKED, ODD[first], ODD[second]]
    try:
        made = convert(value, target="openai-chat")
    except ParseError:
        return
    calls = [call for message in made.value["messages"] for call in message.get("tool_calls", ())]
    said = json.dumps(made.value)
    assert "Hi." in said
    assert len(calls) + ("Yes." in said) == 2


def test_a_message_of_another_format_is_named() -> None:
    with pytest.raises(ParseError, match="/1: the message is of anthropic, and others are of openai-chat"):
        convert([ASKED, ODD["anthropic"], ODD["openai-chat"]], target="gemini")
