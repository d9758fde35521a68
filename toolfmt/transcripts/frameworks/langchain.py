r"""LangChain's messages as `messages_to_dict` writes them; those of `dumps` are read as well.

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

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

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
from toolfmt.transcripts.blocks import MARK, PartRow, PartTable
from toolfmt.transcripts.chat import ChatShape
from toolfmt.transcripts.chat_media import marks
from toolfmt.transcripts.chat_read import CHAT_PARTS, read_part
from toolfmt.transcripts.citations import standard
from toolfmt.transcripts.fields import citations, text
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.hosted import LANGCHAIN, hosted
from toolfmt.transcripts.media import MediaKind, media_type_in
from toolfmt.transcripts.request import objects_in
from toolfmt.transcripts.values import argument_object, give, own, pointer, rest, text_at, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "langchain"
SIGNER: Final = "anthropic"
"""Whose blocks `thinking` and `redacted_thinking` are."""
HIDER: Final = "openai"
"""Whose reasoning has a ciphertext beside its summary."""
SIGNERS: Final = {
    "anthropic": SIGNER,
    "bedrock": SIGNER,
    "bedrock_converse": SIGNER,
    "google_genai": "google",
    "google_vertexai": "google",
    "openai": HIDER,
}
"""Whose proofs the answers of each provider hold."""
_ARGUMENTS: Final = ("args", "input", "arguments")
_SHAPE: Final = ChatShape(owner=OWNER, provider=OWNER, signed_by=SIGNER)
_KINDS: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video", "file": "document"}
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "human": "user",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
_SPOKEN: Final[dict[object, Role]] = {"system": "system", "user": "user", "human": "user", "assistant": "assistant"}
"""The roles that a message of the kind `chat` may name, which says its role itself."""
_DUMPED: Final[JsonObject] = {
    "additional_kwargs": {},
    "response_metadata": {},
    "example": False,
    "id": None,
    "usage_metadata": None,
}
"""What a message's own dump says of it where there is nothing to say."""
_TYPES: Final = {"system": "system", "developer": "system", "user": "human", "assistant": "ai", "tool": "tool"}
_CALLS: Final = ("tool_call", "tool_use", "function_call")
_MESSAGE: Final = frozenset({"type", "content", "name"})
_ANSWER: Final = _MESSAGE | {"tool_calls", "invalid_tool_calls", "additional_kwargs"}
_RESULT: Final = _MESSAGE | {"tool_call_id", "status"}
_CALL: Final = frozenset({"type", "id", "name", "args"})


def _called(block: JsonObject, calls: Mapping[str, CallPart]) -> Part | None:
    """Find the call that a block repeats; one that is only among the blocks is read from there."""
    named, name = block.get("call_id", block.get("id")), block.get("name")
    if isinstance(named, str) and named in calls:
        return calls[named]
    arguments = next((block[key] for key in _ARGUMENTS if key in block), None)
    if not isinstance(name, str) or not (named is None or isinstance(named, str)):
        return None
    extra = rest(block, {"type", "id", "call_id", "name", *_ARGUMENTS}, OWNER)
    return give(CallPart(name, id=named, extra=extra), arguments)


def _reasoning(block: JsonObject, signer: str) -> Part | None:
    """Read reasoning: the standard block with its signature beside, or OpenAI's with a summary and a ciphertext."""
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


def _read_media(block: JsonObject) -> Part | None:
    """Read a standard block; the older kind has `source_type` and `data`."""
    key = next((key for key in ("base64", "data", "url", "file_id") if isinstance(block.get(key), str)), None)
    media_type, name = block.get("mime_type"), block.get("filename")
    if key is None or not isinstance(media_type or "", str) or not isinstance(name or "", str):
        return None
    part = MediaPart(_KINDS[block["type"]], media_type or "", name=name or None)
    part.extra = marks(block, {"type", "mime_type", "source_type", "filename", key}, _SHAPE)
    if key == "url":
        part.url = block[key]
    elif key == "file_id":
        part.file_id, part.owner = block[key], OWNER
    else:
        part.data, part.media_type = block[key], media_type or media_type_in(block[key])
    return part


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    block = _thought(part)
    return None if block is None else block | own(part.extra, OWNER)


