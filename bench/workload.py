"""Answers for measurements: prose, calls with one code-like string argument each, more prose.

    Workload(dialect, "written", calls=1, size=10_000)     as the dialect writes the call
    Workload(dialect, "raw", calls=1, size=10_000)         as models do, with the code unescaped

`size` is the number of characters of all code in an answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.dialect.record import ParserOptions
from toolfmt.model import ToolDefinition, ToolInvocation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.dialect.record import Dialect
    from toolfmt.events import Event

PROSE = "The file has two branches that say the same, so I will write it anew and keep the names as they are. "
CODE = """\
def shown(rows, *, limit=20):
    '''Write "rows" as a table; more than `limit` are cut.'''
    if not rows and limit > 0:
        return "<p class='empty'>nothing\\there & now</p>"
    cells = [f"<td>{row['name']}</td>" for row in rows if len(row) < limit && row != {}]
    return "<table>\\n" + "\\n".join(cells) + "</table>"  # 100 % done

"""
TOOL = ToolDefinition(name="save", parameters={"type": "object", "properties": {"content": {"type": "string"}}})
_ITEMS = '<tool name="save"><arguments><arg name="content">', "</arg></arguments></tool>"
_CDATA = (
    "<tool>\n<tool_name>save</tool_name>\n<arguments>\n  <content><![CDATA[",
    "]]></content>\n</arguments>\n</tool>",
)
RAW = {
    "anthropic-json": _ITEMS,
    "xml-items": _ITEMS,
    "xml-cdata": _CDATA,
    "tool-json": _CDATA,
    "sentinel": ('[[SEG_START {"type": "write_file"}]]', "[[SEG_END]]"),
}
"""The text around unescaped code, for dialects that can be written like this."""


@dataclass(frozen=True)
class Workload:
    """One answer in one dialect."""

    dialect: Dialect[str]
    kind: str
    calls: int
    size: int

    @cached_property
    def invocations(self) -> list[ToolInvocation]:
        """The calls, with the code divided among them."""
        share = self.size // self.calls
        code = (CODE * (share // len(CODE) + 1))[:share]
        server = "local" if self.dialect.traits.carries_server else None
        return [ToolInvocation(name=TOOL.name, arguments={"content": code}, server=server)] * self.calls

    @cached_property
    def text(self) -> str:
        """The whole answer; without prose if the dialect allows none beside a call."""
        if self.kind == "raw":
            opener, closer = RAW[self.dialect.name]
            calls = "\n".join(opener + call.arguments["content"] + closer for call in self.invocations)
        else:
            calls = self.dialect.calls(self.invocations, {TOOL.name: TOOL})
        return f"{PROSE * 2}\n{calls}\n{PROSE * 2}" if self.dialect.traits.text_around else calls

    @cached_property
    def arguments(self) -> list[str]:
        """The bare JSON of each call's arguments, which any reader must at least decode."""
        return [jsontext.dumps(call.arguments) for call in self.invocations]

    @property
    def json(self) -> bool:
        """Whether the code is a JSON string on the wire."""
        syntax = self.dialect.syntax
        return self.kind == "written" and syntax is not None and syntax.forms[0].elements is None

    def read(self, chunks: Sequence[str]) -> Iterator[list[Event]]:
        """Read the answer in these pieces; yield the events of each."""
        parser = self.dialect.open_parser(ParserOptions(tools={TOOL.name: TOOL}, whole=len(chunks) == 1))
        for chunk in chunks:
            yield parser.feed(chunk)
        yield parser.close()

    def pieces(self, size: int) -> list[str]:
        """Cut the answer into pieces of `size` characters; 0 for the whole."""
        return [self.text[at : at + size] for at in range(0, len(self.text), size)] if size else [self.text]


def kinds(dialect: Dialect[str]) -> tuple[str, ...]:
    """Return the ways to write code in a dialect."""
    return ("written", "raw") if dialect.name in RAW else ("written",)
