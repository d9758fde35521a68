r"""Qwen-Agent's messages, or a request with its functions: one call in a message, results of the role `function`.

{"messages": [
    {"role": "user", "content": [{"text": "Weather here?"}, {"image": "https://a.b/c.png"}]},
    {"role": "assistant", "content": "Checking.", "reasoning_content": "One call.",
        "function_call": {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"},
        "extra": {"function_id": "call_A1"}},
    {"role": "function", "name": "get_weather", "content": "18C", "extra": {"function_id": "call_A1"}}],
 "functions": [{"name": "get_weather", "parameters": {"type": "object"}}]}

Parallel calls are adjacent messages; their results follow in
the same order. An id, if any, is a note of the application.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    ResultPart,
    Role,
    TextPart,
    Transcript,
)
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat_request import messages_in
from toolfmt.transcripts.format import ALL_KINDS, Kind, TranscriptFormat
from toolfmt.transcripts.parts.media import MediaKind, from_url, to_url
from toolfmt.transcripts.parts.values import argument_object, misread, own, rest, text_or_list, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.fields import arguments, text, where
from toolfmt.transcripts.tables.request import RequestTable, objects_in

NAME: Final = "qwen-agent"
_ROLES: Final[dict[str, Role]] = {"system": "system", "user": "user", "assistant": "assistant", "function": "tool"}
_MEDIA: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video", "file": "document"}
_ID: Final = "function_id"
_EXTRA: Final = f"{NAME}.extra"


def read(value: JsonValue) -> Transcript:
    """Read a request's object or a list of messages."""
    called: set[str] = set()
    return replace(_TABLE, read_message=partial(_read_message, called)).read(value)


def _schema(parameters: JsonValue) -> JsonValue:
    """Convert a list of named parameters to a schema; return anything else unchanged."""
    if not is_array(parameters) or not all(word(item, "name") for item in parameters):
        return parameters
    listed = [item for item in parameters if is_object(item)]
    beside = ("name", "required")
    fields = {item["name"]: {key: found for key, found in item.items() if key not in beside} for item in listed}
    needed = [item["name"] for item in listed if item.get("required")]
    return {"type": "object", "properties": fields, "required": needed}


def _read_message(called: set[str], item: JsonObject, role: Role) -> Message:
    """Read a message; an id of a result that matches no call is dropped, as `1` is written for a missing id."""
    known = {"role", "content"}
    parts: list[Part] = list(BLOCKS.read_key(item, "content"))
    extra = item.get("extra")
    ident = word(extra, _ID) or None
    call = item.get("function_call")
    if role == "tool":
        ident = ident if ident in called else None
        parts = [ResultPart(BLOCKS.read_content(item.get("content")), ident, word(item, "name") or None)]
        known |= {"name"} - misread(item, "name")
    elif role == "assistant":
        if isinstance(item.get("reasoning_content"), str):
            parts[:0] = [ReasoningPart(item["reasoning_content"])] if item["reasoning_content"] else []
            known.add("reasoning_content")
        if is_object(call) and word(call, "name"):
            parts.append(replace(_CALLS.read(call), id=ident))
            known.add("function_call")
            if ident is not None:
                called.add(ident)
    message = Message(role, tuple(parts), extra=rest(item, known, NAME))
    if isinstance(message.extra.get(f"{NAME}.name"), str):
        message.name = message.extra.pop(f"{NAME}.name")
    if ident is not None and ("function_call" in known or role == "tool"):
        notes = {key: found for key, found in message.extra.pop(_EXTRA).items() if key != _ID}
        message.extra |= {_EXTRA: notes} if notes else {}
    return message


_CALL: Final = PartRow("", CallPart, text("name", "name"), arguments("arguments", "text"))
_CALLS: Final = PartTable(NAME, (_CALL,), tag=None)


