r"""A row of OpenAI's fine-tuning data: chat messages, each of the assistant's with a weight.

{"messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "tool_calls": [
        {"id": "call_A1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}], "weight": 0},
    {"role": "tool", "tool_call_id": "call_A1", "content": "18C"},
    {"role": "assistant", "content": "18C.", "weight": 1}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "parallel_tool_calls": false}
"""

from __future__ import annotations

from functools import partial
from typing import Final

from toolfmt.dialect.record import Provenance
from toolfmt.model import JsonValue
from toolfmt.schema.rules import OPENAI, OPENAI_TUNED_STRICT
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat

NAME: Final = "openai-finetune"
SHAPE: Final = ChatShape(
    owner=NAME, provider="openai", custom=False, signed_by="anthropic", no_content="absent", choices={}
)


def recognise(value: JsonValue) -> bool:
    """Recognise a row by a message's weight."""
    return any("weight" in message for message in messages_in(value))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="OpenAI fine-tuning data: a conversation a row, messages with weights.",
    read=partial(read_request, shape=SHAPE),
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        trained=True,
        answered=True,
        call_id_length=40,
        schema=OPENAI,
        strict_schema=OPENAI_TUNED_STRICT,
        tool_name=r"[a-zA-Z0-9_-]",
        tool_name_length=64,
        owners=frozenset({NAME, "openai"}),
        neighbours="answers",
        interleaved=False,
        empty_messages=False,
    ),
    aliases=("finetune", "openai-finetuning"),
    sources=(Provenance(reference="OpenAI API guide, Supervised fine-tuning", kind="documentation"),),
)
