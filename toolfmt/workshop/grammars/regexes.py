r"""A grammar as one regular expression, where the calls are a regular language.

    <tool_call>\n\{"name": "f", "arguments": \{"n": (?:0|-?[1-9][0-9]{0,18})\}\}\n</tool_call>

It uses sets, groups and counts, which engines without look-around have too. Recursive schemas and values of any kind
have no such form.
"""

from __future__ import annotations

from typing import Final

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars.answers import Answer
from toolfmt.workshop.grammars.automata import Automaton, automaton
from toolfmt.workshop.grammars.nodes import Chars, Json, Node, Ref, joined
from toolfmt.workshop.grammars.spelling import NEVER, RegexWriter, set_text

LONGEST: Final = 100_000
"""Characters that describe one text which may not hold some others; no engine could use more."""
LONGEST_OF_ALL: Final = 1_000_000
"""Characters of the whole expression."""


def write_regex(answer: Answer) -> tuple[str, tuple[str, ...]]:
    """Write a grammar. Raises `UnsupportedSchemaError` if there is no such expression, or if it is too long."""
    return _Writer().text(answer.body), ()


class _Writer(RegexWriter):
    def __init__(self) -> None:
        self._texts: dict[Node, str] = {}
        self._known: dict[int, tuple[Node, str]] = {}

    def text(self, node: Node) -> str:
        """Write a node once, wherever it is; raises `UnsupportedSchemaError` for one that is too long."""
        known = self._known.get(id(node))
        if known is not None:
            return known[1]
        text = super().text(node)
        if len(text) > LONGEST_OF_ALL:
            raise UnsupportedSchemaError(
                f"the regular expression is too long for any engine, with more than {LONGEST_OF_ALL:,} characters: "
                "give fewer tools or simpler schemas, or use the target lark, gbnf or structural-tag"
            )
        self._known[id(node)] = (node, text)
        return text

    def other(self, node: Node) -> str:
        """Write a schema by its node and a `Meet` by its automaton; a recursive node is refused."""
        if isinstance(node, Json):
            return self.text(node.node)
        if isinstance(node, Ref):
            raise UnsupportedSchemaError(
                "a schema that holds itself, or a value of any kind, is no regular language; "
                "use the target lark, gbnf or structural-tag"
            )
        if node not in self._texts:
            self._texts[node] = expression(automaton(node))
        return self._texts[node]


def expression(made: Automaton) -> str:
    """Write an automaton by eliminating its states. Raises `UnsupportedSchemaError` if the expression is too long."""
    end = len(made.moves)
    edges: dict[int, dict[int, str]] = {at: {} for at in range(-1, end + 1)}
    edges[-1][0] = ""
    for at, moves in enumerate(made.moves):
        edges[at] = {to: set_text(Chars(joined(ranges))) for to, ranges in moves.items()}
        if made.accepts[at]:
            edges[at][end] = ""
    pending = set(range(end))
    while pending:
        at = min(pending, key=lambda one: _cost(edges, one))
        pending.discard(at)
        out = edges.pop(at)
        loop = out.pop(at, None)
        again = "" if loop is None else f"(?:{loop})*" if len(loop) > 1 and not _single(loop) else f"{loop}*"
        for leads in edges.values():
            into = leads.pop(at, None)
            if into is None:
                continue
            for to, text in out.items():
                way = f"{_grouped(into)}{again}{_grouped(text)}"
                leads[to] = _or(leads[to], way) if to in leads else way
                if len(leads[to]) > LONGEST:
                    raise UnsupportedSchemaError(
                        "what a text may not hold makes the regular expression too long; use the target lark or gbnf"
                    )
    return edges[-1].get(end, NEVER)


def _cost(edges: dict[int, dict[int, str]], at: int) -> int:
    before = [leads[at] for one, leads in edges.items() if one != at and at in leads]
    after = [text for to, text in edges[at].items() if to != at]
    loop = len(edges[at].get(at, ""))
    return sum(map(len, before)) * len(after) + sum(map(len, after)) * len(before) + loop * len(before) * len(after)


def _or(one: str, other: str) -> str:
    if not one or not other:
        return f"(?:{one or other})?" if one or other else ""
    return f"{one}|{other}"


def _grouped(text: str) -> str:
    return f"(?:{text})" if "|" in text and not _single(text) else text


def _single(text: str) -> bool:
    """Whether an expression is one character class."""
    return text[:1] == "[" and text.find("]", 1 + (text[1:2] == "\\") * 2) == len(text) - 1
