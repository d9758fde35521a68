r"""A grammar as one regular expression, where the calls are a regular language.

    <tool_call>\n\{"name": "f", "arguments": \{"n": (?:0|-?[1-9][0-9]{0,18})\}\}\n</tool_call>

Only what engines without look-around know is used: sets, groups, counts.
Schemas that hold themselves, and values of any kind, have no such form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars.automata import Automaton, automaton
from toolfmt.workshop.grammars.nodes import SPACE, Alt, Chars, Json, Lit, Meet, Node, Ref, Repeat, Seq, Space, joined
from toolfmt.workshop.grammars.spelling import quoted, repeats, set_text

if TYPE_CHECKING:
    from toolfmt.workshop.grammars.answers import Answer

LONGEST: Final = 100_000
"""Characters of what spells one text that may not hold some others; more is refused, as no engine would bear it."""

LONGEST_OF_ALL: Final = 1_000_000
"""Characters of all of it, likewise."""


def write_regex(answer: Answer) -> tuple[str, tuple[str, ...]]:
    """Write a grammar. Raises `UnsupportedSchemaError` where there is no such expression, or none of bearable size."""
    return _Writer().text(answer.body), ()


class _Writer:
    def __init__(self) -> None:
        self._texts: dict[Node, str] = {}

    def text(self, node: Node) -> str:
        """Spell a node."""
        text = self._spelled(node)
        if len(text) > LONGEST_OF_ALL:
            raise UnsupportedSchemaError(
                f"the regular expression is too long for any engine, with more than {LONGEST_OF_ALL:,} characters: "
                "give fewer tools or simpler schemas, or use the target lark, gbnf or structural-tag"
            )
        return text

    def _spelled(self, node: Node) -> str:  # noqa: C901, PLR0911 - one per kind
        match node:
            case Lit(text):
                return "".join(map(quoted, text))
            case Chars():
                return set_text(node) if node.ranges else r"[^\s\S]"
            case Space():
                return self.text(SPACE)
            case Seq(items):
                return "".join(map(self._in_row, items))
            case Alt(options):
                return self._choice([self.text(option) for option in options])
            case Repeat(inner, least, most):
                return "" if most == 0 else self._group(inner) + repeats(least, most)
            case Json(node=inner):
                return self.text(inner)
            case Ref():
                raise UnsupportedSchemaError(
                    "a schema that holds itself, or a value of any kind, is no regular language; "
                    "use the target lark, gbnf or structural-tag"
                )
            case Meet():
                if node not in self._texts:
                    self._texts[node] = expression(automaton(node))
                return self._texts[node]

    def _choice(self, texts: list[str]) -> str:
        some = list(dict.fromkeys(filter(None, texts)))
        if not texts:
            return r"[^\s\S]"
        return f"(?:{'|'.join(some)})?" if "" in texts and some else "|".join(some)

    def _in_row(self, node: Node) -> str:
        text = self.text(node)
        return f"(?:{text})" if isinstance(node, Alt | Space | Meet | Json) and "|" in text else text

    def _group(self, node: Node) -> str:
        text = self.text(node)
        return text if isinstance(node, Chars) or (isinstance(node, Lit) and len(node.text) == 1) else f"(?:{text})"


def expression(made: Automaton) -> str:
    """Spell an automaton, one state after the other taken out. Raises `UnsupportedSchemaError` if it grows too long."""
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
    return edges[-1].get(end, r"[^\s\S]")


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
    """Whether a text is one set."""
    return text[:1] == "[" and text.find("]", 1 + (text[1:2] == "\\") * 2) == len(text) - 1
