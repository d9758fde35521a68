r"""A JSON Schema `pattern` as a node.

    ^[A-Z]{3}-\d+$      Seq(Repeat([A-Z], 3, 3), "-", Repeat([0-9], 1))

A pattern is searched for, so anything may be around it where it is not anchored. Look-around, back-references and word
boundaries are refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolfmt.schema import expressions
from toolfmt.workshop.grammars import nodes

_WORD: Final = nodes.chars("_", (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_PLAIN: Final = {"d": nodes.DIGIT, "w": _WORD, "s": nodes.BLANK}
_CLASSES: Final = _PLAIN | {name.upper(): nodes.others(one) for name, one in _PLAIN.items()}
_MOST_REPEATS: Final = 1000


def pattern_node(source: str) -> nodes.Node:
    """Read a pattern; the node fits the whole text. Raises `ExpressionError`."""
    return nodes.either(*map(_searched, expressions.read(source)))


def _searched(row: tuple[expressions.ExpressionPart, ...]) -> nodes.Node:
    """Return one alternative of a whole pattern, with what may be around it."""
    begins = row[:1] == (expressions.Special("^"),)
    ends = row[begins:][-1:] == (expressions.Special("$"),)
    inner = row[begins : len(row) - ends]
    return nodes.sequence(
        nodes.NOTHING if begins else nodes.ANYTHING,
        *map(_Nodes().part, inner),
        nodes.NOTHING if ends else nodes.ANYTHING,
    )


def header_node(source: str, words: Mapping[str, str], never: Sequence[str]) -> nodes.Node:
    """Read a header's pattern, its groups `words`: "" for a group that is left out, `*` for any text but `never`.

    Repetitions occur at most once, and look-around fits nothing, so that its alternative is left out. Raises
    `ExpressionError`.
    """
    return _Nodes(words, never).alternatives(expressions.read(source))


class _Nodes:
    def __init__(self, words: Mapping[str, str] | None = None, never: Sequence[str] = ()) -> None:
        self.words = words
        self.never = never

    def alternatives(self, tree: expressions.Expression) -> nodes.Node:
        return nodes.either(*(nodes.sequence(*map(self.part, row)) for row in tree))

    def part(self, part: expressions.ExpressionPart) -> nodes.Node:
        match part:
            case str():
                return nodes.chars(part)
            case expressions.Charset(members, negative):
                made = nodes.Chars(nodes.joined(pair for member in members for pair in _ranges(member)))
                return nodes.others(made) if negative else nodes.others(nodes.others(made))
            case expressions.Quantified(inner, least, most):
                if self.words is not None and most is not None and not least:
                    most = 1
                if max(least, most or 0) > _MOST_REPEATS:
                    raise expressions.ExpressionError(f"more than {_MOST_REPEATS} repetitions are not counted")
                return nodes.Repeat(self.part(inner), least, most)
            case expressions.Parenthesis():
                return self._group(part)
            case expressions.Special(text):
                what = text if text[0] == "\\" else "an anchor inside"
                raise expressions.ExpressionError(f"{what} has no form in a grammar")

    def _group(self, group: expressions.Parenthesis) -> nodes.Node:
        name = group.captured[-1] if group.captured else ""
        if group.opener not in ("", "?:") and not name:
            if self.words is None:
                raise expressions.ExpressionError("look-around has no form in a grammar")
            return nodes.Alt(())
        inner = self.alternatives(group.inner)
        word = self.words.get(name, "*") if name and self.words is not None else "*"
        if word != "*":
            return nodes.Lit(word) if word else nodes.Alt(())
        return nodes.Meet((inner,), tuple(map(nodes.Lit, self.never))) if name and self.never else inner


def _ranges(member: tuple[str, str] | str) -> Sequence[tuple[int, int]]:
    if isinstance(member, tuple):
        return ((ord(member[0]), ord(member[1])),)
    if member not in _CLASSES:
        raise expressions.ExpressionError(f"\\{member} has no form in a grammar")
    return _CLASSES[member].ranges
