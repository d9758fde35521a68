"""One answer of a model that only writes text, as events: the calls in its text, and those that its server has read.

TextDelta("<tool_call>{...}</tool_call>")   -> CallStart, CallEnd, as the parser reads it
CallStart(0), CallEnd(0) of the server      -> the same, with a number that no other call has
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.dialect.record import Parser
    from toolfmt.events import Event

CallEvent: TypeAlias = CallStart | ArgumentsDelta | CallEnd | CallFailed


class TextReading:
    """Reads the text of an answer with a parser, if there is one; the server's own calls pass."""

    def __init__(self, parser: Parser[str] | None) -> None:
        """Begin an answer."""
        self._parser = parser
        self._pieces: list[str] = []
        self._numbers: dict[tuple[bool, int], int] = {}

    @property
    def text(self) -> str:
        """What the model has written so far."""
        return "".join(self._pieces)

    def feed(self, event: Event) -> list[Event]:
        """Read one event of the server's answer; what is neither text nor a call is left out."""
        if isinstance(event, CallEvent):
            return self._numbered([event], own=False)
        if not isinstance(event, TextDelta):
            return []
        self._pieces.append(event.text)
        return [event] if self._parser is None else self._numbered(self._parser.feed(event.text), own=True)

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return [] if self._parser is None else self._numbered(self._parser.close(), own=True)

    def _numbered(self, events: Iterable[Event], *, own: bool) -> list[Event]:
        """Count the calls of the text and of the server together."""
        numbers = self._numbers
        return [
            replace(event, index=numbers.setdefault((own, event.index), len(numbers)))
            if isinstance(event, CallEvent)
            else event
            for event in events
        ]
