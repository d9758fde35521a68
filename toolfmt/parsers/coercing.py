"""Calls whose arguments get the types of the tool's schema, where a format's own types are not those.

A coercing parser passes another parser's events on. A call's argument deltas
wait for its end, because coercion may still change them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Notice
from toolfmt.parsers.driving import has_ended
from toolfmt.schema import relax

if TYPE_CHECKING:
    from collections.abc import Mapping

    from toolfmt.dialect.record import Parser
    from toolfmt.events import Event
    from toolfmt.model import ToolDefinition


class CoercingParser:
    """Coerces the arguments of calls of known tools, each change with a notice."""

    __slots__ = ("_held", "_parser", "_tools")

    def __init__(self, parser: Parser[str], tools: Mapping[str, ToolDefinition]) -> None:
        """Coerce by the schemas of `tools`."""
        self._parser = parser
        self._tools = tools
        self._held: dict[int, list[ArgumentsDelta]] = {}

    @property
    def ended(self) -> bool:
        """Whether the answer is over by its own markers."""
        return has_ended(self._parser)

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece of text."""
        return self._coerced(self._parser.feed(chunk))

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return self._coerced(self._parser.close())

    def _coerced(self, events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            match event:
                case CallStart(index, name) if name in self._tools:
                    self._held[index] = []
                    out.append(event)
                case ArgumentsDelta(index) if index in self._held:
                    self._held[index].append(event)
                case CallEnd(index) if index in self._held:
                    out.extend(self._call(event, self._held.pop(index)))
                case CallFailed(index) if index in self._held:
                    out.extend((*self._held.pop(index), event))
                case _:
                    out.append(event)
        return out

    def _call(self, event: CallEnd, deltas: list[ArgumentsDelta]) -> list[Event]:
        call = event.call
        arguments, changes = relax(call.arguments, self._tools[call.name].parameters)
        if not changes:
            return [*deltas, event]
        text = jsontext.dumps(arguments)
        certainty = "tolerated" if call.certainty == "exact" else call.certainty
        fields = {"arguments": arguments, "raw_arguments": text, "certainty": certainty}
        notices = [Notice("coerced", change, event.span) for change in changes]
        return [ArgumentsDelta(event.index, text), *notices, replace(event, call=call.model_copy(update=fields))]
