r"""LangChain's messages as written by `messages_to_dict`; those of `dumps` are read too.

[{"type": "human", "data": {"type": "human", "content": [{"type": "text", "text": "Weather in Paris?"},
    {"type": "image", "base64": "iVBORw0KGgo", "mime_type": "image/png"}]}},
 {"type": "ai", "data": {"type": "ai", "content": "Checking.",
    "tool_calls": [{"type": "tool_call", "id": "call_A1", "name": "get_weather", "args": {"city": "Paris"}}],
    "invalid_tool_calls": [
        {"type": "invalid_tool_call", "id": "call_B2", "name": "get_weather", "args": "{\"city\": ", "error": null}]}},
 {"type": "tool", "data": {"type": "tool", "tool_call_id": "call_A1", "content": "18C", "status": "success"}},
 {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {"content": "18C."}}]
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from toolfmt.conversation import CallPart, Message, Part, ReasoningPart, ResultPart, Role, Transcript, parse_failure
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.chat_messages import messages_of
from toolfmt.transcripts.format import ALL_KINDS, TranscriptFormat
from toolfmt.transcripts.frameworks.langchain_blocks import BLOCKS, OWNER, SHAPE, SIGNER, SIGNERS, read_blocks
from toolfmt.transcripts.parts.values import argument_object, arguments_at, give, located, own, pointer, rest, text_at
from toolfmt.transcripts.tables.request import objects_in

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPOKEN: Final[dict[object, Role]] = {"system": "system", "user": "user", "human": "user", "assistant": "assistant"}
"""The roles that messages of the kind `chat` may name."""
_DUMPED: Final[JsonObject] = {
    "additional_kwargs": {},
    "response_metadata": {},
    "example": False,
    "id": None,
    "usage_metadata": None,
}
"""The empty fields in a message's own dump."""
_TYPES: Final = {"system": "system", "developer": "system", "user": "human", "assistant": "ai", "tool": "tool"}
_MESSAGE: Final = frozenset({"type", "content", "name"})
_ANSWER: Final = _MESSAGE | {"tool_calls", "invalid_tool_calls", "additional_kwargs"}
_BESIDE: Final = ("reasoning_content", "refusal")
"""Fields of an answer in the form of OpenAI's chat."""
_MADE: Final = ("tool_calls", "function_call")
"""Calls in that form, which are read if there are no others."""
_RESULT: Final = _MESSAGE | {"tool_call_id", "status"}
_CALL: Final = frozenset({"type", "id", "name", "args"})


def read(value: JsonValue) -> Transcript:
    """Read a list of messages, or a graph's state with `messages`."""
    items = value.get("messages") if is_object(value) else value
    if not is_array(items):
        raise ParseError("langchain: expected a list of messages, or an object with `messages`")
    where = "/messages" if is_object(value) else ""
    messages = tuple(_read_message(item, (where, at)) for at, item in enumerate(items))
    return Transcript(messages, extra=rest(value, {"messages"}, OWNER) if is_object(value) else {})


def _read_message(item: JsonValue, where: tuple[str, int]) -> Message:
    if not is_object(item):
        raise ParseError(f"{pointer(where)}: a message is an object, not {type(item).__name__}")
    kind, data = _opened(item)
    role = _SPOKEN.get(data.get("role"), "user") if kind == "chat" and data is not None else _ROLES.get(kind)
    if role is None or data is None:
        expected = f"expected {', '.join(_ROLES)} or chat with its fields"
        raise ParseError(f"{pointer(where)}/type: {expected}, not {kind!r}")
    try:
        if role == "tool":
            message = _result(data)
        elif role == "assistant":
            message = _answer(data)
        else:
            speaker = text_at(data, "name") or (text_at(data, "role") if data.get("role") not in _SPOKEN else None)
            message = Message(role, tuple(read_blocks(data.get("content"))), speaker)
            message.extra = _further(data, _MESSAGE)
    except ParseError as error:
        inside = next((f"/{key}" for key in ("data", "kwargs") if key in item), "")
        raise ParseError(f"{pointer(where)}{inside}/{error}") from None
    message.origin, message.source, message.where = OWNER, item, where
    return message


_WRAPPER: Final = frozenset({"type", "data", "kwargs", "id", "lc", "name", "graph"})
"""The keys around a message's fields."""


