r"""pydantic-ai's ModelMessage: requests and responses, as written by `ModelMessagesTypeAdapter`.

[{"kind": "request", "parts": [
    {"part_kind": "system-prompt", "content": "Be brief."},
    {"part_kind": "user-prompt", "content": ["Weather here?",
        {"kind": "binary", "data": "iVBORw0KGgo", "media_type": "image/png"}], "timestamp": "2026-11-21T00:00:00Z"}]},
 {"kind": "response", "parts": [
    {"part_kind": "thinking", "content": "One call.", "signature": "EqQB", "provider_name": "anthropic"},
    {"part_kind": "tool-call", "tool_name": "get_weather", "args": "{\"city\":\"Paris\"}",
     "tool_call_id": "call_A1"}],
    "model_name": "claude-sonnet-4-5", "finish_reason": "tool_call"},
 {"kind": "request", "parts": [
    {"part_kind": "tool-return", "tool_name": "get_weather", "content": "18C", "tool_call_id": "call_A1"}]}]

Each part of a request becomes a message. `instructions` of a request are
instructions before it if they differ from those of the previous request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    ReasoningPart,
    ResultPart,
    Role,
    Said,
    TextPart,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.format import JSON_RESULTS, TranscriptFormat
from toolfmt.transcripts.parts.citations import anchored
from toolfmt.transcripts.parts.media import kind_of, known_type
from toolfmt.transcripts.parts.values import (
    argument_value,
    content_text,
    json_text,
    misread,
    own,
    plain_text,
    rest,
    tagged,
    word,
)
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import PartField, arguments, citations, ident, text
from toolfmt.transcripts.tables.request import RequestTable, objects_in

NAME: Final = "pydantic-ai"
_MAKERS: Final = {
    **dict.fromkeys(("anthropic", "bedrock"), "anthropic"),
    **dict.fromkeys(("google", "google-cloud", "google-gla", "google-vertex"), "google"),
    **dict.fromkeys(("openai", "azure"), "openai"),
}
"""The owner of the proofs in a provider's answers."""
_APART: Final = frozenset({"openai"})
"""Owners whose ciphertext comes beside readable reasoning, not instead of it."""
_REDACTED: Final = ("redacted_thinking", "redacted_content")
_POINT: Final = "cache-point"
_RESULT: Final = frozenset({"part_kind", "tool_name", "content", "tool_call_id", "outcome"})
_ERRORS: Final = ("failed", "retried")
_REQUEST: Final = f"{NAME}.request"
_KIND: Final = f"{NAME}.part_kind"
_PART: Final = frozenset({"part_kind", "content"})
_MEDIA: Final = frozenset({"kind", "data", "url", "media_type", "file_id"})


def _read_media(item: JsonObject) -> MediaPart | None:
    media_type, provider = word(item, "media_type"), word(item, "provider_name")
    part = MediaPart(kind_of(media_type), media_type, extra=rest(item, _MEDIA, NAME))
    match item:
        case {"kind": "binary", "data": str() as data} if data and media_type:
            part.data = data.replace("-", "+").replace("_", "/")
        case {"kind": "uploaded-file", "file_id": str() as ident} if ident:
            part.file_id = ident
            part.owner = _MAKERS.get(provider, provider)
            if part.owner == provider:
                part.extra.pop(f"{NAME}.provider_name", None)
        case {"url": str() as url} if url and word(item, "kind").endswith("-url"):
            part.kind, part.url = item["kind"].removesuffix("-url"), url
        case _:
            return None
    return part


def _write_media(part: MediaPart) -> JsonObject | None:
    typed: JsonObject = {"media_type": known_type(part)}
    if part.data is not None:
        written: JsonObject = {"kind": "binary", "data": part.data} | typed
    elif part.url is not None:
        written = {"kind": f"{part.kind}-url", "url": part.url} | (typed if part.media_type else {})
    elif part.file_id is not None and part.owner in _MAKERS.values():
        written = {"kind": "uploaded-file", "file_id": part.file_id, "provider_name": part.owner} | typed
    else:
        return None
    return written | own(part.extra, NAME)


def _read_content(item: JsonObject) -> TextPart | None:
    text = item.get("content")
    return TextPart(text, extra=rest(item, {"content"}, NAME)) if isinstance(text, str) else None


def _write_content(part: TextPart) -> JsonValue:
    extra = own(part.extra, NAME)
    return {"content": part.text} | extra if extra else part.text


def _read_point(item: JsonValue) -> JsonObject | None:
    """Read a cache point as the mark that other formats put on the part before it."""
    if not is_object(item) or item.get("kind") != _POINT or not item.keys() <= {"kind", "ttl"}:
        return None
    return {"type": "ephemeral"} | ({"ttl": item["ttl"]} if "ttl" in item else {})


