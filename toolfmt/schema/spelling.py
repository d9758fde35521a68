"""Rewrites the spellings of types and the keywords of older drafts as JSON Schema 2020-12 has them.

Tool descriptions in the field write `dict` (BFCL, ToolACE), `STRING` (Gemini), `List[int]` or `str, optional` (xLAM)
and `nullable: true` (OpenAPI). The table below is what is understood, in any case; the parameters of a generic and a
trailing `, optional` are ignored. Any other word means nothing: it allows everything while reading, and validation
reports it as an error. Drafts 4 to 7 and OpenAPI 3.0 are still what many tool servers write.

Further functions write the same meaning in the keywords of another dialect of JSON Schema:

    {"type": ["string", "null"]}                  {"type": "string", "nullable": true}
    {"type": "integer", "exclusiveMinimum": 0}    {"type": "integer", "minimum": 1}
    {"allOf": [{"minimum": 1}, {"maximum": 9}]}   {"minimum": 1, "maximum": 9}
"""

from __future__ import annotations

import re
from typing import Any, Final

from toolfmt.jsontext import equal, is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.refs import NOTES, merge, resolve
from toolfmt.schema.walk import SchemaPlace, as_object, is_number, map_subschemas, without

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
_WORD = re.compile(r"\s*+([a-z_0-9]++)\s*+(?:[\[<(].*)?(?:,\s*+optional)?\s*+", re.DOTALL)
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

    A property's own `required: true` becomes its name in the object's list, and counts that arrive as text
    (`"minItems": "1"`, as protobuf's JSON writes them) become numbers. What is not understood stays for validation to
    report.
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
    flagged = {name: node for name, node in as_object(copy.get("properties")).items() if _is_flagged(node)}
    if flagged and is_array(copy.get("required") or []):
        copy["properties"] |= {name: {**node} for name, node in flagged.items()}
        wanted = [name for name in flagged if copy["properties"][name].pop("required")]
        copy["required"] = list(dict.fromkeys([*(copy.get("required") or ()), *wanted]))
    return with_null(copy) if copy.pop("nullable", None) is True else copy


def _is_flagged(node: Any) -> bool:
    """Whether a property says itself that it is required, or is not, as draft 3 of JSON Schema has it."""
    return is_object(node) and isinstance(node.get("required"), bool)


def _spelled(spelled: Any) -> Any:
    """Spell a `type` keyword's value in JSON Schema's words; None if it allows anything."""
    if not is_array(spelled):
        kind = type_of(spelled)
        return spelled if kind is None else kind or None
    kinds = [type_of(word) for word in spelled]
    if ANYTHING in kinds:
        return None
    return list(dict.fromkeys(kinds)) if None not in kinds else spelled


_NUMBERS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
KEYWORDS_OF: Final = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"}),
    "number": _NUMBERS,
    "integer": _NUMBERS,
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}),
    "object": frozenset(
        {"properties", "required", "additionalProperties", "patternProperties", "minProperties", "maxProperties"}
    ),
}
"""The keywords that apply to values of one type alone."""
_LIMITING: Final = frozenset({"type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf", "not"})
"""The keywords without which null is allowed."""
_PARTS: Final = 50
"""Parts of an `allOf` that are merged; further ones stay."""
_LEAST: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_MOST: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


def type_list(node: JsonObject) -> list[str]:
    """Return the types that `type` states; empty if it states none."""
    stated = node.get("type")
    listed: list[JsonValue] = stated if is_array(stated) else [stated]
    return [word for word in listed if isinstance(word, str)]


def is_null(node: JsonValue) -> bool:
    """Whether a schema allows null alone."""
    return is_object(node) and type_list(node) == ["null"] and not node.keys() - {"type"} - NOTES


def with_null(node: Any) -> Any:
    """Allow null as well."""
    if not is_object(node):
        return {"type": "null"} if node is False else node
    if _LIMITING.isdisjoint(node):
        return node
    types = type_list(node)
    if types and node.keys().isdisjoint(("anyOf", "const", "$ref", "allOf", "oneOf")):
        found = node | {"type": types if "null" in types else [*types, "null"]}
        if is_array(node.get("enum")) and None not in node["enum"]:
            found["enum"] = [*node["enum"], None]
        return found
    branches = node.get("anyOf")
    if is_array(branches) and not types:
        return node if any(map(is_null, branches)) else node | {"anyOf": [*branches, {"type": "null"}]}
    if is_array(node.get("enum")) and not types and "anyOf" not in node and "$ref" not in node:
        return node if None in node["enum"] else node | {"enum": [*node["enum"], None]}
    notes = {key: value for key, value in node.items() if key in NOTES}
    return {**notes, "anyOf": [without(node, NOTES), {"type": "null"}]}


