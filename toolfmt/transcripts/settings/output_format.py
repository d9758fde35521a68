"""What an answer is to look like: text, JSON, or JSON that fits a schema.

    {"type": "json_schema", "json_schema": {"name": "city", "schema": {...}, "strict": true}}    Chat Completions
    {"type": "json_schema", "name": "city", "schema": {...}, "strict": true}                     Responses
    {"type": "json_schema", "schema": {...}}                                                     Anthropic
    "responseMimeType": "application/json", "responseJsonSchema": {...}                          Gemini

Between them it is `{"type": "text"}`, `{"type": "json"}` or `{"type": "schema", "schema": {...}}` with `name`,
`description` and `strict` where they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnsupportedSchemaError
from toolfmt.jsontext import is_object
from toolfmt.schema.lowering import lower
from toolfmt.schema.rules import ANTHROPIC_STRICT, ANY, BEDROCK_STRICT, OPENAI_STRICT, SchemaRules
from toolfmt.transcripts.gemini_schema import json_schema
from toolfmt.transcripts.settings.record import Group, Values, at, put

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue

_JSON: Final = "application/json"
_ABOUT: Final = ("name", "description", "strict")
_UNNAMED: Final = "response"
"""The name of a schema where one is demanded and none is known."""


def _fitted(wanted: JsonObject, rules: SchemaRules) -> JsonObject:
    """Bring the schema into what the API accepts; one that has no form there stays as it is."""
    try:
        return lower(wanted["schema"], rules)
    except UnsupportedSchemaError:
        return wanted["schema"]


def _schema(schema: JsonValue, about: JsonObject, **more: JsonValue) -> JsonObject:
    """Make the format of a schema, with what is said about it."""
    if not is_object(schema):
        return {}
    said = {key: about[key] for key in _ABOUT if about.get(key) is not None}
    return {"format": {"type": "schema", "schema": schema, **said, **more}}


def _plain(kind: JsonValue) -> JsonObject:
    """Read the words of OpenAI and of all who copy it."""
    found = {"text": "text", "json_object": "json"}.get(kind) if isinstance(kind, str) else None
    return {} if found is None else {"format": {"type": found}}


def _described(wanted: JsonObject, *, strict: bool = True) -> JsonObject:
    """Write a named schema as OpenAI has it."""
    sure = wanted.get("strict") is True and strict
    made: JsonObject = {"name": wanted.get("name") or _UNNAMED}
    if wanted.get("description"):
        made["description"] = wanted["description"]
    made["schema"] = _fitted(wanted, OPENAI_STRICT if sure else ANY)
    if wanted.get("strict") is not None and strict:
        made["strict"] = wanted["strict"]
    return made


def _read_chat(fields: JsonObject) -> JsonObject:
    found = fields.get("response_format")
    if not is_object(found):
        return {}
    inside = found.get("json_schema")
    if found.get("type") == "json_schema" and is_object(inside):
        return _schema(inside.get("schema", inside.get("schema_definition")), inside)
    return _plain(found.get("type"))


def _write_chat(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    if wanted["type"] == "schema":
        fields["response_format"] = {"type": "json_schema", "json_schema": _described(wanted)}
    else:
        fields["response_format"] = {"type": "json_object" if wanted["type"] == "json" else "text"}


def _read_responses(fields: JsonObject) -> JsonObject:
    found = at(fields, "text.format")
    if not is_object(found):
        return {}
    return _schema(found.get("schema"), found) if found.get("type") == "json_schema" else _plain(found.get("type"))


def _write_responses(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    if wanted["type"] == "schema":
        put(fields, "text.format", {"type": "json_schema", **_described(wanted)})
    else:
        put(fields, "text.format", {"type": "json_object" if wanted["type"] == "json" else "text"})


def _read_anthropic(fields: JsonObject) -> JsonObject:
    found = at(fields, "output_config.format") or fields.get("output_format")
    if not is_object(found) or found.get("type") != "json_schema":
        return {}
    return _schema(found.get("schema"), {}, strict=True)


def _write_anthropic(values: Values, fields: JsonObject) -> None:
    if values["format"]["type"] == "schema":
        schema = _fitted(values["format"], ANTHROPIC_STRICT)
        put(fields, "output_config.format", {"type": "json_schema", "schema": schema})


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
        put(fields, "generationConfig.responseJsonSchema", wanted["schema"])


def _read_ollama(fields: JsonObject) -> JsonObject:
    found = fields.get("format")
    if found == "json":
        return {"format": {"type": "json"}}
    return _schema(found, {}) or ({"format": {"type": "text"}} if found == "" else {})


def _write_ollama(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    if wanted["type"] != "text":
        fields["format"] = wanted["schema"] if wanted["type"] == "schema" else "json"


def _read_cohere(fields: JsonObject) -> JsonObject:
    found = fields.get("response_format")
    if not is_object(found):
        return {}
    return _schema(found.get("json_schema"), {}) or _plain(found.get("type"))


def _write_cohere(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    made: JsonObject = {"type": "text" if wanted["type"] == "text" else "json_object"}
    if wanted["type"] == "schema":
        made["json_schema"] = wanted["schema"]
    fields["response_format"] = made


def _read_bedrock(fields: JsonObject) -> JsonObject:
    found = at(fields, "outputConfig.textFormat.structure.jsonSchema")
    if not is_object(found) or not isinstance(found.get("schema"), str):
        return {}
    try:
        return _schema(jsontext.loads(found["schema"]), found, strict=True)
    except ParseError:
        return {}


def _write_bedrock(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    if wanted["type"] != "schema":
        return
    made: JsonObject = {"schema": jsontext.dumps(_fitted(wanted, BEDROCK_STRICT))}
    made |= {key: wanted[key] for key in ("name", "description") if wanted.get(key)}
    put(fields, "outputConfig.textFormat", {"type": "json_schema", "structure": {"jsonSchema": made}})


def _read_interactions(fields: JsonObject) -> JsonObject:
    found = fields.get("response_format")
    if not is_object(found):
        return {"format": {"type": "json"}} if fields.get("response_mime_type") == _JSON else {}
    if found.get("type") != "text":  # a bare schema, as the SDK takes it too
        return _schema(found, {}) if "properties" in found else {}
    kind = found.get("mime_type")
    plain = {"format": {"type": "json" if kind == _JSON else "text"}}
    return _schema(found.get("schema"), {}) or plain


def _write_interactions(values: Values, fields: JsonObject) -> None:
    wanted = values["format"]
    made: JsonObject = {"type": "text", "mime_type": "text/plain" if wanted["type"] == "text" else _JSON}
    if wanted["type"] == "schema":
        made["schema"] = wanted["schema"]
    fields["response_format"] = made


def _group(
    read: Callable[[JsonObject], JsonObject], write: Callable[[Values, JsonObject], None], *places: str
) -> Group:
    return Group(names=("format",), at=places, read=read, write=write)


def _write_json(values: Values, fields: JsonObject) -> None:
    fields["response_format"] = {"type": "text" if values["format"]["type"] == "text" else "json_object"}


CHAT: Final = _group(_read_chat, _write_chat, "response_format")
JSON_ONLY: Final = _group(_read_chat, _write_json, "response_format")
RESPONSES: Final = _group(_read_responses, _write_responses, "text.format")
ANTHROPIC: Final = _group(_read_anthropic, _write_anthropic, "output_config.format", "output_format")
GEMINI: Final = _group(
    _read_gemini,
    _write_gemini,
    "generationConfig.responseMimeType",
    "generationConfig.responseJsonSchema",
    "generationConfig.responseSchema",
)
OLLAMA: Final = _group(_read_ollama, _write_ollama, "format")
COHERE: Final = _group(_read_cohere, _write_cohere, "response_format")
BEDROCK: Final = _group(_read_bedrock, _write_bedrock, "outputConfig.textFormat")
INTERACTIONS: Final = _group(_read_interactions, _write_interactions, "response_format", "response_mime_type")