def _media(key: str, kind: MediaKind) -> PartRow:
    def read(item: JsonObject) -> MediaPart | None:
        """Read media at a URL, or a file's path."""
        found = word(item, key)
        if not found or len(item) > 1:
            return None
        web = found.startswith(("http://", "https://", "data:"))
        return from_url(found, kind) if web else MediaPart(kind, file_id=found, owner=NAME)

    def write(part: MediaPart) -> JsonObject | None:
        address = part.file_id if part.owner == NAME and part.file_id is not None else to_url(part)
        return None if address is None or part.kind != kind else {key: address}

    return PartRow(key, MediaPart, read=read, write=write)


_TEXT: Final = PartRow("text", TextPart, text("text"), where(lambda item: len(item) == 1))
BLOCKS: Final = PartTable(NAME, (_TEXT, *(_media(key, kind) for key, kind in _MEDIA.items())), tag="")


def _write_message(message: Message) -> Iterator[JsonValue]:
    further = own(message.extra, NAME)
    for parts in _cut(message):
        item = _write_parts(parts, message)
        if item is not None:
            yield _noted(item, further) if further else item
            further = {}


def _cut(message: Message) -> Iterator[list[Part]]:
    """Split a message into pieces with one thought, one text and one call each; a result is a separate piece."""
    run: list[Part] = []
    for part in message.parts:
        if run and (isinstance(part, (ReasoningPart, ResultPart)) or isinstance(run[-1], (CallPart, ResultPart))):
            yield run
            run = []
        run.append(part)
    if run or not message.parts:
        yield run


def _write_parts(parts: list[Part], message: Message) -> JsonObject | None:
    first, last = (parts[0], parts[-1]) if parts else (None, None)
    if isinstance(first, ResultPart):
        named = {} if first.name is None else {"name": first.name}
        return {"role": "function", **named, "content": _write_content(first.content)} | _note(first)
    item: JsonObject = {"role": "system" if message.role == "developer" else message.role}
    item["content"] = _write_content(parts)
    if isinstance(first, ReasoningPart) and first.text:
        item["reasoning_content"] = first.text
    if message.name is not None:
        item["name"] = message.name
    if isinstance(last, CallPart):
        arguments = jsontext.dumps(argument_object(last)) if last.custom else last.json
        item["function_call"] = {"name": last.name, "arguments": arguments, **own(last.extra, NAME)}
        item |= _note(last)
    empty = not item["content"] and item.keys().isdisjoint(("reasoning_content", "function_call"))
    return None if parts and empty else item


def _note(part: CallPart | ResultPart) -> JsonObject:
    return {} if part.id is None else {"extra": {_ID: part.id}}


def _noted(item: JsonObject, further: JsonObject) -> JsonObject:
    """Restore a message's own fields, with its notes beside the id."""
    notes, kept = further.get("extra"), item.get("extra")
    return item | further | ({"extra": kept | notes} if is_object(kept) and is_object(notes) else {})


def _write_content(parts: Sequence[Part]) -> JsonValue:
    return text_or_list(BLOCKS.write_list(part for part in parts if not isinstance(part, (CallPart, ReasoningPart))))


_TOOLS: Final = Declaring(
    owner=NAME, identity="any", strict=True, states_strict=False, form=(_schema, lambda schema: schema)
)
_TABLE: Final = RequestTable(
    owner=NAME,
    roles=_ROLES,
    blocks=BLOCKS,
    write_message=_write_message,
    tools=_TOOLS.listed("functions"),
    request=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise messages by items that are named by their only key, by a noted id, or by a call beside reasoning."""
    return any(
        word(message.get("extra"), _ID)
        or ("function_call" in message and "reasoning_content" in message)
        or any(len(item) == 1 and any(word(item, key) for key in _MEDIA) for item in objects_in(message, "content"))
        for message in messages_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Qwen-Agent's messages: one call in a message, results of the role `function`.",
    read=read,
    write=_TABLE.write,
    recognise=recognise,
    rules=replace(
        ALL_KINDS,
        call_ids="optional",
        result_names=True,
        results_in_order=True,
        neighbours="turn",
        result_kinds=frozenset[Kind]({"text", "image"}),
        arguments="text",
    ),
    aliases=("qwen_agent",),
    sources=(Provenance("qwen-agent, qwen_agent.llm.schema", "source", "0.0.34", "Apache-2.0"),),
)
