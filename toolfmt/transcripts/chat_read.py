"""Reads chat messages into the hub, whichever relative of OpenAI's shape they have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    Message,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    Role,
    TextPart,
)
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.chat_media import READERS, image_of, marks
from toolfmt.transcripts.citations import moved, source
from toolfmt.transcripts.media import media_type_in
from toolfmt.transcripts.values import give, pointer, rest, text_at, texts_at, word

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.chat import ChatShape

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
_MESSAGE: Final = frozenset({"role", "content", "name", "refusal", "tool_calls", "function_call"})
_RESULT: Final = frozenset({"role", "content", "name", "tool_name", "tool_call_id", "is_error"})
_REASONING: Final = ("reasoning_content", "reasoning", "thinking")


def read_messages(items: list[JsonValue], shape: ChatShape) -> tuple[Message, ...]:
    """Read a list of messages; each keeps the value it was read from."""
    return tuple(read_message(item, shape, ("/messages", at)) for at, item in enumerate(items))


def read_message(item: JsonValue, shape: ChatShape, where: tuple[str, int] | tuple[str] = ("",)) -> Message:
    """Read one message; raises ParseError where it is none."""
    if not is_object(item):
        raise ParseError(f"{pointer(where)}: a message is an object, not {type(item).__name__}")
    name = item.get("role")
    if name is None:
        raise ParseError(f"{pointer(where)}: a message has a role")
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None:
        raise ParseError(f"{pointer(where)}: the role is one of {', '.join(_ROLES)}, not {name!r}")
    try:
        if role == "tool":
            message = _result(item, shape)
        elif len(item) == 2 and type(content := item.get("content")) is str and content:  # noqa: PLR2004 - and the role
            message = Message(role, (TextPart(content),))
        else:
            message = _spoken(item, role, shape)
    except ParseError as error:
        raise ParseError(f"{pointer(where)}/{error}") from None
    message.origin, message.source, message.where = shape.owner, item, where
    return message


def _spoken(item: JsonObject, role: Role, shape: ChatShape) -> Message:
    parts: list[Part] = []
    known, plain = _MESSAGE, item.keys() <= _MESSAGE
    if role == "assistant" and not plain:
        known = _reasoning(item, parts, shape)
    content = item.get("content")
    if isinstance(content, str) and content:
        parts.append(TextPart(content))
    elif content not in (None, ""):
        parts.extend(read_parts(content, shape))
    if not plain:
        known = _beside(item, parts, known, shape)
    refusal = text_at(item, "refusal")
    if refusal:
        parts.append(RefusalPart(refusal))
    if item.get("tool_calls"):
        _calls(item["tool_calls"], parts, shape)
    if _made(item.get("function_call")):
        parts.append(_legacy(item["function_call"], shape))
    extra = {} if plain else rest(item, known, shape.owner)
    return Message(role, tuple(parts), text_at(item, "name"), extra)


def _beside(item: JsonObject, parts: list[Part], known: frozenset[str], shape: ChatShape) -> frozenset[str]:
    """Read what is beside a message's content: a plan, images, sound, citations; the keys that are known."""
    if shape.plan and shape.plan in item:
        plan = text_at(item, shape.plan)
        if plan:
            parts.append(TextPart(plan))
        known = known | {shape.plan}
    if images := _images(item, shape):
        parts.extend(images)
        known = known | {"images"}
    parts.extend(_spoken_aloud(item, silent=not item.get("content")))
    return known | _annotated(parts, item, shape.annotations or "annotations")


def _images(item: JsonObject, shape: ChatShape) -> list[MediaPart]:
    """Read images beside the content: bare base64, or what a gateway's answer shows."""
    if shape.media == "list" and "images" in item:
        return list(map(image_of, texts_at(item, "images")))
    shown = item.get("images") if item["role"] == "assistant" else None
    found = read_parts(shown, shape) if is_array(shown) else []
    images = [part for part in found if isinstance(part, MediaPart)]
    return images if len(images) == len(found) else []


