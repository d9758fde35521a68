"""A shape as JSON Schema again, for targets that read schemas themselves.

What comes out says exactly what the nodes of the same shape say: closed objects,
no keyword that was left out, references only where a shape holds itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.workshop.grammars.shapes import Anything, Items, Listed, Members, Named, Null, Number, OneOf, Text, Truth
from toolfmt.workshop.grammars.spelling import pattern_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.workshop.grammars.shapes import Bound, Shape


def native_schema(roots: Sequence[Shape], named: Mapping[str, Shape]) -> JsonObject:
    """Write a schema of alternatives, with the shapes that hold themselves under `$defs`."""
    names = {name: f"n{at}" for at, name in enumerate(named)}
    schema = _schema(roots[0] if len(roots) == 1 else OneOf(tuple(roots)), names)
    used = {name: shape for name, shape in named.items() if f"#/$defs/{names[name]}" in str(schema) or len(names) > 1}
    if used:
        schema["$defs"] = {names[name]: _schema(shape, names) for name, shape in used.items()}
    return schema


def _schema(shape: Shape, names: Mapping[str, str]) -> JsonObject:  # noqa: C901, PLR0911 - one per kind
    match shape:
        case Anything():
            return {}
        case Null():
            return {"type": "null"}
        case Truth():
            return {"type": "boolean"}
        case Number(whole, low, high):
            return {"type": "integer" if whole else "number", **_bound("inimum", low), **_bound("aximum", high)}
        case Text():
            return _text(shape)
        case Listed(value):
            return {"const": value}
        case Items(first, rest, least, most):
            found: JsonObject = {"type": "array"}
            if first:
                found["prefixItems"] = [_schema(one, names) for one in first]
            found["items"] = False if rest is None else _schema(rest, names)
            return found | _counts("Items", least, most)
        case Members(members, rest):
            return {
                "type": "object",
                "properties": {member.name: _schema(member.shape, names) for member in members},
                "required": [member.name for member in members if member.required],
                "additionalProperties": False if rest is None else _schema(rest, names),
            }
        case OneOf(options):
            listed: list[JsonValue] = [one.value for one in options if isinstance(one, Listed)]
            if listed and len(listed) == len(options):
                return {"enum": listed}
            return {"anyOf": [_schema(one, names) for one in options]} if options else {"not": {}}
        case Named(name):
            return {"$ref": f"#/$defs/{names[name]}"}


def _bound(word: str, bound: Bound | None) -> JsonObject:
    if bound is None:
        return {}
    value, past = bound
    key = "m" + word
    return {f"exclusive{key.capitalize()}" if past else key: value}


def _text(shape: Text) -> JsonObject:
    found: JsonObject = {"type": "string", **_counts("Length", shape.least, shape.most)}
    if shape.pattern is not None:
        found["pattern"] = f"^(?:{pattern_text(shape.pattern)})$"
    return found


def _counts(what: str, least: int, most: int | None) -> JsonObject:
    return ({f"min{what}": least} if least else {}) | ({f"max{what}": most} if most is not None else {})
