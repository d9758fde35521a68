"""Finds what makes a schema check less than its author meant.

    {"type": "object", "propertis": {}}    'propertis' is no keyword; did you mean 'properties'?
    {"type": "strng"}                      'strng' is no JSON type; did you mean 'string'?
    {"required": "b"}                      'required' must be a list of names

Keywords that say nothing about values (`x-order`, `example`, a vendor's own) are none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final

from toolfmt.errors import SchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject
from toolfmt.schema.spelling import JSON_TYPES, is_type
from toolfmt.schema.walk import LISTED, NAMED, SINGLE, SchemaPlace, pointer, subschemas

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "uniqueItems")
_COUNTS: Final = (
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    *("minContains", "maxContains"),
)
_OTHERS: Final = ("type", "enum", "required", "dependentRequired", "dependencies", "$ref")
_SHORT: Final = frozenset({"not", "if", "then", "else"})
"""Keywords that are ordinary words, so that many others come close to them."""
_ASSERTED: Final = (LISTED | NAMED | SINGLE | {*_BOUNDS, *_COUNTS, *_OTHERS}) - _SHORT
"""Keywords without which values pass that should not."""
_NOTES: Final = frozenset(
    {
        *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "$schema", "$vocabulary"),
        *("const", "contentEncoding", "contentMediaType", "contentSchema", "default", "deprecated", "description"),
        *("discriminator", "example", "examples", "externalDocs", "format", "id", "nullable", "optional", "readOnly"),
        *("title", "writeOnly", "xml"),
    }
)
_KNOWN: Final = _ASSERTED | _SHORT | _NOTES
_BY_LETTERS: Final = {key.lower(): key for key in _ASSERTED}
_CLOSE: Final = 0.8
_VALUES: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    "required": (lambda value: is_array(value) and all(isinstance(name, str) for name in value), "a list of names"),
    "properties": (is_object, "an object of schemas by name"),
    "enum": (is_array, "a list of values"),
}


def check_spelling(schema: JsonObject) -> None:
    """Raise `SchemaError` with the place of the first mistake in a normalised schema."""
    types_by_name = all(isinstance(value, (str, dict)) for value in schema.values())
    if schema and types_by_name and not any(key in _KNOWN or _meant(key) for key in schema):
        advice = "give {'type': 'object', 'properties': {name: schema, ...}}"
        raise SchemaError(f"no keyword of JSON Schema among {', '.join(map(repr, list(schema)[:6]))}: {advice}")
    pending: list[tuple[SchemaPlace, Any]] = [((), schema)]
    for place, node in pending:
        if is_object(node):
            if wrong := _mistake(node):
                raise SchemaError(f"at {pointer(place)}: {wrong}")
            pending += [((*place, *way), inner) for way, inner in subschemas(node)]


def _mistake(node: JsonObject) -> str:
    """Describe the first mistake of one schema, or return ""."""
    for key, value in node.items():
        if key == "type" and value != "" and not is_type(value):  # published tools have an empty one
            near = get_close_matches(value.lower(), JSON_TYPES, 1) if isinstance(value, str) else []
            advice = (
                f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(JSON_TYPES)}, or a list of them"
            )
            return f"{value!r:.80} is no JSON type; {advice}"
        fits, what = _VALUES.get(key, (None, ""))
        if fits is not None and value is not None and not fits(value):
            return f"{key!r} must be {what}, not {value!r:.80}"
        if (near := _meant(key)) and near not in node:
            return f"{key!r} is no keyword of JSON Schema; did you mean {near!r}?"
    return ""


def _meant(key: str) -> str:
    """Return the keyword that an unknown one is a misspelling of, or ""."""
    if key in _KNOWN or key.startswith(("x-", "$")):
        return ""
    letters = key.replace("_", "").replace("-", "").lower()
    return _BY_LETTERS.get(letters) or next(iter(get_close_matches(key, _ASSERTED, 1, _CLOSE)), "")
