"""Strict JSON, in and out.

Reading rejects what two readers could understand differently: duplicate keys, NaN and infinities (also `1e999`), lone
surrogates, and input beyond the limits of depth and digits. Integers keep every digit; floats are the nearest double.
Writing keeps the order of keys and rejects what would not be read back as the same value.

The decoder is jiter: it has its own stack, so that neither deep input nor a deep caller causes a RecursionError, and it
detects duplicate keys at no cost.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final, TypeAlias, TypeGuard, cast

from jiter import from_json
from pydantic_core import to_json

from toolfmt.errors import LimitExceededError, ParseError, UnrepresentableError, UnsafeInputError, shown

JsonValue: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys. Not checked on construction."""
JsonObject: TypeAlias = dict[str, Any]
MAX_DEPTH: Final = 128
"""Levels of nesting read by default; the decoder's own bound is 201."""
MAX_NESTING: Final = MAX_DEPTH + 32
"""Maximum levels of a Python value: those of a call's arguments, and of what is around them."""
MANY: Final = 1000  # members of a level from which on repeated ones are dropped, as they double each level
MAX_DIGITS: Final = 4300
"""Digits of an integer; Python's own bound on turning text into int, so it can't be raised."""
_TOO_LARGE: Final = 10**MAX_DIGITS
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]}]|-?[0-9][0-9.eE+-]*+', re.DOTALL)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_FINITE = _SCALARS - {float}
_OBJECT: Any = dict  # not narrowed by isinstance
_NESTED: Any = (dict, list, tuple)
_TEXT = frozenset({str})
_WHOLE = re.compile(r"-|[.eE].*")  # all of a number that is not in its whole part
_CONSTANT = re.compile(r"-?(?:NaN|Infinity)")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_REFUSED: Final = (
    ("Detected duplicate key", UnsafeInputError, "duplicate key"),
    ("lone leading surrogate in hex escape", UnsafeInputError, "lone surrogate"),
    ("unexpected end of hex escape", UnsafeInputError, "lone surrogate"),
    ("recursion limit exceeded", LimitExceededError, "nested too deeply"),
    ("number out of range", LimitExceededError, f"a number of more than {MAX_DIGITS} digits"),
    ("EOF while parsing", ParseError, "the text ends inside"),
    ("expected value", ParseError, "expected a JSON value"),
    ("expected ident", ParseError, "a word that is not true, false or null"),
    ("key must be a string", ParseError, "a key without double quotes"),
    ("trailing characters", ParseError, "text after the end of the value"),
)
"""The beginning of a decoder's message, the error that it becomes, and its text here."""
_SHORT: Final = 512
"""Characters of a text from which on pydantic writes it in half the time."""
_FEW: Final = 300  # digits of a number that a float can always hold
_EXPONENT: Final = re.compile(r"[0-9][eE]").search
_scan = json.JSONDecoder().raw_decode


def loads(text: str, *, max_depth: int = MAX_DEPTH, max_digits: int = MAX_DIGITS) -> JsonValue:
    """Read one JSON value that takes up the whole text.

    Raises `UnsafeInputError`, `LimitExceededError` or another `ParseError` with the reason, the line and the column.
    """
    return _decode(text, text, 0, max_depth, max_digits)


def raw_value(
    text: str, start: int, *, max_depth: int = MAX_DEPTH, max_digits: int = MAX_DIGITS
) -> tuple[JsonValue, int]:
    """Read the JSON value that begins at `start`, or after white space there; the value and where it ends.

    Text after the value is ignored: `12abc` gives 12. Raises like `loads`, and `ParseError` for an incomplete value.
    """
    start = cast("re.Match[str]", _SPACE.match(text, start)).end()
    try:
        end = _scan(text, start)[1]
    except RecursionError:
        end = _extent(text, start, max_depth)
    except json.JSONDecodeError as error:
        words = error.msg[:1].lower() + error.msg[1:].removesuffix(" at")
        raise ParseError(f"{words} at {_where(text, error.pos)}") from None
    except ValueError:  # an integer that Python refuses to build
        place = _where(text, start)
        raise LimitExceededError(f"a number of more than {MAX_DIGITS} digits at or after {place}") from None
    return _decode(text[start:end], text, start, max_depth, max_digits), end


