"""Gemini's parts: text, thoughts, data, function calls and responses, each of which may be signed.

{"text": "Two calls.", "thought": true}
{"functionCall": {"id": "a1", "name": "get_weather", "args": {"city": "Paris"}}, "thoughtSignature": "c2ln"}
{"functionResponse": {"id": "a1", "name": "get_weather", "response": {"output": "18C"},
    "parts": [{"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo"}}]}}
{"functionResponse": {"name": "get_weather", "response": {"error": "unknown city"}}}
{"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a.jpg"}}

And its own schemas, a subset of OpenAPI 3.0, as JSON Schema:
{"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": true, "minimum": "1"}}, "required": ["n"]}
{"type": "object", "properties": {"n": {"type": ["integer", "null"], "minimum": 1}}, "required": ["n"]}
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, MediaPart, ReasoningPart, ResultPart, Said, TextPart
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.hosted import readable
from toolfmt.transcripts.parts.media import kind_of, media_type_of
from toolfmt.transcripts.parts.values import own, rest, word
from toolfmt.transcripts.tables.blocks import PartRow, PartTable
from toolfmt.transcripts.tables.fields import PartField, arguments, ident, option, proof, text, where

OWNER: Final = "gemini"
PROVIDER: Final = "google"
FILES: Final = ("gs://", "https://generativelanguage.googleapis.com/")
"""The prefixes of URLs that only the provider can read."""


@lru_cache(256)
def _camel(key: str) -> str:
    first, *more = key.split("_")
    return first + "".join(word.capitalize() for word in more)


def camel(item: JsonObject) -> JsonObject:
    """Convert an object's keys to camelCase; the provider accepts both spellings."""
    return {_camel(key) if "_" in key else key: value for key, value in item.items()}


def snake(key: str) -> str:
    """Convert a key to the spelling with underscores."""
    return re.sub("([A-Z])", lambda found: f"_{found[0].lower()}", key)


def _spelled(item: JsonObject) -> JsonObject:
    """Convert a part and its data to camelCase; an empty key is ignored."""
    made = camel(item)
    for key in _KINDS.intersection(made):
        if made[key] is None:
            del made[key]
        elif key in _DATA and is_object(made[key]):
            made[key] = camel(made[key])
    return made


_DATA: Final = frozenset({"inlineData", "fileData"})
_KINDS: Final = frozenset({"text", "functionCall", "functionResponse", *_DATA})


def _says(part: JsonValue) -> tuple[Said, ...]:
    """Describe code or tools that the provider ran."""
    for key, value in part.items() if is_object(part) else ():
        inside = camel(value) if is_object(value) else {}
        ident = word(inside, "id") or None
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
    """Name a provider's tool: `GOOGLE_SEARCH_WEB` is `google_search_web`."""
    return str(inside.get("toolType", "tool")).lower()


def _read_thought(part: JsonObject) -> ReasoningPart | None:
    if part.get("thought") is not True or not isinstance(part["text"], str):
        return None
    signature = word(part, "thoughtSignature") or None
    extra = rest(part, {"text", "thought", "thoughtSignature"}, OWNER)
    return ReasoningPart(part["text"], signature, None, PROVIDER if signature else "", extra)


def _write_thought(part: ReasoningPart) -> JsonObject | None:
    if not part.text and part.owner != PROVIDER:
        return None
    signed = {"thoughtSignature": part.signature} if part.signature and part.owner == PROVIDER else {}
    return {"text": part.text, "thought": True, **signed, **own(part.extra, OWNER)}


def _read_text(part: JsonObject) -> TextPart | None:
    text = part["text"]
    return TextPart(text, extra=rest(part, {"text", "thought"}, OWNER)) if isinstance(text, str) else None


def _read_response(body: JsonObject, part: ResultPart) -> bool:
    answer, data = body.get("response"), body.get("parts")
    if not is_object(answer):
        return False
    part.is_error = answer.keys() == {"error"}
    output = answer["error"] if part.is_error else answer["output"] if answer.keys() == {"output"} else answer
    shown = BLOCKS.read_content(data) if is_array(data) else ()
    first = TextPart(output) if isinstance(output, str) else JsonPart(output)
    part.content = (first, *shown) if output != "" else tuple(shown)
    return True


def _write_response(part: ResultPart, body: JsonObject) -> None:
    body["response"] = _answer(part)
    data = BLOCKS.write_list(found for found in part.content if not isinstance(found, (TextPart, JsonPart)))
    if data:
        body["parts"] = data