_FILES: Final = ("binary", "uploaded-file", "image-url", "audio-url", "video-url", "document-url")
PROMPT: Final = PartTable(
    NAME,
    (
        PartRow("text-content", TextPart, read=_read_content, write=_write_content),
        *(PartRow(kind, MediaPart, read=_read_media, write=_write_media) for kind in _FILES),
    ),
    tag="kind",
    strings=True,
    point=(_read_point, lambda mark: {"kind": _POINT} | ({"ttl": mark["ttl"]} if "ttl" in mark else {})),
)
"""A user's content, and media in tool results."""


def _read_proof(item: JsonObject, part: ReasoningPart) -> bool | None:
    """Read the proof's owner; a provider without a proof is an extra field."""
    provider, signature = word(item, "provider_name"), word(item, "signature")
    if signature:
        part.owner = _MAKERS.get(provider, provider or NAME)
        hidden = part.owner in _APART or item.get("id") in _REDACTED
        part.encrypted, part.signature = (signature, None) if hidden else (None, signature)
    if provider and provider != part.owner:
        part.extra[f"{NAME}.provider_name"] = provider
    return True


def _write_proof(part: ReasoningPart, item: JsonObject) -> None:
    proof = part.signature if part.encrypted is None else part.encrypted
    if proof is not None and part.owner:
        item |= {"signature": proof, "provider_name": part.owner}
        if part.encrypted is not None and part.owner not in _APART:
            item["id"] = _REDACTED[0]


def _write_arguments(part: CallPart, item: JsonObject) -> None:
    value = argument_value(part) if part.custom else part.arguments
    item["args"] = part.text if part.text is not None and not part.custom else value if is_object(value) else part.json


def _read_file(item: JsonObject) -> MediaPart | None:
    part = PROMPT.read(item.get("content"))
    if not isinstance(part, MediaPart):
        return None
    part.extra |= rest(item, _PART, f"{NAME}.part")
    return part


def _write_file(part: MediaPart) -> JsonObject | None:
    written = PROMPT.write(part) if part.data is not None else None
    if not is_object(written):
        return None
    content = {key: value for key, value in written.items() if not key.startswith("part.")}
    return {"part_kind": "file", "content": content} | own(part.extra, f"{NAME}.part")


def _says(item: JsonValue) -> tuple[Said, ...]:
    """Describe provider-run tools, or the summary of a compacted conversation."""
    if not is_object(item):
        return ()
    match word(item, "part_kind"):
        case "builtin-tool-call":
            call = ANSWER.read({**item, "part_kind": "tool-call"})
            return (call,) if isinstance(call, CallPart) else ()
        case "builtin-tool-return" if "content" in item:
            found = _read_result({**item, "part_kind": "tool-return"})
            return (ResultPart(found.content, found.id, found.name, found.is_error),)
        case "compaction" if word(item, "content"):
            return (tagged("summary", item["content"]),)
        case _:
            return ()


_PROOF: Final = PartField(("signature", "provider_name"), _read_proof, _write_proof)
_ARGUMENTS: Final = PartField(("args",), arguments("args").read, _write_arguments)
_CITATIONS: Final = citations("citations", anchored, lambda item: "sources" in item and "start" not in item)
ANSWER: Final = PartTable(
    NAME,
    (
        PartRow("text", TextPart, text("content"), _CITATIONS),
        PartRow("thinking", ReasoningPart, text("content"), _PROOF),
        PartRow("tool-call", CallPart, text("tool_name", "name"), _ARGUMENTS, ident("tool_call_id")),
        PartRow("file", MediaPart, read=_read_file, write=_write_file),
    ),
    tag="part_kind",
    says=_says,
)


def _read_result(item: JsonObject) -> ResultPart:
    """Read a tool's result, or its request to retry."""
    kind, outcome = item["part_kind"], item.get("outcome", "success")
    extra = rest(item, _RESULT - misread(item, "tool_name", "tool_call_id"), NAME)
    if kind != "tool-return":
        extra[_KIND] = kind
    elif outcome not in ("success", "failed"):
        extra[f"{NAME}.outcome"] = outcome
    failed = kind != "tool-return" or outcome in _ERRORS
    content, name, ident = _read_returned(item.get("content")), word(item, "tool_name"), word(item, "tool_call_id")
    return ResultPart(content, ident or None, name or None, failed, extra=extra)


def _write_result(part: ResultPart) -> JsonObject:
    item: JsonObject = {"part_kind": "tool-return", "tool_name": part.name or "", "tool_call_id": part.id}
    item |= {"content": _write_returned(part.content)} | ({"outcome": "failed"} if part.is_error else {})
    item |= own(part.extra, NAME)
    if item["part_kind"] != "tool-return":
        item.pop("outcome", None)
    return item


def _read_returned(value: JsonValue) -> tuple[Content, ...]:
    """Read a tool's return: text, JSON, or a list with media in it."""
    if isinstance(value, str):
        return (TextPart(value),) if value else ()
    parts = PROMPT.read_content(value if is_array(value) else [value])
    if not any(isinstance(part, MediaPart) for part in parts):
        return (JsonPart(value),)
    return tuple(JsonPart(part.value) if isinstance(part, OpaquePart) else part for part in parts)