def try_value(text: str, start: int, *, outer: int = 0, max_depth: int = MAX_DEPTH) -> tuple[JsonValue, int] | None:
    """Read the JSON value that begins at `start` if that is fast; None in any doubt.

    The result is that of `raw_value`. A long text is not read to its end for a value that is wrong early. `outer` is
    the number of open braces around the value.
    """
    if len(text) - start <= _WINDOW:
        # The usual answer ends with the braces around the value: the one before them is its own.
        end = text.rfind("}", start) + 1
        for _ in range(outer):
            end = text.rfind("}", start, end - 1) + 1
        try:
            value = from_json(text[start:end].encode(), allow_inf_nan=False, catch_duplicate_keys=True)
        except ValueError:
            pass
        else:
            return (value, end) if _fits(value, max_depth) else None
    size = _WINDOW
    while True:
        window, at = (text, start) if len(text) <= 2 * size else (text[start : start + size], 0)
        try:
            value, end = _scan_unique(window, at)
        except json.JSONDecodeError as error:
            cut = len(window) - at < len(text) - start
            if not cut or not (error.msg.startswith("Unterminated") or error.pos + 16 >= len(window)):
                return None
            size *= 16
        except (ValueError, RecursionError, StopIteration):
            return None
        else:
            sound = _SURROGATE_ESCAPE(window, at, end) is None and encodable(window[at:end])  # a pair is doubtful
            return (value, start + end - at) if sound and _fits(value, max_depth) else None


def _fits(value: JsonValue, max_depth: int) -> bool:
    depth, finite = survey(value)
    return finite and depth <= max_depth


def encodable(text: str) -> bool:
    """Whether a text holds no lone surrogate."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("duplicate key")
    return made


def _no_constant(name: str) -> JsonValue:
    raise ValueError(name)


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]").search
_WINDOW: Final = 1 << 16
"""Characters that are read first; an error in them costs no more than reading them."""
_scan_unique = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant).raw_decode


def dumps(value: JsonValue, *, indent: int | None = None, compact: bool = False) -> str:
    """Write a JSON value, keys in their own order, characters unescaped where JSON allows.

    `compact` leaves out the spaces after `,` and `:`. Raises
    `UnrepresentableError` with the JSON pointer of what JSON cannot hold.
    """
    return _encode(value, _encoder(indent=indent, compact=compact, sort=False))


def canonical(value: JsonValue) -> str:
    """Write a JSON value in one way only: sorted keys, no spaces. 1 and 1.0 differ."""
    return _encode(value, _encoder(indent=None, compact=True, sort=True))


def escape(text: str) -> str:
    """Escape text as inside a JSON string, without the quotes."""
    return (encode_basestring(text) if len(text) < _SHORT else quoted(text))[1:-1]


def quoted(text: str) -> str:
    """Write text as a JSON string."""
    return to_json(text).decode() if len(text) >= _SHORT and text.isascii() else encode_basestring(text)


def too_deep(value: object, most: int = MAX_NESTING) -> bool:
    """Whether lists and objects nest more than `most` levels deep, or contain themselves."""
    return holds(value, (), most) is None


def holds(value: object, kinds: tuple[type, ...], most: int = MAX_NESTING) -> bool | None:
    """Whether a value contains one of these types, which are not those of JSON; None if it is too deep."""
    level: Collection[Any] = [(value,)]
    for _ in range(most + 1):
        below: list[Any] = []
        for node in level:
            for child in node.values() if isinstance(node, _OBJECT) else node:
                if child.__class__ is str:
                    continue
                if isinstance(child, _NESTED):
                    below.append(child)
                elif isinstance(child, kinds):
                    return True
        if not below:
            return False
        level = below if len(below) < MANY else {id(node): node for node in below}.values()
    return None


def check_depth(value: object, what: str) -> None:
    """Raise `LimitExceededError`, which names `what`, for a value that is too deep."""
    if too_deep(value):
        raise LimitExceededError(f"{what} is nested more than {MAX_NESTING} levels deep")


def equal(left: JsonValue, right: JsonValue) -> bool:
    """Compare two JSON values by type and value: 1, 1.0 and True differ, 0.0 and -0.0 too; key order does not count."""
    pairs: list[tuple[Any, Any]] = [(left, right)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is not type(b):
            return False
        if is_object(a):
            if a.keys() != b.keys():
                return False
            pairs.extend((a[key], b[key]) for key in a)
        elif is_array(a):
            if len(a) != len(b):
                return False
            pairs.extend(zip(a, b, strict=True))
        elif a.hex() != b.hex() if isinstance(a, float) else a != b:
            return False
    return True


def is_object(value: object) -> TypeGuard[JsonObject]:
    """Whether a JSON value is an object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[JsonValue]]:
    """Whether a JSON value is an array."""
    return isinstance(value, list)


