r"""Mistral's chat completion: a request, or the messages alone.

{"messages": [
    {"role": "user", "content": [
        {"type": "text", "text": "Weather in Paris?"}, {"type": "image_url", "image_url": "https://e.com/a.png"}]},
    {"role": "assistant",
     "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "One call."}]},
        {"type": "text", "text": "Checking."}],
     "tool_calls": [
        {"id": "A1b2C3d4E", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "A1b2C3d4E", "name": "get_weather", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "any", "parallel_tool_calls": true}
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.rules import MISTRAL
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_request import messages_in, parts_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat

if TYPE_CHECKING:
    from toolfmt.model import JsonValue

NAME: Final = "mistral"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    custom=False,
    refusals=False,
    names=False,
    parameters=True,
    no_id="null",
    result_name="name",
    reasoning_part="chunks",
    media="url",
    choices={"auto": "auto", "none": "none", "any": "required", "required": "required"},
    named="one",
)


def recognise(value: JsonValue) -> bool:
    """Tell a request by thoughts in chunks, an address that stands for an image, or the choice `any`."""
    if is_object(value) and value.get("tool_choice") == "any":
        return bool(messages_in(value))
    return any(
        is_array(part.get("thinking")) or isinstance(part.get("image_url"), str) or part.get("type") == "document_url"
        for part in parts_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Mistral chat: as OpenAI's, with ids of nine letters and digits and thinking in the content.",
    read=partial(read_request, shape=SHAPE),
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        call_id=r"[a-zA-Z0-9]",
        call_id_length=9,
        call_id_exact=True,
        tool_name=r"[a-zA-Z0-9_-]",
        tool_name_length=64,
        result_kinds=frozenset({"text", "image", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "document"}),
        owners=frozenset({NAME}),
        joined_answers=True,
        interleaved=False,
        empty_messages=False,
        arguments="any",
        schema=MISTRAL,
    ),
    aliases=("mistralai", "mistral-chat"),
    sources=(
        Provenance(reference="mistralai, mistralai.models", revision="3.7.0", kind="source", license="Apache-2.0"),
        Provenance(
            reference="mistral-common, protocol/instruct/validator.py",
            revision="1.13.1",
            kind="source",
            license="Apache-2.0",
        ),
    ),
)
