"""Reads and writes MCP's calls and results: `params`, `result`, and the blocks of a result's content.

{"name": "get_weather", "arguments": {"city": "Paris"}}
{"content": [{"type": "text", "text": "18C"}], "structuredContent": {"temp": 18}, "isError": false}
{"type": "image", "data": "iVBORw0KGgo", "mimeType": "image/png"}
{"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "JVBE"}}
{"type": "resource_link", "uri": "https://a.b/c.png", "name": "c.png", "mimeType": "image/png"}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Content, JsonPart, MediaPart, OpaquePart, ResultPart, TextPart
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.media import kind_of, known_type, media_type_in
from toolfmt.transcripts.parts.values import argument_object, arguments_at, own, put_own, rest, tagged, word

NAME: Final = "mcp"
CALL: Final = "tools/call"
_ID: Final = f"{NAME}.id"
_REQUEST: Final = frozenset({"jsonrpc", "id", "method", "params"})
_RESPONSE: Final = frozenset({"jsonrpc", "id", "result", "error"})
_PARAMS: Final = frozenset({"name", "arguments"})
_RESULT: Final = frozenset({"content", "isError"})


def read_call(item: JsonObject) -> CallPart:
    """Read a request, or only its `params`."""
    params = item["params"] if "method" in item else item
    arguments = arguments_at(params, "arguments")
    part = CallPart(
        params["name"], {} if arguments is None else arguments, extra=rest(params, _PARAMS, f"{NAME}.params")
    )
    if params is not item:
        part.extra |= rest(item, _REQUEST, NAME)
        _identify(part, item)
    return part


def read_result(item: JsonObject) -> ResultPart:
    """Read a response, or only its `result`; a protocol error's message becomes the result."""
    error = item.get("error")
    if is_object(error):
        message = word(error, "message")
        part = ResultPart((TextPart(message),) if message else (), is_error=True, extra={f"{NAME}.error": error})
    else:
        result = item.get("result", item)
        part = ResultPart(tuple(map(read_block, result["content"])), is_error=result.get("isError") is True)
        known = _RESULT if isinstance(result.get("isError"), bool | None) else _RESULT - {"isError"}
        part.extra = rest(result, known, f"{NAME}.result")
        _structure(part)
        if result is item:
            return part
    part.extra |= rest(item, _RESPONSE, NAME)
    _identify(part, item)
    return part


def _structure(part: ResultPart) -> None:
    """Use the structured content as a JSON value, if the content is empty or the same."""
    key = f"{NAME}.result.structuredContent"
    if key in part.extra and (not part.content or _same(part.content, part.extra[key])):
        part.content = (JsonPart(part.extra.pop(key)),)


def _same(content: Sequence[Content], value: JsonValue) -> bool:
    text = content[0] if len(content) == 1 else None
    if not isinstance(text, TextPart) or text.extra:
        return False
    try:
        return jsontext.equal(jsontext.loads(text.text), value)
    except ParseError:
        return False


def _identify(part: CallPart | ResultPart, item: JsonObject) -> None:
    """Read an id, which may be a number; one that would be written differently is also kept unchanged."""
    ident = item.get("id")
    if (isinstance(ident, str) and ident) or type(ident) is int:
        part.id = str(ident)
    if "id" in item and not (part.id is not None and jsontext.equal(_wire_id(part.id), ident)):
        part.extra[_ID] = ident


def _wire_id(ident: str) -> str | int:
    number = ident.isascii() and ident.isdigit() and len(ident) < 16 and (ident == "0" or ident[0] != "0")  # noqa: PLR2004 - what a double holds
    return int(ident) if number else ident


def read_block(item: JsonValue) -> Content:
    """Read a block of content."""
    kind = word(item, "type")
    if kind == "text" and isinstance(item.get("text"), str):
        return TextPart(item["text"], extra=rest(item, {"type", "text"}, NAME))
    if kind in ("image", "audio") and isinstance(item.get("data"), str):
        extra = rest(item, {"type", "data", "mimeType"}, NAME)
        return MediaPart(kind, word(item, "mimeType"), item["data"], extra=extra)
    if kind == "resource_link" and word(item, "uri").startswith(("http://", "https://")) and word(item, "mimeType"):
        return _read_link(item)
    if kind == "resource" and is_object(item.get("resource")):
        found = _read_resource(item["resource"])
        if found is not None:
            found.extra |= rest(item, {"type", "resource"}, NAME)
            return found
    if kind == "resource_link":
        name = word(item, "name")
        about = word(item, "description") or word(item, "title") or name
        return OpaquePart(NAME, item, (tagged("resource_link", about, name=name, uri=word(item, "uri")),))
    return OpaquePart(NAME, item)


