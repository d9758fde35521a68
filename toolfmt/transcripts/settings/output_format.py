"""The requested format of an answer: text, JSON, or JSON that fits a schema.

    {"type": "json_schema", "json_schema": {"name": "city", "schema": {...}, "strict": true}}    Chat Completions
    {"type": "json_schema", "name": "city", "schema": {...}, "strict": true}                     Responses
    {"type": "json_schema", "schema": {...}}                                                     Anthropic
    "responseMimeType": "application/json", "responseJsonSchema": {...}                          Gemini

The common form is `{"type": "text"}`, `{"type": "json"}` or `{"type": "schema", "schema": {...}}` with `name`,
`description` and `strict` where they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnsupportedSchemaError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.lowering import lower
from toolfmt.schema.rules import ANTHROPIC_STRICT, ANY, BEDROCK_STRICT, OPENAI_STRICT, SchemaRules
from toolfmt.transcripts.families.gemini_parts import json_schema
from toolfmt.transcripts.parts.values import at, put
from toolfmt.transcripts.settings.record import Group, Values

_JSON: Final = "application/json"
_ABOUT: Final = ("name", "description", "strict")
_UNNAMED: Final = "response"
"""The name of a schema if a name is required and none is known."""


def _told(wanted: JsonObject) -> JsonObject:
    """Return the schema with its name and description in it, for APIs without another place."""
    schema, description = wanted["schema"], wanted.get("description")
    return {"description": description, **schema} if description else schema


def _fitted(wanted: JsonObject, rules: SchemaRules) -> JsonObject:
    """Lower the schema to what the API accepts; one that cannot be expressed stays unchanged."""
    try:
        return lower(wanted["schema"], rules)
    except UnsupportedSchemaError:
        return wanted["schema"]


def _schema(schema: JsonValue, about: JsonObject, **more: JsonValue) -> JsonObject:
    """Build the common form of a schema with its name and description."""
    if not is_object(schema):
        return {}
    described = {key: about[key] for key in _ABOUT if about.get(key) is not None}
    return {"format": {"type": "schema", "schema": schema, **described, **more}}


def _described(wanted: JsonObject) -> JsonObject:
    made: JsonObject = {"name": wanted.get("name") or _UNNAMED}
    if wanted.get("description"):
        made["description"] = wanted["description"]
    made["schema"] = _fitted(wanted, OPENAI_STRICT if wanted.get("strict") is True else ANY)
    if wanted.get("strict") is not None:
        made["strict"] = wanted["strict"]
    return made


def _read_openai(place: str, inside: str = "") -> Callable[[JsonObject], JsonObject]:
    """Read the form of OpenAI and its copies; a schema and its name are under a key, or beside the type."""

    def read(fields: JsonObject) -> JsonObject:
        found = at(fields, place)
        if not is_object(found):
            return {}
        about = found.get(inside) if inside else found
        if inside and found.get("type") == "json_object" and is_object(found.get("schema")):  # as in llama.cpp's server
            return _schema(found["schema"], {})
        if found.get("type") == "json_schema" and is_object(about):
            return _schema(about.get("schema", about.get("schema_definition")), about)
        plain = {"text": "text", "json_object": "json"}.get(str(found.get("type")))
        return {} if plain is None else {"format": {"type": plain}}

    return read


def _read_anthropic(fields: JsonObject) -> JsonObject:
    found = at(fields, "output_config.format") or fields.get("output_format")
    if not is_object(found) or found.get("type") != "json_schema":
        return {}
    return _schema(found.get("schema"), {}, strict=True)


def _read_gemini(fields: JsonObject) -> JsonObject:
    config = fields.get("generationConfig")
    if not is_object(config):
        return {}
    schema = config.get("responseJsonSchema")
    if schema is None:
        schema = json_schema(config.get("responseSchema"))
    if is_object(schema):
        return _schema(schema, {})
    kind = config.get("responseMimeType")
    found = {_JSON: "json", "text/plain": "text"}.get(kind) if isinstance(kind, str) else None
    return {} if found is None else {"format": {"type": found}}


def _write_gemini(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    put(fields, "generationConfig.responseMimeType", "text/plain" if wanted["type"] == "text" else _JSON)
    if wanted["type"] == "schema":
        put(fields, "generationConfig.responseJsonSchema", _told(wanted))


def _read_ollama(fields: JsonObject) -> JsonObject:
    found = fields.get("format")
    if found == "json":
        return {"format": {"type": "json"}}
    return _schema(found, {}) or ({"format": {"type": "text"}} if found == "" else {})


def _read_bedrock(fields: JsonObject) -> JsonObject:
    found = at(fields, "outputConfig.textFormat.structure.jsonSchema")
    if not is_object(found) or not isinstance(found.get("schema"), str):
        return {}
    try:
        return _schema(jsontext.loads(found["schema"]), found, strict=True)
    except ParseError:
        return {}


def _read_interactions(fields: JsonObject) -> JsonObject:
    found = fields.get("response_format")
    if not is_object(found):
        return {"format": {"type": "json"}} if fields.get("response_mime_type") == _JSON else {}
    if found.get("type") != "text":
        return {}
    kind = found.get("mime_type")
    plain = {"format": {"type": "json" if kind == _JSON else "text"}}
    return _schema(found.get("schema"), {}) or plain


def typed(fields: JsonObject) -> JsonObject:
    """Wrap a bare schema, which the SDK of Gemini's Interactions also accepts, in its format."""
    found = fields.get("response_format")
    bare = is_object(found) and found.get("type") != "text" and "properties" in found
    return fields | {"response_format": {**_MIME, "schema": found}} if bare else fields


