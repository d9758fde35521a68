"""Make placeholder texts that match a regular expression.

A reader goes through the expression once and writes a text as it reads. Three numbers vary the result: how often a
repetition repeats, which branch of an alternation is taken, and where in the alphabet a class starts to choose. It
knows the common syntax of ECMA 262: literals, escapes, classes, groups, back references, quantifiers, alternations.
Assertions are skipped, so the caller must check each text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Test: TypeAlias = Callable[[str], bool]

LONGEST: Final = 10_000
"""The largest number of characters of a placeholder."""
_DEEPEST: Final = 40
_REPEATS: Final = (2, 0, 1, 4, 7, 15, 31, 63, 127, 255, 511)
_BRANCHES: Final = range(4)
_SHIFTS: Final = range(4)
_SUFFIXES: Final = range(2, 100)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS: Final = "-_. /:@,+=#%&?!~*$^'\"()[]{}<>|;\\`\t\n"
_OTHERS: Final = "".join(map(chr, range(0xA1, 0x3100, 7)))
"""Every seventh character, which includes every script."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_BOUNDS: Final = re.compile(r"\{(\d{1,6})(?:(,)(\d{0,6}))?\}")
_GROUP: Final = re.compile(r"\((\?(?:[:>]|P?<(\w+)>|[a-zA-Z-]+[:)]|<?[=!]))?")
_REFERENCE: Final = re.compile(r"([1-9]\d?)|k<(\w+)>")
_CODE: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\}")
_PROPERTY: Final = re.compile(r"[pP](?:\{\w+(?:=\w+)?\}|[A-Z])")
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_SHORTHANDS: Final[dict[str, Test]] = {
    "d": lambda char: char in "0123456789",
    "w": lambda char: char.isascii() and (char.isalnum() or char == "_"),
    "s": str.isspace,
}


class _Unreadable(Exception):  # noqa: N818 - never reaches a caller
    """Unknown syntax, or a text that is too long."""


def matching(pattern: str) -> Iterator[str]:
    """Yield texts that are likely to match a pattern, readable ones first.

    There are finitely many, perhaps none, without duplicates, and none is longer than `LONGEST`.
    """
    seen: set[str] = set()
    if len(pattern) > LONGEST:
        return
    for shift, repeats, branch in product(_SHIFTS, _REPEATS, _BRANCHES):
        try:
            text = _Reader(pattern, repeats, branch, shift).read()
        except _Unreadable:
            continue
        if text not in seen and not _HALF.search(text):
            seen.add(text)
            yield text
    # A pattern without `$` at its end also matches longer texts.
    yield from (f"{text}{number}" for text in sorted(seen, key=len)[:1] for number in _SUFFIXES)


@dataclass(slots=True)
class _Chars:
    """A set of characters, given by ranges and tests, or its complement."""

    ranges: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    tests: list[Test] = field(default_factory=list["Test"])
    negative: bool = False

    def __contains__(self, char: str) -> bool:
        hit = any(low <= char <= high for low, high in self.ranges) or any(test(char) for test in self.tests)
        return hit != self.negative

    def choose(self, index: int, count: int) -> str:
        """Choose `count` characters, readable ones if possible, starting at `index`."""
        for alphabet in (_LETTERS, _SIGNS, "".join(low for low, _ in self.ranges), _OTHERS):
            fitting = [char for char in alphabet if char in self]
            if fitting:
                return "".join(fitting[(index + place) % len(fitting)] for place in range(count))
        raise _Unreadable


