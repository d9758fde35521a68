r"""A grammar in llguidance's dialect of Lark, with `%json` for the arguments.

    %llguidance {}
    start: T1 json_1 T2
    T1: TEXT "<tool_call>\n{\"name\": \"f\", \"arguments\": "
    json_1: %json {...}

llguidance splits the answer into lexemes and always takes the longest one. So each regular part of the answer is one
terminal: what follows a text then decides where it ends, as in the parser.
Source: guidance-ai/llguidance, docs/syntax.md and docs/json_schema.md.
"""

from __future__ import annotations

from typing import Final

from toolfmt import jsontext
from toolfmt.errors import UnsupportedSchemaError
from toolfmt.workshop.grammars import nodes
from toolfmt.workshop.grammars.answers import Answer
from toolfmt.workshop.grammars.lexemes import continuations, in_steps, needs_more, open_ends, texts_in
from toolfmt.workshop.grammars.spelling import QUANTIFIERS, set_text

_WHITE: Final = r"( |\n[ \t]{0,64})"
_OPTIONS: Final = {"whitespace_pattern": _WHITE}
_ENDLESS: Final = (
    "a schema that holds itself, around text that only what follows it ends: its lexemes cannot be distinguished; "
    "use the target gbnf or structural-tag"
)
_MOST_ROWS: Final = 20_000
_DEEP: Final = (
    f"lists in lists, so deep that the grammar would have more than {_MOST_ROWS:,} rows; "
    "say what the lists hold, or use the target gbnf"
)
_UNTOLD: Final = (
    "text that only what follows it ends is in a list without end: its lexemes cannot be distinguished; "
    "use the target gbnf or structural-tag"
)
_DEEPEST: Final = 20
"""Nested decisions on where texts end."""
_NONEMPTY: Final = "/(?s:.+)/"


def write_lark(answer: Answer) -> tuple[str, tuple[str, ...]]:
    """Write a grammar; it leaves nothing out.

    Raises `UnsupportedSchemaError` if a call begins as the JSON of an output does: a lexer cannot tell them apart.
    """
    if isinstance(answer.alone, nodes.Json) and answer.section is not None and _opens_json(answer.section):
        raise UnsupportedSchemaError(
            "an output beside calls that begin as JSON does: the lexer cannot tell them apart; use another target, or "
            "a format that marks its calls"
        )
    try:
        return _Writer(answer).text(), ()
    except UnsupportedSchemaError:
        whole = _Writer(answer).whole()
        if whole is None:
            raise
        return whole, ()


def _opens_json(node: nodes.Node) -> bool:
    """Whether a text of the node begins as a JSON value does."""
    match node:
        case nodes.Lit(text):
            return text.lstrip()[:1] in {*'{["'}
        case nodes.Json():
            return True
        case nodes.Seq(items):
            return _opens_json(items[0])
        case nodes.Alt(options):
            return any(map(_opens_json, options))
        case _:
            return False


