"""ATIF, Harbor's trajectories of agents: steps with calls and observations.

{"schema_version": "ATIF-v1.7", "session_id": "s1",
 "agent": {"name": "my-agent", "version": "1.0", "model_name": "gpt-5.1", "tool_definitions": [
    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]},
 "steps": [
    {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "Weather here?"},
        {"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}]},
    {"step_id": 2, "source": "agent", "message": "", "tool_calls": [
        {"tool_call_id": "call_A1", "function_name": "get_weather", "arguments": {"city": "Paris"}}],
        "observation": {"results": [{"source_call_id": "call_A1", "content": "18C"}]}}]}

An observation without a call comes from the environment: it is a user message.
There is no place for a choice of tools, for the flag of an error, or for a proof of reasoning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt.conversation import CallPart, MediaPart, Message, Part, ResultPart, Role, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import functions_of
from toolfmt.transcripts.format import ALL_KINDS, Kind, TranscriptFormat
from toolfmt.transcripts.parts.media import from_url, media_type_in, media_type_of, to_url
from toolfmt.transcripts.parts.values import inner, own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable, content
from toolfmt.transcripts.tables.fields import PartField, arguments, ident, text
from toolfmt.transcripts.tables.message_fields import listed, thought
from toolfmt.transcripts.tables.request import RequestTable

NAME: Final = "atif"
_SHAPE: Final = ChatShape(owner=NAME, provider=NAME, custom=False)
_SHOWN: Final = frozenset[Kind]({"text", "image"})
_OBSERVATION: Final = f"{NAME}.observation"
_OBSERVED: Final = f"{NAME}.observed"
"""The key of an observation without a call; its value has the extra fields."""
_TYPES: Final = {
    **{kind: kind for kind in ("image/jpeg", "image/png", "image/gif", "image/webp", "audio/mpeg", "audio/wav")},
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
}
"""The legal media types of a source, by their other spellings."""


def _read_source(item: JsonObject, part: MediaPart) -> bool:
    source = item.get("source")
    path = word(source, "path")
    part.kind = "audio" if item["type"] == "audio" else "image"
    if path.startswith("data:") or "://" in path:
        found = from_url(path, part.kind)
        part.media_type, part.url, part.data = found.media_type, found.url, found.data
    else:
        part.file_id, part.owner = path, NAME
    part.media_type = part.media_type or word(source, "media_type")
    part.extra = rest(source, {"path", "media_type"}, _SOURCE) if is_object(source) else {}
    return bool(path)


def _write_source(part: MediaPart) -> JsonObject | None:
    path = part.file_id if part.owner == NAME and part.file_id is not None else to_url(part)
    known = part.media_type or (media_type_in(part.data) if part.data else media_type_of(part.name or part.url or ""))
    media_type = known if part.owner == NAME else _TYPES.get(known)
    if path is None or media_type is None:
        return None
    beside = {key: value for key, value in own(part.extra, NAME).items() if not key.startswith("source.")}
    return {"type": part.kind, "source": {"media_type": media_type, "path": path, **own(part.extra, _SOURCE)}, **beside}


_SOURCE: Final = f"{NAME}.source"
_MEDIA: Final = PartField(("source",), _read_source)
BLOCKS: Final = PartTable(
    NAME,
    (
        PartRow("text", TextPart, text("text")),
        PartRow("image", MediaPart, _MEDIA, write=_write_source),
        PartRow("audio", MediaPart, _MEDIA, write=_write_source),
    ),
)
_CALL: Final = (ident("tool_call_id"), text("function_name", "name"), arguments("arguments", "either"))
_CALLS: Final = PartTable(NAME, (PartRow("", CallPart, *_CALL),), tag=None)
_RESULT: Final = PartRow("", ResultPart, ident("source_call_id"), content("content", BLOCKS))
_RESULTS: Final = PartTable(NAME, (_RESULT,), tag=None)


def _read_step(item: JsonObject, role: Role) -> Sequence[Message]:
    """Read a step: a message, followed by one for each result."""
    first = _TABLE.read_plain(item, role)
    observation = first.extra.get(_OBSERVATION)
    results = observation.get("results") if is_object(observation) else None
    if not is_object(observation) or not is_array(results) or not all(map(is_object, results)):
        return [first]
    del first.extra[_OBSERVATION]
    if len(observation) > 1:
        first.extra[_OBSERVATION] = {key: value for key, value in observation.items() if key != "results"}
    observed = list(_observed([_RESULTS.read(result) for result in results], first.parts))
    return [first, *observed] if first.parts or first.extra or not observed else observed


def _observed(results: Sequence[Part], calls: Sequence[Part]) -> Iterator[Message]:
    """Make a message of each result; one without a call id answers the next open call."""
    found = [result for result in results if isinstance(result, ResultPart)]
    named = {result.id for result in found}
    waiting = sum(isinstance(call, CallPart) and call.id not in named for call in calls)
    for result in found:
        if result.id is None and not waiting:
            yield Message("user", result.content, extra={_OBSERVED: own(result.extra, NAME)})
        else:
            waiting -= result.id is None
            yield Message("tool", (result,))


def _observes(message: Message) -> bool:
    return message.role == "tool" or _OBSERVED in message.extra


def _write_step(run: Sequence[Message]) -> Iterator[JsonObject]:
    """Write a message with the results after it; nothing if none of it has a place."""
    says = not _observes(run[0])
    items = _TABLE.write_plain(run[0]) if says else [{"source": "agent", "message": ""}]
    results = [result for message in run[says:] for result in _write_observed(message)]
    for item in items or ([{"source": "agent", "message": ""}] if results else []):
        beside = inner(item, "observation")
        yield item | ({"observation": {"results": results, **beside}} if results else {})


def _write_observed(message: Message) -> Iterator[JsonObject]:
    if _OBSERVED in message.extra:
        yield {"content": BLOCKS.write_all(message.parts), **message.extra[_OBSERVED]}
    for part in message.parts:
        if isinstance(part, ResultPart):
            yield _RESULTS.write(part)


_TABLE: Final = RequestTable(
    owner=NAME,
    roles={"system": "system", "user": "user", "agent": "assistant"},
    blocks=BLOCKS,
    content="message",
    fields=(thought("reasoning_content"), listed("tool_calls", _CALLS, "function_name")),
    empty="alone",
    read_message=_read_step,
    write_run=_write_step,
    joins=lambda _, message: _observes(message),
    answered_inside=True,
    ignored=frozenset({"step_id"}),
    role="source",
    messages="steps",
    tools=functions_of(_SHAPE).listed("agent/tool_definitions"),
)


def read(value: JsonValue) -> Transcript:
    """Read a trajectory."""
    if not is_object(value):
        raise ParseError(f"{NAME}: expected an object with `steps`")
    return _TABLE.read(value)


def write(transcript: Transcript) -> JsonObject:
    """Write a trajectory; an unknown agent gets a placeholder name and version."""
    unknown = {"name": "unknown", "version": "unknown"}
    extra = {f"{NAME}.schema_version": "ATIF-v1.7", f"{NAME}.agent": unknown} | transcript.extra
    value: JsonObject = _TABLE.write(replace(transcript, extra=extra))
    return value | {"steps": [{**item, "step_id": at} for at, item in enumerate(value["steps"], 1)]}


def recognise(value: JsonValue) -> bool:
    """Recognise a trajectory by the version of its schema, or by steps that have a number and a source."""
    if not is_object(value) or not is_array(value.get("steps")):
        return False
    return word(value, "schema_version").startswith("ATIF") or any(
        "step_id" in item and word(item, "source") for item in value["steps"] if is_object(item)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="ATIF trajectories: an agent's steps, each with its calls and what was observed.",
    read=read,
    write=write,
    recognise=recognise,
    messages="steps",
    rules=replace(
        ALL_KINDS, result_kinds=_SHOWN, user_kinds=_SHOWN, assistant_kinds=_SHOWN, interleaved=False, arguments="object"
    ),
    aliases=("harbor",),
    sources=(
        Provenance("Harbor RFC 0001, trajectory format", "specification", "1.7"),
        Provenance("atif, Trajectory", "source", "1.8.0", "MIT"),
    ),
)
