r"""Reads regular expressions, such as a schema's `pattern`, as trees.

    read(r"^[a-c]\d{2}|x")
    ((Special("^"), Charset((("a", "c"),)), Quantified(Charset(("d",)), 2, 2)), ("x",))

It knows the common syntax of ECMA 262 and a little of Python's: literals, escapes, classes, groups, back references,
quantifiers, alternatives. What a part means is up to its users.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

_COUNT: Final = re.compile(r"([*+?])|\{(\d{1,6})(?:(,)(\d{0,6}))?\}")
_GROUP: Final = re.compile(r"\((\?(?:[:>]|P?<(\w+)>|[a-zA-Z-]+[:)]|<?[=!]))?")
_REFERENCE: Final = re.compile(r"\\[1-9]\d?|(?:\\k<|\(\?P=)(\w+)[>)]")
_CODE: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\})")
_PROPERTY: Final = re.compile(r"\\([pP](?:\{\w+(?:=\w+)?\}|[A-Z]))")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_MARKS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class ExpressionError(ValueError):
    """A regular expression, or a part of one, that cannot be used."""


_SHORTHANDS: Final[dict[str, Callable[[str], object]]] = {
    "d": lambda char: char in "0123456789",
    "w": lambda char: char.isascii() and (char.isalnum() or char == "_"),
    "s": str.isspace,
}


@lru_cache(maxsize=256)
def _test(name: str) -> Callable[[str], object]:
    r"""Return the test for a class of characters: `d`, `W`, `p{Lu}`, `P{Script=Greek}`; any other letter is itself."""
    import regex

    if name.lower() in _SHORTHANDS:
        test = _SHORTHANDS[name.lower()]
        return test if name.islower() else lambda char: not test(char)
    if len(name) == 1:
        return name.__eq__
    try:
        return regex.compile(f"\\{name}").match
    except regex.error:
        raise ExpressionError(f"\\{name} is no class of characters") from None


@dataclass(frozen=True, slots=True)
class Charset:
    """One character: of ranges and of named classes (`d`, `W`, `p{Lu}`), or, if `negative`, any other."""

    members: tuple[tuple[str, str] | str, ...]
    negative: bool = False

    def __contains__(self, char: str) -> bool:
        """Whether the character is one of them. Raises `ExpressionError` for an unknown class."""
        inside = (
            member[0] <= char <= member[1] if isinstance(member, tuple) else _test(member)(char)
            for member in self.members
        )
        return any(inside) != self.negative


@dataclass(frozen=True, slots=True)
class Quantified:
    """A part `least` to `most` times; None for any number."""

    part: ExpressionPart
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Parenthesis:
    """Alternatives in parentheses."""

    inner: Expression
    opener: str
    """What follows the parenthesis: `""`, `?:`, `?<name>`, `?=`, ..."""
    captured: tuple[str, ...] = ()
    """The number of the text that it captures, from 1, and its name."""


@dataclass(frozen=True, slots=True)
class Special:
    r"""An anchor, a boundary, a back reference, or an escape without a known meaning: `^`, `\b`, `\1`, `\k<n>`."""

    text: str


ExpressionPart: TypeAlias = "str | Charset | Quantified | Parenthesis | Special"
"""A part of an expression; a text is one character."""
Expression: TypeAlias = "tuple[tuple[ExpressionPart, ...], ...]"
"""Alternatives, each a row of parts."""


_ALONE: Final[dict[str, ExpressionPart]] = {
    "^": Special("^"),
    "$": Special("$"),
    ".": Charset((("\n", "\n"), ("\r", "\r"), ("\u2028", "\u2029")), negative=True),
}


def read(source: str, deepest: int = 50) -> Expression:
    """Read an expression, whose groups are nested at most so deep. Raises `ExpressionError`."""
    reader = _Reader(source, deepest)
    found = reader.alternatives(0)
    if reader.at < len(source):
        raise reader.error("a parenthesis is not opened")
    return found


class _Reader:
    def __init__(self, source: str, deepest: int) -> None:
        self.source, self.deepest = source, deepest
        self.at = 0
        self.captures = 0

    def error(self, reason: str) -> ExpressionError:
        return ExpressionError(f"{reason}, at character {self.at}")

    def alternatives(self, depth: int) -> Expression:
        if depth > self.deepest:
            raise self.error("its groups are nested too deeply")
        found = [self._row(depth)]
        while self._take("|"):
            found.append(self._row(depth))
        return tuple(found)

    def _row(self, depth: int) -> tuple[ExpressionPart, ...]:
        parts: list[ExpressionPart] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            part = self._part(depth)
            while count := self._match(_COUNT):
                least, most = _MARKS[count[1]] if count[1] else (int(count[2]), int(count[4]) if count[4] else None)
                part = Quantified(part, least, most if count[1] or count[3] else least)
                _ = self._take("?") or self._take("+")  # lazy and possessive match the same texts
            parts.append(part)
        return tuple(parts)

    def _part(self, depth: int) -> ExpressionPart:
        if reference := self._match(_REFERENCE):
            return Special(f"\\k<{reference[1]}>" if reference[1] else reference.group())
        if self.source[self.at] == "(":
            return self._group(depth)
        char = self._next()
        if char in "*+?":
            raise self.error("nothing is repeated")
        if char == "[":
            return self._set()
        return self._escape() if char == "\\" else _ALONE.get(char, char)

    def _group(self, depth: int) -> Parenthesis:
        found = self._match(_GROUP)
        opener, name = (found[1] or "", found[2]) if found is not None else ("", None)
        self.captures += not opener or name is not None
        captured = (str(self.captures), name or "") if not opener or name else ()
        if opener.endswith(")"):  # flags for the rest, such as (?i)
            return Parenthesis(((),), opener)
        inner = self.alternatives(depth + 1)
        if not self._take(")"):
            raise self.error("a parenthesis is not closed")
        return Parenthesis(inner, opener, captured)

    def _escape(self) -> str | Charset | Special:
        """Read what follows a backslash, in a class or outside."""
        self.at -= 1
        if code := self._match(_CODE):
            return chr(int(code[1] or code[2] or code[3], 16))
        if named := self._match(_PROPERTY):
            return Charset((named[1],))
        self.at += 1
        char = self._next()
        if char in "dDwWsS":
            return Charset((char,))
        return _CONTROLS.get(char) or (Special(f"\\{char}") if char.isalnum() else char)

    def _set(self) -> Charset:
        negative = self._take("^")
        members: list[tuple[str, str] | str] = []
        while not self._take("]"):
            low = self._member()
            if self.source.startswith("-", self.at) and not self.source.startswith("-]", self.at):
                self.at += 1
                high = self._member()
                plain = isinstance(low, tuple) and isinstance(high, tuple)
                if plain and low[0] > high[0]:
                    raise self.error("a range is out of order")
                members += [(low[0], high[0])] if plain else [low, ("-", "-"), high]  # `[a-\d]` means `a`, `-` and `\d`
            else:
                members.append(low)
        return Charset(tuple(members), negative)

    def _member(self) -> tuple[str, str] | str:
        found = self._next()
        if found == "\\":
            found = "\b" if self._take("b") else self._escape()
        match found:
            case str():
                return found, found
            case Charset(members=(str() as name,)):
                return name
            case _:
                return found.text[1:] if isinstance(found, Special) else ""

    def _take(self, text: str) -> bool:
        taken = self.source.startswith(text, self.at)
        self.at += len(text) * taken
        return taken

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.source, self.at)
        self.at = found.end() if found else self.at
        return found

    def _next(self) -> str:
        if self.at >= len(self.source):
            raise self.error("it ends too early")
        self.at += 1
        return self.source[self.at - 1]