def _thought(part: ReasoningPart) -> JsonObject | None:
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
    block |= {key: value for key, value in about.items() if value is not None}
    return block | own(part.extra, OWNER) | ({MARK: part.extra[MARK]} if MARK in part.extra else {})


def _read_other(block: JsonObject) -> Part | None:
    """Read a block as OpenAI's chat or a provider has it."""
    part = read_part(block, _SHAPE)
    return None if isinstance(part, OpaquePart) else part


_CITATIONS: Final = citations(
    "annotations", standard, lambda item: item.get("type") in ("citation", "non_standard_annotation")
)
BLOCKS: Final = PartTable(
    OWNER,
    (
        PartRow("text", TextPart, text("text"), _CITATIONS, read=_read_other),
        PartRow("refusal", RefusalPart, text("refusal")),
        PartRow("reasoning", ReasoningPart, write=_write_reasoning),
        PartRow("", MediaPart, write=_write_media),
        *(PartRow(kind, MediaPart, read=_read_media) for kind in _KINDS),
        *(PartRow(kind, MediaPart, read=_read_other) for kind in CHAT_PARTS),
    ),
    marks=True,
    strings=True,
    says=lambda block: hosted(block, LANGCHAIN),
)


def _read_blocks(
    content: JsonValue, calls: Mapping[str, CallPart] | None = None, signer: str = SIGNER
) -> Sequence[Part]:
    """Read a content; a block that repeats one of the `calls` says where it is. Proofs are the `signer`'s."""
    if not is_array(content):
        return BLOCKS.read_all(content)
    return [_own(block, calls, signer) or BLOCKS.read(block) for block in content]


def _own(block: JsonValue, calls: Mapping[str, CallPart] | None, signer: str) -> Part | None:
    if not is_object(block):
        return None
    if block.get("type") == "reasoning":
        return _reasoning(block, signer)
    return _called(block, calls) if calls is not None and block.get("type") in _CALLS else None


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
    role = _SPOKEN.get(data.get("role")) if kind == "chat" and data is not None else _ROLES.get(kind)
    try:
        if role is None or data is None:
            message = Message("user", (OpaquePart(OWNER, item),))
        elif role == "tool":
            message = _result(data)
        elif role == "assistant":
            message = _answer(data)
        else:
            message = Message(role, tuple(_read_blocks(data.get("content"))), text_at(data, "name"))
            message.extra = _further(data, _MESSAGE)
    except ParseError as error:
        inside = next((f"/{key}" for key in ("data", "kwargs") if key in item), "")
        raise ParseError(f"{pointer(where)}{inside}/{error}") from None
    message.origin, message.source, message.where = OWNER, item, where
    return message


