"""YAML's flow style: lists and maps in brackets, on one line or several.

    [a, 'b', {c: 1, "d": [2]}]

JSON is flow style too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from toolfmt.parsers.yaml_scalars import QUOTED, YamlError, fold, unquoted


@dataclass(frozen=True, slots=True)
class Plain:
    """A scalar that is not quoted; its type is decided later."""

    text: str


YamlNode: TypeAlias = "Plain | str | list[YamlNode] | dict[str, YamlNode]"

REFUSED = {
    "&": "an anchor",
    "*": "an alias",
    "!": "a tag",
    "%": "a directive",
    "@": "a reserved character",
    "`": "a reserved character",
}
_LAYOUT = re.compile(r"(?:[ \t\r\n]++|(?<=\s)#[^\n]*+)*+")
_WORD = r"(?:[^\s,\[\]{}:#]|:(?=[^\s,\[\]{}])|(?<=\S)#)++"
_PLAIN = re.compile(rf"(?![\"'|>#]|[-?:](?:\s|$)){_WORD}(?:\s++{_WORD})*+")


class FlowReader:
    """Reads one value at `at` in a text."""

    __slots__ = ("at", "levels", "text")

    def __init__(self, text: str, at: int, levels: int) -> None:
        """Read what is nested `levels` deep at most."""
        self.text = text
        self.at = at
        self.levels = levels

    def value(self) -> YamlNode:
        """Read past the value's end. Raises `YamlError`."""
        char = self._peek()
        if char in REFUSED:
            raise self._error(REFUSED[char])
        if char in {"[", "{"}:
            if not self.levels:
                raise self._error("nested too deep", "limit")
            self.levels -= 1
            node = self._list() if char == "[" else self._map()
            self.levels += 1
            return node
        quoted = char in {"'", '"'}
        found = (QUOTED if quoted else _PLAIN).match(self.text, self.at)
        if found is None:
            raise self._error("a quote that is not closed" if quoted else "no value where one was due")
        self.at = found.end()
        if quoted:
            return unquoted(found.group())
        return Plain(fold([line.strip() for line in found.group().split("\n")]))

    def _list(self) -> list[YamlNode]:
        items: list[YamlNode] = []
        self.at += 1
        while self._skip() != "]":
            item = self.value()
            if self._skip() == ":":
                self.at += 1
                item = {self._key(item): self._member()}
            items.append(item)
            self._separator("]")
        self.at += 1
        return items

    def _map(self) -> dict[str, YamlNode]:
        members: dict[str, YamlNode] = {}
        self.at += 1
        while self._skip() != "}":
            key = self._key(self.value())
            if key in members:
                raise self._error(f"the key {key!r} is given twice", "duplicate_key")
            members[key] = Plain("")
            if self._skip() == ":":
                self.at += 1
                members[key] = self._member()
            self._separator("}")
        self.at += 1
        return members

    def _member(self) -> YamlNode:
        return Plain("") if self._skip() in {",", "}", "]"} else self.value()

    def _key(self, node: YamlNode) -> str:
        if isinstance(node, Plain):
            return node.text
        if not isinstance(node, str):
            raise self._error("a key that is no string")
        return node

    def _separator(self, closer: str) -> None:
        char = self._skip()
        if char == ",":
            self.at += 1
        elif char != closer:
            raise self._error(f"expected a comma or {closer!r}" if char else f"{closer!r} is missing")

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip(self) -> str:
        layout = _LAYOUT.match(self.text, self.at)
        self.at = layout.end() if layout else self.at
        return self._peek()

    def _error(self, what: str, reason: str = "malformed") -> YamlError:
        line = self.text.count("\n", 0, self.at) + 1
        return YamlError(f"line {line} of the YAML: {what}", reason)
