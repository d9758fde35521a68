"""Refuses keywords whose value has the wrong type, so that they mean nothing.

{"properties": {"a": 5}}     #/properties/a is 5, and a schema is an object, true or false
{"required": "a"}            #/required is a string, not a list of strings
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from toolfmt.errors import SchemaError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.places import kind_of
from toolfmt.schema.walk import LISTED, NAMED, SINGLE, SchemaPlace, pointer, subschemas

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.model import JsonObject


def refuse_misshapen(schema: JsonObject) -> None:
    """Raise `SchemaError`, with the place, for the first keyword whose value has the wrong type."""
    pending: list[tuple[Any, SchemaPlace]] = [(schema, ())]
    while pending:
        node, place = pending.pop()
        if isinstance(node, bool):
            continue
        if not is_object(node):
            raise SchemaError(f"{pointer(place)} is {_shown(node)}, and a schema is an object, true or false")
        for key, value in node.items():
            fits, what = _EXPECTED.get(key, _ANYTHING)
            if not fits(value):
                raise SchemaError(f"{pointer((*place, key))} is {_shown(value)}, not {what}")
        pending += ((sub, (*place, *way)) for way, sub in subschemas(node))


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
    **dict.fromkeys(NAMED, (is_object, "an object of schemas")),
    **dict.fromkeys(LISTED - SINGLE, (is_array, "a list of schemas")),
    "type": (lambda value: _is_text(value) or _are_texts(value), "a string or a list of strings"),
    "required": (_are_texts, "a list of strings"),
    "enum": (is_array, "a list"),
    **dict.fromkeys(("$ref", "pattern", "format"), _TEXT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _NUMBER),
}
"""What a keyword holds; older drafts' true and false beside a bound are numbers here."""
