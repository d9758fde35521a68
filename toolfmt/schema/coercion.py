"""Typing text by a schema: formats that write every value as text get their types back here.

The rules, in order; the first that applies decides:

1. nothing is known of the place: the text stays;
2. the text is one of the listed strings (`enum`, `const`): it stays;
3. `null` or `None` where null is allowed: None;
4. any string is allowed: the text stays as it is, `42` and `[1]` included;
5. what the text reads as, in the order integer, number, boolean, array, object,
   where that type, or a listed value equal to it, is allowed;
6. nothing fits: the text stays, for validation to say so.

Nothing is ever lost: a number whose digits a float cannot hold stays text.
"""

from __future__ import annotations

import ast
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from toolfmt import jsontext
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.schema.places import item_schema, kind_of, property_schema, shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.schema.places import Schema

_MAX_NUMBER: Final = jsontext.MAX_DIGITS
_NULLS: Final = frozenset({"null", "None"})
_BOOLEANS: Final = {"true": True, "false": False}
_BOOLEAN_WORDS: Final = {**_BOOLEANS, "1": True, "0": False, "yes": True, "no": False}
_INTEGER = re.compile(r"([+-]?[0-9]+)(?:\.0+)?")
_FLOAT = re.compile(r"[+-]?(?P<digits>[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PYTHON_TOKEN = re.compile(
    r"""[\s\[\]{},:]+|(?P<text>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")|(?P<word>[-\w.+]+)""",
    re.DOTALL,
)
_PYTHON_ESCAPES = re.compile(
    r"""(?:[^\\]++|\\(?:[\n\\'"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?![4-7][0-7]{2})[0-7]))*+"""
)
_INVALID: Final = "?"
"""Stands for what Python would refuse, so that the JSON reader refuses it too."""
_PYTHON_WORDS: Final = {
    "True": "true",
    "False": "false",
    "None": "null",
    "true": _INVALID,
    "false": _INVALID,
    "null": _INVALID,
}
_TRAILING_COMMA = re.compile(r"(?P<nothing>[\[{,:]\s*)?,(?=\s*[\]}])")


class _Unread:
    """What a reader gives for text that is not of its type."""


_UNREAD: Final = _Unread()


def coerce(text: str, schema: Schema) -> tuple[JsonValue, bool]:
    """Give a text the type that a schema asks for: the value, and whether it is other than the text.

    Linear in the text; never raises and never loses anything. `{}` and None as
    schema allow anything, so the text stays.
    """
    allowed, members = shape(schema)
    if allowed is None or any(type(member) is str and member == text for member in members):
        return text, False
    kinds = allowed | {kind_of(member) for member in members}
    stripped = text if "string" in allowed else text.strip()
    if "null" in kinds and stripped in _NULLS:
        return None, True
    if "string" in allowed:
        return text, False
    words = _BOOLEAN_WORDS if kinds <= {"boolean", "null"} else _BOOLEANS
    for kind, read in _READERS.items():
        if kind not in kinds or (kind == "integer" and "number" in allowed):
            continue  # a number reads integers too, and leaves 3.0 a float
        value = words.get(stripped.lower(), _UNREAD) if kind == "boolean" else read(stripped)
        if value is _UNREAD:
            continue
        if kind in allowed:
            return value, True
        for member in members:
            if _same(value, member):
                # A listed number as it is listed; a list or object never shared with the schema.
                return member if kind in {"integer", "number"} else value, True
    return text, False


def coerce_tree(value: JsonValue, schema: JsonObject | None) -> tuple[JsonValue, bool]:
    """Coerce each text in a tree of lists and objects by the schema of its place: the tree, and whether it differs."""
    if isinstance(value, str):
        return coerce(value, schema)
    if is_array(value):
        items = [coerce_tree(item, item_schema(schema, i)) for i, item in enumerate(value)]
        return [item for item, _ in items], any(changed for _, changed in items)
    if is_object(value):
        members = {key: coerce_tree(item, property_schema(schema, key)) for key, item in value.items()}
        return {key: item for key, (item, _) in members.items()}, any(changed for _, changed in members.values())
    return value, False


