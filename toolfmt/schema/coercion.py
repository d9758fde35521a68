"""Typing values by a schema: formats that write every value as text get their types back here.

The rules of `coerce`, in order; the first that applies decides:

1. nothing is known of the place: the text stays;
2. the text is one of the listed strings (`enum`, `const`): it stays;
3. `null` or `None` where null is allowed: None; `null`, `none` and `nil` also
   where no string is allowed, so that validation reports a null and no text;
4. only strings are allowed: the text stays, `42`, `[1]` and `null` included;
5. strings and other types are allowed: what JSON writes in exactly this way,
   `42`, `true`, `{"a": 1}`, is of that type, where it is allowed; `"42"` with its
   quotes is then the text; anything else stays, `1.10` and `007` included;
6. what the text reads as, in the order integer, number, boolean, array, object,
   where that type, or a listed value equal to it, is allowed; in a JSON string too;
7. nothing fits: the text stays, for validation to report.

A number becomes the nearest double, as in JSON; one past all doubles stays text, and so does one that is not whole
where an integer is expected.

`relax` also corrects values of the wrong type, as pydantic's lax mode does: `{"days": "5", "dry": "yes"}` becomes
`{"days": 5, "dry": True}`, and nothing becomes text. `infer` types text without a schema.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnrepresentableError
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.choices import chosen, depends
from toolfmt.schema.places import Rooted, Schema, item_schema, kind_of, once, property_schema, root_of, shape, types

_MAX_NUMBER: Final = jsontext.MAX_DIGITS
_NULLS: Final = frozenset({"null", "None"})
_NOTHING: Final = frozenset({"null", "none", "nil"})
_BOOLEANS: Final = {"true": True, "false": False}
_BOOLEAN_WORDS: Final = {**_BOOLEANS, "1": True, "0": False, "yes": True, "no": False, "on": True, "off": False}
_INTEGER = re.compile(r"([+-]?[0-9]+)(?:\.0+)?")
_FLOAT = re.compile(r"[+-]?(?P<digits>[0-9]++\.?[0-9]*+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_PYTHON_TOKEN = re.compile(
    r"""[\s\[\]{},:]+|(?P<text>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")|(?P<word>[-\w.+]+)""",
    re.DOTALL,
)
_PYTHON_ESCAPES = re.compile(
    r"""(?:[^\\]++|\\(?:[\n\\'"abfnrtv]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?![4-7][0-7]{2})[0-7]))*+"""
)
_INVALID: Final = "?"
"""Replaces what Python would refuse, so that the JSON reader refuses it too."""
_PYTHON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_TRAILING_COMMA = re.compile(r"(?P<nothing>[\[{,:]\s*)?,(?=\s*[\]}])")


class _Unread:
    """Returned by a reader for text that is not of its type."""


_UNREAD: Final = _Unread()
_TEXT: Final = frozenset({"string"})
_Read: TypeAlias = "JsonValue | _Unread"
_Listed: TypeAlias = "dict[object, JsonValue]"
"""The values that a schema lists, by `_key`."""


def coerce(text: str, schema: Schema) -> tuple[JsonValue, bool]:
    """Give a text the type that a schema asks for: returns the value, and whether it differs from the text.

    Linear in the text; never raises and never loses anything. `{}` and None as
    schema allow anything, so the text stays.
    """
    allowed, members = shape(schema)
    if allowed is None:
        return text, False
    listed: _Listed = once(schema, "listed", lambda: {_key(member): member for member in reversed(members)})
    if listed and _key(text) in listed:
        return text, False
    kinds = types(schema) or allowed
    value: _Read
    if "string" in allowed:
        value = text if kinds == _TEXT else _in_union(text, allowed, listed, kinds)
    elif text.strip().lower() in _NOTHING:
        value = None
    else:
        value = _typed(text.strip(), allowed, listed, kinds)
    if isinstance(value, _Unread) or value is text:
        return text, False
    return value, True


def _in_union(text: str, allowed: frozenset[str], listed: _Listed, kinds: frozenset[str]) -> _Read:
    """Type a text that may also be a string: only what JSON writes in exactly this way has another type."""
    if "null" in kinds and text in _NULLS:
        return None
    if text[:1] == '"':
        content = _unquoted(text)
        within = content is not None and _in_union(content, allowed, listed, kinds)
        return _UNREAD if content is None or within is _UNREAD else content
    value: _Read
    try:
        value = jsontext.loads(text)
    except ParseError:
        return _UNREAD
    if not (is_array(value) or is_object(value)) and jsontext.dumps(value) != text:
        return _UNREAD
    kind = kind_of(value)
    if kind in allowed or (kind == "integer" and "number" in allowed):
        return value
    return _listed_as(value, listed)


def _typed(text: str, allowed: frozenset[str], listed: _Listed, kinds: frozenset[str]) -> _Read:
    """Read a text that cannot be a string."""
    words = _BOOLEAN_WORDS if kinds <= {"boolean", "null"} else _BOOLEANS
    for kind, read in _READERS.items():
        if kind not in kinds or (kind == "integer" and "number" in allowed):
            continue  # a number reads integers too, and leaves 3.0 a float
        value = words.get(text.lower(), _UNREAD) if kind == "boolean" else read(text)
        if kind not in allowed and not isinstance(value, _Unread):
            value = _listed_as(value, listed)
        if value is not _UNREAD:
            return value
    content = _unquoted(text) if text[:1] == '"' else None
    return _UNREAD if content is None or content[:1] == '"' else _typed(content, allowed, listed, kinds)


