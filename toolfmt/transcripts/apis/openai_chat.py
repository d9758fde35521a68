r"""OpenAI Chat Completions: a request, or the messages alone.

{"model": "gpt-5.1", "messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_A1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "call_A1", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "auto", "parallel_tool_calls": true}
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import ANY, OPENAI, OPENAI_STRICT
from toolfmt.transcripts.chat import MODELS, ChatShape
from toolfmt.transcripts.chat_request import messages_in, read_request, write_request
from toolfmt.transcripts.format import ANYTHING, Rules, TranscriptFormat

if TYPE_CHECKING:
    from toolfmt.model import JsonValue

NAME: Final = "openai-chat"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider="openai",
    reasoning="reasoning_content",
    signed_by="anthropic",
    gateways=True,
    annotations="annotations",
)
_STRICT: Final = replace(SHAPE, reasoning="", gateways=False)
"""What OpenAI itself takes; gateways and servers that copy its API take more, which is always read."""


def recognise(value: JsonValue) -> bool:
    """Tell a request by calls, a result's `tool_call_id`, or tools of that shape."""
    for item in messages_in(value):
        if "tool_call_id" in item or "tool_calls" in item or item.get("role") == "developer":
            return True
    tools = value.get("tools") if is_object(value) else None
    return is_array(tools) and any("function" in tool for tool in tools if is_object(tool)) and bool(messages_in(value))


_RULES: Final = Rules(
    call_id_length=40,
    tool_name=r"[a-zA-Z0-9_-]",
    tool_name_length=64,
    user_kinds=frozenset({"text", "image", "audio", "document"}),
    url_kinds=frozenset({"image"}),
    other_kinds=False,
    joined_answers=True,
    interleaved=False,
    empty_messages=False,
    silent=frozenset({"system", "developer", "user"}),
    custom_tools=True,
    schema=OPENAI,
    strict_schema=OPENAI_STRICT,
)

_GATEWAY: Final = TranscriptFormat(
    name=NAME,
    summary="OpenAI Chat Completions: messages with tool_calls, arguments as JSON text.",
    read=partial(read_request, shape=SHAPE),
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    common=3,
    rules=_RULES,
    models=MODELS,
    copies=replace(
        _RULES,
        call_id_length=0,
        user_kinds=ANYTHING,
        assistant_kinds=ANYTHING,
        url_kinds=ANYTHING,
        schema=ANY,
        strict_schema=None,
    ),  # each has limits of its own
    aliases=("openai", "openai_chat", "chat-completions"),
    sources=(
        Provenance(
            reference="openai-python, openai.types.chat", revision="3.52.0", kind="source", license="Apache-2.0"
        ),
        Provenance(reference="OpenAI API reference, Chat Completions", kind="documentation"),
    ),
)
FORMAT: Final = replace(
    _GATEWAY,
    write=partial(write_request, shape=_STRICT),
    rules=replace(_RULES, reasoning=False),
    gateway=_GATEWAY,
)
