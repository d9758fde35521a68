"""The steps of Gemini Interactions: what the user gave, what the model thought, said and called, what came back.

{"type": "user_input", "content": [{"type": "text", "text": "Weather in Paris?"},
    {"type": "image", "mime_type": "image/png", "data": "iVBORw0KGgo"}]}
{"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "One call."}]}
{"type": "model_output", "content": [{"type": "text", "text": "Checking."}]}
{"type": "function_call", "id": "a1", "name": "get_weather", "arguments": {"city": "Paris"}}
{"type": "function_result", "call_id": "a1", "name": "get_weather", "result": "unknown city", "is_error": true}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.conversation import (
    CallPart,
    Content,
    JsonPart,
    MediaPart,
    OpaquePart,
    Part,
    ReasoningPart,
    RefusalPart,
    ResultPart,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.citations import cited, flat
from toolfmt.transcripts.gemini_parts import FILES, PROVIDER
from toolfmt.transcripts.hosted import INTERACTIONS, hosted
from toolfmt.transcripts.media import media_type_of
from toolfmt.transcripts.values import argument_object, own, rest, says

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "gemini-interactions"
_MEDIA: Final = ("image", "audio", "video", "document")
CONTENTS: Final = ("text", *_MEDIA)
_CALL: Final = frozenset({"type", "id", "name", "arguments", "signature"})
_TEXT: Final = frozenset({"type", "text", "annotations"})
_PLAIN: Final = frozenset({"type", "text"})
_RESULT: Final = frozenset({"type", "call_id", "name", "result", "is_error"})


def read_step(step: JsonObject) -> tuple[Part, ...]:
    """Read what a step says; one that is not understood is kept as it came."""
    reader = _READERS.get(step.get("type"))
    parts = reader(step) if reader is not None else None
    return (OpaquePart(OWNER, step, hosted(step, INTERACTIONS)),) if parts is None else parts


def _text_of(step: JsonObject, key: str) -> str | None:
    found = step.get(key)
    return found if isinstance(found, str) and found else None


def _given(step: JsonObject) -> tuple[Part, ...] | None:
    content = step.get("content")
    if isinstance(content, str):
        return (TextPart(content),) if content else ()
    return tuple(map(_content, content)) if is_array(content) else None


def _said(step: JsonObject) -> tuple[Part, ...] | None:
    parts = _given(step)
    if parts is None:
        return None
    return tuple(OpaquePart(OWNER, _output([part.value])) if isinstance(part, OpaquePart) else part for part in parts)


def _output(content: list[JsonValue]) -> JsonObject:
    return {"type": "model_output", "content": content}


def _thought(step: JsonObject) -> tuple[Part, ...] | None:
    summary = step.get("summary")
    said = [_content(item) for item in summary] if is_array(summary) else []
    texts = [part.text for part in said if isinstance(part, TextPart)]
    if len(texts) != len(said):
        return None
    signature = _text_of(step, "signature")
    extra = rest(step, {"type", "summary", "signature"}, OWNER)
    return (ReasoningPart("\n\n".join(texts), signature, None, PROVIDER if signature else "", extra),)


def _call(step: JsonObject) -> tuple[Part, ...] | None:
    if not isinstance(step.get("name"), str) or not says(step, "id", "signature"):
        return None
    signature, arguments = _text_of(step, "signature"), step.get("arguments")
    call = CallPart(step["name"], {} if arguments is None else arguments, None, _text_of(step, "id"))
    if signature is not None:
        call.signature, call.owner = signature, PROVIDER
    if not step.keys() <= _CALL:
        call.extra = rest(step, _CALL, OWNER)
    return (call,)


def _result(step: JsonObject) -> tuple[Part, ...] | None:
    said = step.get("result")
    if not says(step, "call_id", "name"):
        return None
    content: tuple[Content, ...]
    if isinstance(said, str):
        content = (TextPart(said),) if said else ()
    elif is_array(said) and all(is_object(item) and item.get("type") in CONTENTS for item in said):
        content = tuple(map(_content, said))
    else:
        content = (JsonPart(said),)
    ident, name, failed = _text_of(step, "call_id"), _text_of(step, "name"), step.get("is_error") is True
    return (ResultPart(content, ident, name, failed, extra=rest(step, _RESULT, OWNER)),)


def _content(item: JsonValue) -> TextPart | MediaPart | OpaquePart:
    if not is_object(item):
        return OpaquePart(OWNER, item)
    kind = item.get("type")
    if kind == "text" and isinstance(item.get("text"), str):
        cited = item.get("annotations")
        if is_array(cited) and all(map(is_object, cited)):
            return TextPart(item["text"], tuple(cited), rest(item, _TEXT, OWNER))
        return TextPart(item["text"], extra=rest(item, _PLAIN, OWNER))
    return _media(item) if kind in _MEDIA else OpaquePart(OWNER, item)


def _media(item: JsonObject) -> MediaPart | OpaquePart:
    media_type = item.get("mime_type") or ""
    data, address = _text_of(item, "data"), _text_of(item, "uri")
    if not isinstance(media_type, str) or (data is None) == (address is None):
        return OpaquePart(OWNER, item)
    part = MediaPart(item["type"], media_type, data, extra=rest(item, {"type", "mime_type", "data", "uri"}, OWNER))
    if address is not None and address.startswith(FILES):
        part.file_id, part.owner = address, PROVIDER
    else:
        part.url = address
    return part


_READERS: Final[dict[object, Callable[[JsonObject], tuple[Part, ...] | None]]] = {
    "user_input": _given,
    "model_output": _said,
    "thought": _thought,
    "function_call": _call,
    "function_result": _result,
}


def write_contents(parts: Iterable[Part]) -> list[JsonValue]:
    """Write what a user or a tool says; what has no place is left out."""
    return [written for part in parts if (written := _write_content(part)) is not None]


def write_steps(parts: Iterable[Part]) -> list[JsonValue]:
    """Write the model's turn: text and media that stand together are one output."""
    steps: list[JsonValue] = []
    output: list[JsonValue] = []
    for part in parts:
        writer = _WRITERS.get(type(part))
        if writer is None:
            written = _write_content(part)
            if written is not None:
                if not output:
                    steps.append(_output(output))
                output.append(written)
            continue
        step = writer(part)
        if step is not None:
            output = []
            steps.append(step)
    return steps