def _listed_as(value: JsonValue, listed: _Listed) -> _Read:
    """Return the listed value that equals this one: a number as it is listed, a container as it was read."""
    key = _key(value)
    if key not in listed:
        return _UNREAD
    return listed[key] if type(listed[key]) in (int, float) else value


def _key(value: JsonValue) -> object:
    """Return the same key for values that are the same; as in JSON Schema, 1 and 1.0 are."""
    if type(value) in (int, float):
        return value
    try:
        return jsontext.canonical(value)
    except UnrepresentableError:
        return None


def _unquoted(text: str) -> str | None:
    """Return the content of a JSON string; None for any other text."""
    try:
        content = jsontext.loads(text)
    except ParseError:
        return None
    return content if isinstance(content, str) else None


def _read_integer(text: str) -> _Read:
    if len(text) > _MAX_NUMBER:
        return _UNREAD
    whole = _INTEGER.fullmatch(text)
    if whole:
        return int(whole[1])
    value = _read_float(text)
    # `1e3` is a whole number too; past 2**53 a float no longer distinguishes neighbours.
    if type(value) is float and value.is_integer() and abs(value) <= 2**53 and Decimal(text) == Decimal(value):
        return int(value)
    return _UNREAD


def _read_number(text: str) -> _Read:
    if len(text) > _MAX_NUMBER:
        return _UNREAD
    whole = _INTEGER.fullmatch(text)
    return int(text) if whole and whole[1] == text else _read_float(text)


def _read_float(text: str) -> _Read:
    """Read the nearest float; a number past all of them is not read."""
    form = _FLOAT.fullmatch(text)
    if form is None:
        return _UNREAD
    value = float(text)
    lost = value == 0 and form["digits"].strip("0.")
    return _UNREAD if lost or not math.isfinite(value) else value


def _read_container(text: str, empty: str) -> _Read:
    """Read a list or an object as JSON, as a Python literal, or escaped once too often; an empty text is `empty`."""
    text = text or empty
    if text[0] != empty[0]:
        return _UNREAD
    try:
        return jsontext.loads(text)
    except ParseError:
        pass
    try:
        return jsontext.loads(_json_of_python(text))
    except ParseError:
        pass
    inner = _unquoted(f'"{text}"') if '\\"' in text else None
    try:
        return _UNREAD if inner is None else jsontext.loads(inner)
    except ParseError:
        return _UNREAD


def _json_of_python(text: str) -> str:
    """Write a Python literal as JSON; the JSON reader refuses what is neither.

    Token by token and not by `ast.parse`, which neither refuses duplicate keys nor is bounded in memory.
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
    return jsontext.quoted(content)


_READERS: Final[dict[str, Callable[[str], JsonValue | _Unread]]] = {
    "integer": _read_integer,
    "number": _read_number,
    "boolean": lambda text: _BOOLEANS.get(text.lower(), _UNREAD),
    "array": lambda text: _read_container(text, "[]"),
    "object": lambda text: _read_container(text, "{}"),
}


_WORDS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
_NUMBER: Final[JsonObject] = {"type": ["integer", "number"]}
_LONGEST_WORD: Final = 64
"""A longer text, blanks included, is not one of these words."""


def infer(text: str) -> JsonValue:
    """Give a text the type that it looks like; any other text stays as it is.

    `true`, `FALSE`, `null`, `42`, `007` and `1e10` are typed; `"true"` with its quotes stays text. This is off unless
    asked for: a version `1.10` or an id `007` loses digits.
    """
    word = text.strip().lower() if len(text) <= _LONGEST_WORD else ""
    if word in _WORDS:
        return _WORDS[word]
    number = coerce(text, _NUMBER)[0]
    return text if number is None else number  # `none` is null only where a schema allows no text


_LETTERS: Final = {"t": True, "f": False, "y": True, "n": False}


def relax(arguments: JsonObject, schema: JsonObject) -> tuple[JsonObject, tuple[str, ...]]:
    """Give a call's arguments the types of their places: the arguments, and each change in words."""
    changes: list[str] = []
    if depends(schema):
        schema = chosen(schema, arguments)
    return _members(arguments, Rooted(schema, root_of(schema)), "", changes), tuple(changes)


def _members(value: JsonObject, schema: JsonObject | None, where: str, changes: list[str]) -> JsonObject:
    return {
        key: _relaxed(item, property_schema(schema, key), f"{where}/{token(key)}", changes)
        for key, item in value.items()
    }


def _relaxed(value: JsonValue, schema: JsonObject | None, where: str, changes: list[str]) -> JsonValue:
    allowed = types(schema)
    if allowed is None:
        return value
    found = value
    if isinstance(value, str) and "string" not in allowed and value.strip():
        found = _spelled(value, schema, allowed)
    elif type(value) in (int, float) and value in (0, 1) and not allowed & {"integer", "number", "string"}:
        found = bool(value) if "boolean" in allowed else value
    if found is not value:
        changes.append(f"{where}: {jsontext.dumps(value)[:60]} counts as {jsontext.dumps(found)[:60]}")
    if is_object(found):
        return _members(found, schema, where, changes)
    if is_array(found):
        return [_relaxed(item, item_schema(schema, at), f"{where}/{at}", changes) for at, item in enumerate(found)]
    return found


def _spelled(text: str, schema: JsonObject | None, allowed: frozenset[str]) -> JsonValue:
    """Type a text where the result has an allowed type."""
    value, changed = coerce(text, schema)
    kind = kind_of(value)
    if changed and (kind in allowed or (kind == "integer" and "number" in allowed)):
        return value
    return _LETTERS.get(text.strip().lower(), text) if allowed <= {"boolean", "null"} else text