class _Writer:
    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._lines: list[str] = []
        self._terminals: dict[str, str] = {}
        self._opened: dict[tuple[str, tuple[int, ...]], str] = {}
        self._depth = 0
        """Rules of `_opened` that are being made."""
        self._kept: list[tuple[nodes.Node, ...]] = []
        """The nodes in the keys of `_opened`, kept alive so that no other node gets their ids."""
        self._rows = 0
        self._regular: dict[int, tuple[nodes.Node, bool]] = {}
        self._atoms: dict[int, tuple[nodes.Node, str]] = {}
        self._schemas: dict[str, str] = {}

    def text(self) -> str:
        start = self._rule(self._answer.body)
        needed = self._needed()
        for name in needed:
            if needs_more(self._answer.rules[name]):
                raise UnsupportedSchemaError(_ENDLESS)
        rules = [f"{_name(name)}: {self._rule(node)}" for name, node in self._answer.rules.items() if name in needed]
        return "\n".join(["%llguidance {}", f"start: {start}", *rules, *self._lines]) + "\n"

    def whole(self) -> str | None:
        """Write the answer as one lexeme; None if it is not regular."""
        if not self._is_regular(self._answer.body):
            return None
        start = self._terminal(self._answer.body)
        return "\n".join(["%llguidance {}", f"start: {start}", *self._lines]) + "\n"

    def _needed(self) -> set[str]:
        """Find the rules that are not only for targets without schemas."""
        found: set[str] = set()
        seen: set[int] = set()
        pending: list[nodes.Node] = [self._answer.body]
        while pending:
            node = pending.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            pending += nodes.parts(node)
            if isinstance(node, nodes.Ref) and node.name not in found:
                found.add(node.name)
                pending.append(self._answer.rules[node.name])
        return found

    def _is_regular(self, node: nodes.Node) -> bool:
        known = self._regular.get(id(node))
        if known is None:
            regular = not isinstance(node, nodes.Ref | nodes.Json) and all(map(self._is_regular, nodes.parts(node)))
            known = self._regular[id(node)] = (node, regular)
        return known[1]

    def _rule(self, node: nodes.Node) -> str:
        return self._row(node.items if isinstance(node, nodes.Seq) else (node,))

    def _row(self, items: tuple[nodes.Node, ...]) -> str:  # noqa: C901 - one loop over what may stand in a row
        """Write a row, cut into lexemes only where it is certain that one has ended."""
        self._rows += 1
        if self._rows > _MOST_ROWS:
            raise UnsupportedSchemaError(_DEEP)
        out: list[str] = []
        run: list[nodes.Node] = []
        for at, item in enumerate(items):
            if isinstance(item, nodes.Seq):
                return " ".join([*out, self._row((*run, *item.items, *items[at + 1 :]))])
            regular = self._is_regular(item)
            unsure = bool(open_ends([item]))
            if isinstance(item, nodes.Ref) and open_ends(run):
                raise UnsupportedSchemaError(_ENDLESS)
            last = at == len(items) - 1
            spread = isinstance(item, nodes.Repeat) or (isinstance(item, nodes.Alt) and not regular and not last)
            if (open_ends(run) and not _flat(item)) or (unsure and spread):
                rest = items[at:]
                if in_steps(rest) or not all(map(self._is_regular, rest)):
                    return " ".join([*out, self._open(run, rest)])
                return " ".join([*out, self._terminal(nodes.sequence(*run, *rest))])
            if regular and unsure and run and isinstance(run[-1], nodes.Lit) and not open_ends(run):
                out.append(self._terminal(nodes.sequence(*run)))
                run = []
            left_out = isinstance(item, nodes.Repeat) and not item.least and not unsure and not open_ends(run)
            if left_out and regular and not all(map(self._is_regular, items[at + 1 :])):
                # what follows may begin as it does, and a lexeme never gives back what it took
                out += [self._terminal(nodes.sequence(*run))] if run else []
                run = []
                out.append(self._terminal(item))
                continue
            alone = isinstance(item, nodes.Alt) and not run and last
            joined = bool(run) and not isinstance(run[-1], nodes.Lit)  # where its lexeme ends is not plain either
            if regular and ((unsure and not alone) or texts_in(item) <= 1 or joined):
                run.append(item)
                if isinstance(item, nodes.Lit) and texts_in(nodes.Seq(tuple(run))) and not open_ends(run):
                    out.append(self._terminal(nodes.sequence(*run)))
                    run = []
                continue
            if run:
                out.append(self._terminal(nodes.sequence(*run)))
                run = []
            out.append(self._single(item))
        if run or not out:
            out.append(self._terminal(nodes.sequence(*run)))
        return " ".join(out)

    def _open(self, run: list[nodes.Node], items: tuple[nodes.Node, ...]) -> str:
        """Name a rule for a run whose end only what follows decides: each option for what follows begins with it."""
        key = (self._spelled(nodes.sequence(*run)), tuple(map(id, items)))
        if key not in self._opened:
            name = self._opened[key] = f"then_{len(self._opened) + 1}"
            self._kept.append(items)
            if self._depth == _DEEPEST:
                raise UnsupportedSchemaError(_UNTOLD)
            self._depth += 1
            options = [self._rule(nodes.sequence(*run, option)) for option in continuations(run, items)]
            self._depth -= 1
            self._lines.append(f"{name}: {' | '.join(options)}")
        return self._opened[key]

    def _single(self, node: nodes.Node) -> str:
        """Write a node that is not a lexeme."""
        match node:
            case nodes.Alt(options):
                return "(" + " | ".join(map(self._rule, options)) + ")"
            case nodes.Repeat(inner, least, most):
                return f"({self._rule(inner)}){_times(least, most)}"
            case nodes.Json(schema=schema):
                return self._schema(jsontext.dumps({**schema, "x-guidance": _OPTIONS}))
            case nodes.Ref(name):
                return _name(name)
            case _:
                raise TypeError(f"{type(node).__name__} is a lexeme")

    def _schema(self, text: str) -> str:
        if text not in self._schemas:
            name = self._schemas[text] = f"json_{len(self._schemas) + 1}"
            self._lines.append(f"{name}: %json {text}")
        return self._schemas[text]

    def _terminal(self, node: nodes.Node) -> str:
        """Name a regular node; one that may be empty is optional, since no lexeme is empty."""
        if node == nodes.NOTHING:
            return '""'
        empty = _nullable(node)
        body = self._spelled(node)
        if not empty and len(body) < 60 and isinstance(node, nodes.Lit):  # noqa: PLR2004 - shorter than a name is worth
            return body
        name = self._named(f"({body}) & {_NONEMPTY}" if empty else body)
        return f"{name}?" if empty else name

    def _named(self, body: str) -> str:
        if body not in self._terminals:
            name = self._terminals[body] = f"T{len(self._terminals) + 1}"
            self._lines.append(f"{name}: {body}")
        return self._terminals[body]

    def _spelled(self, node: nodes.Node) -> str:  # noqa: PLR0911 - one per kind
        match node:
            case nodes.Lit(text):
                return jsontext.dumps(text) if text else '""'
            case nodes.Chars():
                return f"/{set_text(node)}/".replace("[\\s\\S]", "(?s:.)") if node.ranges else "(/a/ & /b/)"
            case nodes.Space():
                return f"/{_WHITE}?/"
            case nodes.Seq(items):
                return " ".join(map(self._atom, items)) or '""'
            case nodes.Alt(options):
                some = [option for option in options if option != nodes.NOTHING]
                text = " | ".join(map(self._atom, some))
                return text if len(some) == len(options) and some else f"({text})?" if some else "(/a/ & /b/)"
            case nodes.Repeat(inner, least, most):
                return f"{self._atom(inner)}{_times(least, most)}" if most != 0 else '""'
            case nodes.Meet(every, never):
                parts = [self._named(self._spelled(part)) for part in every]
                away = dict.fromkeys(self._named(self._spelled(part)) for part in never)
                parts += [f"~({' | '.join(away)})"] if away else []
                return self._named(" & ".join([*parts, "/(?s:.*)/"]))
            case _:
                raise TypeError(f"{type(node).__name__} is not regular")

    def _atom(self, node: nodes.Node) -> str:
        """Write a regular node so that an operator applies to all of it; remembered, as many occur several times."""
        known = self._atoms.get(id(node))
        if known is None:
            known = self._atoms[id(node)] = (node, self._one(node))
        return known[1]

    def _one(self, node: nodes.Node) -> str:
        text = self._spelled(node)
        plain = isinstance(node, nodes.Lit | nodes.Chars | nodes.Space | nodes.Meet) and not text.startswith("(")
        if len(text) > 400:  # noqa: PLR2004 - what is long is named, so that it is written once
            return self._named(text)
        return text if plain else f"({text})"


def _flat(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Lit | nodes.Space | nodes.Chars) or (
        isinstance(node, nodes.Repeat) and isinstance(node.node, nodes.Chars)
    )


def _nullable(node: nodes.Node) -> bool:  # noqa: PLR0911 - one per kind
    match node:
        case nodes.Lit(text):
            return not text
        case nodes.Space():
            return True
        case nodes.Seq(items):
            return all(map(_nullable, items))
        case nodes.Alt(options):
            return any(map(_nullable, options))
        case nodes.Repeat(inner, least, _):
            return not least or _nullable(inner)
        case nodes.Meet(every, never):
            return all(map(_nullable, every)) and not any(map(_nullable, never))
        case _:
            return False


def _times(least: int, most: int | None) -> str:
    if (least, most) in QUANTIFIERS:
        return QUANTIFIERS[least, most]
    return f"{{{least},{'' if most is None else most}}}"


def _name(rule: str) -> str:
    return "r_" + rule.replace("-", "_")
