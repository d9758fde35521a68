r"""Brings a schema into a provider's dialect of JSON Schema, allowing no less than before where it is not strict.

    lower({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}, ANTHROPIC_STRICT)
    {"type": "object", "additionalProperties": false, "properties":
        {"n": {"type": "integer", "description": "{\"minimum\": 1}"}}}

What can be said in other words is (`respelling`). What cannot moves into the
description, as JSON. What a description cannot mend, such as a recursive type
where none may be, is refused by name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.errors import SchemaError, UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.drafts import modernise
from toolfmt.schema.limits import check_limits, subschemas
from toolfmt.schema.lowered_places import LoweredPlaces, describe
from toolfmt.schema.misshapen import refuse_misshapen
from toolfmt.schema.refs import inline_refs, recursive_refs, unfold_root
from toolfmt.schema.respelling import draft7, target, type_list, united
from toolfmt.schema.rules import ANY
from toolfmt.schema.spelling import is_type, normalise
from toolfmt.schema.walk import DEFINITIONS, SchemaPlace, map_subschemas

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.schema.rules import SchemaRules


def lower(schema: JsonValue, rules: SchemaRules) -> JsonObject:
    """Bring a tool's schema into a dialect; the same object comes back where nothing has to change.

    Raises `UnsupportedSchemaError` for what the dialect has no form for, with
    the place, and for a schema that is too deep or unfolds without measure.
    """
    if not is_object(schema):
        raise UnsupportedSchemaError(f"a tool's schema is an object, not {type(schema).__name__}")
    if rules is ANY:
        return schema
    if jsontext.too_deep(schema, jsontext.MAX_DEPTH):
        raise UnsupportedSchemaError(f"the schema is nested more than {jsontext.MAX_DEPTH} levels deep")
    try:
        refuse_misshapen(schema)
        found = _rooted(_referenced(_worded(schema, rules), rules), rules)
        if rules.keywords or not all(_usual(node, rules) for _, node in subschemas(found)):
            found = LoweredPlaces(rules).lower(found)
        check_limits(found, rules)
    except UnsupportedSchemaError:
        raise
    except SchemaError as error:
        raise UnsupportedSchemaError(str(error)) from None
    return schema if found is schema or jsontext.equal(found, schema) else found


def _usual(node: JsonObject, rules: SchemaRules) -> bool:
    """Whether a place is accepted as it is where all keywords are."""
    if "type" in node and not is_type(node["type"]):
        return False
    return not rules.items or "items" in node or "array" not in type_list(node)


def _worded(schema: JsonObject, rules: SchemaRules) -> JsonObject:
    """Spell types and keywords as the draft does that the provider reads."""
    words = _words(schema)
    seventh = rules.draft == "7"
    found = modernise(normalise(schema)) if words - _NEW - (_SEVENTH if seventh else _NONE) else schema
    return _drafted(found, ()) if seventh and words - _SEVENTH else found


_SEVENTH: Final = frozenset({"items", "dependencies"})
_OLD: Final = frozenset({"type", "nullable", "exclusiveMinimum", "exclusiveMaximum"}) | _SEVENTH
_NEW: Final = frozenset({"prefixItems", "dependentRequired", "dependentSchemas"})
_TELLING: Final = _OLD | _NEW
_BOUNDS: Final = frozenset({"exclusiveMinimum", "exclusiveMaximum"})
_NONE: Final[frozenset[str]] = frozenset()


def _words(schema: JsonObject) -> set[str]:
    """Find the keywords that the current draft does not have, or has in another sense, and those only it has."""
    found: set[str] = set()
    for _, node in subschemas(schema):
        found.update(key for key in node if key in _TELLING and _alien(key, node[key]))
    return found


def _alien(key: str, value: JsonValue) -> bool:
    if key == "type":
        return not is_type(value)
    return is_array(value) if key == "items" else key not in _BOUNDS or isinstance(value, bool)


def _drafted(schema: Any, place: SchemaPlace) -> Any:
    return draft7(map_subschemas(schema, _drafted, place)) if is_object(schema) else schema


def _referenced(schema: JsonObject, rules: SchemaRules) -> JsonObject:
    """Inline the references that the provider does not follow; refuse those that lead back to themselves."""
    nodes = [node for _, node in subschemas(schema) if "$ref" in node]
    if not nodes:
        return schema if rules.references else _without(schema, DEFINITIONS)
    if not rules.recursion and (circles := sorted(recursive_refs(schema))):
        raise UnsupportedSchemaError(f"{circles[0]} leads back to itself, which has no form here")
    if not rules.references or (not rules.siblings and any(len(_without(node, DEFINITIONS)) > 1 for node in nodes)):
        schema = inline_refs(schema)
        return schema if rules.siblings else _lone(schema, ())
    return unfold_root(schema) if rules.root_object and "$ref" in schema else schema


def _lone(schema: Any, place: SchemaPlace) -> Any:
    """Put a recursive reference with siblings into an alternative of its own."""
    if not is_object(schema):
        return schema
    copy = map_subschemas(schema, _lone, place)
    if "$ref" not in copy or len(copy) == 1 or not place:
        return copy
    beside = [{"$ref": copy.pop("$ref")}]
    return copy | ({"allOf": [{"anyOf": copy.pop("anyOf")}, *beside]} if "anyOf" in copy else {"anyOf": beside})


def _rooted(schema: JsonObject, rules: SchemaRules) -> JsonObject:
    """Say at the root what the provider wants there, and nothing that it refuses."""
    moved: JsonObject = {}
    while schema.keys() & rules.root_refused:
        schema = _opened(schema, rules, moved)
        if rules.root_object and "$ref" in schema:
            schema = unfold_root(schema)
    if rules.root_object and schema.get("type") != "object":
        stated = type_list(schema)
        if stated and "object" not in stated:
            raise UnsupportedSchemaError(f"the schema's type is {schema['type']!r}, not 'object'")
        schema = {"type": "object", **_without(schema, {"type"})}
    properties = schema.get("properties")
    if rules.property_name and is_object(properties):
        fits = re.compile(rules.property_name).fullmatch
        odd = {name: sub for name, sub in properties.items() if not fits(name)}
        if odd and rules.closed:
            raise UnsupportedSchemaError(f"an argument's name is {next(iter(odd))!r}, which has no form here")
        if odd:
            schema = _unnamed(schema, odd)
            moved["properties"] = odd
    return describe(schema, moved)


def _unnamed(schema: JsonObject, odd: JsonObject) -> JsonObject:
    """Leave out arguments whose names the provider refuses; the schema must not forbid them then."""
    found = schema | {"properties": _without(schema["properties"], odd)}
    if is_array(schema.get("required")):
        found["required"] = [name for name in schema["required"] if name not in odd]
    return _without(found, {"additionalProperties", "unevaluatedProperties"})


def _opened(schema: JsonObject, rules: SchemaRules, moved: JsonObject) -> JsonObject:
    """Write alternatives of whole argument lists as one list that allows all of them."""
    if "allOf" in schema and "allOf" in rules.root_refused:
        if not is_array(schema["allOf"]):
            return _without(schema, {"allOf"})
        schema, left = united(schema, schema)
        if left:
            moved["allOf"] = [*moved.get("allOf", []), *left]
    for key in ("anyOf", "oneOf"):
        if key in schema and key in rules.root_refused:
            held = schema[key]
            moved.setdefault(key, held)
            branches = [target(schema, branch) for branch in held] if is_array(held) else []
            schema = _widened(_without(schema, {key}), [found if is_object(found) else {} for found in branches])
    return schema


def _widened(schema: JsonObject, branches: list[JsonObject]) -> JsonObject:
    """Add the arguments of alternatives to a schema; each allows what any alternative does."""
    own = schema.get("properties", {})
    if schema.get("additionalProperties") is False or not is_object(own) or not branches:
        return schema
    listed = [branch.get("properties", {}) for branch in branches]
    named: dict[str, list[JsonValue]] = {}
    for properties in listed:
        for name, sub in properties.items():
            same = any(jsontext.equal(sub, other) for other in named.setdefault(name, []))
            named[name] += [] if same else [sub]
    found = dict(own)
    for name, subs in named.items():
        silent = [branch for branch, properties in zip(branches, listed, strict=True) if name not in properties]
        anything = any(branch.get("additionalProperties") is not False for branch in silent)
        if name not in found:
            found[name] = {} if anything else subs[0] if len(subs) == 1 else {"anyOf": subs}
    required = [branch.get("required", []) for branch in branches]
    shared = [name for name in required[0] if all(name in names for names in required)]
    mine = schema.get("required", [])
    needed = [*mine, *(name for name in shared if name not in mine)]
    return schema | {"properties": found} | ({"required": needed} if needed else {})


def _without(schema: JsonObject, keys: Any) -> JsonObject:
    return {key: value for key, value in schema.items() if key not in keys}
