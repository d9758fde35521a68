"""Ollama's chat: a request, or the messages alone; no call has an id, results follow the calls in order.

{"model": "qwen3", "think": true, "messages": [
    {"role": "user", "content": "Weather here?", "images": ["iVBORw0KGgo"]},
    {"role": "assistant", "content": "Checking.", "thinking": "One call.", "tool_calls": [
        {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]},
    {"role": "tool", "tool_name": "get_weather", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_request import calls_in, messages_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "ollama"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    arguments="object",
    call_type=False,
    call_ids=False,
    custom=False,
    refusals=False,
    names=False,
    result_name="tool_name",
    reasoning="thinking",
    reasoning_alone=True,
    no_content="empty",
    media="list",
    text_parts=False,
    strict="",
    choices={},
    parallel=False,
)


def recognise(value: JsonValue) -> bool:
    """Tell a request by a result's `tool_name`, images beside the text, or calls without a type and an id."""
    return any(
        "tool_name" in message or is_array(message.get("images")) or any(map(_bare, calls_in(message)))
        for message in messages_in(value)
    )


def _bare(call: JsonObject) -> bool:
    function = call.get("function")
    return is_object(function) and is_object(function.get("arguments")) and call.keys() == {"function"}


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Ollama chat: no ids, arguments as objects, images beside the text.",
    read=partial(read_request, shape=SHAPE),
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        call_ids="none",
        result_names=True,
        url_kinds=frozenset(),
        owners=frozenset({NAME}),
        joined_answers=True,
        interleaved=False,
        arguments="object",
    ),
    sources=(Provenance(reference="ollama-python, ollama/_types.py", revision="0.6.3", kind="source", license="MIT"),),
)
