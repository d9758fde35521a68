r"""A JSON Schema `pattern` as a node.

    ^[A-Z]{3}-\d+$      Seq(Repeat([A-Z], 3, 3), "-", Repeat([0-9], 1))

A pattern is searched for, so anything may be around it where it is not anchored. Look-around, back-references and word
boundaries are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

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
from toolfmt.workshop.grammars.nodes import (
    ANYTHING,
    BLANK,
    DIGIT,
    NOTHING,
    Alt,
    Chars,
    Lit,
    Meet,
    Node,
    Repeat,
    chars,
    either,
    joined,
    others,
    sequence,
)

_WORD: Final = chars("_", (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_CLASSES: Final = {
    "d": DIGIT, "D": others(DIGIT), "w": _WORD, "W": others(_WORD), "s": BLANK, "S": others(BLANK),
}  # fmt: skip
_MOST_REPEATS: Final = 1000


def pattern_node(source: str) -> Node:
    """Read a pattern; the node fits the whole text. Raises `ExpressionError`."""
    return either(*map(_searched, read(source)))


def _searched(row: tuple[ExpressionPart, ...]) -> Node:
    """Return one alternative of a whole pattern, with what may be around it."""
    begins = row[:1] == (Special("^"),)
    ends = row[begins:][-1:] == (Special("$"),)
    inner = row[begins : len(row) - ends]
    return sequence(NOTHING if begins else ANYTHING, *map(_Nodes().part, inner), NOTHING if ends else ANYTHING)


def header_node(source: str, words: Mapping[str, str], never: Sequence[str]) -> Node:
    """Read a header's pattern, its groups `words`: "" for a group that is left out, `*` for any text but `never`.

    Repetitions occur at most once, and look-around fits nothing, so that its alternative is left out. Raises
    `ExpressionError`.
    """
    return _Nodes(words, never).alternatives(read(source))


class _Nodes:
    """Makes the nodes of one expression."""

    def __init__(self, words: Mapping[str, str] | None = None, never: Sequence[str] = ()) -> None:
        self.words = words
        self.never = never

    def alternatives(self, tree: Expression) -> Node:
        return either(*(sequence(*map(self.part, row)) for row in tree))

    def part(self, part: ExpressionPart) -> Node:
        match part:
            case str():
                return chars(part)
            case Charset(members, negative):
                made = Chars(joined(pair for member in members for pair in _ranges(member)))
                return others(made) if negative else others(others(made))
            case Quantified(inner, least, most):
                if self.words is not None and most is not None and not least:
                    most = 1
                if max(least, most or 0) > _MOST_REPEATS:
                    raise ExpressionError(f"more than {_MOST_REPEATS} repetitions are not counted")
                return Repeat(self.part(inner), least, most)
            case Parenthesis():
                return self._group(part)
            case Special(text):
                what = text if text[0] == "\\" else "an anchor inside"
                raise ExpressionError(f"{what} has no form in a grammar")

    def _group(self, group: Parenthesis) -> Node:
        name = group.captured[-1] if group.captured else ""
        if group.opener not in ("", "?:") and not name:
            if self.words is None:
                raise ExpressionError("look-around has no form in a grammar")
            return Alt(())
        inner = self.alternatives(group.inner)
        word = self.words.get(name, "*") if name and self.words is not None else "*"
        if word != "*":
            return Lit(word) if word else Alt(())
        return Meet((inner,), tuple(map(Lit, self.never))) if name and self.never else inner


def _ranges(member: tuple[str, str] | str) -> Sequence[tuple[int, int]]:
    if isinstance(member, tuple):
        return ((ord(member[0]), ord(member[1])),)
    if member not in _CLASSES:
        raise ExpressionError(f"\\{member} has no form in a grammar")
    return _CLASSES[member].ranges
