r"""Rewrites a schema in a provider's dialect of JSON Schema, and says why a provider refuses one.

    lower({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}, ANTHROPIC_STRICT)
    {"type": "object", "additionalProperties": false, "properties":
        {"n": {"type": "integer", "description": "{\"minimum\": 1}"}}}

    refusals({"type": "object", "properties": {"a": {"const": 1}}}, GEMINI_OPENAPI)
    ("/properties/a/const", "const is not accepted here")

Where the dialect is not strict, the result allows no less than before. What has another spelling is respelled
(`respelling`), and the rest moves into the description, as JSON. What a description cannot replace, such as a
recursive type, is refused with its place.
"""

from __future__ import annotations

import marshal
import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.errors import SchemaError, UnsupportedSchemaError
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema import walk
from toolfmt.schema.lowered_places import LoweredPlaces, describe
from toolfmt.schema.places import kind_of
from toolfmt.schema.refs import inline_refs, recursive_refs, unfold_root
from toolfmt.schema.rules import ANY, SchemaRules
from toolfmt.schema.spelling import draft7, is_type, modernise, target, type_list, united


def lower(schema: JsonValue, rules: SchemaRules) -> JsonObject:
    """Bring a tool's schema into a dialect; the same object comes back where nothing has to change.

    Raises `UnsupportedSchemaError` for what the dialect has no form for, with
    the place, and for a schema that is too deep or unfolds without bound.
    """
    if not is_object(schema):
        raise UnsupportedSchemaError(f"a tool's schema is an object, not {type(schema).__name__}")
    if rules is ANY:
        return schema
    if jsontext.too_deep(schema, jsontext.MAX_DEPTH):
        raise UnsupportedSchemaError(f"the schema is nested more than {jsontext.MAX_DEPTH} levels deep")
    try:
        data = marshal.dumps(schema, _PLAIN)
    except ValueError:  # something that JSON has not
        data = b""
    if not data or len(data) > _LONGEST:
        return _lowered(schema, rules)
    found = _kept(data, rules)
    return marshal.loads(found) if found else schema  # noqa: S302 - what `_kept` has written


_LONGEST: Final = 1 << 14
"""Bytes of the longest schema that is remembered."""
_PLAIN: Final = 2
"""The version of `marshal` in which equal values have equal bytes, and other types other bytes."""


@lru_cache(maxsize=256)
def _kept(data: bytes, rules: SchemaRules) -> bytes:
    """Return the bytes of a lowered schema, none if it is accepted as it is: requests repeat their tools."""
    schema = marshal.loads(data)  # noqa: S302 - what `lower` has written
    found = _lowered(schema, rules)
    return b"" if found is schema else marshal.dumps(found, _PLAIN)


def _lowered(schema: JsonObject, rules: SchemaRules) -> JsonObject:
    try:
        refuse_misshapen(schema)
        found = _rooted(_referenced(_worded(schema, rules), rules), rules)
        if rules.keywords or not all(_usual(node, rules) for _, node in _nodes(found)):
            found = LoweredPlaces(rules).lower(found)
        _check_limits(found, rules)
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
    seventh = rules.draft == "7"
    foreign = {key for _, node in _nodes(schema) for key in node.keys() & _DRAFTED.keys() if _DRAFTED[key](node[key])}
    found = modernise(schema) if foreign - _CURRENT - (_SEVENTH if seventh else set()) else schema
    return _drafted(found, ()) if seventh and foreign - _SEVENTH else found


_SEVENTH: Final = frozenset({"items", "dependencies"})
"""What draft 7 has in its own sense."""
_CURRENT: Final = frozenset({"prefixItems", "dependentRequired", "dependentSchemas"})
"""What only the current draft has."""
_DRAFTED: Final[dict[str, Callable[[JsonValue], bool]]] = {
    "type": lambda value: not is_type(value),
    "items": is_array,
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(("nullable", "dependencies", *_CURRENT), lambda _: True),
}
"""Whether a keyword's value is that of one draft, but not of all."""


def _drafted(schema: Any, place: walk.SchemaPlace) -> Any:
    return draft7(walk.map_subschemas(schema, _drafted, place)) if is_object(schema) else schema


def _referenced(schema: JsonObject, rules: SchemaRules) -> JsonObject:
    """Inline the references that the provider does not follow; refuse those that lead back to themselves."""
    nodes = [node for _, node in _nodes(schema) if "$ref" in node]
    if not nodes:
        return schema if rules.references else walk.without(schema, walk.DEFINITIONS)
    if not rules.recursion and (circles := sorted(recursive_refs(schema))):
        raise UnsupportedSchemaError(f"{circles[0]} leads back to itself, which has no form here")
    if not rules.references or (
        not rules.siblings and any(len(walk.without(node, walk.DEFINITIONS)) > 1 for node in nodes)
    ):
        schema = inline_refs(schema)
        return schema if rules.siblings else _lone(schema, ())
    return unfold_root(schema) if rules.root_object and "$ref" in schema else schema


def _lone(schema: Any, place: walk.SchemaPlace) -> Any:
    """Put a recursive reference with siblings into an alternative of its own."""
    if not is_object(schema):
        return schema
    copy = walk.map_subschemas(schema, _lone, place)
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
        schema = {"type": "object", **walk.without(schema, {"type"})}
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
    found = schema | {"properties": walk.without(schema["properties"], odd)}
    if is_array(schema.get("required")):
        found["required"] = [name for name in schema["required"] if name not in odd]
    return walk.without(found, {"additionalProperties", "unevaluatedProperties"})