def _opened(item: JsonObject) -> tuple[str, JsonObject | None]:
    """Get a message's kind and its fields; a constructor is named by its class, such as `AIMessageChunk`.

    A message's own dump has the fields beside the kind.
    """
    fields, kind, made = item.get("data"), item.get("type"), item.get("id")
    if kind == "constructor" and is_array(made) and made:
        fields, kind = item.get("kwargs"), str(made[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    elif fields is None and "content" in item and isinstance(kind, str):
        fields = {key: found for key, found in item.items() if key not in _DUMPED or found != _DUMPED[key]}
    name = kind.removesuffix("MessageChunk").lower() if isinstance(kind, str) else ""
    return name, fields if is_object(fields) else None


def _further(data: JsonObject, known: frozenset[str]) -> JsonObject:
    """Collect the fields that are not read; empty ones say nothing."""
    return {key: found for key, found in rest(data, known, OWNER).items() if found not in (None, {}, [])}


def _answer(data: JsonObject) -> Message:
    calls = _calls(data, "tool_calls", {}) + _calls(data, "invalid_tool_calls", {f"{OWNER}.invalid": True})
    kept = data.get("additional_kwargs")
    further: JsonObject = kept if is_object(kept) else {}
    thought = further.get("reasoning_content")
    parts: list[Part] = [ReasoningPart(thought)] if isinstance(thought, str) and thought else []
    by_id = {call.id: call for call in calls if call.id is not None}
    parts.extend(_read_blocks(data.get("content"), by_id, _signer(data)))
    placed = {id(part) for part in parts}
    parts.extend(call for call in calls if id(call) not in placed)
    extra = _further(data, _ANSWER)
    left = {key: found for key, found in further.items() if key != "reasoning_content" or not isinstance(found, str)}
    if left:
        extra[f"{OWNER}.additional_kwargs"] = left
    return Message("assistant", tuple(parts), text_at(data, "name"), extra)


def _signer(data: JsonObject) -> str:
    """Say whose proofs an answer holds, by the provider that its metadata names."""
    told = data.get("response_metadata")
    named = told.get("model_provider") if is_object(told) else None
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
            calls.append(_call(item, extra))
        except ParseError as error:
            raise ParseError(f"{key}/{at}/{error}") from None
    return calls


def _call(item: JsonObject, extra: JsonObject) -> CallPart:
    call = CallPart(text_at(item, "name") or "", id=text_at(item, "id"), extra=extra | _further(item, _CALL))
    return give(call, item.get("args"))


def _result(data: JsonObject) -> Message:
    content = BLOCKS.read_content(data.get("content"))
    failed = data.get("status") == "error"
    name = text_at(data, "name")
    return Message(
        "tool", (ResultPart(content, text_at(data, "tool_call_id"), name, failed, extra=_further(data, _RESULT)),)
    )


def write(transcript: Transcript) -> JsonValue:
    """Write a list of messages, or a graph's state where there is more to say."""
    items = [written for message in transcript.messages for written in _write_message(message)]
    beside = own(transcript.extra, OWNER)
    return {**beside, "messages": items} if beside else items


def _write_message(message: Message) -> list[JsonValue]:
    if message.origin == OWNER:
        return [message.source]
    kind = _TYPES[message.role]
    if message.role == "tool":
        return [_written(kind, _write_result(part)) for part in message.parts if isinstance(part, ResultPart)]
    data: JsonObject = {"content": BLOCKS.write_all([part for part in message.parts if not isinstance(part, CallPart)])}
    if message.name is not None:
        data["name"] = message.name
    calls = [part for part in message.parts if isinstance(part, CallPart)]
    if calls:
        valid = [part for part in calls if _sound(part)]
        data["tool_calls"] = [_write_call(part, "tool_call", argument_object(part)) for part in valid]
        data["invalid_tool_calls"] = [
            _write_call(part, "invalid_tool_call", part.json) for part in calls if not _sound(part)
        ]
    return [_written(kind, data | own(message.extra, OWNER))]


def _written(kind: str, data: JsonObject) -> JsonObject:
    return {"type": kind, "data": {"type": kind, **data}}


def _sound(part: CallPart) -> bool:
    return part.custom or (not part.extra.get(f"{OWNER}.invalid") and not parse_failure(part))


def _write_call(part: CallPart, kind: str, arguments: JsonValue) -> JsonObject:
    further = {key: value for key, value in own(part.extra, OWNER).items() if key != "invalid"}
    return {"type": kind, "id": part.id, "name": part.name, "args": arguments, **further}


def _write_result(part: ResultPart) -> JsonObject:
    name = {} if part.name is None else {"name": part.name}
    status = {"status": "error"} if part.is_error else {}
    said = {"content": BLOCKS.write_all(part.content), "tool_call_id": part.id}
    return {**said, **name, **status, **own(part.extra, OWNER)}


def recognise(value: JsonValue) -> bool:
    """Tell messages by a type and a content, beside each other or under `data`, or by a constructor."""
    return any(map(_is_message, objects_in(value)))


def _is_message(item: JsonObject) -> bool:
    kind, data = _opened(item)
    return kind in _ROLES and data is not None and "content" in data


FORMAT: Final = TranscriptFormat(
    name=OWNER,
    summary="LangChain messages: messages_to_dict, with dumps read as well.",
    read=read,
    write=write,
    recognise=recognise,
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        result_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "video", "document"}),
        owners=frozenset({OWNER, *SIGNERS.values()}),
        joined_answers=True,
        interleaved=False,
        arguments="any",
    ),
    aliases=("langchain-core", "langgraph"),
    sources=(
        Provenance(reference="langchain-core, langchain_core.messages", revision="1.7.2", kind="source", license="MIT"),
    ),
)