def _bedrock(wanted: JsonObject) -> JsonObject:
    made: JsonObject = {"schema": jsontext.dumps(_fitted(wanted, BEDROCK_STRICT))}
    made |= {key: wanted[key] for key in ("name", "description") if wanted.get(key)}
    return {"type": "json_schema", "structure": {"jsonSchema": made}}


def _group(  # noqa: PLR0913 - a row of a table
    place: str,
    read: Callable[[JsonObject], JsonObject],
    schema: Callable[[JsonObject], JsonValue],
    text: JsonValue = None,
    json: JsonValue = None,
    *,
    keys: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
) -> Group:
    """Describe a format that is written at one place: text, JSON (None: nothing), or a schema."""

    def write(values: Values, fields: JsonObject) -> None:
        wanted = values["format"]
        made = schema(wanted) if wanted["type"] == "schema" else text if wanted["type"] == "text" else json
        if made is not None:
            put(fields, place, dict(made) if is_object(made) else made)

    return Group(names=("format",), at=(place, *also), keys=keys, read=read, write=write)


_TEXT: Final = {"type": "text"}
_OBJECT: Final = {"type": "json_object"}
_MIME: Final = {"type": "text", "mime_type": _JSON}
_NAMED: Final = ("schema", *_ABOUT)
CHAT: Final = _group(
    "response_format",
    _read_openai("response_format", "json_schema"),
    lambda wanted: {"type": "json_schema", "json_schema": _described(wanted)},
    _TEXT,
    _OBJECT,
    keys=("type", "schema", *(f"json_schema.{key}" for key in (*_NAMED, "schema_definition"))),
)
JSON_ONLY: Final = replace(CHAT, write=_group("response_format", CHAT.read, lambda _: _OBJECT, _TEXT, _OBJECT).write)
RESPONSES: Final = _group(
    "text.format",
    _read_openai("text.format"),
    lambda wanted: {"type": "json_schema", **_described(wanted)},
    _TEXT,
    _OBJECT,
    keys=("type", *_NAMED),
)
ANTHROPIC: Final = _group(
    "output_config.format",
    _read_anthropic,
    lambda wanted: {"type": "json_schema", "schema": _fitted({"schema": _told(wanted)}, ANTHROPIC_STRICT)},
    keys=("type", "schema"),
    also=("output_format",),
)
GEMINI: Final = Group(
    names=("format",),
    at=tuple(f"generationConfig.{key}" for key in ("responseMimeType", "responseJsonSchema", "responseSchema")),
    read=_read_gemini,
    write=_write_gemini,
)
OLLAMA: Final = _group("format", _read_ollama, _told, None, "json")
COHERE: Final = _group(
    "response_format",
    lambda fields: _schema(at(fields, "response_format.json_schema"), {}) or CHAT.read(fields),
    lambda wanted: {**_OBJECT, "json_schema": _told(wanted)},
    _TEXT,
    _OBJECT,
    keys=("type", "json_schema", "schema"),
)
BEDROCK: Final = _group(
    "outputConfig.textFormat",
    _read_bedrock,
    _bedrock,
    keys=("type", *(f"structure.jsonSchema.{key}" for key in _NAMED[:3])),
)
INTERACTIONS: Final = _group(
    "response_format",
    _read_interactions,
    lambda wanted: {**_MIME, "schema": _told(wanted)},
    {**_MIME, "mime_type": "text/plain"},
    _MIME,
    keys=("type", "mime_type", "schema"),
    also=("response_mime_type",),
)
