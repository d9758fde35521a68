r"""Cohere's chat, version 2: a request, or the messages alone.

{"messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "tool_plan": "Checking.", "tool_calls": [
        {"id": "get_weather_a1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "get_weather_a1", "content": [
        {"type": "document", "document": {"id": "0", "data": {"temp": "18C"}}}]},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "One call."}, {"type": "text", "text": "18C."}]}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "REQUIRED", "strict_tools": true}
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_object
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_request import messages_in, parts_in, read_request, write_request
from toolfmt.transcripts.citations import grounded
from toolfmt.transcripts.format import Rules, TranscriptFormat

if TYPE_CHECKING:
    from toolfmt.model import JsonValue

NAME: Final = "cohere"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    custom=False,
    refusals=False,
    names=False,
    parameters=True,
    reasoning_part="text",
    plan="tool_plan",
    no_content="absent",
    documents=True,
    annotations="citations",
    cites=grounded,
    strict="request",
    choices={"REQUIRED": "required", "NONE": "none"},
    named="",
    parallel=False,
)


def recognise(value: JsonValue) -> bool:
    """Tell a request by a plan before calls, a document among parts, a thought in text without a signature."""
    if is_object(value) and (value.get("tool_choice") in ("REQUIRED", "NONE") or "strict_tools" in value):
        return bool(messages_in(value))
    return any("tool_plan" in message for message in messages_in(value)) or any(
        is_object(part.get("document")) or (isinstance(part.get("thinking"), str) and "signature" not in part)
        for part in parts_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Cohere chat v2: as OpenAI's, with a plan before calls and documents as results.",
    read=partial(read_request, shape=SHAPE),
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        result_kinds=frozenset({"text", "json"}),
        owners=frozenset({NAME}),
        joined_answers=True,
        interleaved=False,
        empty_messages=False,
    ),
    aliases=("cohere-v2", "cohere_v2"),
    sources=(
        Provenance(reference="cohere, cohere.types (ChatMessageV2)", revision="7.3.1", kind="source", license="MIT"),
        Provenance(reference="Cohere API reference, Chat v2", kind="documentation"),
    ),
)