def _decode(piece: str, whole: str, start: int, max_depth: int, max_digits: int) -> JsonValue:
    """Decode `piece`, which is at `start` in `whole`; positions in errors are those of `whole`."""
    try:
        data = piece.encode()
    except UnicodeEncodeError as error:
        raise UnsafeInputError(f"lone surrogate at {_where(whole, start + error.start)}") from None
    try:
        value = from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        raise _refusal(str(error), data, whole, start) from None
    easy = len(piece) <= _FEW and not _EXPONENT(piece) and piece.count("{") + piece.count("[") <= max_depth
    depth, finite = (0, True) if easy else survey(value)
    if depth > max_depth:
        _extent(whole, start, max_depth)
    if not finite:
        at = _number(whole, start, lambda number: math.isinf(float(number)))
        raise UnsafeInputError(f"a number too large for a float at {_where(whole, at)}")
    if max_digits < MAX_DIGITS and len(piece) > max_digits and re.search(f"[0-9]{{{max_digits + 1}}}", piece):
        at = _number(whole, start, lambda number: len(_WHOLE.sub("", number)) > max_digits)
        if 0 <= at < start + len(piece):
            raise LimitExceededError(f"a number of more than {max_digits} digits at {_where(whole, at)}")
    return value


def survey(value: JsonValue) -> tuple[int, bool]:
    """Return the depth of a decoded value, and whether all its floats are finite; fast, as every read calls it."""
    depth, finite = 0, True
    level: list[Iterable[Any]] = [(value,)]
    while True:
        below: list[Iterable[Any]] = []
        for children in level:
            for child in () if _FINITE.issuperset(map(type, children)) else children:  # as most are
                kind = child.__class__
                if kind is dict or kind is list:
                    below.append(child.values() if kind is dict else child)
                elif kind is float and not math.isfinite(child):
                    finite = False
        if not below:
            return depth, finite
        depth += 1
        level = below


def _extent(text: str, start: int, max_depth: int) -> int:
    """Find the end of the brackets that open at `start`, without recursion."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        char = token.group()[0]
        if char in "[{":
            depth += 1
            if depth > max_depth:
                raise LimitExceededError(f"nested deeper than {max_depth} levels at {_where(text, token.start())}")
        elif char in "]}":
            depth -= 1
            if depth <= 0:
                return token.end()
    raise ParseError(f"the value that begins at {_where(text, start)} is not complete")


def _number(text: str, start: int, wanted: Callable[[str], bool]) -> int:
    """Find the first number that is `wanted`; -1 if there is none."""
    numbers = (token for token in _TOKEN.finditer(text, start) if token.group()[0] not in '"[{]}')
    return next((token.start() for token in numbers if wanted(token.group())), -1)


def _refusal(message: str, data: bytes, whole: str, start: int) -> ParseError:
    """Turn the decoder's message, which counts bytes of `data`, into an error that counts characters of `whole`."""
    words, _, position = message.rpartition(" at line ")
    line, _, column = position.partition(" column ")
    begin = 0
    for _ in range(int(line) - 1):
        begin = data.index(b"\n", begin) + 1
    begin += max(int(column) - 1, 0)
    at = start + len(data[:begin].decode(errors="ignore"))
    constant = _CONSTANT.match(whole, at - 1 if whole[at - 1 : at] == "-" else at)
    if constant and words in {"expected value", "invalid number"}:
        return UnsafeInputError(f"{constant.group()} is not a JSON value, at {_where(whole, constant.start())}")
    begins, kind, ours = next((row for row in _REFUSED if words.startswith(row[0])), ("", ParseError, ""))
    found = data[begin : begin + 64].decode(errors="ignore").split()
    instead = f", not {found[0][:20]!r}," if found and begins == "expected value" else ""
    return kind(f"{ours}{words[len(begins) :]}{instead} at {_where(whole, at)}")