def _opened(schema: JsonObject, rules: SchemaRules, moved: JsonObject) -> JsonObject:
    """Write alternatives of whole argument lists as one list that allows all of them."""
    if "allOf" in schema and "allOf" in rules.root_refused:
        if not is_array(schema["allOf"]):
            return walk.without(schema, {"allOf"})
        schema, left = united(schema, schema)
        if left:
            moved["allOf"] = [*moved.get("allOf", []), *left]
    for key in ("anyOf", "oneOf"):
        if key in schema and key in rules.root_refused:
            held = schema[key]
            moved.setdefault(key, held)
            branches = [target(schema, branch) for branch in held] if is_array(held) else []
            schema = _widened(walk.without(schema, {key}), [found if is_object(found) else {} for found in branches])
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


_NESTED: Final = frozenset({"object", "array"})


def _nodes(schema: JsonObject) -> Iterator[tuple[int, JsonObject]]:
    """Yield each schema inside a schema, itself first, with its level of objects and arrays. No recursion."""
    pending: list[tuple[int, JsonValue]] = [(1, schema)]
    while pending:
        level, node = pending.pop()
        if not is_object(node):
            continue
        yield level, node
        deeper = level + bool(_NESTED & set(type_list(node)))
        for (key, *_), sub in walk.subschemas(node):
            pending.append((1 if key in walk.DEFINITIONS else level if key.endswith("Of") else deeper, sub))


def _check_limits(schema: JsonObject, rules: SchemaRules) -> None:
    """Raise `UnsupportedSchemaError` for a schema that is larger than a provider takes."""
    levels = properties = listed = characters = unions = 0
    for level, node in _nodes(schema):
        names, values = node.get("properties"), node.get("enum")
        if _NESTED & set(type_list(node)):
            levels = max(levels, level)
        if is_object(names):
            properties += len(names)
            characters += sum(map(len, names))
        if is_array(values):
            listed += len(values)
            characters += sum(len(value) if isinstance(value, str) else len(jsontext.dumps(value)) for value in values)
        unions += "anyOf" in node or len(type_list(node)) > 1
    for what, count, most in (
        ("levels of objects and lists", levels, rules.max_levels),
        ("properties", properties, rules.max_properties),
        ("listed values", listed, rules.max_enum),
        ("characters in names and listed values", characters, rules.max_characters),
        ("places of several types", unions, rules.max_unions),
    ):
        if most and count > most:
            raise UnsupportedSchemaError(f"the schema has {count} {what}, and at most {most} are accepted")


_SHORT: Final = 80


def refusals(schema: JsonValue, rules: SchemaRules) -> Iterator[tuple[str, str]]:
    """List the JSON pointers and reasons; none for a schema that is accepted as it is."""
    try:
        lowered = lower(schema, rules)
    except UnsupportedSchemaError as error:
        yield "", str(error)
        return
    if lowered is schema:
        return
    pending: list[tuple[str, JsonValue, JsonValue]] = [("", schema, lowered)]
    while pending:
        place, old, new = pending.pop()
        if is_object(old) and is_object(new):
            yield from ((f"{place}/{token(key)}", f"{key} is not accepted here") for key in old if key not in new)
            yield from (
                (f"{place}/{token(key)}", f"{key} is missing: {_short(value)}")
                for key, value in new.items()
                if key not in old and key != "description"
            )
            pending.extend(
                (f"{place}/{token(key)}", old[key], value)
                for key, value in new.items()
                if key in old and not (key == "description" and isinstance(value, str))
            )
        elif is_array(old) and is_array(new) and len(old) == len(new):
            pending.extend((f"{place}/{at}", *pair) for at, pair in enumerate(zip(old, new, strict=True)))
        elif not jsontext.equal(old, new):
            yield place, f"{_short(old)} is not accepted here, {_short(new)} is"


def _short(value: JsonValue) -> str:
    text = jsontext.dumps(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def refuse_misshapen(schema: JsonObject) -> None:
    """Raise `SchemaError`, with the place, for the first keyword whose value has the wrong type.

    {"required": "a"}    #/required is a string, not a list of strings
    """
    pending: list[tuple[Any, walk.SchemaPlace]] = [(schema, ())]
    while pending:
        node, place = pending.pop()
        if isinstance(node, bool):
            continue
        if not is_object(node):
            raise SchemaError(f"{walk.pointer(place)} is {_shown(node)}, and a schema is an object, true or false")
        for key, value in node.items():
            fits, what = _EXPECTED.get(key, _ANYTHING)
            if not fits(value):
                raise SchemaError(f"{walk.pointer((*place, key))} is {_shown(value)}, not {what}")
        pending += ((sub, (*place, *way)) for way, sub in walk.subschemas(node))


def _shown(value: object) -> str:
    kind = kind_of(value) if isinstance(value, (str, int, float, list, dict, bool, type(None))) else "no JSON"  # pyright: ignore[reportUnknownArgumentType, reportArgumentType] - just its kind
    return f"{'an' if kind[0] in 'aio' else 'a'} {kind}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return is_array(value) and all(map(_is_text, value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


_Rule = tuple["Callable[[Any], bool]", str]
_ANYTHING: Final[_Rule] = (lambda _: True, "")
_TEXT: Final[_Rule] = (_is_text, "a string")
_NUMBER: Final[_Rule] = (_is_number, "a number")
_EXPECTED: Final[dict[str, _Rule]] = {
    **dict.fromkeys(walk.NAMED, (is_object, "an object of schemas")),
    **dict.fromkeys(walk.LISTED - walk.SINGLE, (is_array, "a list of schemas")),
    "type": (lambda value: _is_text(value) or _are_texts(value), "a string or a list of strings"),
    "required": (_are_texts, "a list of strings"),
    "enum": (is_array, "a list"),
    **dict.fromkeys(("$ref", "pattern", "format"), _TEXT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _NUMBER),
}
"""What a keyword holds; older drafts' true and false beside a bound are numbers here."""
