"""Values as literals of a language, and tools declared in them, as Gemma's prompts do.

    <|tool>declaration:get_weather{description:<|"|>Get the weather.<|"|>,parameters:{properties:{city:
    {type:<|"|>STRING<|"|>}},required:[<|"|>city<|"|>],type:<|"|>OBJECT<|"|>}}<tool|>

Types are in capitals, keys sorted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import regex

from toolfmt import jsontext
from toolfmt.dialect.literals import BARE_KEY, KEYWORD, Literals
from toolfmt.errors import UnrepresentableError
from toolfmt.formatters.json_schemas import parameters_object
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.schema.walk import SchemaPlace, map_subschemas


@dataclass(frozen=True, slots=True)
class Declaration:
    """A schema formatter: a tool as one literal."""

    literals: Literals
    opener: str
    closer: str

    def __call__(self, tool: ToolDefinition) -> str:
        """Write a tool. Raises `SchemaError`."""
        body = {"description": tool.description, "parameters": _capitals(parameters_object(tool))}
        writer = LiteralWriter(replace(self.literals, sorted_keys=True, typed_by_schema=False))
        return f"{self.opener}declaration:{tool.name}{writer.arguments(body)}{self.closer}"


def _capitals(schema: JsonValue, place: SchemaPlace = ()) -> JsonValue:
    """Write the types of a schema in capitals, at any depth; values and names stay."""
    if not is_object(schema):
        return schema
    found = map_subschemas(schema, _capitals, place)
    kind = schema.get("type")
    if isinstance(kind, str):
        found["type"] = kind.upper()
    elif is_array(kind):
        found["type"] = [str(one).upper() for one in kind]
    return found


_KEYWORD = regex.compile(KEYWORD)
_BARE_KEY = regex.compile(BARE_KEY)
_SPECIAL = re.compile(r"[\\\x00-\x1f\x7f]")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


class LiteralWriter:
    """Writes arguments in one notation of literals."""

    def __init__(self, literals: Literals) -> None:
        self._literals = literals
        self._words = {value: word for word, value in literals.words.items()}
        self._comma = ", " if literals.spaced else ","
        self._colon = ": " if literals.spaced else ":"

    def arguments(self, values: JsonObject) -> str:
        """Write a call's arguments; raises `UnrepresentableError` for values that the notation cannot represent."""
        if not self._literals.keywords:
            return self._object(values, self._argument)
        for key in values:
            if not _KEYWORD.fullmatch(key):
                raise UnrepresentableError("", f"/{key}", f"{key!r} cannot be a keyword")
        return self._comma.join(f"{key}={self._argument(value)}" for key, value in values.items())

    def _argument(self, value: JsonValue) -> str:
        if self._literals.typed_by_schema and not isinstance(value, str):
            return self._text(jsontext.dumps(value))
        return self._value(value)

    def _value(self, value: JsonValue) -> str:
        if isinstance(value, str):
            return self._text(value)
        if is_object(value):
            return self._object(value, self._value)
        if is_array(value):
            return f"[{self._comma.join(map(self._value, value))}]"
        if value is None or isinstance(value, bool):
            return self._words[value]
        return jsontext.dumps(value)

    def _object(self, values: JsonObject, write: Callable[[JsonValue], str]) -> str:
        items = sorted(values.items()) if self._literals.sorted_keys else values.items()
        return "{" + self._comma.join(f"{self._key(key)}{self._colon}{write(value)}" for key, value in items) + "}"

    def _key(self, key: str) -> str:
        return key if self._literals.bare_keys and _BARE_KEY.fullmatch(key) else self._text(key)

    def _text(self, text: str) -> str:
        quotes = self._literals.quotes
        quote = next((quote for quote in quotes if quote not in text), quotes[0])
        if self._literals.escapes:
            text = _SPECIAL.sub(_escaped, text).replace(quote, f"\\{quote}")
        return f"{quote}{text}{quote}"


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found.group()) or f"\\u{ord(found.group()):04x}"
