r"""Literals of a language, read as they come and passed on as JSON text.

    city='Paris', opts={'dry': True, 'tags': ('a',)})      <- the parenthesis is left to the call's tail
    {city:<|"|>say "hi"<|"|>,n:07}

Nothing is evaluated: names, calls, operators, sets and `f''` are no literals. A
quote ends a string only if the structure goes on behind it, because models and
templates forget to escape; such a quote inside a string is noted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import regex

from toolfmt import jsontext
from toolfmt.literals import KEYWORD
from toolfmt.parsers.cursor import WHITE, Malformed, Truncated
from toolfmt.parsers.patterns import match_first, match_next
from toolfmt.parsers.pieces import Pieces
from toolfmt.schema import coerce, property_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.dialect import Limits
    from toolfmt.literals import Literals
    from toolfmt.model import JsonObject
    from toolfmt.parsers.cursor import Cursor, Reading

_SPACE = re.compile(r"\s*").match
_WORD: Final = regex.compile(r"""[^\s,:()\[\]{}='"<#]{1,5000}+(?=[\s,:()\[\]{}='"<#])""")
_KEYWORD: Final = regex.compile(rf"({KEYWORD})\s{{0,64}}=")
_BARE_KEY: Final = regex.compile(r"([^\s,:(){}\[\]'\"<](?:[^,:(){}\[\]'\"<\n]{0,254}[^\s,:(){}\[\]'\"<])?)\s{0,64}:")
_COLON: Final = regex.compile(r"\s{0,64}:")
_ESCAPES: Final = (
    regex.compile(r"\\(?P<code>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"),
    regex.compile(r"\\(?P<octal>[0-7]{3}|[0-7]{1,2}(?=[^0-7]))"),
    regex.compile(r"\\(?P<char>[\s\S])"),
)
_PLAIN_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_SIMPLE: Final = re.compile(r"\\([nrt\\'\"])")
_KEPT: Final = frozenset("\\'\"/")
_ONE_WORD: Final = re.compile(r"""[^\s,:()\[\]{}='"<#]*\Z""").match
_WORDS: Final = {"True": "true", "true": "true", "False": "false", "false": "false"} | dict.fromkeys(
    ("None", "null", "none"), "null"
)
_NUMBER: Final = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F_]+)|([0-9][0-9_]*)?(\.[0-9_]*)?([eE][+-]?[0-9]+)?)")
_CLOSERS: Final = {"keywords": ")", "{": "}", "[": "]", "(": ")"}
_NAMED: Final = rf"{KEYWORD}\s{{0,64}}="
_BEHIND: Final = {
    "keywords": rf"\s{{0,256}}(?:\)|,\s{{0,256}}(?:\)|{_NAMED})|(?<=\s){_NAMED})",
    "{": r"\s{0,256}(?:\}|,\s{0,256}(?:\}|QUOTE|[^\s,:{}\[\]][^,:{}\[\]\n]{0,255}:))",
    "[": r"\s{0,256}[\],]",
    "(": r"\s{0,256}[\),]",
    "key": r"\s{0,64}:",
}
_EXPRESSION: Final = (
    r"(?:\s{0,64}[+%*]\s{0,64}['\"\w(\[{]|\s{1,64}['\"]|\s{0,8}\.[A-Za-z_]\w{0,64}\("
    r"|\s{1,64}if\s[^'\"]{1,256}\selse\s)"
)
"""What behind a text's quote makes it part of a sum, a format, a call of its method: Python, but no literal."""


class LiteralGrammar:
    """A language of literals, compiled."""

    def __init__(self, literals: Literals) -> None:
        """Compile its quotes."""
        self.literals = literals
        quotes = [*literals.quotes, *(3 * quote for quote in literals.quotes if literals.escapes)]
        self.quotes = sorted(quotes, key=len, reverse=True)
        opener = "|".join(map(regex.escape, self.quotes))
        prefix = r"(?P<raw>[rR])?" if literals.escapes else ""
        self.openers = [regex.compile(f"{prefix}(?P<quote>{regex.escape(quote)})") for quote in self.quotes]
        self.starts = frozenset([quote[0] for quote in self.quotes] + (["r", "R"] if literals.escapes else []))
        self.behind = {
            (quote, kind): regex.compile(regex.escape(quote) + source.replace("QUOTE", f"(?:{opener})"))
            for quote in self.quotes
            for kind, source in _BEHIND.items()
        }
        self.expression = {quote: regex.compile(regex.escape(quote) + _EXPRESSION) for quote in self.quotes}
        escaped = r"|\\[nrt\\'\"]" if literals.escapes else ""
        self.plain = {
            quote: re.compile(rf"(?:[^{re.escape(quote[0])}\\]+{escaped})+").match
            if literals.escapes
            else re.compile(f"[^{re.escape(quote[0])}]+").match
            for quote in self.quotes
        }
        self.raw = {quote: re.compile(f"[^{re.escape(quote[0])}]+").match for quote in self.quotes}
        self.clean = {quote: re.compile(rf"[^{re.escape(quote[0])}\\]*").fullmatch for quote in self.quotes}
        """Matches a piece of text that holds nothing to look at."""


