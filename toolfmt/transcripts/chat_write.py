"""Writes the hub's messages as chat messages, whichever relative of OpenAI's shape is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
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
    TextPart,
)
from toolfmt.jsontext import is_object
from toolfmt.transcripts.chat_media import write_media
from toolfmt.transcripts.citations import cited, grounds, moved
from toolfmt.transcripts.values import argument_object, own, put_own

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.chat import ChatShape


def write_messages(messages: Iterable[Message], shape: ChatShape) -> list[JsonValue]:
    """Write a conversation that has the shape's rules; what has no place is left out."""
    return [written for message in messages for written in _message(message, shape)]


def _message(message: Message, shape: ChatShape) -> Iterable[JsonValue]:
    if message.origin == shape.owner:
        return [message.source]
    parts = message.parts
    if message.role == "tool":
        return [_result(part, shape) for part in parts if isinstance(part, ResultPart)]
    whole = _whole(parts, shape)
    if whole is not None:
        return [whole]
    said = _said(message, shape)
    return [] if said is None else [said]


def _said(message: Message, shape: ChatShape) -> JsonObject | None:
    """Write what was said; None if nothing of it has a place."""
    calls, refusals, thoughts, spoken = _apart(message.parts, shape)
    plan = _plan(spoken, shape) if calls and shape.plan else None
    content = _content(spoken if plan is None else [part for part in spoken if part is not plan], shape)
    item: JsonObject = {"role": message.role}
    if content or not (calls or refusals):
        item["content"] = content
    else:
        item.update(_NO_CONTENT[shape.no_content])
    if plan is not None:
        item[shape.plan] = plan.text
    if message.name is not None and shape.names:
        item["name"] = message.name
    reasoned = bool(thoughts) and _reason(item, thoughts, shape)
    images = _images(spoken) if shape.media == "list" else None
    if images:
        item["images"] = images
    if message.parts and not (content or calls or refusals or images or (reasoned and shape.reasoning_alone)):
        return None
    if shape.annotations and (found := _annotations(spoken, shape)):
        item[shape.annotations] = found
    if refusals:
        item["refusal"] = "\n".join(refusals)
    _call_all(item, calls, shape)
    item.update(own(message.extra, shape.owner))
    return item


_OWN: Final[dict[str, Callable[[JsonObject], bool]]] = {
    "annotations": lambda item: "url_citation" in item,
    "citations": grounds,
}
"""Whether a citation is in the words of a format that has it under a key."""


def _annotations(spoken: list[Part], shape: ChatShape) -> list[JsonValue]:
    """Write the citations of all texts for the text that they make up."""
    written: list[JsonValue] = []
    before = 0
    for part in spoken:
        if isinstance(part, TextPart):
            written += (moved(citation, before) for citation in cited(part, shape.cites, _OWN[shape.annotations]))
            before += len(part.text)
    return written


def _apart(
    parts: tuple[Part, ...], shape: ChatShape
) -> tuple[list[CallPart], list[str], list[ReasoningPart], list[Part]]:
    """Take parts apart: calls, refusals, reasoning with a key of its own, and what is content."""
    calls: list[CallPart] = []
    refusals: list[str] = []
    thoughts: list[ReasoningPart] = []
    spoken: list[Part] = []
    for part in parts:
        if isinstance(part, CallPart):
            calls.append(part)
        elif isinstance(part, RefusalPart):
            if shape.refusals:
                refusals.append(part.text)
            else:
                spoken.append(TextPart(part.text))
        elif isinstance(part, ReasoningPart) and not shape.reasoning_part:
            thoughts.append(part)
        else:
            spoken.append(part)
    return calls, refusals, thoughts, spoken


_NO_CONTENT: Final[dict[str, JsonObject]] = {"null": {"content": None}, "absent": {}, "empty": {"content": ""}}


def _whole(parts: tuple[Part, ...], shape: ChatShape) -> JsonObject | None:
    """Get a message that was not understood, and is kept as it came."""
    part = parts[0] if len(parts) == 1 else None
    if isinstance(part, OpaquePart) and part.owner == shape.owner and is_object(part.value) and "role" in part.value:
        return part.value
    return None


def _plan(parts: list[Part], shape: ChatShape) -> TextPart | None:
    """Find the text that announces calls: the last one."""
    return next(
        (part for part in reversed(parts) if isinstance(part, TextPart) and not own(part.extra, shape.owner)), None
    )


def _images(parts: list[Part]) -> list[JsonValue]:
    return [part.data for part in parts if isinstance(part, MediaPart) and part.kind == "image" and part.data]


def _call_all(item: JsonObject, calls: list[CallPart], shape: ChatShape) -> None:
    legacy = f"{shape.owner}.legacy"
    for call in calls:
        if call.extra.get(legacy):
            item["function_call"] = {"name": call.name, "arguments": call.json}
        else:
            item.setdefault("tool_calls", []).append(_call(call, shape))


