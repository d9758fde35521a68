r"""Texts that made some parser slow, too deep or wrong: a beginning, and a unit that is repeated.

    [[SEG_START {"type": "tool", "tool_name": "f", "arguments": {"s": "\\\\\\\\\\\\...
    `-- a prefix of a real call ----------------------------------'  `-- a unit

    functools[ {"a": {"a": {"a": ... </tool_call></tool_call></tool_call>...
               `-- one unit many times, then another: a mixture

A prefix puts the parser into a state, in which the unit is repeated. Prefixes and some units are cut from a call that
the dialect itself writes, so a new dialect has its traps at once.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolfmt.dialect.syntax import markers
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    from toolfmt.dialect.record import Dialect
    from toolfmt.model import JsonObject

UNITS = (
    # white space
    *(" ", "\n", "\t", " \n", "\r\n", "\u00a0", "\u2028", "\x00", "\ud800"),
    # brackets, open and not closed, closed and not opened
    *(
        "{",
        "[",
        "}",
        "]",
        "{}",
        "[]",
        "[{",
        "{[",
        "[[",
        "]]",
        "[x ",
        "(",
        ")",
        '{"a":',
        '{"a":{',
        '[{"a":',
        '{"a": {} ,',
    ),
    # JSON's tokens, whole and broken
    *('"', "'", '""', '"a"', '"a",', '"a":', '"a":1,', "a", "a,", ",", ", ", ":", "1", "-", "1,", "0.", "1e", "9"),
    *("true,", "True,", "None,", "nan,", "NaN", "Infinity,", "{'a':", "'a',", "'a':1,", "[1,2],"),
    *("\\", "\\\\", '\\"', "\\u", "\\u00", "\\ud83d", "\\x", "//", "/", "/*", "/* */", "// x\n", "#"),
    # markup
    *("<", ">", "</", "/>", "<a", "<a>", "</a>", "<a/>", "<a ", '<a b="c" ', "<a b=", '<a b="', "<a b='c'>", "=", '="'),
    *(
        "<!--",
        "-->",
        "<!-- -->",
        "<!",
        "<![",
        "<![CDATA[",
        "]]>",
        "<![CDATA[]]>",
        "<?",
        "<!DOCTYPE x [",
        "<!ENTITY a 'b'>",
    ),
    *("&", "&a", "&amp", "&amp;", "&lt;", "&#", "&#1", "&#x", "&#65;", "&a;"),
    *(
        "<arg",
        '<arg name="',
        '<arg name="a">',
        '<arg name="a">x</arg>',
        "</arg",
        "</arg>",
        "<item>",
        "</item>",
        "<item/>",
    ),
    *(
        "<item>1</item>",
        "<item",
        "<arguments>",
        "</arguments>",
        "<arguments",
        '<tool name="x">',
        "</tool>",
        "<tool",
        "<tool>",
    ),
    *(
        "<tool_call>",
        "</tool_call>",
        "<x>1</x>",
        "__START_CONTENT__",
        "__END_CONTENT__",
        "__END_CONTENT__\n",
        "</arg> ",
        "</arg>x",
    ),
    # words of text formats
    *(
        "Action: ",
        "Action: f\n",
        "Action Input: ",
        "Action: f\nAction Input: {\n",
        "Thought: ",
        "Observation:",
        "\nAction",
        "A",
    ),
    *(
        "[[SEG_START ",
        "[[SEG_START {",
        "[[SEG_END]]",
        "[[SEG_END",
        "[[SEG",
        "```",
        "```json\n",
        "`",
        "```json\n{",
        "\n```\n",
    ),
    *("<think>", "</think>", "<think", "<execute>", "</execute>", "<end", "<results>", "</results>"),
    # long enough for the look-ahead of a loose pattern
    *(" " * 63 + "x", " " * 255 + "x", "x" * 63 + " ", "a" * 250 + ">", "<" + "a" * 250, '<tool name="' + "a" * 1000),
    *(
        '<tool name="f"' + " a='b'" * 15,
        "<arg" + ' a="bbbbbbbbbbbbbbbb"' * 16,
        "</arg" + " " * 63,
        "Action: " + "x" * 511,
    ),
    *("<tool" + " " * 63 + "name", '<arg name="a"' + " " * 63, "</tool" + " " * 63, "<arguments " + "x" * 255),
)
"""The units for every dialect."""

_CUT = re.compile(r"""</?\w+|>|"|\[\[|[\[\]{}:,]|\n\s*|\w+""")
_HOLE = "HOLE"
_VALUE: JsonObject = {"s": _HOLE, "l": [{"k": "v"}]}
_PROPERTIES: JsonObject = {
    "s": {"type": "string"},
    "l": {"type": "array", "items": {"type": "object", "properties": {"k": {"type": "string"}}}},
}


