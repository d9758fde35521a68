r"""LangChain's messages as written by `messages_to_dict`; those of `dumps` are read too.

[{"type": "human", "data": {"type": "human", "content": [{"type": "text", "text": "Weather in Paris?"},
    {"type": "image", "base64": "iVBORw0KGgo", "mime_type": "image/png"}]}},
 {"type": "ai", "data": {"type": "ai", "content": "Checking.",
    "tool_calls": [{"type": "tool_call", "id": "call_A1", "name": "get_weather", "args": {"city": "Paris"}}],
    "invalid_tool_calls": [
        {"type": "invalid_tool_call", "id": "call_B2", "name": "get_weather", "args": "{\"city\": ", "error": null}]}},
 {"type": "tool", "data": {"type": "tool", "tool_call_id": "call_A1", "content": "18C", "status": "success"}},
 {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Hi"}}]

Blocks are the standard ones, and those of OpenAI's chat and of Anthropic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from toolfmt.conversation import (
    CallPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
    Transcript,
    parse_failure,
)
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.anthropic import BLOCKS as SIGNED
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_messages import messages_of
from toolfmt.transcripts.families.chat_parts import content_of
from toolfmt.transcripts.format import ALL_KINDS, TranscriptFormat
from toolfmt.transcripts.parts.citations import standard
from toolfmt.transcripts.parts.hosted import LANGCHAIN, hosted
from toolfmt.transcripts.parts.media import MediaKind, data_of, kind_of, media_type_in
from toolfmt.transcripts.parts.values import (
    argument_object,
    arguments_at,
    give,
    inner,
    located,
    objects_at,
    own,
    pointer,
    rest,
    text_at,
    word,
)
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import citations, text
from toolfmt.transcripts.tables.request import objects_in

OWNER: Final = "langchain"
SIGNER: Final = "anthropic"
"""The owner of the blocks `thinking` and `redacted_thinking`."""
HIDER: Final = "openai"
"""The owner of reasoning with a ciphertext beside its summary."""
SIGNERS: Final = {
    **dict.fromkeys(("anthropic", "bedrock", "bedrock_converse"), SIGNER),
    **dict.fromkeys(("google_genai", "google_vertexai"), "google"),
    "openai": HIDER,
}
"""The owner of the proofs in each provider's answers."""
_ARGUMENTS: Final = ("args", "input", "arguments")
SHAPE: Final = ChatShape(owner=OWNER, provider=OWNER, signed_by=SIGNER)
_CHAT: Final = content_of(SHAPE)
_KINDS: Final[dict[str, MediaKind]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "document",
    "text-plain": "document",
}
_CALLS: Final = ("tool_call", "tool_use", "function_call")


def _called(block: JsonObject, calls: Mapping[str, CallPart]) -> Part | None:
    """Return the call that a block repeats, or read the call from the block."""
    named, name = block.get("call_id", block.get("id")), block.get("name")
    if isinstance(named, str) and named in calls:
        return calls[named]
    arguments = next((block[key] for key in _ARGUMENTS if key in block), None)
    if not isinstance(name, str) or not (named is None or isinstance(named, str)):
        return None
    extra = rest(block, {"type", "id", "call_id", "name", *_ARGUMENTS}, OWNER)
    return give(CallPart(name, id=named, extra=extra), arguments)


def _reasoning(block: JsonObject, signer: str) -> Part | None:
    """Read reasoning: the standard block with its signature, or OpenAI's with a summary and a ciphertext."""
    beside, summary, hidden = block.get("extras"), block.get("summary"), block.get("encrypted_content")
    text = block.get("reasoning", "" if is_object(beside) else None)
    if isinstance(hidden, str) and is_array(summary):
        texts = [word(item, "text") for item in summary]
        known = {"type", "summary", "encrypted_content"}
        return ReasoningPart("".join(texts), None, hidden, HIDER, rest(block, known, OWNER))
    if not isinstance(text, str):
        return None
    signature = word(beside, "signature")
    if not signature or not is_object(beside):
        return ReasoningPart(text, extra=rest(block, {"type", "reasoning"}, OWNER))
    extra = rest(block, {"type", "reasoning", "extras"}, OWNER)
    left = {key: found for key, found in beside.items() if key != "signature"}
    return ReasoningPart(text, signature, None, signer, extra | ({f"{OWNER}.extras": left} if left else {}))


