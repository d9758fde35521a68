"""Inspect's ChatMessage, as in its logs: `messages` of a sample, or only the messages.

[{"id": "m2", "role": "user", "content": "Weather in Paris?"},
 {"id": "m3", "role": "assistant", "source": "generate", "model": "openai/gpt-5.1", "content": [
    {"type": "reasoning", "reasoning": "gAAAAAB", "summary": "One call.", "redacted": true},
    {"type": "image", "image": "data:image/png;base64,iVBORw0KGgo", "detail": "auto"},
    {"type": "audio", "audio": "data:audio/wav;base64,UklGRg", "format": "wav"}],
    "tool_calls": [
        {"id": "call_A1", "function": "get_weather", "arguments": {"city": "Paris"}, "type": "function"}]},
 {"id": "m4", "role": "tool", "tool_call_id": "call_A1", "function": "get_weather", "content": "",
    "error": {"type": "timeout", "message": "too slow"}}]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
    parse_failure,
)
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import ALL_KINDS, TranscriptFormat
from toolfmt.transcripts.parts.citations import addressed
from toolfmt.transcripts.parts.hosted import INSPECT, hosted
from toolfmt.transcripts.parts.media import MediaKind, from_url, known_type, to_url
from toolfmt.transcripts.parts.values import INVALID, argument_object, arguments_at, content_text, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, content
from toolfmt.transcripts.tables.fields import PartField, citations, constant, ident, option, text, where
from toolfmt.transcripts.tables.message_fields import NOTHING, MessageField, listed
from toolfmt.transcripts.tables.request import ROLES, RequestTable, objects_in

NAME: Final = "inspect"
_MAKERS: Final = {"anthropic": "anthropic", "bedrock": "anthropic", "google": "google", "openai": "openai"}
"""The owner of an answer's proofs, by the provider prefix of its `model`."""
_FORMATS: Final = {
    **dict.fromkeys(("audio/wav", "audio/x-wav"), "wav"),
    **dict.fromkeys(("audio/mp3", "audio/mpeg"), "mp3"),
    "video/mp4": "mp4",
    "video/mpeg": "mpeg",
    "video/quicktime": "mov",
}
_TYPES: Final = {"mov": "quicktime"}


def _media(kind: MediaKind) -> PartRow:
    def read(item: JsonObject) -> MediaPart | None:
        if not word(item, kind):
            return None
        part = from_url(item[kind], kind, detail=word(item, "detail") or None, name=word(item, "filename") or None)
        written = word(item, "format")
        typed = f"{kind}/{_TYPES.get(written, written)}" if written else word(item, "mime_type")
        part.media_type = part.media_type or typed
        part.extra = rest(item, {"type", kind, "detail", "filename", "format", "mime_type"}, NAME)
        return part

    return PartRow(kind, MediaPart, read=read, write=_write_media, when=lambda part: part.kind == kind)


def _write_media(part: MediaPart) -> JsonObject | None:
    address, written = to_url(part), _FORMATS.get(known_type(part))
    if address is None or (part.kind in ("audio", "video") and written is None):
        return None
    beside: JsonObject = {"format": written}
    if part.kind == "image":
        beside = {"detail": part.detail}
    elif part.kind == "document":
        beside = {"filename": part.name, "mime_type": part.media_type}
    fields = {key: value for key, value in beside.items() if value}
    return {"type": part.kind, part.kind: address, **fields, **own(part.extra, NAME)}


def _write_summary(part: ReasoningPart, item: JsonObject) -> None:
    item |= {"summary": part.text} if part.text else {}


