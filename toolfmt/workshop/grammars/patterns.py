r"""A JSON Schema `pattern` as a node.

    ^[A-Z]{3}-\d+$      Seq(Repeat([A-Z], 3, 3), "-", Repeat([0-9], 1))

A pattern is searched for, so anything may be around it where it is not anchored. Look-around, back-references and word
boundaries are refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

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

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WORD: Final = chars("_", (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A))
_BREAKS: Final = chars("\n\r\u2028\u2029")
_CLASSES: Final = {
    "d": DIGIT, "D": others(DIGIT), "w": _WORD, "W": others(_WORD), "s": BLANK, "S": others(BLANK),
}  # fmt: skip
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
_COUNT: Final = re.compile(r"\{(\d{1,4})(?:(,)(\d{1,4})?)?\}")
_CODE: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_NAMED: Final = re.compile(r"\?P?<(\w+)>")
_PLAIN: Final = re.compile(r"\?:")
_AROUND: Final = re.compile(r"\?(?:<?[=!]|[>#(&]|\w)")
_DEEPEST: Final = 50
_MOST_REPEATS: Final = 1000


class NotRegularError(ValueError):
    """A pattern, or a part of one, that is not regular."""


def pattern_node(source: str) -> Node:
    """Read a pattern; the node fits the whole text. Raises `NotRegularError`."""
    reader = _Reader(source)
    node = reader.choice(0)
    if reader.at < len(source):
        raise NotRegularError("a parenthesis is not opened")
    return node


def header_node(source: str, words: Mapping[str, str], never: Sequence[str]) -> Node:
    """Read a header's pattern, its groups `words`: "" for a group that is left out, `*` for any text but `never`.

    Repetitions occur at most once, and look-around fits nothing, so that its alternative is left out. Raises
    `NotRegularError`.
    """
    return _Reader(source, words, never).choice(1)


class _Reader:
    """Reads one pattern; each branch at the top decides what may be around it."""

    def __init__(self, source: str, words: Mapping[str, str] | None = None, never: Sequence[str] = ()) -> None:
        self.source = source
        self.words = words
        self.never = never
        self.at = 0

    def choice(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise NotRegularError("its groups are nested too deeply")
        branches = [self._branch(depth)]
        while self._take("|"):
            branches.append(self._branch(depth))
        return either(*branches)

    def _branch(self, depth: int) -> Node:
        items: list[Node] = []
        begins = not depth and self._take("^")
        ends = False
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            if not depth and self.source[self.at] == "$" and self.source[self.at + 1 : self.at + 2] in ("", "|"):
                self.at += 1
                ends = True
                break
            items.append(self._repeated(self._atom(depth)))
        if depth:
            return sequence(*items)
        return sequence(NOTHING if begins else ANYTHING, *items, NOTHING if ends else ANYTHING)

    def _atom(self, depth: int) -> Node:
        char = self._next()
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._set()
        if char == ".":
            return others(_BREAKS)
        if char == "\\":
            return self._escape()
        if char in "^$":
            raise NotRegularError("an anchor inside has no form in a grammar")
        if char in "*+?":
            raise NotRegularError("nothing is repeated")
        return chars(char)

    def _group(self, depth: int) -> Node:
        named = _NAMED.match(self.source, self.at)
        around = None if named else _AROUND.match(self.source, self.at)
        if around is not None and self.words is None:
            raise NotRegularError("look-around has no form in a grammar")
        opened = named or around or _PLAIN.match(self.source, self.at)
        self.at = opened.end() if opened else self.at
        inner = self.choice(depth + 1)
        if not self._take(")"):
            raise NotRegularError("a parenthesis is not closed")
        word = self.words.get(named[1], "*") if named and self.words is not None else "*"
        if around is not None or not word:
            return Alt(())
        if word != "*":
            return Lit(word)
        return Meet((inner,), tuple(map(Lit, self.never))) if named and self.never else inner

    def _repeated(self, node: Node) -> Node:
        count = _COUNT.match(self.source, self.at)
        if count is not None:
            self.at = count.end()
            least = int(count[1])
            most = least if not count[2] else int(count[3]) if count[3] else None
        elif self.source.startswith(("*", "+", "?"), self.at):
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self._next()]
        else:
            return node
        self._take("?")  # a lazy quantifier matches the same texts
        if self.words is not None and most is not None and not least:
            most = 1
        if max(least, most or 0) > _MOST_REPEATS:
            raise NotRegularError(f"more than {_MOST_REPEATS} repetitions are not counted")
        return self._repeated(Repeat(node, least, most))

    def _escape(self) -> Chars:
        char = self._next()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROLS:
            return chars(_CONTROLS[char])
        code = _CODE.match(self.source, self.at - 1)
        if code is not None:
            self.at = code.end()
            return chars(chr(int(code[1] or code[2] or code[3], 16)))
        if char.isalnum():
            raise NotRegularError(f"\\{char} has no form in a grammar")
        return chars(char)

    def _set(self) -> Chars:
        negated = self._take("^")
        found: list[tuple[int, int]] = []
        while not self._take("]"):
            low = self._member()
            if self.source.startswith("-", self.at) and self.source[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                high = self._member()
                if len(low.ranges) != 1 or len(high.ranges) != 1:
                    raise NotRegularError("a range between classes")
                found.append((low.ranges[0][0], high.ranges[0][0]))
            else:
                found += low.ranges
        made = Chars(joined(found))
        return others(made) if negated else others(others(made))

    def _member(self) -> Chars:
        char = self._next()
        if char == "\\":
            if self._take("b"):
                return chars("\b")
            return self._escape()
        return chars(char)

    def _take(self, text: str) -> bool:
        if self.source.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _next(self) -> str:
        if self.at >= len(self.source):
            raise NotRegularError("it ends too early")
        self.at += 1
        return self.source[self.at - 1]
