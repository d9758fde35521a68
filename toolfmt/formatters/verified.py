"""Calls in formats that escape nothing, read again before they are given out.

    <parameter=content>
    the text, with </parameter> and <parameter=x> in it as they stand

Whether such a text can be distinguished from the format's own markers, only a reader can say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.dialect.record import ParserOptions
from toolfmt.errors import UnrepresentableError
from toolfmt.events import CallEnd

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolfmt.dialect.record import CallFormatter, Parser
    from toolfmt.model import ToolDefinition, ToolInvocation


def verified(
    dialect: str, write: CallFormatter[str], open_parser: Callable[[ParserOptions], Parser[str]]
) -> CallFormatter[str]:
    """Make a formatter that raises `UnrepresentableError` for calls that would not be read back as they are."""

    def check(calls: Sequence[ToolInvocation], tools: Mapping[str, ToolDefinition]) -> str:
        text = write(calls, tools)
        parser = open_parser(ParserOptions(tools=tools))
        events = [*parser.feed(text), *parser.close()]
        back = [event.call for event in events if isinstance(event, CallEnd)]
        for index, call in enumerate(calls):
            if index >= len(back) or back[index].name != call.name:
                advice = "" if call.name in tools else "; give its definition (tools=)"
                raise UnrepresentableError(dialect, "/arguments", f"{call.name!r} would not be read back{advice}")
            wrong = _difference(call, back[index])
            if wrong is not None:
                advice = "" if call.name in tools else "; give the tools: a schema may tell its type"
                raise UnrepresentableError(dialect, f"/arguments/{wrong}", f"it would be read back otherwise{advice}")
        if len(back) > len(calls):
            raise UnrepresentableError(dialect, "/arguments", "a value would be read back as a call")
        return text

    return check


def _difference(call: ToolInvocation, back: ToolInvocation) -> str | None:
    for key in call.arguments.keys() | back.arguments.keys():
        if key not in call.arguments or key not in back.arguments:
            return key
        if not jsontext.equal(call.arguments[key], back.arguments[key]):
            return key
    return None