def _read_media(block: JsonObject, key: str) -> Part | None:
    """Read a standard block by a key; the older kind has `source_type` and `data`, Google's is `media`."""
    found, media_type, name = block.get(key), block.get("mime_type"), block.get("filename")
    if not isinstance(found, str) or not isinstance(media_type or "", str) or not isinstance(name or "", str):
        return None
    part = MediaPart(_KINDS.get(block["type"]) or kind_of(media_type or ""), media_type or "", name=name or None)
    if key in ("url", "file_uri"):
        part.url = found
    elif key == "text":
        part.data, part.media_type = data_of(found), media_type or "text/plain"
    elif key == "file_id":
        part.file_id, part.owner = found, OWNER
    else:
        part.data, part.media_type = found, media_type or media_type_in(found)
    return part


_PLACES: Final = ("base64", "data", "url", "file_uri", "file_id", "text")
"""The keys of a file's data or location."""


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if part.owner == SIGNER and part.encrypted is not None:
        return {"type": "redacted_thinking", "data": part.encrypted}
    if part.owner == SIGNER and part.signature is not None:
        return {"type": "thinking", "thinking": part.text, "signature": part.signature}
    if part.owner == HIDER and part.encrypted is not None:
        summary: list[JsonValue] = [{"type": "summary_text", "text": part.text}] if part.text else []
        return {"type": "reasoning", "summary": summary, "encrypted_content": part.encrypted}
    if part.signature is not None and part.owner in SIGNERS.values():
        return {"type": "reasoning", "reasoning": part.text, "extras": {"signature": part.signature}}
    return {"type": "reasoning", "reasoning": part.text} if part.text else None


def _write_media(part: MediaPart) -> JsonObject | None:
    block: JsonObject = {"type": next(name for name, kind in _KINDS.items() if kind == part.kind)}
    if part.data is not None:
        block["base64"] = part.data
    elif part.url is not None:
        block["url"] = part.url
    elif part.file_id is not None and part.owner == OWNER:
        block["file_id"] = part.file_id
    else:
        return None
    about = {"mime_type": part.media_type or None, "filename": part.name}
    return block | {key: value for key, value in about.items() if value is not None}


def _foreign(table: PartTable) -> Callable[[JsonObject], Part | None]:
    """Read a block as another format has it: that of OpenAI's chat, or Anthropic's for a file."""

    def read(block: JsonObject) -> Part | None:
        part = table.read(block)
        return None if isinstance(part, OpaquePart) else part

    return read


_CITATIONS: Final = citations(
    "annotations", standard, lambda item: item.get("type") in ("citation", "non_standard_annotation")
)
BLOCKS: Final = PartTable(
    OWNER,
    (
        PartRow("text", TextPart, text("text"), _CITATIONS, read=_foreign(_CHAT)),
        PartRow("refusal", RefusalPart, text("refusal")),
        PartRow("reasoning", ReasoningPart, write=_write_reasoning, keys=()),
        PartRow("", MediaPart, write=_write_media, keys=()),
        *(
            PartRow(
                kind, MediaPart, read=partial(_read_media, key=key), keys=("mime_type", "source_type", "filename", key)
            )
            for kind in (*_KINDS, "media")
            for key in _PLACES
        ),
        *(PartRow(kind, MediaPart, read=_foreign(SIGNED)) for kind in ("image", "document")),
        *(PartRow(kind, MediaPart, read=_foreign(_CHAT)) for kind in _CHAT.types),
    ),
    marks="kept",
    strings=True,
    says=lambda block: hosted(block, LANGCHAIN),
)


def read_blocks(
    content: JsonValue, calls: Mapping[str, CallPart] | None = None, signer: str = SIGNER
) -> Sequence[Part]:
    """Read a content; blocks that repeat `calls` determine their places. Proofs are the `signer`'s."""
    if not is_array(content):
        return BLOCKS.read_all(content)
    parts: list[Part] = []
    for block in content:
        kind, own = word(block, "type"), None
        if kind == "reasoning":
            own = _reasoning(block, signer)
        elif calls is not None and kind in _CALLS:
            own = _called(block, calls)
        parts.append(own or BLOCKS.read(block))
    return parts


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
    further = inner(data, "additional_kwargs")
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
    return SIGNERS.get(word(data.get("response_metadata"), "model_provider"), SIGNER)


def _calls(data: JsonObject, key: str, extra: JsonObject) -> list[CallPart]:
    calls: list[CallPart] = []
    for at, item in enumerate(objects_at(data, key)):
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
    fields: JsonObject = {"content": BLOCKS.write_all(part.content), "tool_call_id": part.id}
    fields |= {} if part.name is None else {"name": part.name}
    return {**fields, **({"status": "error"} if part.is_error else {}), **own(part.extra, OWNER)}


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
