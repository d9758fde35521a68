r"""Reads a step's input that is not a JSON object, if the tool's schema leaves one reading.

{"query": "x"}      query="x"      query: x      the arguments, by their names
"x"                 x              42            the one argument that can take the value, if there is only one
                    None                         no input: for a tool without arguments
"x" and more        1, 2           {"query":     no reading, or more than one: a failure
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.record import Limits
from toolfmt.errors import ParseError, SchemaError
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.bodies.claims import misnamed
from toolfmt.parsers.bodies.json_values import decode
from toolfmt.parsers.scanning.cursor import Malformed
from toolfmt.schema import accepts, problems, property_names

MOST_CODE: Final = 8192
"""Keyword arguments of at most this many characters are read as Python; longer ones only as JSON."""
_NOTHING: Final = frozenset({"", "none", "null", "n/a", "nothing", "no input", "()", "[]", '""', "''"})
_WORDS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
_PAIR = re.compile(r"[ \t]*[\"']?(?P<key>[\w.\-]{1,256})[\"']?[ \t]*[:=][ \t]*(?P<value>[^\n]*)")
_KEY = re.compile(r"(?<![\w.\-])(?P<key>[\w.\-]{1,256})[\"']?[ \t]{0,8}[:=]")
_WORDED = re.compile(r"(?!')[\w\s.,?!:/'\-]+")
"""Plain words in a call's brackets."""
_BROKEN = re.compile(r"[\"'`{\[]|\(\s{0,8}[\"']|[\w.\-]{1,256}[ \t]*=")
"""The beginning of JSON, quoted text or a keyword; if it cannot be read, it is a failure, not plain text."""
_OBJECT = re.compile(r"\{\s{0,64}[\"'}]")
"""An object in the text, possibly the arguments with words around them."""
_QUOTES: Final = ('"', "'", "`")
_FENCED = re.compile(r"`{3,8}[\w+.\-]{0,32}\s(?P<inside>[\s\S]*?)`{3,8}")
_QUOTED = re.compile(r"`(?P<inside>[^`\n]*)`|'(?P<single>[^'\n\\]*)'")


def read_input(text: str, tool: ToolDefinition | None, at: int, limits: Limits, *, called: bool) -> JsonObject:
    """Read the arguments in a text that begins at `at`; raises `Malformed` if it has no reading or more than one.

    `called`: the text was in the brackets of a call, where plain words are rarer than mistakes.
    """
    text, at = _stripped(text, at)
    if fenced := _FENCED.fullmatch(text):
        text, at = _stripped(fenced["inside"], at + fenced.start("inside"))
    names = list(property_names(tool.parameters)) if tool is not None else []
    if text.lower() in _NOTHING and (called or text):
        if tool is not None and not names:
            return {}
        raise Malformed("missing_arguments", "the call has no arguments", at)
    if text.startswith("{"):
        return _object(text, tool, at, limits)
    inside = _unquoted(text)
    if isinstance(inside, str) and _OBJECT.match(inside.lstrip("[ ")):
        found = next(_readings(inside), None)
        if not jsontext.is_object(found) or not found or not found.keys() <= set(names):
            raise Malformed("arguments_not_object", "expected a JSON object, not one in quotes", at)
        return found
    keywords = _keywords(text) if called or _PAIR.match(text) else None
    if keywords and (called or keywords.keys() <= set(names)):
        return keywords
    pairs = None if called else _pairs(text, names, tool)
    if pairs is not None:
        return pairs
    return _single(text, names, tool, at, called=called)


def _object(text: str, tool: ToolDefinition | None, at: int, limits: Limits) -> JsonObject:
    found = decode(text, at, limits)
    if not jsontext.is_object(found):
        raise Malformed("arguments_not_object", "expected an object", at)
    if detail := misnamed(found, tool):
        raise Malformed("unclaimed", detail, at, whole=True)
    return found


