"""The parts of the AI SDK's UIMessage: text, reasoning, files, and tools with their state.

{"type": "tool-get_weather", "toolCallId": "call_A1", "state": "output-available",
    "input": {"city": "Paris"}, "output": "18C"}
{"type": "dynamic-tool", "toolName": "get_weather", "toolCallId": "call_B2", "state": "output-error",
    "input": {"city": "Atlantis"}, "errorText": "unknown city"}
{"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,iVBORw0KGgo"}
"""

from __future__ import annotations

from collections.abc import Callable
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
from toolfmt.transcripts.media import from_url, kind_of, known_type
from toolfmt.transcripts.values import argument_value, word
from toolfmt.transcripts.vercel_parts import further, proven, put_further

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

NAME: Final = "vercel-ui"
_PREFIX: Final = "tool-"
_DYNAMIC: Final = "dynamic-tool"
_OPTIONS: Final = "providerMetadata"
_TEXT: Final = frozenset({"type", "text"})
_FILE: Final = frozenset({"type", "mediaType", "filename", "url"})
_TOOL: Final = frozenset({"type", "toolName", "toolCallId", "state", "input", "output", "errorText"})
_CALLED: Final = frozenset({"input-available", "approval-requested", "approval-responded"})
_STATES: Final = _CALLED | {"output-available", "output-error", "output-denied"}


def is_tool(item: JsonValue) -> bool:
    """Whether a part is a call whose input is complete."""
    kind = word(item, "type")
    return (
        (kind.startswith(_PREFIX) or (kind == _DYNAMIC and isinstance(item.get("toolName"), str)))
        and isinstance(item.get("toolCallId"), str)
        and word(item, "state") in _STATES
    )


def read_tool(item: JsonObject) -> tuple[CallPart, ResultPart | None]:
    """Read a call, and its result if it has one."""
    dynamic, ident, state = item["type"] == _DYNAMIC, item["toolCallId"], item["state"]
    extra = further(item, _TOOL, NAME, "callProviderMetadata")
    call = CallPart(item["toolName"] if dynamic else item["type"][len(_PREFIX) :], id=ident, extra=extra)
    given = item.get("input")
    if given is None and isinstance(extra.get(f"{NAME}.rawInput"), str):
        given = extra.pop(f"{NAME}.rawInput")
    if isinstance(given, str):
        call.text = given
    else:
        call.arguments = given
    if dynamic:
        extra[f"{NAME}.type"] = _DYNAMIC
    proven(call)
    content: tuple[Content, ...]
    if state == "output-available":
        output = item.get("output")
        content = ((TextPart(output),) if output else ()) if isinstance(output, str) else (JsonPart(output),)
    elif state == "output-error":
        content = (TextPart(text),) if (text := word(item, "errorText")) else ()
    elif state == "output-denied":
        extra[f"{NAME}.state"] = state
        content = (TextPart(text),) if (text := word(item.get("approval"), "reason")) else ()
    else:
        if state != "input-available":
            extra[f"{NAME}.state"] = state
        return call, None
    return call, ResultPart(content, ident, None, state != "output-available")


def write_tool(call: CallPart, result: ResultPart | None) -> JsonObject:
    """Write a call with its result."""
    item: JsonObject = {
        "type": _PREFIX + call.name,
        "toolCallId": call.id,
        "state": "input-available",
        "input": argument_value(call),
    }
    put_further(item, call, NAME, "callProviderMetadata")
    if item["type"] == _DYNAMIC:
        item["toolName"] = call.name
    if result is not None and not result.is_error:
        item |= {"state": "output-available", "output": _output(result)}
    elif result is not None and item["state"] != "output-denied":
        item |= {"state": "output-error", "errorText": _text(result)}
    return item


def _output(result: ResultPart) -> JsonValue:
    match result.content:
        case (JsonPart(value=value),):
            return value
        case _:
            return _text(result)


def _text(result: ResultPart) -> str:
    return "\n".join(
        part.text if isinstance(part, TextPart) else jsontext.dumps(part.value)
        for part in result.content
        if isinstance(part, (TextPart, JsonPart))
    )


def read_part(item: JsonValue) -> Part:
    """Read a part that is no tool; what is not understood is kept as it came."""
    kind = word(item, "type")
    if kind in ("text", "reasoning") and isinstance(item.get("text"), str):
        extra = further(item, _TEXT, NAME, _OPTIONS)
        if kind == "text":
            return TextPart(item["text"], extra=extra)
        part = ReasoningPart(item["text"], extra=extra)
        proven(part)
        return part
    if kind == "file" and word(item, "url") and word(item, "mediaType"):
        name = word(item, "filename") or None
        media = from_url(item["url"], kind_of(item["mediaType"]), name=name)
        media.media_type = "" if item["mediaType"].endswith("/*") else item["mediaType"]
        media.extra = further(item, _FILE, NAME, _OPTIONS)
        return media
    return OpaquePart(NAME, item)


def write_part(part: Part) -> JsonValue:
    """Write a part that is no tool; None where it has no place."""
    writer = _WRITERS.get(type(part))
    return None if writer is None else writer(part)


def _write_file(part: MediaPart) -> JsonObject | None:
    if part.data is None and part.url is None:
        return None
    kind = known_type(part)
    item: JsonObject = {"type": "file", "mediaType": kind}
    if part.name is not None:
        item["filename"] = part.name
    item["url"] = part.url if part.data is None else f"data:{kind};base64,{part.data}"
    return put_further(item, part, NAME, _OPTIONS)


_WRITERS: Final[dict[type, Callable[[Any], JsonValue]]] = {
    TextPart: lambda part: put_further({"type": "text", "text": part.text}, part, NAME, _OPTIONS),
    ReasoningPart: lambda part: put_further({"type": "reasoning", "text": part.text}, part, NAME, _OPTIONS),
    RefusalPart: lambda part: {"type": "text", "text": part.text},
    JsonPart: lambda part: {"type": "text", "text": jsontext.dumps(part.value)},
    MediaPart: _write_file,
    OpaquePart: lambda part: part.value if part.owner == NAME else None,
}