def _write_returned(content: Sequence[Content]) -> JsonValue:
    if len(content) == 1 and isinstance(content[0], JsonPart):
        return content[0].value
    if any(isinstance(part, MediaPart) for part in content):
        written = [part.value if isinstance(part, JsonPart) else PROMPT.write(part) for part in content]
        return [found for found in written if found is not None]
    return content_text(content)


def read(value: JsonValue) -> Transcript:
    """Read a list of messages, alone or under `messages`."""
    instructions = ""

    def read_message(item: JsonObject, role: Role) -> Sequence[Message]:
        nonlocal instructions
        if not is_array(item.get("parts")):
            raise ParseError(": expected a request or a response with parts")
        further = rest(item, {"kind", "parts"}, NAME if role == "assistant" else _REQUEST)
        if role == "assistant":
            return [Message(role, ANSWER.read_list(item["parts"]), extra=further)]
        found = list(_request(item, instructions)) or [Message("user")]
        found[0].extra |= further
        instructions = word(item, "instructions") or instructions
        return found

    return replace(_TABLE, read_message=read_message).read(value)


def _request(item: JsonObject, before: str) -> Iterator[Message]:
    given = word(item, "instructions")
    if given and given != before:
        yield Message("system", (TextPart(given),), extra={_KIND: "instructions"})
    for part in item["parts"]:
        kind = word(part, "part_kind")
        content = part.get("content") if kind else None
        if kind == "tool-return" or (kind == "retry-prompt" and word(part, "tool_name")):
            yield Message("tool", (_read_result(part),))
        elif kind == "system-prompt" and isinstance(content, str):
            yield Message("system", (TextPart(content),) if content else (), extra=rest(part, _PART, NAME))
        elif kind in ("user-prompt", "retry-prompt", "retry-feedback") and isinstance(content, str):
            extra = rest(part, _PART if kind == "user-prompt" else {"content"}, NAME)
            yield Message("user", (TextPart(content),) if content else (), extra=extra)
        elif kind == "user-prompt" and is_array(content):
            yield Message("user", PROMPT.read_all(content), extra=rest(part, _PART, NAME))
        else:
            says = (TextPart(json_text(content)),) if kind == "retry-prompt" else ()
            yield Message("user", (OpaquePart(NAME, part, says),), extra={_KIND: ""})


def _joins(run: list[Message], message: Message) -> bool:
    """Whether a message belongs to the current request; a message with request fields begins another."""
    return "assistant" not in (message.role, run[0].role) and not own(message.extra, _REQUEST)


def _response(message: Message) -> list[JsonValue]:
    parts = ANSWER.write_list(message.parts)
    if message.parts and not parts:
        return []
    return [{"kind": "response", "parts": parts, **own(message.extra, NAME)}]


def _write_request(messages: Sequence[Message]) -> list[JsonValue]:
    item: JsonObject = {"kind": "request", "parts": []}
    for message in messages:
        if message.extra.get(_KIND) == "instructions":
            item["instructions"] = plain_text(message.parts)
        else:
            item["parts"] += _write_parts(message)
    item = {**item, **own(messages[0].extra, _REQUEST)}
    return [item] if item["parts"] or "instructions" in item or not any(found.parts for found in messages) else []


def _write_parts(message: Message) -> list[JsonValue]:
    parts = message.parts
    results = [_write_result(part) for part in parts if isinstance(part, ResultPart)]
    if results:
        return [*results]
    beside = {key: value for key, value in own(message.extra, NAME).items() if not key.startswith("request.")}
    if beside.get("part_kind") == "":
        return [part.value for part in parts if isinstance(part, OpaquePart) and part.owner == NAME]
    if message.role in ("system", "developer"):
        return [
            {"part_kind": "system-prompt", "content": part.text, **beside}
            for part in parts
            if isinstance(part, TextPart)
        ]
    content = PROMPT.write_all(parts)
    return [{"part_kind": "user-prompt", "content": content, **beside}] if content or beside else []


_TABLE: Final = RequestTable(
    owner=NAME,
    roles={"request": "user", "response": "assistant"},
    blocks=ANSWER,
    role="kind",
    write_run=lambda run: _response(run[0]) if run[0].role == "assistant" else _write_request(run),
    joins=_joins,
    request=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise messages by their kind, `request` or `response`, and their parts."""
    return any(word(item, "kind") in _TABLE.roles and is_array(item.get("parts")) for item in objects_in(value))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="pydantic-ai's ModelMessage: requests and responses made of parts.",
    read=read,
    write=_TABLE.write,
    recognise=recognise,
    rules=replace(JSON_RESULTS, result_names=True, empty_messages=False),
    aliases=("pydanticai", "pydantic"),
    sources=(Provenance("pydantic-ai-slim, pydantic_ai.messages", "source", "2.68.0", "MIT"),),
)