def _answer(part: ResultPart) -> JsonObject:
    """Write a result's content under `output` or `error`; an object is the response itself."""
    contents = [found for found in part.content if isinstance(found, (TextPart, JsonPart))]
    if len(contents) == 1 and isinstance(contents[0], JsonPart):
        value = contents[0].value
        if is_object(value) and not part.is_error and value.keys() not in ({"output"}, {"error"}):
            return value
    else:
        value = "\n".join(one.text if isinstance(one, TextPart) else jsontext.dumps(one.value) for one in contents)
    return {"error" if part.is_error else "output": value}


def _read_type(body: JsonObject, part: MediaPart) -> bool:
    part.media_type = word(body, "mimeType")
    part.kind = kind_of(part.media_type or media_type_of(word(body, "fileUri")))
    return isinstance(body.get("mimeType"), str | None)


def _write_type(part: MediaPart, body: JsonObject) -> None:
    kind = part.media_type or media_type_of(part.url or part.file_id or "")
    if kind or part.data is not None:
        body["mimeType"] = kind


def _read_address(body: JsonObject, part: MediaPart) -> bool:
    address = body.get("fileUri")
    if not isinstance(address, str):
        return False
    if address.startswith(FILES):
        part.file_id, part.owner = address, PROVIDER
    else:
        part.url = address
    return True


def _write_address(part: MediaPart, body: JsonObject) -> bool:
    body["fileUri"] = part.url if part.url is not None else part.file_id if part.owner == PROVIDER else None
    return body["fileUri"] is not None


_TYPE: Final = PartField(("mimeType",), _read_type, _write_type)
_ADDRESS: Final = PartField(("fileUri",), _read_address, _write_address)
_RESPONSE: Final = PartField(("response", "parts"), _read_response, _write_response)
_ID: Final = ident("id", odd="opaque")
_NAME: Final = option("name", "name", odd="opaque")
_SIGNATURE: Final = proof("thoughtSignature", PROVIDER)
BLOCKS: Final = PartTable(
    OWNER,
    (
        PartRow("text", ReasoningPart, read=_read_thought, write=_write_thought),
        PartRow("text", TextPart, read=_read_text, write=lambda part: {"text": part.text, **own(part.extra, OWNER)}),
        PartRow(
            "functionCall",
            CallPart,
            _ID,
            text("name", "name"),
            arguments("args"),
            inside=True,
            around=(_SIGNATURE, where(bool, "text", "thought")),
        ),
        PartRow("functionResponse", ResultPart, _ID, _NAME, _RESPONSE, inside=True),
        PartRow(
            "inlineData", MediaPart, _TYPE, text("data", "data"), inside=True, when=lambda part: part.data is not None
        ),
        PartRow("fileData", MediaPart, _TYPE, _ADDRESS, inside=True),
    ),
    tag="",
    strings=True,
    spelled=_spelled,
    says=_says,
)


def json_schema(schema: JsonValue) -> JsonValue:
    """Convert a schema to JSON Schema; keywords that are the same in both stay."""
    return _read(schema, _nullable)


def spelled(schema: JsonValue) -> JsonValue:
    """Convert a schema to the spelling of Gemini's reference: `anyOf` for `any_of`, and types in small letters."""
    return _read(schema, lambda made: made)


def _read(schema: JsonValue, finish: Callable[[JsonObject], JsonObject]) -> JsonValue:
    if not is_object(schema):
        return schema
    made = camel(schema)
    for key, value in made.items():
        if key in _HOLDS:
            made[key] = _inside(value, _HOLDS[key], finish)
        elif key in _CHANGES:
            made[key] = _CHANGES[key](value)
    return finish(made)


def _inside(value: JsonValue, how: str, finish: Callable[[JsonObject], JsonObject]) -> JsonValue:
    if how == "named":
        return {name: _read(item, finish) for name, item in value.items()} if is_object(value) else value
    if how == "listed":
        return [_read(item, finish) for item in value] if is_array(value) else value
    return _read(value, finish)


def _nullable(made: JsonObject) -> JsonObject:
    if made.get("nullable") is True and isinstance(made.get("type"), str):
        del made["nullable"]
        made["type"] = [made["type"], "null"]
        if is_array(made.get("enum")) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
    return made


def _number(value: JsonValue) -> JsonValue:
    """Read an integer written as text, as 64-bit integers are."""
    return int(value) if isinstance(value, str) and len(value) < _DIGITS and value.isdecimal() else value


_DIGITS: Final = 20
_HOLDS: Final = {
    **dict.fromkeys(("items", "additionalProperties"), "one"),
    **dict.fromkeys(("properties", "defs"), "named"),
    **dict.fromkeys(("anyOf", "prefixItems"), "listed"),
}
"""The keywords with schemas inside."""
_CHANGES: Final[dict[str, Callable[[JsonValue], JsonValue]]] = {
    "type": lambda value: value.lower() if isinstance(value, str) else value,
    **dict.fromkeys(
        ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties", "minimum", "maximum"),
        _number,
    ),
}
