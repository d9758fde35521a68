"""Messages and tools for `apply_chat_template` of transformers; most templates have no ids.

{"messages": [
    {"role": "user", "content": [
        {"type": "text", "text": "Weather here?"}, {"type": "image", "url": "https://e.com/a.png"}]},
    {"role": "assistant", "content": "Checking.", "reasoning_content": "One call.", "tool_calls": [
        {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]},
    {"role": "tool", "name": "get_weather", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}
"""

from __future__ import annotations

from functools import partial
from typing import Final

from toolfmt.conversation import OpaquePart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, parts_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.media import from_url
from toolfmt.transcripts.parts.values import json_at, texts_at
from toolfmt.transcripts.tables.request import objects_in

NAME: Final = "hf-chat"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    arguments="object",
    call_ids=False,
    custom=False,
    result_name="name",
    reasoning="reasoning_content",
    reasoning_alone=True,
    no_content="absent",
    media="part",
    choices={},
    parallel=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise a conversation by calls of a type that have no id and an object of arguments, or by parts `image`."""
    return any(_typed(call) for message in messages_in(value) for call in objects_in(message, "tool_calls")) or any(
        part.get("type") in ("image", "video") and not (is_object(part.get("source")) or "mediaType" in part)
        for part in parts_in(value)
    )


def _typed(call: JsonObject) -> bool:
    function = call.get("function")
    return is_object(function) and is_object(function.get("arguments")) and call.keys() == {"type", "function"}


def read(value: JsonValue) -> Transcript:
    """Read messages, or a request's object; a row's column `images` has the data of parts `image` without a URL."""
    found = read_request(with_tools(value), SHAPE)
    places = [
        (message, at)
        for message in found.messages
        for at, part in enumerate(message.parts)
        if isinstance(part, OpaquePart) and part.value == {"type": "image"}
    ]
    addresses = texts_at(value, "images") if places and is_object(value) and is_array(value.get("images")) else []
    if not places or len(addresses) != len(places):
        return found
    for (message, at), address in zip(places, addresses, strict=True):
        message.parts = (*message.parts[:at], from_url(address, "image"), *message.parts[at + 1 :])
        message.origin = ""  # it is only a part of what it was read from
    del found.extra[f"{NAME}.images"]
    return found


def with_tools(value: JsonValue) -> JsonValue:
    """Decode a row's tools if its column `tools` is JSON text."""
    tools = json_at(value.get("tools")) if is_object(value) else None
    return {**value, "tools": tools} if is_object(value) and is_array(tools) else value


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="transformers chat templates: arguments as objects, no ids, images as parts.",
    read=read,
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        trained=True,
        roles=frozenset({"system", "user", "assistant", "tool"}),
        call_ids="none",
        result_names=True,
        user_kinds=frozenset({"text", "image", "audio", "video"}),
        owners=frozenset({NAME}),
        neighbours="answers",
        interleaved=False,
        arguments="object",
    ),
    aliases=("hf", "huggingface", "transformers"),
    sources=(Provenance("transformers documentation, Chat templates and Tool use", "documentation"),),
)
