r"""Readers of exactly written literals.

    city='Paris', days=3, tags=['a', None])
    {city:<|"|>Paris<|"|>,days:3}

Each string ends at its first quote, followed by structure; only simple escapes are read. Anything
else, such as a sum, a comment or a number that JSON writes differently, is left to the tolerant reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.record import ParserOptions
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar
from toolfmt.parsers.bodies.literal_strings import unescaped
from toolfmt.parsers.bodies.literal_values import WORDS
from toolfmt.parsers.scanning.damage import misread, part_of
from toolfmt.schema import coerce, plain_type, property_schema, types

_DEEPEST: Final = 16
_LONGEST: Final = 18
"""The largest number of characters of a number."""
_KEY: Final = r"[A-Za-z_][A-Za-z0-9_]{0,63}"
_SPACE: Final = re.compile(r"[ \t\r\n]{0,64}").match
_WORD: Final = re.compile(r"(?:-?[0-9][0-9.]{0,17}|[A-Za-z]{4,5})(?=[ \t]{0,8}[,)\]}])").match
_STRING: Final = frozenset({"string"})


class _Doubt(Exception):  # noqa: N818 - control flow
    """The text is not plainly a literal."""


class WrittenLiterals:
    """Reads arguments in one notation of literals."""

    def __init__(self, grammar: LiteralGrammar) -> None:
        self._grammar = grammar
        self._literals = literals = grammar.literals
        self._keywords = literals.keywords
        self._key = re.compile(f"({_KEY})" + ("=(?!=)" if literals.keywords else ":")).match
        self._quotes = [quote for quote in grammar.quotes if not (literals.escapes and len(quote) > 1)]

    def read(
        self, text: str, at: int, options: ParserOptions, tool: ToolDefinition | None
    ) -> tuple[JsonObject, int] | None:
        """Read the arguments at `at`; return the values and their end, which is before a keyword list's parenthesis."""
        begun, limits = at, options.limits
        if limits.depth <= _DEEPEST or limits.digits < _LONGEST:
            return None
        if not self._keywords:
            if not text.startswith("{", at):
                return None
            at += 1
        try:
            values, end = self._members(text, at, tool.parameters if tool else None)
        except _Doubt:
            return None
        return (values, end - self._keywords) if jsontext.encodable(text[begun:end]) else None

    def _members(self, text: str, at: int, schema: JsonObject | None) -> tuple[JsonObject, int]:
        values: JsonObject = {}

        def member(at: int) -> int:
            key = self._key(text, at)
            if key is None or key[1] in values:
                raise _Doubt
            values[key[1]], at = self._argument(text, _skip(text, key.end()), schema, key[1])
            return at

        return values, _series(text, at, ")" if self._keywords else "}", member)

    def _argument(self, text: str, at: int, arguments: JsonObject | None, key: str) -> tuple[JsonValue, int]:
        literals = self._literals
        quoted = self._text(text, at)
        if quoted is None and literals.typed_by_schema:
            raise _Doubt
        if quoted is None:
            value, at = self._value(text, at, 0)
            scalar = literals.bare_keys and isinstance(value, bool | int | float)
            if scalar and types(property_schema(arguments, key)) == _STRING:
                raise _Doubt
            return value, at
        if literals.typed_by_schema and plain_type(arguments, key) != "string":
            schema = property_schema(arguments, key)
            value = coerce(quoted[0], schema)[0]
            if isinstance(value, str) and misread(value, schema, ""):
                raise _Doubt
            return value, quoted[1]
        return quoted

    def _text(self, text: str, at: int) -> tuple[str, int] | None:
        """Read a quoted string with its quotes; return None if none begins here."""
        quote = next((quote for quote in self._quotes if text.startswith(quote, at)), "")
        if not quote:
            return None
        escapes = self._literals.escapes
        if escapes and text.startswith(3 * quote, at):
            raise _Doubt
        begin = at + len(quote)
        run = self._grammar.plain[quote](text, begin)
        if run is None or not text.startswith(quote, run.end()):
            raise _Doubt
        found = run.group()
        if not escapes and part_of(found, quote):
            raise _Doubt
        return unescaped(found) if escapes else found, run.end() + len(quote)

    def _value(self, text: str, at: int, depth: int) -> tuple[JsonValue, int]:
        quoted = self._text(text, at)
        if quoted is not None:
            return quoted
        if text.startswith(("[", "{"), at):
            if depth >= _DEEPEST:
                raise _Doubt
            return self._list(text, at + 1, depth + 1) if text[at] == "[" else self._object(text, at + 1, depth + 1)
        word = _WORD(text, at)
        if word is None:
            raise _Doubt
        written = word.group()
        if written in WORDS:
            return _CONSTANTS[WORDS[written]], word.end()
        try:
            value = float(written) if "." in written else int(written)
        except ValueError:
            raise _Doubt from None
        if repr(value) != written:
            raise _Doubt
        return value, word.end()

    def _list(self, text: str, at: int, depth: int) -> tuple[list[JsonValue], int]:
        items: list[JsonValue] = []

        def item(at: int) -> int:
            value, at = self._value(text, at, depth)
            items.append(value)
            return at

        return items, _series(text, at, "]", item)

    def _object(self, text: str, at: int, depth: int) -> tuple[JsonObject, int]:
        members: JsonObject = {}

        def member(at: int) -> int:
            key, at = self._member_key(text, at)
            if key in members:
                raise _Doubt
            members[key], at = self._value(text, _skip(text, at), depth)
            return at

        return members, _series(text, at, "}", member)

    def _member_key(self, text: str, at: int) -> tuple[str, int]:
        """Read a key inside a value, with its colon."""
        if self._literals.bare_keys:
            bare = self._key(text, at)
            if bare is None:
                raise _Doubt
            return bare[1], bare.end()
        quoted = self._text(text, at)
        if quoted is None or not text.startswith(":", quoted[1]):
            raise _Doubt
        return quoted[0], quoted[1] + 1


_CONSTANTS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}


def _series(text: str, at: int, closer: str, read_one: Callable[[int], int]) -> int:
    """Read comma-separated entries with `read_one`, past their closer."""
    at = _skip(text, at)
    more = not text.startswith(closer, at)
    while more:
        at = _skip(text, read_one(at))
        more = text.startswith(",", at)
        if not more and not text.startswith(closer, at):
            raise _Doubt
        at = _skip(text, at + 1) if more else at
    return at + 1


def _skip(text: str, at: int) -> int:
    return _SPACE(text, at).end()  # type: ignore[union-attr] - matches everywhere