def _spoken_aloud(item: JsonObject, *, silent: bool) -> Iterator[Part]:
    """Read the sound of an answer: what is said in it, where nothing else says so, and its data."""
    sound = item.get("audio") if item["role"] == "assistant" else None
    if not is_object(sound):
        return
    if silent and word(sound, "transcript"):
        yield TextPart(sound["transcript"])
    if data := word(sound, "data"):
        yield MediaPart("audio", media_type_in(data), data)


def _annotated(parts: list[Part], item: JsonObject, key: str) -> frozenset[str]:
    """Give each of a message's citations to the text that it is about; the key is known if all have found one."""
    texts, cited = [part for part in parts if isinstance(part, TextPart)], item.get(key)
    if not is_array(cited) or not texts or not all(map(is_object, cited)):
        return frozenset()
    for citation in cited:
        before, text = 0, texts[0]
        start = source(citation).get("start", 0)
        for text in texts:
            if start < before + len(text.text):
                break
            before += len(text.text)
        text.citations = (*text.citations, moved(citation, -before))
    return frozenset({key})


def _reasoning(item: JsonObject, parts: list[Part], shape: ChatShape) -> frozenset[str]:
    """Read what comes before the text: signed blocks if there are any, else the plain key; the keys that are known."""
    blocks = item.get("thinking_blocks")
    if is_array(blocks):
        found = [_thinking(block, shape) if is_object(block) else None for block in blocks]
        parts.extend(
            OpaquePart(shape.owner, block) if part is None else part for block, part in zip(blocks, found, strict=True)
        )
        whole = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
        same = [key for key in _REASONING if item.get(key) == whole]
        return _MESSAGE | {"thinking_blocks", *same}
    for key in _REASONING:
        text = item.get(key)
        if isinstance(text, str):
            if text:
                spelled = {} if key == (shape.reasoning or "reasoning_content") else {f"{shape.owner}.key": key}
                parts.append(ReasoningPart(text, extra=spelled))
            return _MESSAGE | {key}
    return _MESSAGE


def _thinking(block: JsonObject, shape: ChatShape) -> Part | None:
    owner = shape.signed_by or shape.provider
    if block.get("type") == "redacted_thinking":
        data = block.get("data")
        return ReasoningPart("", encrypted=data, owner=owner) if isinstance(data, str) else None
    thinking, signature = block.get("thinking", ""), block.get("signature")
    beside: JsonObject = {}
    if is_array(thinking):
        said = all(is_object(chunk) and chunk.keys() == {"type", "text"} for chunk in thinking)
        beside = {} if said else {f"{shape.owner}.thinking": thinking}
        thinking = "".join(word(chunk, "text") for chunk in thinking)
    if not isinstance(thinking, str) or not (signature is None or isinstance(signature, str)):
        return None
    return ReasoningPart(
        thinking, signature, owner=owner if signature else "", extra=rest(block, _THINKING, shape.owner) | beside
    )


_THINKING: Final = frozenset({"type", "thinking", "signature"})


def _calls(items: JsonValue, parts: list[Part], shape: ChatShape) -> None:
    if not is_array(items):
        raise ParseError(f"tool_calls: expected a list, not {type(items).__name__}")
    for at, item in enumerate(items):
        try:
            parts.append(_call(item, shape))
        except ParseError as error:
            raise ParseError(f"tool_calls/{at}/{error}") from None


def _legacy(item: JsonValue, shape: ChatShape) -> CallPart:
    if not is_object(item):
        raise ParseError(f"function_call: expected an object, not {type(item).__name__}")
    return _called(item, CallPart("", extra={f"{shape.owner}.legacy": True}), shape)


def _call(item: JsonValue, shape: ChatShape) -> CallPart:
    custom = item.get("custom") if is_object(item) and not _made(item.get("function")) else None
    body = custom if is_object(custom) else item.get("function") if is_object(item) else None
    if not is_object(item) or not is_object(body):
        raise ParseError("function: a tool call is an object with a `function`")
    call = _called(body, CallPart("", id=_id(item, "id", shape), custom=body is custom), shape)
    if not item.keys() <= _CALL:
        call.extra = rest(item, _CALL, shape.owner) | call.extra
        content = item.get("extra_content")
        google = content.get("google") if is_object(content) else None
        if shape.gateways and is_object(google) and isinstance(google.get("thought_signature"), str):
            call.signature, call.owner = google["thought_signature"], "google"
            call.extra.pop(f"{shape.owner}.extra_content", None)
    return call