def _write_content(part: Part) -> JsonValue:
    if isinstance(part, OpaquePart):
        return part.value if part.owner == OWNER else None
    if isinstance(part, MediaPart):
        return _write_media(part)
    if isinstance(part, JsonPart):
        return {"type": "text", "text": jsontext.dumps(part.value)}
    if isinstance(part, RefusalPart):
        return {"type": "text", "text": part.text}
    if not isinstance(part, TextPart):
        return None
    written: JsonObject = {"type": "text", "text": part.text}
    if found := cited(part, flat, _cites):
        written["annotations"] = found
    return written | own(part.extra, OWNER)


def _cites(item: JsonObject) -> bool:
    """Whether a citation is flat, as Google writes it; others name a file's id, or put it under its type's name."""
    kind = item.get("type")
    return isinstance(kind, str) and kind.endswith("_citation") and kind not in item and "file_id" not in item


def _write_media(part: MediaPart) -> JsonObject | None:
    address = part.url if part.url is not None else part.file_id if part.owner == PROVIDER else None
    if part.data is None and address is None:
        return None
    written: JsonObject = {"type": part.kind}
    media_type = part.media_type or media_type_of(address or "")
    if media_type:
        written["mime_type"] = media_type
    written |= {"uri": address} if part.data is None else {"data": part.data}
    return written | own(part.extra, OWNER)


def _write_opaque(part: OpaquePart) -> JsonValue:
    return part.value if part.owner == OWNER else None


def _write_thought(part: ReasoningPart) -> JsonObject | None:
    step: JsonObject = {"type": "thought"}
    if part.signature is not None and part.owner == PROVIDER:
        step["signature"] = part.signature
    if part.text:
        step["summary"] = [{"type": "text", "text": part.text}]
    return step | own(part.extra, OWNER) if len(step) > 1 else None


def _write_call(part: CallPart) -> JsonObject:
    step: JsonObject = {"type": "function_call", "id": part.id, "name": part.name, "arguments": argument_object(part)}
    if part.signature is not None and part.owner == PROVIDER:
        step["signature"] = part.signature
    return step | own(part.extra, OWNER)


def write_result(part: ResultPart) -> JsonObject:
    """Write a tool's result: text, an object, or a list of contents."""
    step: JsonObject = {"type": "function_result", "call_id": part.id}
    if part.name is not None:
        step["name"] = part.name
    match part.content:
        case ():
            step["result"] = ""
        case (TextPart(text=text, citations=(), extra={**extra}),) if text and not extra:
            step["result"] = text
        case (JsonPart(value=value),) if is_object(value):
            step["result"] = value
        case content:
            step["result"] = write_contents(content)
    if part.is_error:
        step["is_error"] = True
    return step | own(part.extra, OWNER)


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    ReasoningPart: _write_thought,
    CallPart: _write_call,
    OpaquePart: _write_opaque,
}
