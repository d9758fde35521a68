"""Writes regular nodes as regular expressions for engines without look-around.

chars("ab")                  [ab]
Repeat(DIGIT, 1, 3)          [0-9]{1,3}
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from toolfmt.workshop.grammars.nodes import ANY, SPACE, Alt, Chars, Json, Lit, Meet, Node, Repeat, Seq, Space, others

NEVER: Final = r"[^\s\S]"
"""Matches nothing."""
_PLAIN: Final = frozenset("_ ,:;!@%&'\"<>=`~\n\t")
_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f", "\v": "\\v"}


class NoPatternError(ValueError):
    """A node without a form as a regular expression."""


def pattern_text(node: Node) -> str:
    """Write a node; raises `NoPatternError` for a rule, a schema, and what only an automaton can decide."""
    return RegexWriter().text(node)


class RegexWriter:
    """Writes nodes; `other` decides about those that regular expressions do not have."""

    def text(self, node: Node) -> str:  # noqa: PLR0911 - one per kind
        """Write a node."""
        match node:
            case Lit(text):
                return "".join(map(quoted, text))
            case Chars():
                return set_text(node) if node.ranges else NEVER
            case Space():
                return self.text(SPACE)
            case Seq(items):
                return "".join(map(self._in_row, items))
            case Alt(options):
                return _choice([self.text(option) for option in options])
            case Repeat(inner, least, most):
                return "" if most == 0 else self._group(inner) + repeats(least, most)
            case _:
                return self.other(node)

    def other(self, node: Node) -> str:
        """Write a node of another kind."""
        if isinstance(node, Meet) and not node.never and len(node.every) == 1:
            return self.text(node.every[0])
        raise NoPatternError

    def _in_row(self, node: Node) -> str:
        text = self.text(node)
        return f"(?:{text})" if isinstance(node, Alt | Space | Meet | Json) and "|" in text else text

    def _group(self, node: Node) -> str:
        text = self.text(node)
        return text if isinstance(node, Chars) or (isinstance(node, Lit) and len(node.text) == 1) else f"(?:{text})"


def _choice(texts: list[str]) -> str:
    some = list(dict.fromkeys(filter(None, texts)))
    if not texts:
        return NEVER
    return f"(?:{'|'.join(some)})?" if "" in texts and some else "|".join(some)


def quoted(char: str) -> str:
    """Write one character, inside or outside a class."""
    if char in _NAMED:
        return _NAMED[char]
    if (char.isascii() and char.isalnum()) or char in _PLAIN or (ord(char) > 0xA0 and char.isprintable()):  # noqa: PLR2004
        return char
    if char.isascii() and char.isprintable():
        return "\\" + char
    code = ord(char)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004


@lru_cache(maxsize=1024)
def set_text(node: Chars) -> str:
    """Write a set, or its complement if that is shorter."""
    if node == ANY:
        return r"[\s\S]"
    away = others(node)
    if len(away.ranges) < len(node.ranges) or node.ranges[-1][1] > 0xFFFF:  # noqa: PLR2004 - all of Unicode
        return f"[^{ranges_text(away, _one)}]"
    if len(node.ranges) == 1 and node.ranges[0][0] == node.ranges[0][1]:
        return quoted(chr(node.ranges[0][0]))
    return f"[{ranges_text(node, _one)}]"


def ranges_text(node: Chars, one: Callable[[int], str]) -> str:
    """Write the inside of a character class; `one` writes a code point."""
    return "".join(one(low) if low == high else f"{one(low)}-{one(high)}" for low, high in node.ranges)


def _one(code: int) -> str:
    return quoted(chr(code))


def repeats(least: int, most: int | None) -> str:
    """Write a quantifier."""
    if (least, most) in QUANTIFIERS:
        return QUANTIFIERS[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


QUANTIFIERS: Final[dict[tuple[int, int | None], str]] = {(0, None): "*", (1, None): "+", (0, 1): "?"}