def _id(item: JsonObject, key: str, shape: ChatShape) -> str | None:
    found = text_at(item, key)
    return None if found == shape.no_id else found


def _called(body: JsonObject, call: CallPart, shape: ChatShape) -> CallPart:
    """Read the name and the arguments of a call."""
    call.name = text_at(body, "name") or ""
    give(call, body.get("input" if call.custom else "arguments"))
    if not body.keys() <= _BODY:
        call.extra = call.extra | rest(body, _BODY, f"{shape.owner}.function")
    return call


def _made(call: JsonValue) -> bool:
    """Whether a call is one: some servers write every field of an answer, with empty texts."""
    return bool(call) and (not is_object(call) or bool(call.get("name") or call.get("arguments")))


_CALL: Final = frozenset({"id", "type", "function", "custom"})
_BODY: Final = frozenset({"name", "arguments", "input"})


def _result(item: JsonObject, shape: ChatShape) -> Message:
    content = item.get("content")
    found: tuple[Content, ...]
    if isinstance(content, str):
        found = (TextPart(content),) if content else ()
    elif is_array(content):
        found = tuple(
            part if isinstance(part, (TextPart, MediaPart, JsonPart, OpaquePart)) else OpaquePart(shape.owner, source)
            for part, source in zip(read_parts(content, shape), content, strict=True)
        )
    else:
        found = () if content is None else (JsonPart(content),)
    images, known = _images(item, shape), _RESULT
    if images:
        found, known = (*found, *images), known | {"images"}
    name = text_at(item, "name") or text_at(item, "tool_name")
    extra = rest(item, known, shape.owner)
    if item["role"] != "tool":
        extra[f"{shape.owner}.role"] = item["role"]
    part = ResultPart(found, _id(item, "tool_call_id", shape), name, bool(item.get("is_error")), extra=extra)
    return Message("tool", (part,))


def read_parts(content: JsonValue, shape: ChatShape) -> list[Part]:
    """Read the parts of a content; one that is not understood is kept as it came."""
    if not is_array(content):
        return [OpaquePart(shape.owner, content)]
    return [read_part(item, shape) for item in content]


def read_part(item: JsonValue, shape: ChatShape) -> Part:
    """Read a part of a content."""
    if isinstance(item, str):
        return TextPart(item)
    kind = item.get("type") if is_object(item) else None
    read = CHAT_PARTS.get(kind) if isinstance(kind, str) else None
    part = read(item, shape) if read is not None else None
    return part if part is not None else OpaquePart(shape.owner, item)


def _text(item: JsonObject, shape: ChatShape) -> Part | None:
    if not isinstance(item.get("text"), str):
        return None
    known = {"type", "text"}
    cited: tuple[JsonObject, ...] = ()
    for key in ("citations", "annotations"):
        found = item.get(key)
        if found is None or (is_array(found) and all(map(is_object, found))):
            cited = cited or tuple(found or ())
            known.add(key)
    return TextPart(item["text"], cited, marks(item, known, shape))


def _document(item: JsonObject, shape: ChatShape) -> Part | None:
    document = item.get("document")
    data = document.get("data") if is_object(document) else None
    if not is_object(document) or not is_object(data):
        return None
    return JsonPart(
        data, marks(item, {"type", "document"}, shape) | rest(document, {"data"}, f"{shape.owner}.document")
    )


CHAT_PARTS: Final[dict[str, Callable[[JsonObject, ChatShape], Part | None]]] = {
    "text": _text,
    "refusal": lambda item, _: RefusalPart(item["refusal"]) if isinstance(item.get("refusal"), str) else None,
    "thinking": _thinking,
    "redacted_thinking": _thinking,
    "document": _document,
    **READERS,
}