def _read_link(item: JsonObject) -> MediaPart:
    media_type, name = item["mimeType"], word(item, "name")
    part = MediaPart(kind_of(media_type), "" if media_type.endswith("/*") else media_type, url=item["uri"])
    part.name = None if name == part.url else name
    part.extra = rest(item, {"type", "uri", "name", "mimeType"}, NAME)
    return part


def _read_resource(item: JsonObject) -> TextPart | MediaPart | None:
    """Read an embedded resource; its source is kept beside it."""
    media_type = word(item, "mimeType")
    if isinstance(item.get("text"), str):
        part = TextPart(item["text"])
    elif isinstance(item.get("blob"), str):
        part = MediaPart(kind_of(media_type), media_type, item["blob"])
    else:
        return None
    known = {"text"} if isinstance(part, TextPart) else {"blob", "mimeType"}
    part.extra = {f"{NAME}.resource": {key: value for key, value in item.items() if key not in known}}
    return part


def write_call(part: CallPart) -> JsonObject:
    """Write a request, or only its `params` if it was read so."""
    params: JsonObject = {"name": part.name, "arguments": argument_object(part)}
    if _bare(part):
        return params | own(part.extra, f"{NAME}.params")
    item: JsonObject = {"jsonrpc": "2.0", "id": _written_id(part), "method": CALL, "params": params}
    _put(item, part)
    return item


def write_result(part: ResultPart) -> JsonObject:
    """Write a response, or only its `result` if it was read so."""
    item: JsonObject = {"jsonrpc": "2.0", "id": _written_id(part)}
    if f"{NAME}.error" in part.extra and part.is_error:
        message = "\n".join(found.text for found in part.content if isinstance(found, TextPart))
        item["error"] = part.extra[f"{NAME}.error"] | ({"message": message} if message else {})
        return item
    blocks = [block for found in part.content if (block := write_block(found)) is not None]
    result: JsonObject = {"content": blocks}
    alone = part.content[0] if len(part.content) == 1 else None
    if isinstance(alone, JsonPart) and is_object(alone.value):
        result["structuredContent"] = alone.value
    result["isError"] = part.is_error
    if _bare(part):
        return result | own(part.extra, f"{NAME}.result")
    item["result"] = result
    _put(item, part)
    return item


def _bare(part: CallPart | ResultPart) -> bool:
    """Whether it was read without a message, which would have an id."""
    return part.id is None and _ID not in part.extra


def _put(item: JsonObject, part: CallPart | ResultPart) -> None:
    if part.extra:
        put_own(item, {key: value for key, value in part.extra.items() if key not in (_ID, f"{NAME}.error")}, NAME)


def _written_id(part: CallPart | ResultPart) -> JsonValue:
    kept = part.extra.get(_ID)
    return kept if part.id is None or str(kept) == part.id else _wire_id(part.id)


def write_block(part: Content) -> JsonValue:
    """Write a block of content; return None if it has no place."""
    match part:
        case TextPart():
            item: JsonObject = {"type": "text", "text": part.text}
        case JsonPart():
            return {"type": "text", "text": jsontext.dumps(part.value)}
        case MediaPart():
            item = _write_media(part)
        case OpaquePart():
            return part.value if part.owner == NAME else None
    further = own(part.extra, NAME)
    resource = further.pop("resource", None)
    if is_object(resource):
        shown = {"text": part.text} if isinstance(part, TextPart) else {"mimeType": part.media_type, "blob": part.data}
        item = {"type": "resource", "resource": resource | shown}
    return item | further if item else None


def _write_media(part: MediaPart) -> JsonObject:
    """Write media of a result: its bytes, or a link; empty if it has neither bytes nor an address."""
    if part.data is None:
        if part.url is None:
            return {}
        return {"type": "resource_link", "uri": part.url, "name": part.name or part.url, "mimeType": known_type(part)}
    media_type = part.media_type or media_type_in(part.data) or known_type(part)
    if part.kind in ("image", "audio"):
        return {"type": part.kind, "data": part.data, "mimeType": media_type}
    if part.name is None:
        return {}
    uri = f"file:///{quote(part.name)}"
    return {"type": "resource", "resource": {"uri": uri, "mimeType": media_type, "blob": part.data}}
