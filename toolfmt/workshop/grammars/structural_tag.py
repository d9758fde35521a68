r"""A grammar as a structural tag, the JSON that xgrammar, vLLM and SGLang take as a response format.

    {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<tool_call>"], "tags": [
        {"type": "tag", "begin": "<tool_call>\n{", "content": ..., "end": ""}]}}

Arguments in JSON are `json_schema` formats, and everything else is a `grammar` in EBNF. Where text and calls mix, the
first marker of a call is the trigger.
Source: mlc-ai/xgrammar, docs/structural_tag.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Final

from toolfmt import jsontext
from toolfmt.model import JsonObject
from toolfmt.workshop.grammars.answers import Answer
from toolfmt.workshop.grammars.gbnf import Rulebook
from toolfmt.workshop.grammars.nodes import NOTHING, Alt, Json, Lit, Node, Repeat, Seq, parts, sequence

_WORD: Final = re.compile(r"\S+")


def write_structural_tag(answer: Answer) -> tuple[str, tuple[str, ...]]:
    """Write a grammar as JSON text; also return what it leaves out."""
    writer = _Writer(answer.rules)
    return jsontext.dumps({"type": "structural_tag", "format": writer.answer(answer)}), tuple(writer.relaxed)


class _Writer:
    def __init__(self, rules: Mapping[str, Node]) -> None:
        self._rules = rules
        self._holding: dict[int, tuple[Node, bool]] = {}
        self.relaxed: dict[str, None] = {}

    def answer(self, answer: Answer) -> JsonObject:
        """Write the format of a whole answer."""
        section = answer.section.items if isinstance(answer.section, Seq) else ()
        first, last = (section[0], section[-1]) if section else (NOTHING, NOTHING)
        trigger = _WORD.match(first.text) if isinstance(first, Lit) else None
        mixed = not answer.must and answer.text != NOTHING and not answer.framed
        if not mixed or trigger is None or not isinstance(first, Lit) or not isinstance(last, Lit):
            return self._format(answer.body)
        tag = {"type": "tag", "begin": first.text, "content": self._format(sequence(*section[1:-1])), "end": last.text}
        begun: JsonObject = {
            "type": "triggered_tags",
            "triggers": [trigger.group()],
            "tags": [tag],
            "at_least_one": False,
            "stop_after_first": answer.most == 1,
        }
        self.relaxed["text may go on after a call, and holds other markers of the format than that of a call"] = None
        if answer.most not in (None, 1):
            self.relaxed[f"there may be more than {answer.most} calls"] = None
        if answer.reasoning == NOTHING:
            return begun
        return {
            "type": "sequence",
            "elements": [{"type": "optional", "content": self._format(answer.reasoning)}, begun],
        }

    def _format(self, node: Node) -> JsonObject:  # noqa: PLR0911 - one per kind
        match node:
            case Lit(text):
                return {"type": "const_string", "value": text}
            case Json(schema=schema):
                return {"type": "json_schema", "json_schema": schema}
            case _ if not self._holds_schema(node):
                return self._grammar(node)
            case Seq(items):
                return {"type": "sequence", "elements": [self._format(part) for part in self._joined(items)]}
            case Alt(options):
                return {"type": "or", "elements": [self._format(option) for option in options]}
            case Repeat(inner, least, most):
                return {
                    "type": "repeat",
                    "content": self._format(inner),
                    "min": least,
                    "max": -1 if most is None else most,
                }
            case _:
                return self._grammar(node)

    def _grammar(self, node: Node) -> JsonObject:
        book = Rulebook(self._rules)
        text = book.text(node)
        self.relaxed |= book.relaxed
        return {"type": "grammar", "grammar": text}

    def _holds_schema(self, node: Node) -> bool:
        known = self._holding.get(id(node))
        if known is None:
            holds = isinstance(node, Json) or any(map(self._holds_schema, parts(node)))
            known = self._holding[id(node)] = (node, holds)
        return known[1]

    def _joined(self, items: tuple[Node, ...]) -> list[Node]:
        """Join neighbours without a schema: they share one grammar."""
        out: list[Node] = []
        for holds, group in groupby(items, self._holds_schema):
            held = [*group]
            joined = held if holds else [sequence(*held)]
            out += [part for part in joined if part != NOTHING]
        return out
