r"""Collects what grammars find: events in order, and calls while they grow.

A `Sink` collects the events of one `feed`. Layout that turns out to belong to a
call (the blank between two calls, a bracket or fence before a bare one) is
*held*: the next text releases it, the next call drops it. So is the blank at the
edge of a text if the format's own markers include it:

    <think>\nI should call.\n</think>\n\nLet me look.\n<tool_call>
           ^^              ^^        ^^^^            ^^
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from toolfmt.dialect.record import ParserOptions
from toolfmt.events import (
    ArgumentsDelta,
    CallEnd,
    CallFailed,
    CallStart,
    Event,
    Notice,
    ReasoningDelta,
    Span,
    TextDelta,
)
from toolfmt.model import CallProvenance, Certainty, JsonObject, ToolInvocation
from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.parsers.scanning.surroundings import Prose

_GUESSES: Final = frozenset({"ambiguous_closer", "open_reasoning"})
"""Notices of places with several readings."""


_set = object.__setattr__
_CALL_FIELDS: Final = frozenset(ToolInvocation.model_fields) - {"extra"}


def invocation(  # noqa: PLR0913, PLR0917 - the fields of the record
    name: str,
    arguments: JsonObject,
    id: str | None,  # noqa: A002 - as the record has it
    raw_arguments: str | None,
    server: str | None,
    agent: str | None,
    provenance: CallProvenance,
    certainty: Certainty,
) -> ToolInvocation:
    """Build a call without validating its values again, which would take as long as reading them."""
    made = object.__new__(ToolInvocation)
    fields = {
        "name": name,
        "arguments": arguments,
        "id": id,
        "raw_arguments": raw_arguments,
        "server": server,
        "agent": agent,
        "provenance": provenance,
        "certainty": certainty,
        "extra": {},
    }
    _set(made, "__dict__", fields)
    _set(made, "__pydantic_fields_set__", {*_CALL_FIELDS})
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


@dataclass(slots=True)
class Aside:
    """The state of a sink before events are set aside."""

    events: list[Event]
    state: tuple[int, int, bool, bool, list[Callable[[], None]], list[tuple[str, int]], list[tuple[str, int]]]


class Sink:
    """The events of one parse."""

    calls = 0
    reasoning = False
    layout = True
    """Whether the text so far is only layout: nothing, or a marker, comes before this place."""
    has_text = False
    """Whether text other than white space was emitted."""
    guessed = False
    """Whether reading calls here at all is one of several readings."""
    slip = -1
    """The place of the last deviation, in a call or between calls."""
    edge = WHITE
    """The white space at the beginning of reasoning that belongs to the markers."""
    claimed = False
    """Whether markers around it declare this to be the text."""
    _aside: Aside | None = None

    def __init__(
        self,
        options: ParserOptions,
        opens: tuple[bool, bool] = (False, False),
        ends: tuple[bool, bool] = (False, False),
        *,
        hides: bool = False,
    ) -> None:
        """Start without events; `options` are the parser's.

        `opens` and `ends` state for text and reasoning whether the white space
        at its beginning and end belongs to the markers. If the format
        `hides` text, it counts only while it is `claimed`.
        """
        self.options = options
        self.events: list[Event] = []
        self.ahead: list[Callable[[], None]] = []
        """Actions to run when the next call begins, before it; a reader of calls may still remove them."""
        self._opens = [*opens]
        self._ends = ends
        self._hides = hides
        self.prose = Prose()
        self._unclaimed: list[tuple[str, int]] = []
        self._held: list[tuple[str, int]] = []

    def take(self) -> list[Event]:
        """Return the events so far and clear them."""
        aside = self._aside
        if aside is not None:
            events, aside.events = aside.events, []
            return events
        events = self.events
        self.events = []
        return events

    def set_aside(self) -> None:
        """Set aside all further events until `put_back`."""
        state = self.calls, self.slip, self.guessed, self.layout, self.ahead, self._held, self._unclaimed
        self._aside = Aside(self.events, state)
        self.events, self.ahead, self._held, self._unclaimed = [], self.ahead[:], self._held[:], self._unclaimed[:]

    def put_back(self) -> bool:
        """Discard what was set aside; return whether it contained a call."""
        aside, events = self._aside, self.events
        if aside is None:
            return False
        self._aside, self.events = None, aside.events
        self.calls, self.slip, self.guessed, self.layout, self.ahead, self._held, self._unclaimed = aside.state
        return any(isinstance(event, CallEnd) for event in events)

    def text(self, text: str, at: int) -> None:
        """Emit text at the absolute offset `at`."""
        if not text:
            return
        if not self.reasoning:
            self.prose.add(text)
        if self._hides and not self.claimed and not self.reasoning:
            self._leave(text, at)
            return
        if not self.has_text:
            self.has_text = bool(text.strip(WHITE))
        body = text
        ends = self._ends[self.reasoning]
        if ends or self.layout:
            body = text.rstrip(WHITE)
            if not body:
                self.hold(text, at)
                return
            body = body if ends else text
        if self._held or self.layout:
            self.flush()
        self._emit(body, at)
        if len(body) < len(text):
            self.hold(text[len(body) :], at + len(body))

    def show(self, text: str, at: int) -> list[Event]:
        """Process text as `text` does, and return its events."""
        reasoning = self.reasoning
        blank = self._ends[reasoning] and text[-1].isspace()
        if blank or self.layout or self._held or self._hides or not self.has_text or self._opens[reasoning]:
            self.text(text, at)
            return self.take()
        if reasoning:
            return [ReasoningDelta(text, at)]
        self.prose.add(text)
        return [TextDelta(text, at)]

    def _emit(self, text: str, at: int) -> None:
        if self._opens[self.reasoning]:
            whole, text = text, text.lstrip(self.edge if self.reasoning else WHITE)
            at += len(whole) - len(text)
            self._opens[self.reasoning] = not text
        if text:
            self.events.append(ReasoningDelta(text, at) if self.reasoning else TextDelta(text, at))

    def hold(self, text: str, at: int) -> None:
        """Hold back layout until it is known to be text or part of a call."""
        self._held.append((text, at))

    def flush(self) -> None:
        """Emit what is held back as text."""
        self.layout = False
        held, self._held = self._held, []
        for text, at in held:
            self._emit(text, at)

    def drop(self) -> None:
        """Drop what is held back, as it belongs to a call or another marker."""
        self._held = []

    def _leave(self, text: str, at: int) -> None:
        """Record text that no marker claims, for one notice per stretch."""
        if self._unclaimed:
            last, begun = self._unclaimed[-1]
            if begun + len(last) != at:
                self.emit_unclaimed()
        self._unclaimed.append((text, at))

    def emit_unclaimed(self) -> None:
        """Report the text outside all markers in one notice."""
        if not self._unclaimed:
            return
        parts, self._unclaimed = self._unclaimed, []
        text = "".join(part for part, _ in parts)
        if text.strip(WHITE):
            self.note("unclaimed_text", text, (parts[0][1], parts[-1][1] + len(parts[-1][0])))

    def settle(self) -> None:
        """End the text: what is held back is part of it, unless no text comes before."""
        self.emit_unclaimed()
        if self.layout:
            self.drop()
        self.flush()

    def number(self) -> int:
        """Begin a call: run the waiting actions and return its index."""
        if self._unclaimed:
            self.emit_unclaimed()
        if self.ahead:
            ahead, self.ahead = self.ahead, []
            for emit in ahead:
                emit()
        self._held = []
        self.calls += 1
        return self.calls - 1

    def note(self, kind: str, detail: str, span: Span) -> None:
        """Report a tolerated deviation; if it is a choice of reading, every later call depends on it."""
        self.guessed = self.guessed or kind in _GUESSES
        self.slip = max(self.slip, span[0])
        self.events.append(Notice(kind, detail, span))

    @property
    def full(self) -> bool:
        """Whether the limit of calls is reached."""
        return self.calls >= self.options.limits.calls

    def refuse(self, at: int) -> None:
        """Fail the first call beyond the limit, at the absolute offset `at`; nothing after it is read."""
        Draft(self, at).fail("", "limit", f"more than {self.options.limits.calls} calls", at)


class Spoken:
    """Receives the model's text from an offset on."""

    def __init__(self, sink: Sink, at: int) -> None:
        """Emit the text to `sink`; it begins at the absolute offset `at`."""
        self._sink = sink
        self.at = at
        self.show = sink.show

    def add(self, text: str) -> None:
        """Emit a piece."""
        self._sink.text(text, self.at)
        self.at += len(text)

    def keep(self, text: str) -> None:
        """Store pieces whose events were already emitted."""
        self.at += len(text)


