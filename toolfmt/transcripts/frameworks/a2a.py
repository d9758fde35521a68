"""A2A's messages, the protocol between agents: a list of them, or a task with its history and artifacts.

{"id": "t1", "contextId": "c1", "status": {"state": "TASK_STATE_COMPLETED"},
 "history": [
    {"messageId": "m1", "role": "ROLE_USER", "parts": [
        {"text": "Weather here?"}, {"url": "https://a.b/c.png", "mediaType": "image/png", "filename": "c.png"}]},
    {"messageId": "m2", "role": "ROLE_AGENT", "parts": [
        {"text": "One call.", "metadata": {"adk_thought": true}},
        {"data": {"id": "call_A1", "name": "get_weather", "args": {"city": "Paris"}},
            "metadata": {"adk_type": "function_call"}},
        {"data": {"id": "call_A1", "name": "get_weather", "response": {"output": "18C"}},
            "metadata": {"adk_type": "function_response"}}]}],
 "artifacts": [{"artifactId": "a1", "parts": [{"text": "18C."}]}]}

The protocol has no part for a call or for reasoning. Google's ADK writes Gemini's calls and results as `data` with
`metadata`, which is read and written here. Version 0.3 is read too: `{"kind": "text", "text": "Hi"}`. An
artifact, and the message of a task's status, are messages of the agent. There is no place for tools or instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from toolfmt.conversation import CallPart, MediaPart, Message, ReasoningPart, ResultPart, Role, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.gemini import BLOCKS as GEMINI
from toolfmt.transcripts.format import JSON_RESULTS, TranscriptFormat
from toolfmt.transcripts.parts.media import kind_of, known_type
from toolfmt.transcripts.parts.pieces import sourced
from toolfmt.transcripts.parts.values import expected, inner, json_text, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import PartField, option, text, where
from toolfmt.transcripts.tables.request import RequestTable, objects_in

NAME: Final = "a2a"
_ARTIFACT: Final = "artifactId"


def _spelled(item: JsonObject) -> JsonObject:
    """Convert a part of version 0.3 to the spelling of 1.0."""
    if "kind" not in item:
        return item
    part, file = {key: value for key, value in item.items() if key not in ("kind", "file")}, item.get("file")
    names = {"bytes": "raw", "uri": "url", "mimeType": "mediaType", "name": "filename"}
    return part | ({names.get(key, key): value for key, value in file.items()} if is_object(file) else {})


def _read_thought(item: JsonObject, _: ReasoningPart) -> bool | None:
    metadata = inner(item, "metadata")
    return (True if len(metadata) == 1 else None) if metadata.get("adk_thought") is True else False


def _write_thought(part: ReasoningPart, item: JsonObject) -> bool:
    item["metadata"] = {"adk_thought": True}
    return bool(part.text)


def _gemini(kind: str, key: str) -> PartField:
    """A call or a result in Gemini's form with its metadata; other metadata are an extra field."""

    def read(item: JsonObject, part: CallPart | ResultPart) -> bool | None:
        metadata = inner(item, "metadata")
        signature = metadata.get("adk_thought_signature")
        found = GEMINI.read({key: item["data"]} | ({"thoughtSignature": signature} if signature else {}))
        if kind not in (metadata.get("adk_type"), metadata.get("type")) or type(found) is not type(part):
            return False
        for name in part.__slots__:
            setattr(part, name, getattr(found, name))
        return metadata.keys() <= {"adk_type", "adk_thought_signature"} or None

    def write(part: CallPart | ResultPart, item: JsonObject) -> None:
        written: Any = GEMINI.write(part)
        signature = word(written, "thoughtSignature")
        item["data"] = written[key]
        item["metadata"] = {"adk_type": kind} | ({"adk_thought_signature": signature} if signature else {})

    return PartField(("metadata",), read, write)


def _read_type(item: JsonObject, part: MediaPart) -> bool:
    part.media_type = word(item, "mediaType")
    part.kind = kind_of(part.media_type)
    return isinstance(item.get("mediaType"), str | None)


def _write_type(part: MediaPart, item: JsonObject) -> bool:
    item["mediaType"] = known_type(part)
    return part.data is not None or part.url is not None