@dataclass(frozen=True, slots=True)
class Trap:
    """A text of any size: a prefix, and a unit repeated."""

    prefix: str
    unit: str

    def text(self, size: int) -> str:
        """Repeat the unit up to `size` characters."""
        count = max(1, (size - len(self.prefix)) // len(self.unit))
        return self.prefix + self.unit * count


def _among(units: Sequence[str], size: int) -> str:
    """Repeat the first unit, each followed by as many of the others as there are of it."""
    rest = "".join(units[1:])
    block = units[0] + rest * max(1, math.isqrt(size // len(rest)))
    return block * max(1, size // len(block))


ORDERS: dict[str, Callable[[Sequence[str], int], str]] = {
    "in turn": lambda units, size: "".join(units) * max(1, size // len("".join(units))),
    "one after the other": lambda units, size: "".join(unit * max(1, size // len("".join(units))) for unit in units),
    "alike long": lambda units, size: "".join(unit * max(1, size // len(units) // len(unit)) for unit in units),
    "first among many": _among,
}
"""How several units are repeated."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """A text of any size: a prefix, and several units repeated."""

    prefix: str
    units: tuple[str, ...]
    order: str

    @property
    def unit(self) -> str:
        """Name what is repeated."""
        return f"{self.order}: {self.units}"

    def text(self, size: int) -> str:
        """Repeat the units up to `size` characters."""
        return self.prefix + ORDERS[self.order](self.units, size - len(self.prefix))


def mixture(prefixes: Sequence[str], own: Sequence[str], chance: random.Random) -> Mixture:
    """Mix two or three units, most of them a dialect's own."""
    units = tuple(chance.choice(own if chance.random() < 0.7 else UNITS) for _ in range(chance.choice((2, 2, 3))))  # noqa: PLR2004
    return Mixture(chance.choice(prefixes), units, chance.choice(list(ORDERS)))


def offers() -> dict[str, tuple[ToolDefinition, ...]]:
    """Return the tools that a trap may be read with: none, a fitting one, one with another schema."""
    other: JsonObject = {"s": {"type": "array"}, "l": {"type": "object"}}
    return {
        "none": (),
        "fitting": (ToolDefinition(name="f", parameters={"type": "object", "properties": _PROPERTIES}),),
        "other": (ToolDefinition(name="f", parameters={"type": "object", "properties": other}),),
    }


def sample(dialect: Dialect[str], count: int = 1) -> str:
    """Write a call of the tool `f` in a dialect."""
    server = "local" if dialect.traits.carries_server else None
    (tool,) = offers()["fitting"]
    call = ToolInvocation(name="f", arguments=_VALUE, server=server)
    reported = dialect.traits.needs_tools or not dialect.traits.carries_types
    return dialect.calls([call] * count, {tool.name: tool} if reported else {})


def prefixes(dialect: Dialect[str]) -> list[str]:
    """Return the beginnings: none, a reasoning or hidden block, a call cut at each of its tokens, a whole call."""
    syntax = dialect.syntax
    text = sample(dialect)
    pairs = (*syntax.reasoning, *syntax.hidden, *syntax.unwrap) if syntax else ()
    found = ["", "x ", *(opener + " " for opener, _ in pairs), *(syntax.stop if syntax else ())]
    found += [text[: match.end()] for match in _CUT.finditer(text)]
    found += [text + "\n", "```json\n", "[", "[\n{"]
    return list(dict.fromkeys(found))


def units(dialect: Dialect[str]) -> list[str]:
    """Return the units: `UNITS`, beginnings and tokens of the dialect's own calls, its markers cut short."""
    text = sample(dialect)
    own = [match.group() for match in _CUT.finditer(text)]
    own += [text, *(text[: match.end()] for match in _CUT.finditer(text, 0, text.index(_HOLE) + 8))]
    own += [text[match.start() :] for match in _CUT.finditer(text, len(text) - 16)]
    syntax = dialect.syntax
    for pair in (*syntax.reasoning, *syntax.hidden, *syntax.unwrap) if syntax else ():
        own += [marker[:length] for marker in pair if marker for length in (len(marker) - 1, len(marker))]
    return [unit for unit in dict.fromkeys((*UNITS, *own)) if unit]


def traps(dialect: Dialect[str]) -> Iterator[Trap]:
    """Return every prefix with every unit."""
    for prefix in prefixes(dialect):
        for unit in units(dialect):
            yield Trap(prefix, unit)


def beginnings(dialect: Dialect[str]) -> list[str]:
    """Return the places for a unit: prose, a call's first string, where a value is expected, after a whole call."""
    text = sample(dialect)
    string = text[: text.index(_HOLE) + len(_HOLE)]
    due = string.removesuffix(_HOLE).removesuffix('"')
    return list(dict.fromkeys(("", string, due, text + "\n")))


_PARTS = re.compile(r"""\w+|[^\w\s]""")


def repeated(dialect: Dialect[str]) -> list[str]:
    """Return the units: every beginning of every marker, a whole call, openers, quotes, brackets, runs of white space."""
    syntax = dialect.syntax
    found: list[str] = []
    for marker in markers(syntax) if syntax else ():
        found += [marker[: match.end()] for match in _PARTS.finditer(marker)]
    text = sample(dialect)
    ends = [match.end() for match in _CUT.finditer(text)]
    found += [text[:end] for end in ends[:: max(1, len(ends) // 8)]] + [text, text + "\n"]
    return [unit for unit in dict.fromkeys((*found, *UNITS)) if unit]