class LiteralReader:
    """Reads the arguments of one call; `emit` takes their JSON text."""

    def __init__(
        self,
        grammar: LiteralGrammar,
        cur: Cursor,
        emit: Callable[[str], None],
        note: Callable[..., None],
        limits: Limits,
    ) -> None:
        """Read from `cur`."""
        self._grammar = grammar
        self._cur = cur
        self._emit = emit
        self._note = note
        self._limits = limits

    def arguments(self, schema: JsonObject | None) -> Reading[None]:
        """Read all arguments: in braces, or keywords up to the parenthesis behind them, which is not read."""
        kind = "keywords" if self._grammar.literals.keywords else "{"
        if kind == "{":
            self._cur.pos += 1
        self._emit("{")
        stack = [kind]
        first = True
        while stack:
            char = yield from self._next()
            kind = stack[-1]
            if not first and char != _CLOSERS[kind]:
                char = yield from self._comma(char, kind)
                if char != _CLOSERS[kind]:
                    self._emit(", ")
                elif kind != "(":
                    self._note("trailing comma")
            if char == _CLOSERS[kind]:
                stack.pop()
                self._emit("]" if kind in "([" else "}")
                self._cur.pos += kind != "keywords"
                first = False
            else:
                first = yield from self._entry(char, stack, schema)

    def _entry(self, char: str, stack: list[str], schema: JsonObject | None) -> Reading[bool]:
        """Read a key and what it begins; whether that is a list or object, whose entries are still to come."""
        kind, key = stack[-1], ""
        if kind in ("keywords", "{"):
            key = yield from self._key(kind)
            self._emit(f"{jsontext.dumps(key)}: ")
            char = yield from self._next()
        if char not in "[{(":
            if len(stack) == 1 and self._grammar.literals.typed_by_schema:
                yield from self._typed(property_schema(schema, key), kind)
            else:
                yield from self._scalar(kind)
            return False
        if len(stack) >= self._limits.depth:
            raise Malformed("limit", f"nested deeper than {self._limits.depth}", self._cur.at)
        if char == "(":
            self._note("a tuple")
        self._cur.pos += 1
        stack.append(char)
        self._emit("{" if char == "{" else "[")
        return True

    def _next(self) -> Reading[str]:
        cur = self._cur
        while True:
            cur.pos = _SPACE(cur.buf, cur.pos).end()  # type: ignore[union-attr] - matches everywhere
            if cur.pos < len(cur.buf):
                return cur.buf[cur.pos]
            if cur.eof:
                raise Truncated
            yield

    def _comma(self, char: str, kind: str) -> Reading[str]:
        if char != ",":
            expected = f"a comma or {_CLOSERS[kind]!r}"
            raise Malformed("malformed", f"expected {expected}, found {char!r}", self._cur.at)
        self._cur.pos += 1
        return (yield from self._next())

    def _key(self, kind: str) -> Reading[str]:
        cur = self._cur
        if kind == "keywords":
            found = yield from match_next(cur, _KEYWORD)
            if found is None:
                raise Malformed("malformed", "an argument needs its name: name=value", cur.at)
            cur.pos = found.end()
            return found[1]
        if cur.buf[cur.pos] in self._grammar.starts:
            text = Pieces()
            opened = yield from match_first(cur, self._grammar.openers)
            if opened is not None:
                cur.pos = opened.end()
                yield from self._string(opened["quote"], "key", text.add, raw=False)
                colon = yield from match_next(cur, _COLON)
                if colon is None:
                    raise Malformed("malformed", "expected a colon behind the key", cur.at)
                cur.pos = colon.end()
                return text.text()
        found = yield from match_next(cur, _BARE_KEY)
        if found is None:
            raise Malformed("malformed", f"expected a key, found {cur.buf[cur.pos]!r}", cur.at)
        if not self._grammar.literals.bare_keys:
            self._note("a key without quotes")
        cur.pos = found.end()
        return found[1]

    def _scalar(self, kind: str) -> Reading[None]:
        cur = self._cur
        if cur.buf[cur.pos] in self._grammar.starts:
            opened = yield from match_first(cur, self._grammar.openers)
            if opened is not None:
                cur.pos = opened.end()
                self._emit('"')
                raw = bool(opened.groupdict().get("raw"))
                yield from self._string(opened["quote"], kind, self._pass_text, raw=raw)
                self._emit('"')
                return
        self._emit((yield from self._word()))

    def _pass_text(self, text: str) -> None:
        self._emit(jsontext.escape(text))

    def _typed(self, schema: JsonObject | None, kind: str) -> Reading[None]:
        cur = self._cur
        opened = yield from match_first(cur, self._grammar.openers)
        if opened is None:
            self._emit((yield from self._word()))
            return
        cur.pos = opened.end()
        text = Pieces()
        yield from self._string(opened["quote"], kind, text.add, raw=False)
        self._emit(jsontext.dumps(coerce(text.text(), schema)[0]))

    def _word(self) -> Reading[str]:
        cur = self._cur
        found = yield from match_next(cur, _WORD)
        if found is None and cur.eof and _ONE_WORD(cur.buf, cur.pos):
            raise Truncated
        word = "" if found is None else found.group()
        written = _WORDS.get(word) or _number(word)
        if written is None:
            raise Malformed("malformed", f"{word or cur.buf[cur.pos]!r} is no literal", cur.at)
        cur.pos += len(word)
        return written

    def _string(self, quote: str, kind: str, put: Callable[[str], None], *, raw: bool) -> Reading[None]:
        """Read text up to its quote, which is read too."""
        cur = self._cur
        behind = self._grammar.behind[quote, kind]
        plain = (self._grammar.raw if raw else self._grammar.plain)[quote]
        clean = self._grammar.clean[quote]
        escapes = self._grammar.literals.escapes and not raw
        while True:
            run = plain(cur.buf, cur.pos)
            if run is not None:
                text = run.group()
                put(_SIMPLE.sub(_unescaped, text) if escapes and "\\" in text else text)
                cur.pos = run.end()
            if cur.pos == len(cur.buf):
                if cur.eof:
                    raise Truncated
                cur.clean, cur.pass_on = clean, put
                yield
                continue
            if escapes and cur.buf[cur.pos] == "\\":
                put((yield from self._escape()))
                continue
            while not cur.eof and len(cur.buf) - cur.pos < len(quote) and quote.startswith(cur.buf[cur.pos :]):
                yield
            if cur.buf.startswith(quote, cur.pos):
                end = yield from match_next(cur, behind)
                if end is not None or (cur.eof and not cur.buf[cur.pos + len(quote) :].strip(WHITE)):
                    cur.pos += len(quote)
                    return
                if escapes and (yield from match_next(cur, self._grammar.expression[quote])) is not None:
                    raise Malformed("malformed", "an expression where a literal is due", cur.at)
                self._note("a quote inside text", "ambiguous_closer")
                put(quote)
                cur.pos += len(quote)
            else:
                put(cur.buf[cur.pos])
                cur.pos += 1

    def _escape(self) -> Reading[str]:
        cur = self._cur
        found = yield from match_first(cur, _ESCAPES)
        if found is None:
            raise Truncated
        cur.pos = found.end()
        kind, text = str(found.lastgroup), found[1]
        if kind == "code":
            value = int(text[1:], 16)
            if 0xD800 <= value < 0xDC00:  # noqa: PLR2004 - half of a pair
                return (yield from self._pair(value))
            if value > 0x10FFFF:  # noqa: PLR2004 - the last character there is
                raise Malformed("malformed", f"no character {found.group()!r}", cur.at)
            return chr(value)
        if kind == "octal":
            return chr(int(text, 8))
        if text in _KEPT:
            return text
        if text == "N":
            raise Malformed("malformed", "a character by its name", cur.at)
        return _PLAIN_ESCAPES.get(text, f"\\{text}")

    def _pair(self, high: int) -> Reading[str]:
        """Join two escapes that stand for one character, as JSON writes them."""
        cur = self._cur
        found = yield from match_next(cur, _LOW)
        if found is None:
            return chr(high)
        cur.pos = found.end()
        return chr(0x10000 + ((high - 0xD800) << 10) + int(found[1], 16) - 0xDC00)


_LOW: Final = regex.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")


def _unescaped(found: re.Match[str]) -> str:
    return _PLAIN_ESCAPES.get(found[1], found[1])


def _number(word: str) -> str | None:
    """Write a number as JSON does; None if the word is none."""
    found = _NUMBER.fullmatch(word)
    if found is None:
        return None
    sign, hexadecimal, whole, fraction, exponent = found.groups()
    sign = "-" if sign == "-" else ""
    if hexadecimal:
        return sign + str(int(hexadecimal.replace("_", ""), 16))
    if not (whole or (fraction and len(fraction) > 1)):
        return None
    digits = (whole or "0").replace("_", "").lstrip("0") or "0"
    rest = (fraction or "").replace("_", "")
    return sign + digits + (rest + "0" if rest == "." else rest) + (exponent or "")
