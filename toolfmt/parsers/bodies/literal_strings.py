r"""Reads strings in a notation of literals: quotes, escapes, and which quote ends a string.

    'it's fine'      an apostrophe: no structure follows
    'f(s='a,b')'     two quotes inside: the end of the call follows the last quote

Models and templates forget escapes. The first quote before structure
ends a string, as in the notation. Once a quote was read as text, only what
certainly ends an argument counts, and never inside a quoted part.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import regex

from toolfmt.dialect.literals import KEYWORD
from toolfmt.parsers.bodies.literal_grammar import LiteralGrammar
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.damage import mentioned, part_of
from toolfmt.parsers.scanning.patterns import cut_off, match_first, match_next
from toolfmt.parsers.scanning.pieces import IGNORED, Taker

_ESCAPES: Final = (
    regex.compile(r"\\(?P<code>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"),
    regex.compile(r"\\(?P<octal>[0-7]{3}|[0-7]{1,2}(?=[^0-7]))"),
    regex.compile(r"\\(?P<char>[\s\S])"),
)
_PLAIN_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_KEPT: Final = frozenset("\\'\"/")
_CUT_CODE: Final = regex.compile(r"[0-9a-fA-F]{1,3}(?=[^\w])")
_LOW: Final = regex.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")


_CLOSES: Final = re.compile(r"[\w)\]}.,;:!?]")
"""Characters before a quote that closes a quoted part, or before an apostrophe."""


_AFTER_KEY: Final = re.compile(r",\s{0,64}[\w.\-]{1,64}\s{0,64}:\s{0,64}\Z").search
_AFTER_CALL: Final = re.compile(
    rf"(?:\)\s{{0,64}},|\[|[\"']\s)\s{{0,64}}{KEYWORD}\(\s{{0,64}}(?:{KEYWORD}\s{{0,64}}[:=]\s{{0,64}})?\Z"
).search
"""The beginning of another call of a list, up to its first string."""
_BEFORE_INNER: Final = frozenset(":,[{(")
_AFTER_INNER: Final = frozenset(":,]})")
"""Characters around balanced quotes inside a string, as in a quoted literal."""
_QUOTES: Final = frozenset("\"'")
_SOME, _SURE = 1, 2
_INNER: Final = frozenset("{[(")


def unescaped(text: str) -> str:
    """Decode escapes of quotes, backslashes, line breaks and tabs in a text without other escapes."""
    if "\\" not in text:
        return text
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")  # characters beyond latin-1 as escapes


class _Tail:
    """Forwards text and remembers its last characters."""

    def __init__(self, out: Taker) -> None:
        self._out = out
        self.show = out.show
        self.text = ""

    def add(self, text: str) -> None:
        self._out.add(text)
        self.text = (self.text + text[-256:])[-256:]

    def keep(self, text: str) -> None:
        self._out.keep(text)
        self.text = (self.text + text[-256:])[-256:]


class LiteralTexts:
    """Reads the strings of one call; `note` receives tolerated slips."""

    def __init__(self, grammar: LiteralGrammar, cur: Cursor, note: Callable[..., None]) -> None:
        """Read from `cur`."""
        self._grammar = grammar
        self._cur = cur
        self._note = note
        self._tail = _Tail(IGNORED)
        self._doubt = 0  # the number of quotes in the text that are not mentions

    def read(self, quote: str, kind: str, out: Taker, *, raw: bool) -> Reading[None]:
        """Read a string with its closing quote; `kind` is its surrounding."""
        cur = self._cur
        plain = (self._grammar.raw if raw else self._grammar.plain)[quote]
        stop = self._grammar.stop[quote]
        escapes = self._grammar.literals.escapes and not raw
        self._tail = out = _Tail(out)
        put = out.add
        inside = opened = False  # quotes were read as text; the last one opened a part
        self._doubt = 0
        count = 0  # of the quotes that are no apostrophes
        while True:
            run = plain(cur.buf, cur.pos)
            if run is not None and run.end() > cur.pos:
                put(unescaped(run.group()) if escapes else run.group())
                cur.pos = run.end()
            if cur.pos == len(cur.buf):
                if cur.eof:
                    raise Truncated
                cur.wait(stop, out)
                yield
                continue
            if escapes and cur.buf[cur.pos] == "\\":
                put((yield from self._escape()))
                continue
            while not cur.eof and len(cur.buf) - cur.pos < len(quote) and quote.startswith(cur.buf[cur.pos :]):
                yield
            if not cur.buf.startswith(quote, cur.pos):
                put(cur.buf[cur.pos])
                cur.pos += 1
                continue
            if (yield from self._ends(quote, kind, inside=inside, opened=opened)):
                self._check_end(quote, odd=bool(count % 2))
                cur.pos += len(quote)
                return
            apostrophe = yield from self._check(quote, expression=escapes and not inside, closing=bool(count % 2))
            self._note("a quote inside text", "ambiguous_closer")
            opened = self._grammar.literals.escapes and not opened and not _CLOSES.match(cur.buf, cur.pos - 1)
            inside = True
            put(quote)
            cur.pos += len(quote)
            count += not apostrophe

    def _check_end(self, quote: str, *, odd: bool) -> None:
        """Refuse a text that may lack a quote, or that has a part of a quote before its last one."""
        if self._grammar.literals.escapes:
            wrong = odd
        else:
            wrong = self._doubt == _SURE or (odd and self._doubt) or part_of(self._tail.text, quote)
        if wrong:
            raise Malformed("malformed", "quotes inside a text that do not match", self._cur.at)

    def _ends(self, quote: str, kind: str, *, inside: bool, opened: bool) -> Reading[bool]:
        """Whether the quote at the cursor ends the text."""
        cur, grammar = self._cur, self._grammar
        if cur.eof and not cur.buf[cur.pos + len(quote) :].strip(WHITE):
            return True
        if not inside:
            if (yield from match_next(cur, grammar.follow[quote][kind])) is not None:
                return True
            return kind in _INNER and (yield from match_next(cur, grammar.over[quote])) is not None
        surely = grammar.surely[quote][kind]
        if (yield from match_next(cur, surely)) is None and not cut_off(cur, surely):
            return False
        if opened:
            raise Malformed("malformed", "quotes inside a quoted text: where it ends is not certain", cur.at)
        return True

    def _check(self, quote: str, *, expression: bool, closing: bool) -> Reading[bool]:
        """Refuse a quote read as text if its surrounding is no string: a sum of strings, or the next argument.

        Returns whether it is an apostrophe; `closing`: another quote in the string is still open.
        """
        cur = self._cur
        if expression and (yield from match_next(cur, self._grammar.expression[quote])) is not None:
            raise Malformed("malformed", "an expression where a literal is due", cur.at)
        if (yield from match_next(cur, self._grammar.next_argument[quote])) is not None:
            raise Malformed("malformed", "the next argument lacks what is between its name and its value", cur.at)
        if self._grammar.literals.keywords and _AFTER_CALL(self._tail.text) is not None:
            raise Malformed("malformed", "the next call begins in a text that is not closed", cur.at)
        if not self._grammar.literals.escapes and _AFTER_KEY(self._tail.text) is not None:
            raise Malformed("malformed", "the next argument begins in a text that is not closed", cur.at)
        while cur.pos + len(quote) >= len(cur.buf) and not cur.eof:
            yield
        end = cur.pos + len(quote)
        before, after = self._tail.text, cur.buf[end : end + 1]
        if not mentioned(before, after) or (after in _QUOTES and before[-1:] != after):
            inner = after in _AFTER_INNER if closing else before.rstrip()[-1:] in _BEFORE_INNER
            self._doubt = max(self._doubt, _SOME if inner else _SURE)
        return quote == "'" and before[-1:].isalpha() and after.isalpha()

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
        if text == "u" and (yield from match_next(cur, _CUT_CODE)) is not None:
            raise Malformed("malformed", "an escape that is cut off", cur.at)
        if text == "N":
            raise Malformed("malformed", "a character by its name", cur.at)
        return _PLAIN_ESCAPES.get(text, f"\\{text}")

    def _pair(self, high: int) -> Reading[str]:
        """Join a surrogate pair of escapes, as JSON writes it."""
        cur = self._cur
        found = yield from match_next(cur, _LOW)
        if found is None:
            return chr(high)
        cur.pos = found.end()
        return chr(0x10000 + ((high - 0xD800) << 10) + int(found[1], 16) - 0xDC00)