def _content(spoken: list[Part], shape: ChatShape) -> JsonValue:
    text = _plain(spoken, shape)
    if text is not None:
        return text
    if not shape.text_parts:
        return "\n\n".join(part.text for part in spoken if isinstance(part, TextPart))
    return [written for part in spoken if (written := _part(part, shape)) is not None]


def _plain(parts: Sequence[Part], shape: ChatShape) -> str | None:
    """Give the text of a content that is one text, and says nothing more that could be written."""
    part = parts[0] if len(parts) == 1 else None
    if part is None or not isinstance(part, TextPart) or not part.extra:
        return part.text if isinstance(part, TextPart) else None if parts else ""
    marked = shape.gateways and "cache_control" in part.extra
    return None if marked or own(part.extra, shape.owner) else part.text


def _part(part: Part, shape: ChatShape) -> JsonObject | None:
    match part:
        case TextPart():
            written: JsonObject = {"type": "text", "text": part.text}
            extra = part.extra
        case MediaPart():
            found = write_media(part, shape)
            if found is None:
                return None
            written, extra = found, part.extra
        case JsonPart():
            return _json(part, shape)
        case ReasoningPart():
            thought = part.text if shape.reasoning_part == "text" else [{"type": "text", "text": part.text}]
            written, extra = {"type": "thinking", "thinking": thought}, part.extra
            if part.signature is not None and part.owner == shape.provider:
                written["signature"] = part.signature
        case OpaquePart():
            return part.value if part.owner == shape.owner else None
        case _:
            return None
    if extra:
        written.update(own(extra, shape.owner))
        if shape.gateways and "cache_control" in extra:
            written["cache_control"] = extra["cache_control"]
    return written


def _json(part: JsonPart, shape: ChatShape) -> JsonObject:
    if not (shape.documents and is_object(part.value)):
        return {"type": "text", "text": jsontext.dumps(part.value)}
    written: JsonObject = {"type": "document", "document": {"data": part.value}}
    put_own(written, part.extra, shape.owner)
    return written


def _reason(item: JsonObject, parts: list[ReasoningPart], shape: ChatShape) -> bool:
    """Put the reasoning into keys of the message; say whether there is any."""
    if not shape.reasoning:
        return False
    text = "".join(part.text for part in parts)
    if text:
        item[parts[0].extra.get(f"{shape.owner}.key", shape.reasoning)] = text
    signed = bool(shape.signed_by) and {part.owner for part in parts} == {shape.signed_by}
    if signed and any(part.signature or part.encrypted for part in parts):
        item["thinking_blocks"] = [_signed(part, shape) for part in parts]
    return bool(text)


def _signed(part: ReasoningPart, shape: ChatShape) -> JsonObject:
    if part.encrypted is not None:
        return {"type": "redacted_thinking", "data": part.encrypted}
    signature = {} if part.signature is None else {"signature": part.signature}
    return {"type": "thinking", "thinking": part.text, **signature, **own(part.extra, shape.owner)}


def _call(part: CallPart, shape: ChatShape) -> JsonObject:
    item: JsonObject = {}
    if shape.call_ids and part.id is not None:
        item["id"] = part.id
    body: JsonObject
    if part.custom and shape.custom:
        item["type"] = "custom"
        body = item["custom"] = {"name": part.name, "input": part.text or ""}
    else:
        if shape.call_type:
            item["type"] = "function"
        arguments = argument_object(part) if shape.arguments == "object" else _text(part)
        body = item["function"] = {"name": part.name, "arguments": arguments}
    if part.extra:
        item.update(
            {key: value for key, value in own(part.extra, shape.owner).items() if not key.startswith("function.")}
        )
        item.pop("legacy", None)
        body.update(own(part.extra, f"{shape.owner}.function"))
    if part.signature is not None and part.owner == "google" and shape.gateways:
        google = item.get("extra_content", {}).get("google", {}) | {"thought_signature": part.signature}
        item["extra_content"] = item.get("extra_content", {}) | {"google": google}
    return item


def _text(part: CallPart) -> str:
    return jsontext.dumps(argument_object(part), compact=True) if part.custom else part.json


def _result(part: ResultPart, shape: ChatShape) -> JsonObject:
    further = own(part.extra, shape.owner)
    item: JsonObject = {"role": further.pop("role", "tool")}
    if shape.call_ids and part.id is not None:
        item["tool_call_id"] = part.id
    if shape.result_name and part.name is not None:
        item[shape.result_name] = part.name
    item["content"] = result_text(part, shape)
    item.update(further)
    return item


def result_text(part: ResultPart, shape: ChatShape) -> JsonValue:
    """Write a result's content: text where it is one text, else parts; JSON values as JSON text or documents."""
    content = part.content if shape.documents else tuple(map(_textual, part.content))
    text = _plain(content, shape)
    if text is not None:
        return text
    if not shape.text_parts:
        return "\n".join(found.text for found in map(_textual, content) if isinstance(found, TextPart))
    return [written for found in content if (written := _part(found, shape)) is not None]


def _textual(part: Content) -> Content:
    return TextPart(jsontext.dumps(part.value)) if isinstance(part, JsonPart) else part
