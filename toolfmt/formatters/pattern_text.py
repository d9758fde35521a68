"""Make placeholder texts that match a regular expression.

Three numbers vary a text: how often a repetition repeats, which branch of an alternation is taken, and where in the
alphabet a class starts to choose. Assertions are skipped, so the caller must check each text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from toolfmt.schema import expressions

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


def matching(pattern: str) -> Iterator[str]:
    """Yield texts that are likely to match a pattern, readable ones first.

    There are finitely many, perhaps none, without duplicates, and none is longer than `LONGEST`.
    """
    seen: dict[str, None] = {}
    try:
        tree = expressions.read(pattern) if len(pattern) <= LONGEST else ()
    except expressions.ExpressionError:
        return
    for shift, repeats, branch in product(_SHIFTS, _REPEATS, _BRANCHES) if tree else ():
        try:
            text = _Writer(repeats, branch, shift).text(tree)
        except expressions.ExpressionError:
            continue
        if text not in seen and not _HALF.search(text):
            seen[text] = None
            yield text
    # A pattern without `$` at its end also matches longer texts.
    yield from (f"{text}{number}" for text in sorted(seen, key=len)[:1] for number in _SUFFIXES)


class _Writer:
    def __init__(self, repeats: int, branch: int, shift: int) -> None:
        self.repeats, self.branch, self.shift = repeats, branch, shift
        self.captured: dict[str, str] = {}

    def text(self, tree: expressions.Expression) -> str:
        text = ""
        for part in tree[self.branch % len(tree)]:
            inner, count = part, 1
            if isinstance(part, expressions.Quantified):
                most = LONGEST if part.most is None else part.most
                inner, count = part.part, max(part.least, min(most, part.least + self.repeats))
            made = _fitting(inner) if isinstance(inner, expressions.Charset) else self._written(inner)
            if len(text) + count * (1 if isinstance(inner, expressions.Charset) else len(made)) > LONGEST:
                raise expressions.ExpressionError
            if isinstance(inner, expressions.Charset):
                start = self.shift + len(text)
                text += "".join(made[(start + place) % len(made)] for place in range(count))
            else:
                text += made * count
        return text

    def _written(self, part: expressions.ExpressionPart) -> str:
        match part:
            case str():
                return part
            case expressions.Parenthesis(inner, opener, captured):
                text = self.text(inner)
                self.captured |= dict.fromkeys(captured, text)
                return "" if opener.endswith(("=", "!")) else text
            case expressions.Special(source):
                return self.captured.get(source.strip("\\k<>"), "" if source[1:2] in _EMPTY else source[1:])
            case _:
                return self.text(((part,),))


@lru_cache(maxsize=256)
def _fitting(charset: expressions.Charset) -> str:
    """Return the characters of a set to choose from, readable ones if possible."""
    starts = "".join(member[0] for member in charset.members if isinstance(member, tuple))
    for alphabet in (_LETTERS, _SIGNS, starts, _OTHERS):
        if fitting := "".join(char for char in alphabet if char in charset):
            return fitting
    raise expressions.ExpressionError
