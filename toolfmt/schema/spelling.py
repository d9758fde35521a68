"""Rewrites the spellings of types and the keywords of older drafts as JSON Schema 2020-12 has them.

Tool descriptions in the field write `dict` (BFCL, ToolACE), `STRING` (Gemini), `List[int]` or `str, optional` (xLAM)
and `nullable: true` (OpenAPI). The table below is what is understood, in any case; the parameters of a generic and a
trailing `, optional` are ignored. Any other word means nothing: it allows everything while reading, and validation
reports it as an error. Drafts 4 to 7 and OpenAPI 3.0 are still what many tool servers write.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.walk import SchemaPlace, as_object, map_subschemas

if TYPE_CHECKING:
    from toolfmt.model import JsonObject

JSON_TYPES: Final = ("integer", "number", "boolean", "array", "object", "string", "null")
ANYTHING: Final = ""

_SPELLINGS: Final = {
    "integer": "integer int long short byte bigint int32 int64 uint",
    "number": "number float double decimal numeric float32 float64",
    "boolean": "boolean bool",
    "array": "array list tuple set sequence arraylist iterable",
    "object": "object dict dictionary map hashmap mapping",
    "string": "string str text char",
    "null": "null none nonetype",
    ANYTHING: "any unknown mixed optional union type_unspecified",
}
_TYPE_OF: Final = {word: kind for kind, words in _SPELLINGS.items() for word in words.split()}
_WORD = re.compile(r"\s*([a-z_0-9]+)\s*(?:[\[<(].*)?(?:,\s*optional)?\s*", re.DOTALL)
_COUNTS: Final = frozenset({"minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"})


def type_of(spelled: object) -> str | None:
    """Return the JSON Schema type that a spelling means, `""` for anything, None if it is not understood."""
    if not isinstance(spelled, str):
        return None
    if spelled in JSON_TYPES:
        return spelled
    word = _WORD.fullmatch(spelled.lower())
    return _TYPE_OF.get(word[1]) if word else None


def is_type(value: object) -> bool:
    """Whether a value is what `type` may be: one of JSON Schema's seven words, or a list of them."""
    if is_array(value):
        return bool(value) and all(isinstance(word, str) and word in JSON_TYPES for word in value)
    return isinstance(value, str) and value in JSON_TYPES


def normalise(schema: JsonObject) -> JsonObject:
    """Copy a schema with every type spelled as JSON Schema spells it, and `nullable` written as a null type.

    Counts that arrive as text (`"minItems": "1"`, as protobuf's JSON writes
    them) become numbers. What is not understood stays for validation to report.
    Raises `SchemaError` for a schema that is nested too deeply.
    """
    return _normalise(schema, ())


def modernise(schema: JsonObject) -> JsonObject:
    """Normalise a schema and rewrite the keywords of older drafts as draft 2020-12 has them.

    - `items: [a, b], additionalItems: c` becomes `prefixItems: [a, b], items: c`
    - `minimum: 1, exclusiveMinimum: true` becomes `exclusiveMinimum: 1`
    - `dependencies` becomes `dependentRequired` where it lists names, else `dependentSchemas`

    `$schema` is dropped: it could only name another set of rules, perhaps one that would have to be fetched.
    """
    return _modernise(schema, ())


def _normalise(schema: Any, place: SchemaPlace) -> Any:
    return _normal(map_subschemas(schema, _normalise, place)) if is_object(schema) else schema


def _modernise(schema: Any, place: SchemaPlace) -> Any:
    if not is_object(schema):
        return schema
    copy = modern(map_subschemas(schema, _modernise, place))
    copy.pop("$schema", None)
    return _normal(copy)


def modern(node: JsonObject) -> JsonObject:
    """Copy one schema with the keywords of older drafts rewritten; those inside it stay."""
    found = dict(node)
    if is_array(found.get("items")):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(found.get(exclusive), bool) and found.pop(exclusive) and bound in found:
            found[exclusive] = found.pop(bound)
    for name, value in as_object(found.pop("dependencies", None)).items():
        key = "dependentRequired" if is_array(value) else "dependentSchemas"
        found[key] = {**found.get(key, {}), name: value}
    return found


def _normal(copy: JsonObject) -> JsonObject:
    if "type" in copy:
        spelled = _spelled(copy["type"])
        if spelled is None:
            del copy["type"]
        else:
            copy["type"] = spelled
    for key in _COUNTS & copy.keys():
        count = copy[key]
        if isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 20:  # noqa: PLR2004 - int64
            copy[key] = int(count)
    return _with_null(copy) if copy.pop("nullable", None) is True else copy


def _spelled(spelled: Any) -> Any:
    """Spell a `type` keyword's value in JSON Schema's words; None where it allows anything."""
    if not is_array(spelled):
        kind = type_of(spelled)
        return spelled if kind is None else kind or None
    kinds = [type_of(word) for word in spelled]
    if ANYTHING in kinds:
        return None
    return list(dict.fromkeys(kinds)) if None not in kinds else spelled


def _with_null(schema: JsonObject) -> JsonObject:
    kinds = schema.get("type")
    if kinds is None and not schema.keys() & {"$ref", "allOf", "anyOf", "const", "enum", "oneOf"}:
        return schema
    if kinds is None or "const" in schema or schema.keys() & {"$ref", "allOf", "anyOf", "oneOf"}:
        return {"anyOf": [schema, {"type": "null"}]}
    listed = kinds if is_array(kinds) else [kinds]
    schema["type"] = listed if "null" in listed else [*listed, "null"]
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return schema
