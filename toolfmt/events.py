"""The events that a parser emits: small slotted records.

A stream of events for `Let me look.<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>`:

    TextDelta("Let me look.", 0)
    CallStart(0, "f", None)
    ArgumentsDelta(0, '{"a": 1}')
    CallEnd(0, ToolInvocation(name="f", arguments={"a": 1}), (12, 67))

Positions are character offsets into the whole input. The events are not frozen, because creating a frozen dataclass
costs three times as much. Treat them as values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from toolfmt.model import ToolInvocation

Span: TypeAlias = tuple[int, int]
"""Start and end offset in the input, end exclusive."""


@dataclass(slots=True)
class TextDelta:
    """Text for the user; it begins at offset `start` of the input."""

    text: str
    start: int


@dataclass(slots=True)
class ReasoningDelta:
    """Text of the model's reasoning; it begins at offset `start` of the input."""

    text: str
    start: int


@dataclass(slots=True)
class CallStart:
    """A call has begun; followed by exactly one `CallEnd` or `CallFailed` of the same index."""

    index: int
    name: str
    id: str | None


@dataclass(slots=True)
class ArgumentsDelta:
    """A part of the arguments' JSON text; all parts of a call, joined, are the whole object."""

    index: int
    json: str


@dataclass(slots=True)
class CallEnd:
    """A complete call; `span` runs from its opening marker to the end of what belongs to it."""

    index: int
    call: ToolInvocation
    span: Span


@dataclass(slots=True)
class CallFailed:
    """A call, or what looks like one, that cannot be used.

    `reason` is a stable code (`truncated`, `malformed`, `duplicate_key`,
    `missing_name`, `missing_arguments`, `missing_answer`, `arguments_not_object`, `limit`, ...),
    `detail` says what is wrong and where, `raw` is the call's text, `name` is the tool's name as far as it was read,
    `dialect` the one in which `parse` and its siblings read it.
    """

    index: int
    raw: str
    reason: str
    detail: str
    span: Span
    name: str = ""
    dialect: str = field(default="", compare=False)


@dataclass(slots=True)
class Notice:
    """A tolerated deviation, or the dialect that was found: its `kind`, a description and its place."""

    kind: str
    detail: str
    span: Span


Event: TypeAlias = TextDelta | ReasoningDelta | CallStart | ArgumentsDelta | CallEnd | CallFailed | Notice


_DELTAS = frozenset({TextDelta, ReasoningDelta, ArgumentsDelta})


def coalesce(events: list[Event]) -> list[Event]:
    """Join adjacent deltas of the same kind, so that two streams of one text compare equal."""
    kinds = [event.__class__ for event in events]
    if not any(kind is after and kind in _DELTAS for kind, after in pairwise(kinds)):
        return [*events]
    joined: list[Event] = []
    pieces: list[str] = []
    end = 0
    for event in (*events, None):
        last = joined[-1] if joined else None
        match event, last:
            case (TextDelta(text, start), TextDelta()) | (ReasoningDelta(text, start), ReasoningDelta()) if (
                start == end
            ):
                pieces.append(text)
                end += len(text)
                continue
            case ArgumentsDelta(index, json), ArgumentsDelta(before) if index == before:
                pieces.append(json)
                continue
            case _:
                pass
        if len(pieces) > 1:
            _extend(last, "".join(pieces))
        pieces = []
        match event:
            case None:
                return joined
            case TextDelta(text, start):
                joined.append(TextDelta(text, start))
                pieces, end = [text], start + len(text)
            case ReasoningDelta(text, start):
                joined.append(ReasoningDelta(text, start))
                pieces, end = [text], start + len(text)
            case ArgumentsDelta(index, json):
                joined.append(ArgumentsDelta(index, json))
                pieces = [json]
            case _:
                joined.append(event)
    return joined


def _extend(event: Event | None, text: str) -> None:
    """Give the copy of a delta its whole text."""
    match event:
        case TextDelta() | ReasoningDelta():
            event.text = text
        case ArgumentsDelta():
            event.json = text
        case _:
            pass
