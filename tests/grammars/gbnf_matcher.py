"""A recogniser of GBNF, written from llama.cpp's description of it, so that grammars are judged by their text alone."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<name>[a-zA-Z][a-zA-Z0-9-]*)'
    r"|(?P<count>\{\d+(?:,\d*)?\}|[*+?])|(?P<mark>[|()]))",
    re.DOTALL,
)
ESCAPE = re.compile(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4})|U([0-9A-F]{8})|(.))", re.DOTALL)


def unescaped(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else {"n": "\n", "t": "\t", "r": "\r"}.get(found[4], found[4])

    return ESCAPE.sub(one, text)


class Gbnf:
    """One grammar."""

    def __init__(self, text: str) -> None:
        self.rules = {}
        for line in text.splitlines():
            name, _, body = line.partition(" ::= ")
            assert name not in self.rules, f"{name} is there twice"
            self.rules[name] = self.parse(body)

    def parse(self, body: str) -> Any:
        tokens, at = [], 0
        while at < len(body):
            token = TOKEN.match(body, at)
            assert token is not None, body[at : at + 40]
            tokens.append((token.lastgroup, token.group(token.lastgroup or 0)))
            at = token.end()
        node, rest = self.choice(tokens, 0)
        assert rest == len(tokens), tokens[rest:]
        return node

    def choice(self, tokens: list[tuple[str | None, str]], at: int) -> tuple[Any, int]:
        options, row = [], []
        while at < len(tokens) and tokens[at] != ("mark", ")"):
            kind, text = tokens[at]
            at += 1
            if (kind, text) == ("mark", "|"):
                options.append(("row", tuple(row)))
                row = []
            elif (kind, text) == ("mark", "("):
                node, at = self.choice(tokens, at)
                row.append(node)
                assert tokens[at] == ("mark", ")")
                at += 1
            elif kind == "count":
                least, _, most = ({"*": "0,", "+": "1,", "?": "0,1"}.get(text) or text[1:-1]).partition(",")
                ends = int(least) if "," not in text and text[0] == "{" else int(most) if most else None
                row.append(("times", row.pop(), int(least), ends))
            elif kind == "string":
                row.append(("text", unescaped(text[1:-1])))
            elif kind == "set":
                row.append(("set", re.compile(text, re.DOTALL)))
            else:
                row.append(("rule", text))
        options.append(("row", tuple(row)))
        return ("any", tuple(options)), at

    def fits(self, text: str) -> bool:  # noqa: C901 - one per kind of node
        """Whether the grammar accepts a text as a whole."""

        @cache
        def rule(name: str, at: int) -> frozenset[int]:
            return frozenset(ends(self.rules[name], frozenset({at})))

        def ends(node: Any, begins: frozenset[int]) -> frozenset[int]:
            match node:
                case ("text", word):
                    return frozenset(at + len(word) for at in begins if text.startswith(word, at))
                case ("set", pattern):
                    return frozenset(at + 1 for at in begins if pattern.match(text, at))
                case ("rule", name):
                    return frozenset().union(*(rule(name, at) for at in begins))
                case ("row", items):
                    for item in items:
                        begins = ends(item, begins)
                        if not begins:
                            break
                    return begins
                case ("any", options):
                    return frozenset().union(*(ends(option, begins) for option in options))
                case ("times", inner, least, most):
                    found = begins if not least else frozenset()
                    count = 0
                    while begins and (most is None or count < most):
                        begins = ends(inner, begins) - (found if count >= least else frozenset())
                        count += 1
                        found |= begins if count >= least else frozenset()
                    return found
            raise TypeError(node)

        return len(text) in rule("root", 0)