def _unquoted(text: str) -> JsonValue:
    """Return what quotes around a whole text contain, however many; None for a text without quotes."""
    inside: JsonValue = text if text[:1] in _QUOTES else None
    while isinstance(inside, str) and inside[:1] in _QUOTES and inside != (inner := next(_readings(inside), None)):
        inside = inner
    return inside


def _stripped(text: str, at: int) -> tuple[str, int]:
    return text.strip(), at + len(text) - len(text.lstrip())


def _keywords(text: str) -> JsonObject | None:
    """Read `a=1, b="x"` as Python's keyword arguments with JSON values; return None for anything else."""
    if len(text) > MOST_CODE:
        return None
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            return None
        found = {word.arg: _value(word.value) for word in call.keywords if word.arg is not None}
        return found if len(found) == len(call.keywords) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr) -> JsonValue:
    """Return the JSON value of a literal; raises ValueError for anything else."""
    match node:
        case ast.Name(id=word) if word in _WORDS:
            return _WORDS[word]
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            made: JsonObject = {}
            for key, value in zip(keys, values, strict=True):
                if not isinstance(key, ast.Constant) or not isinstance(key.value, str) or key.value in made:
                    raise ValueError("a key is text, and given once")
                made[key.value] = _value(value)
            return made
        case _:
            found = ast.literal_eval(node)
            if found is not None and not isinstance(found, str | bool | int | float):
                raise ValueError("not a value of JSON")
            return jsontext.loads(jsontext.dumps(found))  # raises ParseError, a ValueError


def _pairs(text: str, names: list[str], tool: ToolDefinition | None) -> JsonObject | None:
    """Read one `key: value` or `key=value` per line, with declared keys; return None for any other line."""
    found: JsonObject = {}
    for line in filter(str.strip, text.split("\n")):
        pair = _PAIR.fullmatch(line)
        if pair is None or pair["key"] not in names or pair["key"] in found or tool is None:
            return None
        key = pair["key"]
        fits = [
            value
            for value in _readings(pair["value"].strip().removesuffix(",").rstrip())
            if not _names_another(pair["value"], names) and _suits(tool, key, value)
        ]
        if len(fits) != 1:
            return None
        found[key] = fits[0]
    return found or None


def _suits(tool: ToolDefinition, key: str, value: JsonValue) -> bool:
    """Whether a value fits its property; False if the tool's schema cannot be used."""
    try:
        return not any(f"{one.pointer}/".startswith(f"/{key}/") for one in problems(tool, {key: value}))
    except SchemaError:
        return False


def _readings(text: str) -> Iterator[JsonValue]:
    """Return the readings of a value: as JSON, as quoted text, or, without quotes, the text itself."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        yield quoted["inside"] or quoted["single"] or ""
        return
    try:
        found = jsontext.loads(text)
    except ParseError:
        if not _BROKEN.match(text) and not _OBJECT.search(text):
            yield text
        return
    yield found
    if not isinstance(found, str):
        yield text


def _single(text: str, names: list[str], tool: ToolDefinition | None, at: int, *, called: bool) -> JsonObject:
    """Assign the value to the only argument that accepts it."""
    plain = _WORDED.fullmatch(text) is not None if called else not _begins(text, names)
    readings = [value for value in _readings(text) if value != text or plain]
    if tool is None or not readings:
        raise Malformed("arguments_not_object", f"expected a JSON object or one value, not {text[:40]!r}", at)
    found = [{name: value} for name in names for value in readings if accepts(tool, {name: value})]
    if len(found) != 1:
        detail = "several arguments can take this value" if found else "no argument alone can take this value"
        raise Malformed("arguments_not_object", f"expected a JSON object: {detail}", at)
    return dict(found[0])


def _begins(text: str, names: list[str]) -> bool:
    """Whether a text is written like arguments, and is therefore a slip and not plain text."""
    return bool(_BROKEN.match(text)) or _names_another(text, names)


def _names_another(text: str, names: list[str]) -> bool:
    """Whether a text contains one of the tool's keys with a value: `Oslo, days=2`."""
    return any(key["key"] in names for key in _KEY.finditer(text))