def _opened(item: JsonObject) -> tuple[str, JsonObject | None]:
    """Return a message's kind and its fields; a constructor is named by its class, such as `AIMessageChunk`.

    A message's own dump has the fields beside the kind.
    """
    fields, kind, made = item.get("data"), item.get("type"), item.get("id")
    if kind == "constructor" and is_array(made) and made:
        fields, kind = item.get("kwargs"), str(made[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    elif fields is None and "content" in item and isinstance(kind, str):
        fields = {key: found for key, found in item.items() if key not in _DUMPED or found != _DUMPED[key]}
    if is_object(fields) and not item.keys() <= _WRAPPER and "content" not in item:
        fields = {key: found for key, found in item.items() if key not in _WRAPPER} | fields
    name = kind.removesuffix("MessageChunk").lower() if isinstance(kind, str) else ""
    return name, fields if is_object(fields) else None


def _further(data: JsonObject, known: frozenset[str]) -> JsonObject:
    """Collect the unread fields that are not empty."""
    return {key: found for key, found in rest(data, known, OWNER).items() if found not in (None, {}, [])}


def _answer(data: JsonObject) -> Message:
    calls = _calls(data, "tool_calls", {}) + _calls(data, "invalid_tool_calls", {f"{OWNER}.invalid": True})
    kept = data.get("additional_kwargs")
    further: JsonObject = kept if is_object(kept) else {}
    known = {*_BESIDE, *(() if calls else _MADE)}.intersection(further)
    (message,) = messages_of(SHAPE).read_messages([{"role": "assistant", **{key: further[key] for key in known}}])
    beside = message.parts
    parts: list[Part] = [part for part in beside if isinstance(part, ReasoningPart)]
    by_id = {call.id: call for call in calls if call.id is not None}
    parts.extend(read_blocks(data.get("content"), by_id, _signer(data)))
    placed = {id(part) for part in parts}
    parts.extend(call for call in calls if id(call) not in placed)
    parts.extend(part for part in beside if not isinstance(part, ReasoningPart))
    extra = _further(data, _ANSWER)
    left = {key: found for key, found in further.items() if key not in known}
    if left:
        extra[f"{OWNER}.additional_kwargs"] = left
    return Message("assistant", tuple(parts), text_at(data, "name"), extra)


def _signer(data: JsonObject) -> str:
    """Return the owner of an answer's proofs, by the provider in its metadata."""
    metadata = data.get("response_metadata")
    named = metadata.get("model_provider") if is_object(metadata) else None
    return SIGNERS.get(named, SIGNER) if isinstance(named, str) else SIGNER


def _calls(data: JsonObject, key: str, extra: JsonObject) -> list[CallPart]:
    items = data.get(key)
    if items is None:
        return []
    if not is_array(items) or not all(map(is_object, items)):
        raise ParseError(f"{key}: expected a list of objects")
    calls: list[CallPart] = []
    for at, item in enumerate(items):
        try:
            call = CallPart(text_at(item, "name") or "", id=text_at(item, "id"), extra=extra | _further(item, _CALL))
            calls.append(give(call, arguments_at(item, "args")))
        except ParseError as error:
            raise located(f"{key}/{at}", error) from None
    return calls


def _result(data: JsonObject) -> Message:
    ident, name, failed = text_at(data, "tool_call_id"), text_at(data, "name"), data.get("status") == "error"
    content = BLOCKS.read_content(data.get("content"))
    return Message("tool", (ResultPart(content, ident, name, failed, extra=_further(data, _RESULT)),))


def write(transcript: Transcript) -> JsonValue:
    """Write a list of messages, or a graph's state if there are more data."""
    items = [written for message in transcript.messages for written in _write_message(message)]
    beside = own(transcript.extra, OWNER)
    return {**beside, "messages": items} if beside else items


def _write_message(message: Message) -> list[JsonValue]:
    if message.origin == OWNER:
        return [message.source]
    kind, results = _TYPES[message.role], [part for part in message.parts if isinstance(part, ResultPart)]
    if message.role == "tool":
        return [{"type": kind, "data": {"type": kind, **_write_result(part)}} for part in results]
    calls = [part for part in message.parts if isinstance(part, CallPart)]
    data: JsonObject = {"content": BLOCKS.write_all([part for part in message.parts if not isinstance(part, CallPart)])}
    if message.name is not None:
        data["name"] = message.name
    if calls:
        data["tool_calls"], data["invalid_tool_calls"] = [], []
    for part in calls:
        further = {key: value for key, value in own(part.extra, OWNER).items() if key != "invalid"}
        sound = part.custom or not (f"{OWNER}.invalid" in part.extra or parse_failure(part))
        named = "tool_call" if sound else "invalid_tool_call"
        given = argument_object(part) if sound else part.json
        data[f"{named}s"].append({"type": named, "id": part.id, "name": part.name, "args": given, **further})
    return [{"type": kind, "data": {"type": kind, **data, **own(message.extra, OWNER)}}]


def _write_result(part: ResultPart) -> JsonObject:
    name = {} if part.name is None else {"name": part.name}
    status = {"status": "error"} if part.is_error else {}
    fields = {"content": BLOCKS.write_all(part.content), "tool_call_id": part.id}
    return {**fields, **name, **status, **own(part.extra, OWNER)}


def recognise(value: JsonValue) -> bool:
    """Recognise messages by a type and a content, beside each other or under `data`, or by a constructor."""
    opened = list(map(_opened, objects_in(value)))
    known = all(kind in _ROLES for kind, _ in opened)
    return known and any(data is not None and "content" in data for _, data in opened)


FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="LangChain messages: messages_to_dict, with dumps read as well.",
    read=read,
    write=write,
    recognise=recognise,
    rules=replace(
        ALL_KINDS, assistant_kinds=frozenset({"text"}), owners=frozenset({OWNER, *SIGNERS.values()}), interleaved=False
    ),
    aliases=("langchain-core", "langgraph"),
    sources=(Provenance("langchain-core, langchain_core.messages", "source", "1.7.2", "MIT"),),
)