def _read_integer(text: str) -> JsonValue | _Unread:
    if len(text) > _MAX_NUMBER:
        return _UNREAD
    whole = _INTEGER.fullmatch(text)
    if whole:
        return int(whole[1])
    value = _read_float(text)
    # `1e3` is a whole number too; past 2**53 a float no longer tells neighbours apart.
    if type(value) is float and value.is_integer() and abs(value) <= 2**53:
        return int(value)
    return _UNREAD


def _read_number(text: str) -> JsonValue | _Unread:
    if len(text) > _MAX_NUMBER:
        return _UNREAD
    whole = _INTEGER.fullmatch(text)
    return int(text) if whole and whole[1] == text else _read_float(text)


def _read_float(text: str) -> JsonValue | _Unread:
    """Read a float that gives the text's number again when written, in short or with as many digits as the text."""
    form = _FLOAT.fullmatch(text)
    if form is None:
        return _UNREAD
    value = float(text)
    digits = form["digits"].replace(".", "").lstrip("0")
    if value == 0 or not digits:
        return _UNREAD if digits else value
    if not math.isfinite(value):
        return _UNREAD
    again = (Decimal(repr(value)), Decimal(f"{value:.{len(digits) - 1}e}"))
    return value if Decimal(text) in again else _UNREAD


def _read_array(text: str) -> JsonValue | _Unread:
    value: object = _read_container(text, "[") if text else []
    return value if is_array(value) else _UNREAD


def _read_object(text: str) -> JsonValue | _Unread:
    value: object = _read_container(text, "{") if text else {}
    return value if is_object(value) else _UNREAD


def _read_container(text: str, opener: str) -> JsonValue | _Unread:
    if not text.startswith(opener):
        return _UNREAD
    try:
        return jsontext.loads(text)
    except ParseError:
        pass
    try:
        return jsontext.loads(_json_of_python(text))
    except ParseError:
        return _UNREAD


def _json_of_python(text: str) -> str:
    """Write a Python literal as JSON; what is neither is left for the JSON reader to refuse.

    Token by token and not by `ast.parse`, which neither refuses duplicate keys
    nor is bounded in memory.
    """
    pieces: list[str] = []
    position = 0
    while position < len(text):
        token = _PYTHON_TOKEN.match(text, position)
        if token is None:
            return _INVALID
        position = token.end()
        if token["text"] is not None:
            pieces.append(_json_string(token["text"]))
        elif token["word"] is not None:
            pieces.append(_PYTHON_WORDS.get(token["word"], token["word"]))
        else:
            pieces.append(_TRAILING_COMMA.sub(lambda comma: comma[0] if comma["nothing"] else "", token.group()))
    return "".join(pieces)


def _json_string(literal: str) -> str:
    """Write a Python string literal as a JSON string; an unknown escape makes it invalid."""
    content = literal[1:-1]
    if "\\" in content:
        if _PYTHON_ESCAPES.fullmatch(content) is None:
            return _INVALID
        try:
            content = str(ast.literal_eval(literal))
        except (SyntaxError, ValueError):
            return _INVALID
    return f'"{jsontext.escape(content)}"'


def _same(value: JsonValue, member: JsonValue) -> bool:
    """Whether a value is the listed one; as in JSON Schema, 1 and 1.0 are."""
    if type(value) in (int, float) and type(member) in (int, float):
        return bool(value == member)
    return jsontext.equal(value, member)


_READERS: Final[dict[str, Callable[[str], JsonValue | _Unread]]] = {
    "integer": _read_integer,
    "number": _read_number,
    "boolean": lambda text: _BOOLEANS.get(text.lower(), _UNREAD),
    "array": _read_array,
    "object": _read_object,
}
