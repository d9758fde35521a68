"""OpenAI's relatives: each takes what its row says, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from toolfmt import check, convert, convert_answer, convert_request
from toolfmt.errors import UnknownFormatError
from toolfmt.transcripts.formats import find
from toolfmt.transcripts.settings.engine import read, write
from toolfmt.transcripts.settings.relatives import RELATIVES
from toolfmt.transcripts.settings.tables import OPENAI_CHAT
from toolfmt.transcripts.streams.relay import StreamConverter

CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "name": "ann", "content": "Weather?"},
        {"role": "assistant", "content": None, "reasoning_content": "One call.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "sky", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "18C"},
    ],
    "tools": [{"type": "function", "function": {"name": "sky", "parameters": {"type": "object"}}}],
}  # fmt: skip
every_relative = pytest.mark.parametrize("name", RELATIVES)


@every_relative
def test_what_it_refuses_is_a_loss_and_what_it_adds_is_written(name: str) -> None:
    row = RELATIVES[name]
    table = row.table
    assert not row.refuses & table.names - {one.name for one in row.adds}
    samples = {"number": 0.5, "integer": 20, "text": "x", "flag": True, "texts": ["x"], "object": {"a": "b"}, "any": 1}
    for setting in table.settings:
        value: Any = next(iter(setting.words), samples[setting.kind])
        value = [value] if setting.words and setting.kind == "texts" else value
        if setting.name not in ("thinks", "effort", "budget"):
            assert read(write({setting.name: value}, table), table).values == {setting.name: value}, setting
    given: dict[str, Any] = {one.name: samples[one.kind] for one in OPENAI_CHAT.settings if one.name in row.refuses}
    given = {key: value for key, value in given.items() if key not in table.names}
    assert write(given, table) == {}


@every_relative
def test_a_conversation_fits_it(name: str) -> None:
    made = convert(CHAT, source="openai-chat", target=name)
    messages = made.value["messages"]
    row = RELATIVES[name]
    assert messages[0]["role"] == ("developer" if row.developers else "system")
    assert ("name" in messages[1]) == row.speakers
    thoughts = {"reasoning", "reasoning_content"} & messages[2].keys()
    assert thoughts == ({row.reasoning} if row.reasoning else set())
    assert check(made.value, format=name) == ()
    back = convert(made.value, source=name, target="openai-chat", residue=made.residue)
    assert back.value == CHAT


@every_relative
def test_answers_and_streams_are_openai_s(name: str) -> None:
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}],
    }
    assert convert_answer(answer, source=name, target="anthropic").value["content"][0]["text"] == "Hi"
    relay = StreamConverter("anthropic", name)
    relay.feed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}})
    assert relay.close()[0]["choices"][0]["finish_reason"] == "length"


def test_deepseek_is_strict() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "c", "schema": {"type": "object"}}}
    value = CHAT | {
        "seed": 1,
        "n": 2,
        "max_completion_tokens": 9,
        "reasoning_effort": "high",
        "response_format": schema,
    }
    made = convert_request(value, source="openai-chat", target="deepseek")
    assert {key: made.value[key] for key in made.value.keys() - {"messages", "tools"}} == {
        "model": "m",
        "max_tokens": 9,
        "thinking": {"type": "enabled"},
        "reasoning_effort": "high",
        "response_format": {"type": "json_object"},
    }
    assert {loss.path for loss in made.losses if loss.severity == "setting"} == {"/seed", "/n", "/response_format"}


def test_their_names_are_formats() -> None:
    assert (find("grok").name, find("LM_Studio").name) == ("xai", "lm-studio")
    with pytest.raises(UnknownFormatError, match="deepseek"):
        find("deepseak")