def one_type(node: JsonObject) -> JsonObject:
    """Replace a list of types by one type and `nullable`, or by alternatives of one type each."""
    node = _without_null_branch(node)
    types = type_list(node)
    if is_array(node.get("enum")) and None in node["enum"] and node["enum"] != [None]:
        node = node | {"enum": [value for value in node["enum"] if value is not None]}
        if not types or "null" in types:
            node["nullable"] = True
    words = [word for word in types if word != "null"]
    if not is_array(node.get("type")) or (len(words) > 1 and node.keys() & {"anyOf", "enum"}):
        return node
    if len(words) != len(types) and words:
        node = node | {"nullable": True}
    if len(words) < 2:  # noqa: PLR2004 - one type needs no alternatives
        return node | {"type": words[0] if words else "null"}
    apart = {key for word in words for key in KEYWORDS_OF.get(word, ())}
    branches = [
        {"type": word, **{key: value for key, value in node.items() if key in KEYWORDS_OF.get(word, ())}}
        for word in words
    ]
    return without(node, apart | {"type"}) | {"anyOf": branches}


def _without_null_branch(node: JsonObject) -> JsonObject:
    """Replace a null alternative by `nullable`; a single other one needs no `anyOf`."""
    branches = node.get("anyOf")
    others = [branch for branch in branches if not is_null(branch)] if is_array(branches) else []
    if not is_array(branches) or len(others) == len(branches) or not others:
        return node
    rest = without(node, {"anyOf"})
    if len(others) > 1 or not is_object(others[0]) or others[0].keys() & rest.keys():
        return {**rest, "anyOf": others, "nullable": True}
    return {**_without_null_branch(others[0]), **rest, "nullable": True}


def whole_bounds(node: JsonObject) -> JsonObject:
    """Replace exclusive bounds of integers by inclusive ones."""
    if not set(type_list(node)) <= {"integer", "null"} or not type_list(node):
        return node
    for exclusive, closed, step, pick in (
        ("exclusiveMinimum", "minimum", 1, max),
        ("exclusiveMaximum", "maximum", -1, min),
    ):
        value, other = node.get(exclusive), node.get(closed)
        if type(value) is int and (other is None or type(other) is int):
            bound = value + step if other is None else pick(other, value + step)
            node = without(node, {exclusive}) | {closed: bound}
    return node


def united(node: JsonObject, root: JsonObject | None = None) -> tuple[JsonObject, list[JsonValue]]:
    """Merge the parts of `allOf` into one schema; also return those that cannot be merged.

    With a `root`, references among the parts are followed.
    """
    left: list[JsonValue] = []
    found = without(node, {"allOf"})
    pending = list(node["allOf"])
    for _ in range(_PARTS):
        if not pending:
            break
        part = pending.pop(0)
        if root is not None:
            part = target(root, part)
        if is_object(part) and is_array(part.get("allOf")):
            pending[:0] = [without(part, {"allOf"}), *part["allOf"]]
            continue
        both = found if part is True else _both(found, part) if is_object(part) else None
        if both is None:
            left.append(part)
        else:
            found = both
    return found, left + pending


def target(root: JsonObject, schema: JsonValue) -> JsonValue:
    """Follow a schema that is a reference, and merge its siblings; any other schema is returned."""
    seen: set[str] = set()
    while is_object(schema) and "$ref" in schema:
        found = resolve(root, schema["$ref"])
        if schema["$ref"] in seen:
            break
        seen.add(schema["$ref"])
        schema = merge(found, without(schema, {"$ref"}))
    return schema


def _both(a: JsonObject, b: JsonObject) -> JsonObject | None:
    """Merge two schemas that must both hold; None if their keywords cannot be merged."""
    if b.keys() & {"additionalProperties", "unevaluatedProperties", "patternProperties"} and "properties" in a:
        return None
    if a.keys() & {"additionalProperties", "unevaluatedProperties", "patternProperties"} and "properties" in b:
        return None
    found = dict(a)
    for key, value in b.items():
        mine = found.get(key)
        if key not in found:
            found[key] = value
        elif equal(mine, value):
            continue
        elif key in NOTES:
            found[key] = f"{mine}\n\n{value}" if key == "description" else mine
        elif key == "required" and is_array(mine) and is_array(value):
            found[key] = [*mine, *(name for name in value if name not in mine)]
        elif key == "properties" and is_object(mine) and is_object(value):
            own = {name: mine.get(name, True) for name in value}
            found[key] = mine | {
                name: sub if own[name] is True or equal(own[name], sub) else {"allOf": [own[name], sub]}
                for name, sub in value.items()
            }
        elif key in _LEAST | _MOST and is_number(mine) and is_number(value):
            found[key] = max(mine, value) if key in _LEAST else min(mine, value)
        else:
            return None
    return found


def draft7(node: JsonObject) -> JsonObject:
    """Spell a schema of draft 2020-12 as draft 7 does; the other keywords are the same in both."""
    found: JsonObject = {}
    for key, value in node.items():
        if key == "prefixItems" and is_array(value):
            found["items"] = value
            if "items" in node:
                found["additionalItems"] = node["items"]
        elif key in ("dependentRequired", "dependentSchemas") and is_object(value):
            found["dependencies"] = {**value, **found.get("dependencies", {})}
        elif key != "items" or "prefixItems" not in node:
            found[key] = value
    return found
