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

from dataclasses import dataclass, field, replace
from operator import is_
from typing import Final, TypeAlias

from toolfmt.errors import ParseError
from toolfmt.model import ToolInvocation

Span: TypeAlias = tuple[int, int]
"""Start and end offset in the input, end exclusive."""


API: Final = "api"
"""The `dialect` of a failure in an API's answer."""


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

    `reason` is a stable code: `truncated`, `malformed`, `missing_name`, `missing_arguments`, `missing_answer`,
    `arguments_not_object`, `duplicate_key`, `unclaimed`, `extra_field`, `mismatch`, `unsafe`, `limit`, `unread_call`;
    of a call that was read, `unknown_tool`, `invalid_arguments`, `extra_argument`, `mixed_content`.
    `detail` says what is wrong and where, `raw` is the call's text, `name` is the tool's name as far as it was read,
    `dialect` the one in which `parse` and its siblings read it, `api` for a call of an API's answer.
    """

    index: int
    raw: str
    reason: str
    detail: str
    span: Span
    name: str = ""
    dialect: str = field(default="", compare=False)


class MalformedCallError(ParseError):
    """One failed call of a `ParseResult`, as an exception."""

    def __init__(self, failure: CallFailed) -> None:
        """Wrap the failure; it stays available as `failure`."""
        super().__init__(f"call {failure.index}: {failure.reason}: {failure.detail}")
        self.failure = failure


@dataclass(slots=True)
class Notice:
    """A tolerated deviation, or the dialect that was found: its `kind`, a description and its place."""

    kind: str
    detail: str
    span: Span


Event: TypeAlias = TextDelta | ReasoningDelta | CallStart | ArgumentsDelta | CallEnd | CallFailed | Notice
"""What a parser emits."""


def coalesce(events: list[Event]) -> list[Event]:
    """Join adjacent deltas of the same kind, so that two streams of one text compare equal."""
    kinds = [*map(type, events)]
    if not any(map(is_, kinds, kinds[1:])):
        return [*events]
    texts = [event for event in events if isinstance(event, TextDelta)]
    if len(texts) == len(events):  # as most often
        text = "".join([event.text for event in texts])
        if texts[-1].start + len(texts[-1].text) - texts[0].start == len(text):
            return [TextDelta(text, texts[0].start)]
    joined: list[Event] = []
    pieces: list[str] = []
    last: type[Event] | None = None
    end = 0
    for event in events:
        kind = type(event)
        if isinstance(event, (TextDelta, ReasoningDelta)):
            text, place, width = event.text, event.start, len(event.text)
        elif isinstance(event, ArgumentsDelta):
            text, place, width = event.json, event.index, 0
        else:
            _close(joined, pieces)
            joined.append(event)
            pieces, last = [], None
            continue
        if kind is not last or place != end:
            _close(joined, pieces)
            joined.append(replace(event))
            pieces = []
        pieces.append(text)
        last, end = kind, place + width
    _close(joined, pieces)
    return joined


def _close(joined: list[Event], pieces: list[str]) -> None:
    """Give the last delta its whole text."""
    match joined[-1] if len(pieces) > 1 else None:
        case (TextDelta() | ReasoningDelta()) as event:
            event.text = "".join(pieces)
        case ArgumentsDelta() as event:
            event.json = "".join(pieces)
        case _:
            pass