def _where(text: str, offset: int) -> str:
    return f"line {text.count(chr(10), 0, offset) + 1}, column {offset - text.rfind(chr(10), 0, offset)}"


@lru_cache(maxsize=16)
def _encoder(*, indent: int | None, compact: bool, sort: bool) -> json.JSONEncoder:
    separators = ("," if compact or indent is not None else ", ", ":" if compact else ": ")
    return json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=indent, separators=separators, sort_keys=sort)


def _encode(value: JsonValue, encoder: json.JSONEncoder) -> str:
    try:
        text = encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise unwritable(value) or UnrepresentableError("JSON", "", str(error)) from None
    if not (_plain(value) and encodable(text)):
        raise unwritable(value) or UnrepresentableError("JSON", "", "it holds a lone surrogate")
    return text


def _plain(value: JsonValue) -> bool:
    """Whether the encoder has not changed the value: it silently turns keys into strings and tuples into lists."""
    pending: list[Any] = [value]
    while pending:
        node = pending.pop()
        is_dict = isinstance(node, _OBJECT)
        odd = is_dict and not (_TEXT.issuperset(map(type, node)) or all(isinstance(key, str) for key in node))
        if odd or isinstance(node, tuple):
            return False
        members = node.values() if is_dict else node if isinstance(node, _NESTED) else ()
        if not _SCALARS.issuperset(map(type, members)):
            pending += [member for member in members if member.__class__ not in _SCALARS]
    return True


def unwritable(value: JsonValue) -> UnrepresentableError | None:
    """Find the first thing in a value that JSON cannot hold."""
    pending: list[tuple[str, Any, tuple[int, ...]]] = [("", value, ())]
    while pending:
        pointer, node, above = pending.pop()
        reason = _reason(node) or ("circular reference" if id(node) in above else None)
        if reason is not None or len(above) > MAX_DEPTH * 8:
            return UnrepresentableError("JSON", pointer, reason or "it is nested too deeply")
        members: list[tuple[Any, Any]] = list(enumerate(node)) if is_array(node) else []
        if isinstance(node, dict):
            node = cast("dict[Any, Any]", node)
            for key in node:
                bad = _reason(key) if isinstance(key, str) else f"the key {shown(key)} is not a string"
                if bad:
                    return UnrepresentableError("JSON", pointer, bad)
            members = list(node.items())
        pending += [(f"{pointer}/{token(key)}", child, (*above, id(node))) for key, child in reversed(members)]
    return None


def token(key: object) -> str:
    """Escape a key for a JSON pointer."""
    return (key if isinstance(key, str) else shown(key)).replace("~", "~0").replace("/", "~1")


def _reason(node: object) -> str | None:
    """Return why JSON cannot hold this value, apart from its children."""
    match node:
        case float() if not math.isfinite(node):
            return f"{node} is not a JSON number"
        case str() if _SURROGATE.search(node):
            return "the text holds a lone surrogate"
        case bool() | float() | str() | list() | dict() | None:
            return None
        case int():
            return f"an integer of more than {MAX_DIGITS} digits" if abs(node) >= _TOO_LARGE else None
        case _:
            return f"{type(node).__name__} is not a JSON value"