_SUMMARY: Final = PartField(("summary",), option("summary", "text").read, _write_summary)
_SIGNATURE: Final = option("signature", "signature")
_CITATIONS: Final = citations("citations", addressed, lambda item: item.get("type") in ("content", "document", "url"))
BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", RefusalPart, text("text"), constant("refusal", True)),  # noqa: FBT003 - the wire's value
        PartRow("text", TextPart, text("text"), _CITATIONS, where(bool, "refusal")),
        PartRow(
            "reasoning",
            ReasoningPart,
            text("reasoning", "encrypted"),
            _SUMMARY,
            _SIGNATURE,
            constant("redacted", True),  # noqa: FBT003 - the wire's value
            when=lambda part: part.encrypted is not None,
        ),
        PartRow("reasoning", ReasoningPart, text("reasoning"), _SIGNATURE, constant("redacted", False, needed=False)),  # noqa: FBT003 - the wire's value
        *map(_media, ("image", "audio", "video", "document")),
    ),
    says=lambda item: hosted(item, INSPECT),
)


def _read_error(item: JsonObject, part: ResultPart) -> bool | None:
    """Read an error, whose message becomes the result."""
    error = item.get("error")
    part.is_error = error is not None
    if (words := word(error, "message")) and words not in content_text(part.content):
        part.content = (*part.content, TextPart(words))
    return None if part.is_error else True


def _write_error(part: ResultPart, item: JsonObject) -> None:
    if part.is_error:
        words = [found.text for found in part.content if isinstance(found, TextPart)]
        item["error"] = {"type": "unknown", "message": "\n".join(words)}


_ERROR: Final = PartField(("error",), _read_error, _write_error)
_RESULT: Final = PartRow(
    "tool", ResultPart, content("content", BLOCKS), ident("tool_call_id"), option("function", "name"), _ERROR
)
_RESULTS: Final = PartTable(NAME, (_RESULT,), tag="role")


def _read_arguments(item: JsonObject, part: CallPart) -> bool:
    given = arguments_at(item, "arguments")
    if item.get("type") == "custom" and (words := word(given, "input")):
        part.custom, part.text = True, words
    else:
        part.arguments = {} if given is None else given
    return True


def _write_arguments(part: CallPart, item: JsonObject) -> None:
    arguments = argument_object(part)
    item |= {"arguments": arguments, "type": "custom" if part.custom else "function"}
    if INVALID in arguments and part.text is not None:
        item["parse_error"] = parse_failure(part)


_ARGUMENTS: Final = PartField(("arguments", "type"), _read_arguments, _write_arguments)
_CALLS: Final = PartTable(NAME, (PartRow("", CallPart, ident("id"), text("function", "name"), _ARGUMENTS),), tag=None)


def _own_proofs(item: JsonObject, parts: list[Part]) -> frozenset[str]:
    """Set the owner of an answer's proofs, by its model."""
    maker = _MAKERS.get(word(item, "model").partition("/")[0], NAME)
    for part in parts:
        if isinstance(part, ReasoningPart) and (part.signature is not None or part.encrypted is not None):
            part.owner = maker
    return NOTHING


_TABLE: Final = RequestTable(
    owner=NAME,
    roles=ROLES,
    blocks=BLOCKS,
    fields=(listed("tool_calls", _CALLS, "function"), MessageField(("model", "content"), _own_proofs)),
    result=(_RESULTS.read, _RESULTS.write),
    empty="alone",
    request=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise messages by calls with a plain function name, or by their source."""
    return any(
        word(item, "source") in ("input", "generate", "operator")
        or (word(item, "role") == "tool" and word(item, "function"))
        or any(word(call, "function") for call in item.get("tool_calls") or ())
        for item in objects_in(value)
        if word(item, "role") and (item.get("tool_calls") is None or is_array(item["tool_calls"]))
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Inspect's ChatMessage: what evaluation logs keep of a conversation.",
    read=_TABLE.read,
    write=_TABLE.write,
    recognise=recognise,
    relative_of="hf-chat",
    rules=replace(ALL_KINDS, result_names=True, interleaved=False, arguments="object"),
    aliases=("inspect-ai", "inspect-log"),
    sources=(Provenance("inspect-ai, inspect_ai.model.ChatMessage", "source", "0.3.285", "MIT"),),
)
