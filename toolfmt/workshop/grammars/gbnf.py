r"""A grammar in llama.cpp's GBNF, with the arguments' schemas as rules.

    root ::= "<tool_call>\n{" ws "\"name\"" ...
    ws ::= (" " | "\n" [ \t]{0,64})?

GBNF has neither `and` nor `not`: where a text must not hold something, an automaton that reads it becomes rules, one
per state.
Source: ggml-org/llama.cpp, grammars/README.md and src/llama-grammar.cpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolfmt.workshop.grammars import nodes
from toolfmt.workshop.grammars.answers import Answer
from toolfmt.workshop.grammars.automata import TooLargeError, automaton
from toolfmt.workshop.grammars.spelling import ranges_text, repeats

_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
_LONG: Final = 120
"""Longer sequences and choices become rules."""


def write_gbnf(answer: Answer) -> tuple[str, tuple[str, ...]]:
    """Write a grammar; also return what it leaves out."""
    writer = Rulebook(answer.rules)
    return writer.text(answer.body), tuple(writer.relaxed)


class Rulebook:
    """Collects rules."""

    def __init__(self, rules: Mapping[str, nodes.Node]) -> None:
        self._nodes = rules
        self._rules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._known: dict[int, tuple[nodes.Node, str]] = {}
        self._texts: dict[nodes.Node, str] = {}
        self._pending: list[str] = []
        self.relaxed: dict[str, None] = {}
        """The constraints that the grammar does not enforce."""

    def text(self, root: nodes.Node) -> str:
        """Write a whole grammar."""
        body = self._spelled(root)
        for name in self._pending:  # a list, as rules that lead to one another would nest deep
            self._rules[name] = self._written(self._nodes[name])
        return "\n".join([f"root ::= {body}", *(f"{name} ::= {rule}" for name, rule in self._rules.items())]) + "\n"

    def _spelled(self, node: nodes.Node) -> str:
        known = self._known.get(id(node))
        if known is None:
            text = self._written(node)
            if len(text) > _LONG and isinstance(node, nodes.Seq | nodes.Alt):
                text = self._rule(text)
            known = self._known[id(node)] = (node, text)
        return known[1]

    def _rule(self, text: str) -> str:
        if text not in self._names:
            self._names[text] = f"r{len(self._names) + 1}"
            self._rules[self._names[text]] = text
        return self._names[text]

    def _written(self, node: nodes.Node) -> str:  # noqa: C901, PLR0911 - one per kind
        match node:
            case nodes.Lit(text):
                return f'"{"".join(map(_quoted, text))}"'
            case nodes.Chars():
                return char_set(node)
            case nodes.Seq(items):
                return " ".join(map(self._atom, items)) or '""'
            case nodes.Alt(options):
                return " | ".join(map(self._atom, options)) or "[^\\x00-\\U0010FFFF]"
            case nodes.Repeat(inner, least, most):
                return f"{self._atom(inner)}{repeats(least, most)}" if most != 0 else '""'
            case nodes.Space():
                self._rules.setdefault("ws", self._written(nodes.SPACE))
                return "ws"
            case nodes.Ref(name):
                if name not in self._rules:
                    self._rules[name] = ""  # holds the place
                    self._pending.append(name)
                return name
            case nodes.Json(node=inner):
                return self._spelled(inner)
            case nodes.Meet():
                return self._automaton(node)

    def _atom(self, node: nodes.Node) -> str:
        text = self._spelled(node)
        bare = isinstance(node, nodes.Lit | nodes.Chars | nodes.Space | nodes.Ref | nodes.Meet) or " " not in text
        return text if bare else f"({text})"

    def _automaton(self, node: nodes.Meet) -> str:
        if node not in self._texts:
            self._texts[node] = self._states(node)
        return self._texts[node]

    def _states(self, node: nodes.Meet) -> str:
        try:
            made = automaton(node)
        except TooLargeError:
            counted = node.never and all(isinstance(one, nodes.Repeat) and one.node == nodes.ANY for one in node.every)
            if not counted or node.every == (nodes.ANYTHING,):
                raise
            self.relaxed["the length of a text that may not hold some others is not held to"] = None
            return self._automaton(nodes.Meet((nodes.ANYTHING,), node.never, node.whole))
        if not any(made.accepts):
            return self._written(nodes.Alt(()))
        prefix = f"d{len(self._texts) + 1}"
        self._texts[node] = f"{prefix}-0"
        for at, moves in enumerate(made.moves):
            options = [f"{char_set(nodes.Chars(ranges))} {prefix}-{to}" for to, ranges in sorted(moves.items())]
            self._rules[f"{prefix}-{at}"] = " | ".join([*options, *(['""'] if made.accepts[at] else [])])
        return self._texts[node]


def char_set(node: nodes.Chars) -> str:
    """Write a set, or its complement if that is shorter."""
    away = nodes.others(node)
    if node.ranges and node.ranges[-1][1] > 0xFFFF:  # noqa: PLR2004 - all of Unicode
        return f"[^{ranges_text(away, _one)}]" if away.ranges else "[^\\x00]"
    return f"[{ranges_text(node, _one)}]"


def _one(code: int) -> str:
    char = chr(code)
    if char in "-^[]":  # xgrammar reads no other escape of these
        return f"\\x{code:02X}"
    return _quoted(char)


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if char.isprintable() and not 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004
        return char
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"  # noqa: PLR2004
