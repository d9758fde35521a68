"""Gemini's parts: text, thoughts, data, function calls and responses, each of which may be signed.

{"text": "Two calls.", "thought": true}
{"functionCall": {"id": "a1", "name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"}
{"functionResponse": {"id": "a1", "name": "get_weather", "response": {"output": "18C"},
    "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo"}}]}}
{"functionResponse": {"name": "get_weather", "response": {"error": "unknown city"}}}
{"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a.jpg"}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
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
    Said,
    TextPart,
)
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.hosted import readable
from toolfmt.transcripts.media import kind_of, media_type_of
from toolfmt.transcripts.values import argument_object, put_own, rest, says

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

OWNER: Final = "gemini"
PROVIDER: Final = "google"
FILES: Final = ("gs://", "https://generativelanguage.googleapis.com/")
"""How the address of a file begins that only the provider can read."""


@lru_cache(256)
def _camel(key: str) -> str:
    first, *more = key.split("_")
    return first + "".join(word.capitalize() for word in more)


def camel(item: JsonObject) -> JsonObject:
    """Spell the keys of an object in camelCase; both spellings are the same to the provider."""
    return {_camel(key) if "_" in key else key: value for key, value in item.items()}


def read_parts(parts: Iterable[JsonValue]) -> tuple[Part, ...]:
    """Read the parts of a content."""
    return tuple(map(_read, parts))


def _read(item: JsonValue) -> Part:
    if isinstance(item, str):
        return TextPart(item)
    if not is_object(item):
        return OpaquePart(OWNER, item)
    part = camel(item)
    for key, value in part.items():
        reader = _READERS.get(key)
        if reader is not None and value is not None:
            return reader(value, part) or OpaquePart(OWNER, item)
    return OpaquePart(OWNER, item, _says(part))


def _says(part: JsonObject) -> tuple[Said, ...]:
    """Say what the provider ran itself: code, or one of its tools."""
    for key, value in part.items():
        inside = camel(value) if is_object(value) else {}
        ident = _id(inside)
        match key:
            case "executableCode":
                return (CallPart("code_execution", {name: inside[name] for name in inside if name != "id"}, id=ident),)
            case "codeExecutionResult":
                failed = inside.get("outcome", "OUTCOME_OK") != "OUTCOME_OK"
                return (ResultPart(readable(inside.get("output")), ident, "code_execution", failed),)
            case "toolCall":
                return (CallPart(_tool(inside), inside.get("args") or {}, id=ident),)
            case "toolResponse":
                return (ResultPart(readable(inside.get("response")), ident, _tool(inside)),)
            case _:
                continue
    return ()


def _tool(inside: JsonObject) -> str:
    """Name a tool of the provider's: `GOOGLE_SEARCH_WEB` is `google_search_web`."""
    return str(inside.get("toolType", "tool")).lower()


def _signature(part: JsonObject) -> str | None:
    found = part.get("thoughtSignature")
    return found if isinstance(found, str) and found else None


def _text(value: JsonValue, part: JsonObject) -> Part | None:
    if not isinstance(value, str):
        return None
    if part.get("thought") is True:
        signature = _signature(part)
        owner = PROVIDER if signature else ""
        return ReasoningPart(value, signature, None, owner, rest(part, _SIGNED, OWNER))
    if len(part) == 1:
        return TextPart(value)
    return TextPart(value, extra=rest(part, {"text", "thought"}, OWNER))


def _call(value: JsonValue, part: JsonObject) -> Part | None:
    if not is_object(value) or not isinstance(value.get("name"), str) or not says(value, "id"):
        return None
    signature = _signature(part)
    call = CallPart(value["name"], value.get("args"), None, _id(value), signature=signature)
    if call.arguments is None:
        call.arguments = {}
    if signature is not None:
        call.owner = PROVIDER
    if not (value.keys() <= _CALL and part.keys() <= _SIGNED):
        call.extra = rest(part, _SIGNED, OWNER) | rest(value, _CALL, f"{OWNER}.functionCall")
    return call


def _id(value: JsonObject) -> str | None:
    found = value.get("id")
    return found if isinstance(found, str) and found else None


def _response(value: JsonValue, part: JsonObject) -> Part | None:
    if not is_object(value) or not is_object(value.get("response")) or not says(value, "id", "name"):
        return None
    answer: JsonObject = value["response"]
    failed = answer.keys() == {"error"}
    said = answer["error"] if failed else answer["output"] if answer.keys() == {"output"} else answer
    content: list[Content] = []
    if isinstance(said, str):
        content.extend([TextPart(said)] if said else [])
    else:
        content.append(JsonPart(said))
    data = value.get("parts")
    for item in data if is_array(data) else ():
        found = _read(item)
        content.append(found if isinstance(found, MediaPart) else OpaquePart(OWNER, item))
    name = value.get("name")
    result = ResultPart(tuple(content), _id(value), name if isinstance(name, str) else None, failed)
    if not (value.keys() <= _RESPONSE and len(part) == 1):
        result.extra = rest(part, {"functionResponse"}, OWNER) | rest(value, _RESPONSE, f"{OWNER}.functionResponse")
    return result


