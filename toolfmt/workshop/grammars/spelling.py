"""Regular nodes in the spelling of regular expressions, as engines without look-around read them.

chars("ab")                  [ab]
Repeat(DIGIT, 1, 3)          [0-9]{1,3}
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from toolfmt.workshop.grammars.nodes import ANY, NOTHING, SPACE, Alt, Chars, Lit, Meet, Node, Repeat, Seq, Space, others

_PLAIN: Final = frozenset("_ ,:;!@%&'\"<>=`~\n\t")
_NAMED: Final = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f", "\v": "\\v"}


class NoPatternError(ValueError):
    """A node without a form as a regular expression."""


def pattern_text(node: Node) -> str:
    """Spell a node; raises `NoPatternError` for a rule, a schema, and what only an automaton can decide."""
    return _spelled(node)


def quoted(char: str) -> str:
    """One character outside a class or inside it."""
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
    """Spell a set, by what it does not hold where that is shorter."""
    if node == ANY:
        return r"[\s\S]"
    away = others(node)
    if len(away.ranges) < len(node.ranges) or node.ranges[-1][1] > 0xFFFF:  # noqa: PLR2004 - all of Unicode
        return f"[^{_ranges(away)}]"
    if len(node.ranges) == 1 and node.ranges[0][0] == node.ranges[0][1]:
        return quoted(chr(node.ranges[0][0]))
    return f"[{_ranges(node)}]"


def _ranges(node: Chars) -> str:
    return "".join(_one(low) if low == high else f"{_one(low)}-{_one(high)}" for low, high in node.ranges)


def _one(code: int) -> str:
    return quoted(chr(code))


def repeats(least: int, most: int | None) -> str:
    """Spell how many."""
    if (least, most) in _SHORT:
        return _SHORT[least, most]
    return f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"


_SHORT: Final[dict[tuple[int, int | None], str]] = {(0, None): "*", (1, None): "+", (0, 1): "?"}


def _spelled(node: Node) -> str:  # noqa: PLR0911 - one per kind
    match node:
        case Lit(text):
            return "".join(map(quoted, text))
        case Chars():
            return set_text(node) if node.ranges else "[^\\s\\S]"
        case Space():
            return _spelled(SPACE)
        case Seq(items):
            return "".join(map(_atomic_in_row, items))
        case Alt(options):
            if not options:
                raise NoPatternError
            return _choice(options)
        case Repeat(inner, least, most):
            return "" if most == 0 else grouped(inner) + repeats(least, most)
        case Meet(every, ()) if len(every) == 1:
            return _spelled(every[0])
        case _:
            raise NoPatternError


def _choice(options: tuple[Node, ...]) -> str:
    some = [option for option in options if option != NOTHING]
    text = "|".join(map(_spelled, some))
    if len(some) == len(options):
        return text
    return f"(?:{text})?"


def _atomic_in_row(node: Node) -> str:
    text = _spelled(node)
    return f"(?:{text})" if isinstance(node, Alt | Space) and "|" in text else text


def grouped(node: Node) -> str:
    """Spell a node so that a repetition after it means all of it."""
    text = _spelled(node)
    if isinstance(node, Chars) or (isinstance(node, Lit) and len(node.text) == 1):
        return text
    return f"(?:{text})"