_MEDIA: Final = (PartField(("mediaType",), _read_type, _write_type), option("filename", "name"))
_DATA: Final = where(bool, "data")
BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", ReasoningPart, text("text"), PartField(("metadata",), _read_thought, _write_thought)),
        PartRow("text", TextPart, text("text")),
        PartRow("raw", MediaPart, text("raw", "data"), *_MEDIA, when=lambda part: part.data is not None),
        PartRow("url", MediaPart, text("url", "url"), *_MEDIA),
        PartRow("data", CallPart, _gemini("function_call", "functionCall"), _DATA),
        PartRow("data", ResultPart, _gemini("function_response", "functionResponse"), _DATA),
    ),
    tag="",
    spelled=_spelled,
    says=lambda item: (TextPart(json_text(item["data"])),) if "data" in item else (),
)


def _read_message(item: JsonObject, role: Role) -> Sequence[Message]:
    """Read a message; results among its parts become separate messages."""
    if not is_array(item.get("parts")):
        raise ParseError(": expected a message with parts")
    parts = BLOCKS.read_list(item["parts"])
    runs = groupby(parts, lambda part: isinstance(part, ResultPart))
    messages = [Message("tool" if result else role, tuple(run)) for result, run in runs] or [Message(role)]
    messages[0].extra = rest(item, {"role", "parts", "kind"}, NAME)
    return messages


_ROLES: Final[dict[str, Role]] = {"ROLE_USER": "user", "ROLE_AGENT": "assistant", "user": "user", "agent": "assistant"}
_TABLE: Final = RequestTable(
    owner=NAME,
    roles=_ROLES,
    blocks=BLOCKS,
    read_message=_read_message,
    write_run=lambda run: _write_message(run[0]),
    messages="history",
    request=False,
    ids=("messageId", "message-"),
)


def read(value: JsonValue) -> Transcript:
    """Read a task or a list of messages."""
    if is_object(value) and not value.keys().isdisjoint(("status", "artifacts")):
        value = {"history": [], **value}
    found = _TABLE.read(value)
    if is_object(value):
        artifacts, status = expected(value, "artifacts", is_array, "a list") or (), value.get("status")
        final = status.get("message") if is_object(status) else None
        found.messages += (*_outputs(artifacts, "artifacts"), *_outputs(() if final is None else (final,), "status"))
        found.extra.pop(f"{NAME}.artifacts", None)
    return found


def _outputs(items: Sequence[JsonValue], key: str) -> Iterator[Message]:
    for at, item in enumerate(items):
        if not is_object(item) or not is_array(item.get("parts")):
            raise ParseError(f"/{key}/{at}: expected an object with parts")
        yield from sourced(_read_message(item, "assistant"), NAME, item, (f"/{key}", at))


def write(transcript: Transcript) -> JsonValue:
    """Write a list of messages, or a task if there are more data."""
    reported = [found for found in transcript.messages if (found.origin, found.where[:1]) != (NAME, ("/status",))]
    value = _TABLE.write(replace(transcript, messages=tuple(reported)))
    items = objects_in(value, "history")
    artifacts = [{key: item[key] for key in item if key != "messageId"} for item in items if _ARTIFACT in item]
    if not artifacts:
        return value
    task = {key: value[key] for key in value if key != "history"} if is_object(value) else {}
    return task | {"artifacts": artifacts, "history": [item for item in items if _ARTIFACT not in item]}


def _write_message(message: Message) -> list[JsonValue]:
    parts = BLOCKS.write_list(message.parts)
    further = own(message.extra, NAME)
    role = {} if _ARTIFACT in further else {"role": "ROLE_USER" if message.role == "user" else "ROLE_AGENT"}
    return [{**role, "parts": parts, **further}] if parts or not message.parts else []


def recognise(value: JsonValue) -> bool:
    """Recognise messages by their roles and parts, or by parts that name their kind as version 0.3 does."""
    return any(
        word(item, "role") in ("ROLE_USER", "ROLE_AGENT")
        or any(word(part, "kind") in ("text", "file", "data") for part in item["parts"])
        for item in objects_in(value, "history")
        if is_array(item.get("parts"))
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="A2A: messages between agents, or a task; calls and results are data as Google's ADK writes them.",
    read=read,
    write=write,
    recognise=recognise,
    messages="history",
    rules=replace(
        JSON_RESULTS,
        roles=frozenset({"user", "assistant", "tool"}),
        call_ids="optional",
        result_names=True,
        result_kinds=frozenset({"text", "json"}),
        owners=frozenset({NAME, "google"}),
        arguments="object",
    ),
    aliases=("agent2agent",),
    sources=(
        Provenance("a2a-sdk, a2a.types", "source", "1.3.0", "Apache-2.0"),
        Provenance("google/adk-python, a2a/converters/part_converter.py", "source", "", "Apache-2.0"),
    ),
)