def _data(value: JsonValue, part: JsonObject) -> Part | None:
    value = camel(value) if is_object(value) else {}
    kind, data = value.get("mimeType") or "", value.get("data")
    if not (isinstance(kind, str) and isinstance(data, str)):
        return None
    extra = rest(part, {"inlineData"}, OWNER) | rest(value, {"mimeType", "data"}, f"{OWNER}.inlineData")
    return MediaPart(kind_of(kind), kind, data, extra=extra)


def _file(value: JsonValue, part: JsonObject) -> Part | None:
    value = camel(value) if is_object(value) else {}
    kind, address = value.get("mimeType") or "", value.get("fileUri")
    if not (isinstance(kind, str) and isinstance(address, str)):
        return None
    media = MediaPart(kind_of(kind or media_type_of(address)), kind)
    if address.startswith(FILES):
        media.file_id, media.owner = address, PROVIDER
    else:
        media.url = address
    media.extra = rest(part, {"fileData"}, OWNER) | rest(value, {"mimeType", "fileUri"}, f"{OWNER}.fileData")
    return media


_SIGNED: Final = frozenset({"text", "thought", "functionCall", "thoughtSignature"})
_CALL: Final = frozenset({"id", "name", "args"})
_RESPONSE: Final = frozenset({"id", "name", "response", "parts"})
_READERS: Final[dict[str, Callable[[JsonValue, JsonObject], Part | None]]] = {
    "text": _text,
    "functionCall": _call,
    "functionResponse": _response,
    "inlineData": _data,
    "fileData": _file,
}


def write_parts(parts: Iterable[Part]) -> list[JsonValue]:
    """Write parts; what has no place is left out."""
    return [written for part in parts if (written := _write(part)) is not None]


def _write(part: Part) -> JsonValue:
    if isinstance(part, OpaquePart):
        return part.value if part.owner == OWNER else None
    written = _WRITERS[type(part)](part)
    extra: JsonObject = getattr(part, "extra", {})
    if extra and written is not None:
        put_own(written, extra, OWNER)
    return written


def _write_reasoning(part: ReasoningPart) -> JsonObject | None:
    if not part.text and part.owner != PROVIDER:
        return None
    return _sign({"text": part.text, "thought": True}, part)


def _write_call(part: CallPart) -> JsonObject:
    call: JsonObject = {"name": part.name, "args": argument_object(part)}
    return _sign({"functionCall": call if part.id is None else {"id": part.id, **call}}, part)


def _sign(written: JsonObject, part: ReasoningPart | CallPart) -> JsonObject:
    if part.signature is not None and part.owner == PROVIDER:
        written["thoughtSignature"] = part.signature
    return written


def _write_result(part: ResultPart) -> JsonObject:
    body: JsonObject = {} if part.id is None else {"id": part.id}
    if part.name is not None:
        body["name"] = part.name
    body["response"] = _answer(part)
    data = [found for found in part.content if not isinstance(found, (TextPart, JsonPart))]
    if data and (written := write_parts(data)):
        body["parts"] = written
    return {"functionResponse": body}


def _answer(part: ResultPart) -> JsonObject:
    """Put what a result says under `output` or `error`; an object is the response itself."""
    said = [found for found in part.content if isinstance(found, (TextPart, JsonPart))]
    if len(said) == 1 and isinstance(said[0], JsonPart):
        value = said[0].value
        if is_object(value) and not part.is_error and value.keys() not in ({"output"}, {"error"}):
            return value
    else:
        value = "\n".join(found.text if isinstance(found, TextPart) else jsontext.dumps(found.value) for found in said)
    return {"error" if part.is_error else "output": value}


def _write_media(part: MediaPart) -> JsonObject | None:
    if part.data is not None:
        return {"inlineData": {"mimeType": part.media_type, "data": part.data}}
    address = part.url if part.url is not None else part.file_id if part.owner == PROVIDER else None
    if address is None:
        return None
    kind = part.media_type or media_type_of(address)
    return {"fileData": {"mimeType": kind, "fileUri": address} if kind else {"fileUri": address}}


_WRITERS: Final[dict[type, Callable[[Any], JsonObject | None]]] = {
    TextPart: lambda part: {"text": part.text},
    RefusalPart: lambda part: {"text": part.text},
    JsonPart: lambda part: {"text": jsontext.dumps(part.value)},
    ReasoningPart: _write_reasoning,
    CallPart: _write_call,
    ResultPart: _write_result,
    MediaPart: _write_media,
}