class Draft:
    """A call while it is being read.

    Its events are held back until the call is `confirmed` and its name known,
    so that a candidate in prose can still turn out to be text.
    """

    def __init__(
        self, sink: Sink, start: int, provenance: CallProvenance = "marker", *, confirmed: bool = True
    ) -> None:
        """Begin a call whose opening marker is at the absolute offset `start`."""
        self.sink = sink
        self.start = start
        self.provenance: CallProvenance = provenance
        self.reasoning = ""
        """The model's thought, if the call itself contains it."""
        self.reasoning_at = start
        self.confirmed = confirmed
        self.opening = ""
        """The call's head as written."""
        self.name = ""
        self.id: str | None = None
        self.server: str | None = None
        self.agent: str | None = None
        self.index = -1
        self.pieces = Pieces()
        self.notes: list[Notice] = []
        self._noted: set[tuple[str, str]] = set()
        self._guessed = False

    @property
    def certainty(self) -> Certainty:
        """The certainty of the reading, by the notices so far."""
        if self._guessed or self.sink.guessed:
            return "guessed"
        return "tolerated" if self.notes or self.sink.slip >= self.start else "exact"

    def announce(self) -> None:
        """Emit the start and what waited for it, once the name is known and the call confirmed."""
        if self.index >= 0 or not self.name or not self.confirmed:
            return
        self.think()
        self.index = self.sink.number()
        self.sink.events.append(CallStart(self.index, self.name, self.id))
        if self.pieces:
            self.sink.events.append(ArgumentsDelta(self.index, self.pieces.text()))

    def think(self) -> None:
        """Emit the thought that the call contains."""
        if self.reasoning:
            self.sink.events.append(ReasoningDelta(self.reasoning, self.reasoning_at))
            self.reasoning = ""

    def add(self, text: str) -> None:
        """Add a piece of the arguments' JSON text."""
        self.pieces.add(text)
        if self.index >= 0:
            self.sink.events.append(ArgumentsDelta(self.index, text))

    def show(self, text: str, _: int) -> list[Event]:
        """Return the event of a piece of the arguments' JSON text; `keep` receives the piece later."""
        return [ArgumentsDelta(self.index, text)] if self.index >= 0 else []

    def keep(self, text: str) -> None:
        """Add a piece of the arguments' JSON text whose event is emitted separately."""
        self.pieces.add(text)

    def note(self, kind: str, detail: str, at: int, end: int | None = None, *, guessed: bool = False) -> None:
        """Report a tolerated deviation, once for each kind of slip, with the call's end.

        `guessed`: one of several readings was chosen, as some kinds of notices always mean.
        """
        self._guessed = self._guessed or guessed or kind in _GUESSES
        if (kind, detail) not in self._noted:
            self._noted.add((kind, detail))
            self.notes.append(Notice(kind, detail, (at, at if end is None else end)))

    def claim(self) -> None:
        """Take the next index: this is a call, or was meant as one."""
        self.confirmed = True
        self.announce()
        if self.index < 0:
            self.index = self.sink.number()

    def end(self, arguments: JsonObject, end: int, raw: str | None = None) -> None:
        """Finish the call at the absolute offset `end`."""
        self.claim()
        sink = self.sink
        self.think()
        sink.events.extend(self.notes)
        raw = self.pieces.text() if raw is None else raw
        call = invocation(self.name, arguments, self.id, raw, self.server, self.agent, self.provenance, self.certainty)
        sink.events.append(CallEnd(self.index, call, (self.start, end)))
        sink.layout = True

    def fail(self, raw: str, reason: str, detail: str, end: int) -> None:
        """Fail the call; `raw` is the input from its start to `end`."""
        self.claim()
        self.sink.events.append(CallFailed(self.index, raw, reason, detail, (self.start, end), self.name))
