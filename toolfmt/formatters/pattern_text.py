"""Make placeholder texts that match a regular expression.

Three numbers vary a text: how often a repetition repeats, which branch of an alternation is taken, and where in the
alphabet a class starts to choose. Assertions are skipped, so the caller must check each text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import product
from typing import Final, TypeAlias

from toolfmt.schema.expressions import (
    Charset,
    Expression,
    ExpressionError,
    ExpressionPart,
    Parenthesis,
    Quantified,
    Special,
    read,
)

Test: TypeAlias = Callable[[str], object]

LONGEST: Final = 10_000
"""The largest number of characters of a placeholder."""
_REPEATS: Final = (2, 0, 1, 4, 7, 15, 31, 63, 127, 255, 511)
_BRANCHES: Final = range(4)
_SHIFTS: Final = range(4)
_SUFFIXES: Final = range(2, 100)
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz1234567890ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SIGNS: Final = "-_. /:@,+=#%&?!~*$^'\"()[]{}<>|;\\`\t\n"
_OTHERS: Final = "".join(map(chr, range(0xA1, 0x3100, 7)))
"""Every seventh character, which includes every script."""
_HALF: Final = re.compile("[\ud800-\udfff]")
_EMPTY: Final = frozenset("bBk123456789")
"""What begins an escape that matches no text, or the text of a group that is not there."""
_SHORTHANDS: Final[dict[str, Test]] = {
    "d": lambda char: char in "0123456789",
    "w": lambda char: char.isascii() and (char.isalnum() or char == "_"),
    "s": str.isspace,
}


def matching(pattern: str) -> Iterator[str]:
    """Yield texts that are likely to match a pattern, readable ones first.

    There are finitely many, perhaps none, without duplicates, and none is longer than `LONGEST`.
    """
    seen: dict[str, None] = {}
    try:
        tree = read(pattern) if len(pattern) <= LONGEST else ()
    except ExpressionError:
        return
    for shift, repeats, branch in product(_SHIFTS, _REPEATS, _BRANCHES) if tree else ():
        try:
            text = _Writer(repeats, branch, shift).text(tree)
        except ExpressionError:
            continue
        if text not in seen and not _HALF.search(text):
            seen[text] = None
            yield text
    # A pattern without `$` at its end also matches longer texts.
    yield from (f"{text}{number}" for text in sorted(seen, key=len)[:1] for number in _SUFFIXES)


class _Writer:
    """Writes one text."""

    def __init__(self, repeats: int, branch: int, shift: int) -> None:
        self.repeats, self.branch, self.shift = repeats, branch, shift
        self.captured: dict[str, str] = {}

    def text(self, tree: Expression) -> str:
        text = ""
        for part in tree[self.branch % len(tree)]:
            inner, count = part, 1
            if isinstance(part, Quantified):
                most = LONGEST if part.most is None else part.most
                inner, count = part.part, max(part.least, min(most, part.least + self.repeats))
            made = _fitting(inner) if isinstance(inner, Charset) else self._written(inner)
            if len(text) + count * (1 if isinstance(inner, Charset) else len(made)) > LONGEST:
                raise ExpressionError
            if isinstance(inner, Charset):
                start = self.shift + len(text)
                text += "".join(made[(start + place) % len(made)] for place in range(count))
            else:
                text += made * count
        return text

    def _written(self, part: ExpressionPart) -> str:
        match part:
            case str():
                return part
            case Parenthesis(inner, opener, captured):
                text = self.text(inner)
                self.captured |= dict.fromkeys(captured, text)
                return "" if opener.endswith(("=", "!")) else text
            case Special(source):
                return self.captured.get(
                    source.strip("\\k<>"), source[1:].strip("bB0123456789") if source[1:2] != "k" else ""
                )
            case _:
                return self.text(((part,),))


@lru_cache(maxsize=256)
def _fitting(charset: Charset) -> str:
    """Return the characters of a set to choose from, readable ones if possible."""
    ranges = [member for member in charset.members if isinstance(member, tuple)]
    tests = [_test(member) for member in charset.members if isinstance(member, str)]
    for alphabet in (_LETTERS, _SIGNS, "".join(low for low, _ in ranges), _OTHERS):
        fitting = [
            char
            for char in alphabet
            if (any(low <= char <= high for low, high in ranges) or any(test(char) for test in tests))
            != charset.negative
        ]
        if fitting:
            return "".join(fitting)
    raise ExpressionError


def _test(name: str) -> Test:
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
        raise ExpressionError from None
