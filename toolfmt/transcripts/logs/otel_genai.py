"""OpenTelemetry's GenAI attributes of a span: a model's input and output, as lists or as JSON text.

{"gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
 "gen_ai.input.messages": [
    {"role": "user", "parts": [{"type": "text", "content": "Weather here?"},
        {"type": "uri", "mime_type": null, "modality": "image", "uri": "https://a.b/c.png"}]},
    {"role": "assistant", "parts": [
        {"type": "tool_call", "id": "call_A1", "name": "get_weather", "arguments": {"city": "Paris"}}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "call_A1", "response": "18C"}]}],
 "gen_ai.output.messages": [
    {"role": "assistant", "parts": [{"type": "text", "content": "18C."}], "finish_reason": "stop"}],
 "gen_ai.tool.definitions": [{"type": "function", "name": "get_weather", "parameters": {"type": "object"}}]}

Final messages with a finish reason are the output. There is no place
for a choice of tools, for the flag of an error, or for a proof of reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from toolfmt import jsontext
from toolfmt.conversation import CallPart, MediaPart, ReasoningPart, ResultPart, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import JSON_RESULTS, TranscriptFormat
from toolfmt.transcripts.parts.hosted import OTEL, hosted
from toolfmt.transcripts.parts.media import kind_of
from toolfmt.transcripts.parts.values import word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, returned
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import PartField, arguments, ident, text, where
from toolfmt.transcripts.tables.request import ROLES, RequestTable, SystemPlace

NAME: Final = "otel-genai"
_SYSTEM: Final = "gen_ai.system_instructions"
_INPUT: Final = "gen_ai.input.messages"
_OUTPUT: Final = "gen_ai.output.messages"
_TOOLS: Final = "gen_ai.tool.definitions"
_LISTS: Final = frozenset({_SYSTEM, _INPUT, _OUTPUT, _TOOLS})


def _media(type: str, key: str, attribute: str) -> PartRow:  # noqa: A002 - the wire's word
    """Describe the block of media: data, a URL, or a file."""

    def read(item: JsonObject, part: MediaPart) -> bool:
        media_type, modality = word(item, "mime_type"), word(item, "modality")
        part.kind, part.media_type = kind_of(f"{modality}/" if modality else media_type), media_type
        part.owner = NAME if attribute == "file_id" else ""
        return bool(word(item, key))

    def write(part: MediaPart, item: JsonObject) -> bool:
        item |= {"mime_type": part.media_type or None, "modality": part.kind}
        return getattr(part, attribute) is not None and (attribute != "file_id" or part.owner == NAME)

    return PartRow(type, MediaPart, PartField(("mime_type", "modality"), read, write), text(key, attribute))


_READABLE: Final = where(lambda item: isinstance(item.get("id"), str | None))
BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", TextPart, text("content")),
        PartRow("reasoning", ReasoningPart, text("content"), when=lambda part: bool(part.text)),
        _media("blob", "content", "data"),
        _media("uri", "uri", "url"),
        _media("file", "file_id", "file_id"),
        PartRow("tool_call", CallPart, _READABLE, ident("id"), text("name", "name"), arguments("arguments", "value")),
        PartRow(
            "tool_call_response",
            ResultPart,
            _READABLE,
            where(lambda item: "response" in item),
            ident("id"),
            returned("response"),
        ),
    ),
    says=lambda item: hosted(item, OTEL),
)


_REQUEST: Final = RequestTable(
    owner=NAME,
    roles=ROLES,
    blocks=BLOCKS,
    content="parts",
    texts=False,
    name="name",
    loose=True,
    empty="alone",
    messages=_INPUT,
    system=SystemPlace(_SYSTEM, BLOCKS.read_all, BLOCKS.write_list),
    tools=Declaring(owner=NAME, typed=True).listed(_TOOLS),
)


def read(value: JsonValue) -> Transcript:
    """Read a span's attributes, a span, a list of spans, or a list of messages."""
    value = _attributes(value)
    if not is_object(value) or value.keys().isdisjoint(_LISTS):
        return _REQUEST.read(value)
    given = {_INPUT: [], **value, **{key: _listed(value, key) for key in _LISTS if key in value}}
    found = _REQUEST.read(given)
    output = _REQUEST.read_messages(given.pop(_OUTPUT, []), _OUTPUT)
    found.extra.pop(f"{NAME}.{_OUTPUT}", None)
    return replace(found, messages=(*found.messages, *output))


def _attributes(value: Any) -> JsonValue:
    """Return the attributes of a span, an SDK's object or its JSON; of several spans, the last ones with messages."""
    if is_array(value):
        spans = (_span(one) for one in reversed(value))
        return next((one for one in spans if is_object(one) and not one.keys().isdisjoint(_LISTS)), value)
    return _span(value)


def _span(value: Any) -> JsonValue:
    found: object = value.get("attributes") if is_object(value) else getattr(value, "attributes", value)
    return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else value


def _listed(value: JsonObject, key: str) -> list[JsonValue]:
    found = value.get(key)
    if isinstance(found, str):
        found = jsontext.loads(found)
    if found is not None and not is_array(found):
        raise ParseError(f"{NAME}: /{key}: expected a list, or its JSON text")
    return found or []


def write(transcript: Transcript) -> JsonValue:
    """Write a span's attributes."""
    messages = transcript.messages
    end = len(messages)
    while end and (messages[end - 1].where[0] == f"/{_OUTPUT}" or f"{NAME}.finish_reason" in messages[end - 1].extra):
        end -= 1
    value = _REQUEST.write(replace(transcript, messages=messages[:end]))
    output = _REQUEST.write_messages(messages[end:])
    return {**value, _OUTPUT: output} if output else value


def recognise(value: JsonValue) -> bool:
    """Recognise attributes by their names, and messages by parts whose type is beside `content` or `response`."""
    value = _attributes(value)
    if is_object(value):
        return not value.keys().isdisjoint(_LISTS)
    return is_array(value) and any(
        word(part, "type") in ("text", "reasoning", "tool_call", "tool_call_response")
        and not part.keys().isdisjoint(("content", "arguments", "response"))
        for item in value
        if word(item, "role") and is_array(item.get("parts"))
        for part in item["parts"]
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="OpenTelemetry GenAI: the messages and tools among a span's attributes.",
    read=read,
    write=write,
    recognise=recognise,
    messages=_INPUT,
    rules=JSON_RESULTS,
    aliases=("otel", "opentelemetry"),
    sources=(
        Provenance("opentelemetry-util-genai, opentelemetry.util.genai.types", "source", "1.3b0", "Apache-2.0"),
        Provenance("OpenTelemetry semantic conventions, GenAI", "documentation"),
    ),
)