class _Reader:
    """One pass over a pattern."""

    def __init__(self, pattern: str, repeats: int, branch: int, shift: int) -> None:
        self.pattern = pattern
        self.at = 0
        self.repeats = repeats
        self.branch = branch
        self.shift = shift
        self.depth = 0
        self.groups: list[str] = []
        self.names: dict[str, int] = {}

    def read(self) -> str:
        text = self._alternation()
        if self.at < len(self.pattern):
            raise _Unreadable
        return text

    def _take(self, literal: str) -> bool:
        taken = self.pattern.startswith(literal, self.at)
        self.at += len(literal) * taken
        return taken

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.pattern, self.at)
        self.at = match.end() if match else self.at
        return match

    def _next(self) -> str:
        if self.at >= len(self.pattern):
            raise _Unreadable
        self.at += 1
        return self.pattern[self.at - 1]

    def _alternation(self) -> str:
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        return branches[self.branch % len(branches)]

    def _sequence(self) -> str:
        text = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            atom = self._atom()
            count = self._count()
            size = 1 if isinstance(atom, _Chars) else len(atom)
            if len(text) + size * count > LONGEST:
                raise _Unreadable
            text += atom.choose(self.shift + len(text), count) if isinstance(atom, _Chars) else atom * count
        return text

    def _count(self) -> int:
        """Read an optional quantifier and choose a number of repetitions."""
        low, high = 1, 1
        if self._take("*"):
            low, high = 0, LONGEST
        elif self._take("+"):
            high = LONGEST
        elif self._take("?"):
            low = 0
        elif bounds := self._match(_BOUNDS):
            low = int(bounds[1])
            high = low if not bounds[2] else int(bounds[3] or LONGEST)
        else:
            return 1
        _ = self._take("?") or self._take("+")  # lazy and possessive match the same texts
        return max(low, min(high, low + self.repeats))

    def _atom(self) -> str | _Chars:
        if self.pattern[self.at] == "(":
            return self._group()
        char = self._next()
        if char in "*+?":
            raise _Unreadable
        if char == ".":
            return _Chars([("\n", "\n"), ("\r", "\r")], negative=True)
        if char == "[":
            return self._class()
        if char != "\\":
            return "" if char in "^$" else char
        if reference := self._match(_REFERENCE):
            number = int(reference[1]) - 1 if reference[1] else self.names.get(reference[2], -1)
            return self.groups[number] if 0 <= number < len(self.groups) else ""
        return "" if self._take("b") or self._take("B") else self._escaped()

    def _group(self) -> str:
        opening = self._match(_GROUP)
        self.depth += 1
        if opening is None or self.depth > _DEEPEST:
            raise _Unreadable
        kind = opening[1] or ""
        number = len(self.groups)
        captures = not kind or opening[2] is not None
        if captures:
            self.names[opening[2] or ""] = number
            self.groups.append("")
        if kind.endswith(")"):  # flags for the rest, such as (?i)
            text = ""
        else:
            text = self._alternation()
            if not self._take(")"):
                raise _Unreadable
        if captures:
            self.groups[number] = text
        self.depth -= 1
        return "" if kind.endswith(("=", "!")) else text

    def _escaped(self) -> str | _Chars:
        """Read what follows a backslash, in a class or outside."""
        if code := self._match(_CODE):
            return chr(int(code[1] or code[2] or code[3], 16))
        if named := self._match(_PROPERTY):
            return _Chars(tests=[_property(named[0])])
        char = self._next()
        if char.lower() in _SHORTHANDS:
            return _Chars(tests=[_SHORTHANDS[char.lower()]], negative=char.isupper())
        return _CONTROLS.get(char, char)

    def _class(self) -> _Chars:
        chars = _Chars(negative=self._take("^"))
        while not self._take("]"):
            low = self._member()
            if isinstance(low, _Chars):
                chars.tests.append(low.__contains__)
                continue
            high: str | _Chars = low
            if self.pattern[self.at : self.at + 1] == "-" and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                high = self._member()
            if isinstance(high, _Chars):  # `[a-\d]` means `a`, `-` and `\d`
                chars.tests.append(high.__contains__)
                high = low
            chars.ranges.append((low, high))
        return chars

    def _member(self) -> str | _Chars:
        char = self._next()
        if char != "\\":
            return char
        return "\b" if self._take("b") else self._escaped()


@lru_cache(maxsize=64)
def _property(escape: str) -> Test:
    r"""Return the test for a Unicode property, as in `p{Lu}` or `P{Script=Greek}`."""
    import regex

    try:
        expression = regex.compile("\\" + escape)
    except regex.error:
        raise _Unreadable from None
    return lambda char: expression.match(char) is not None
