"""Checks of calls beyond their syntax: known tools, valid arguments, no text around the calls.

A checked parser wraps another parser. Where a check fails, the
`CallEnd` becomes a `CallFailed` that describes every problem to the model. A
coercing parser gives arguments the types of the tool's schema; a call's argument
deltas wait for its end, because coercion may still change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from toolfmt import jsontext
from toolfmt.dialect.record import Parser, ParserOptions
from toolfmt.errors import close_names, did_you_mean, some
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
from toolfmt.ids import made
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.driving import PassingParser
from toolfmt.parsers.scanning.pieces import KeptEvents, Pieces
from toolfmt.schema import extra_arguments, problems, relax

_BESIDE = frozenset(
    {"after_end", "beside_calls", "code_fence", "hidden_block", "misplaced", "stray_closer", "unclaimed"}
)


FindUnread: TypeAlias = "Callable[[str, str], list[Notice]]"
"""Returns notices of unread calls in a text, and in the whole answer."""


SEARCHED: Final = 65536
"""Characters of an answer that are searched for unread calls."""


class CheckedParser(PassingParser):
    """Adds checks and ids to the events of a text parser.

    Under `strict`, no call is emitted before the end of the answer, because text
    after a call would make it fail.
    """

    def __init__(  # noqa: PLR0913 - one per check
        self,
        parser: Parser[str],
        options: ParserOptions,
        *,
        validate: bool,
        strict: bool,
        exact: bool,
        ids: Callable[[ToolInvocation], str | None] | None,
    ) -> None:
        """Check the events of `parser`; with `exact`, a format's frame and reasoning count as text around the call."""
        super().__init__(parser)
        self._options = options
        self._validate = validate or strict
        self._offered = validate  # which needs a list of tools; an empty one offers none
        self._strict = strict
        self._exact = exact
        self._ids = ids
        self._held = KeptEvents()
        self._seen = Pieces()
        self._beside = False

    @property
    def ended(self) -> bool:
        """Whether the answer's own markers have ended it; never under `strict`, which checks what follows them."""
        return not self._strict and super().ended

    def feed(self, chunk: str) -> list[Event]:
        """Read the next chunk and return its events."""
        if self._validate:
            self._seen.add(chunk)
        return self._passed(self._parser.feed(chunk))

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        events = super().close()
        if not self._strict:
            return events
        held = self._held.take()
        source = self._seen.text()
        calls = sum(isinstance(event, CallEnd) for event in held)
        return [self._alone(event, source, calls) for event in (*held, *events)]

    def _passed(self, events: list[Event]) -> list[Event]:
        if not events:
            return events
        if self._strict:
            self._beside = self._beside or any(map(_is_text_or_failure, events))
        kinds = {*map(type, events)}
        if CallEnd in kinds and not self._known(events):
            events = [one for event in events for one in (self._call(event) if isinstance(event, CallEnd) else [event])]
        if CallFailed in kinds:
            events = [self._named(event) if isinstance(event, CallFailed) else event for event in events]
        if self._strict and (self._held or any(isinstance(event, CallEnd) for event in events)):
            self._held.add(events)
            return []
        return events

    def _known(self, events: list[Event]) -> bool:
        """Whether the only check is that tools are offered, and all calls pass it."""
        if self._validate or self._ids is not None:
            return False
        tools = self._options.tools
        return not tools or all(event.call.name in tools for event in events if isinstance(event, CallEnd))

    def _unknown(self, name: str) -> str:
        """Describe an unknown tool name; return "" for a known one, or if no list of tools was given."""
        tools = self._options.tools
        if name in tools or not (tools or self._offered):
            return ""
        if not tools:
            return f"no tool is called {name!r}: no tools are offered"
        near = did_you_mean(close_names(name, {one.lower(): one for one in tools}))
        return f"no tool is called {name!r}; {near or f'offered: {some(tools)}'}"

    def _named(self, event: CallFailed) -> CallFailed:
        """Add to a failure that its tool is unknown, unless the call was cut off, as its name may be incomplete."""
        known = not event.name or event.reason == "truncated"
        detail = "" if known else self._unknown(event.name)
        before = "" if event.reason == "unknown_tool" else f"{event.detail}\n"
        return replace(event, detail=f"{before}{detail}") if detail else event

    def _call(self, event: CallEnd) -> list[Event]:
        call = event.call
        tool = self._options.tools.get(call.name)
        found: list[Event] = []
        if detail := self._unknown(call.name):
            if self._validate:
                return [self._failed(event, "unknown_tool", detail)]
            found.append(Notice("unknown_tool", detail, event.span))
        if tool is not None and self._validate:
            wrong = problems(tool, call.arguments)
            if wrong:
                return [self._failed(event, "invalid_arguments", "\n".join(map(str, wrong)))]
            surplus = extra_arguments(tool, call.arguments) if self._strict else ()
            if surplus:
                return [self._failed(event, "extra_argument", f"{call.name!r} takes no argument {surplus[0]!r}")]
        if self._ids is not None and call.id is None:
            event = replace(event, call=call.model_copy(update={"id": made(self._ids, call)}))
        return [*found, event]

    def _failed(self, event: CallEnd, reason: str, detail: str) -> CallFailed:
        start, end = event.span
        return CallFailed(event.index, self._seen.text()[start:end], reason, detail, event.span, event.call.name)

    def _alone(self, event: Event, source: str, calls: int) -> Event:
        if not isinstance(event, CallEnd):
            return event
        start, end = event.span
        around = source[:start].strip() or source[end:].strip() if self._exact else ""
        beside = self._beside or calls > 1 or around
        if beside or event.call.provenance == "fenced":
            raw = source[start:end]
            detail = "something is beside the call"
            return CallFailed(event.index, raw, "mixed_content", detail, event.span, event.call.name)
        return event


def unread_notices(events: list[Event], whole: str, find: FindUnread) -> list[Notice]:
    """Return what `find` reports for an answer without calls, or for the text around its calls."""
    texts: list[TextDelta | ReasoningDelta] = []
    calls: list[Span] = []
    thought: list[ReasoningDelta] = []  # at the end of the text
    for event in events:
        if isinstance(event, TextDelta):
            texts.append(event)
            thought.clear()
        elif isinstance(event, ReasoningDelta):
            thought.append(event)
        elif isinstance(event, CallEnd):
            calls.append(event.span)
            thought.clear()
        elif isinstance(event, CallFailed) or (isinstance(event, Notice) and event.kind == "quoted_call"):
            return []  # a call-like text is already reported
    end = thought[-1].start + len(thought[-1].text) if thought else 0
    open_thought = (
        thought if len(whole) < SEARCHED and not whole[end:].strip() else []
    )  # no marker closes the reasoning
    texts += open_thought
    if not texts and calls:
        return []
    if calls:
        return _unread_beside(texts, calls, whole, find)
    drafted = "".join([whole[one.start : one.start + len(one.text)] for one in open_thought])
    return find(_without_reasoning(events, whole) + drafted, whole)


def _without_reasoning(events: list[Event], whole: str) -> str:
    """Return the text of an answer without calls, with the stray markers in it, which are in no event."""
    pieces: list[str] = []
    at = 0
    for event in events:
        if isinstance(event, TextDelta):
            end = event.start + len(event.text)
            pieces.append(whole[event.start if at < 0 else at : end])
            at = end
        elif isinstance(event, ReasoningDelta):
            at = -1
    return "".join([*pieces, whole[at:] if at >= 0 and pieces else ""])


def _unread_beside(
    texts: list[TextDelta | ReasoningDelta], calls: list[Span], whole: str, find: FindUnread
) -> list[Notice]:
    """Report the first unread call before, between or after the calls that were read."""
    start, at = 0, 0
    for end, after in (*calls, (len(whole), 0)):
        begun = at
        while at < len(texts) and texts[at].start < end:
            at += 1
        start = max(start, texts[begun].start) if at > begun else start
        if at > begun and (found := find("", whole[start:end])):
            return [replace(one, span=(one.span[0] + start, one.span[1] + start)) for one in found]
        start = after
    return []


def _is_text_or_failure(event: Event) -> bool:
    """Whether an event is text or a failure, and neither a usable call nor the format's reasoning."""
    if isinstance(event, TextDelta):
        return not event.text.isspace()
    return isinstance(event, CallFailed) or (isinstance(event, Notice) and event.kind in _BESIDE)


class UserParserGuard(PassingParser):
    """Corrects the provenance of calls from a user's own parser: a call in text never comes from an API.

    A call without a provenance counts as bare, the weakest claim; a parser has to state `marker` itself.
    """

    def _passed(self, events: list[Event]) -> list[Event]:
        return [_in_text(event) if isinstance(event, CallEnd) else event for event in events]


def _in_text(event: CallEnd) -> CallEnd:
    call = event.call
    if call.provenance != "api":
        return event
    mark = "marker" if "provenance" in call.model_fields_set else "bare"
    return replace(event, call=call.model_copy(update={"provenance": mark}))


class CoercingParser(PassingParser):
    """Coerces the arguments of calls of known tools, each change with a notice."""

    def __init__(self, parser: Parser[str], tools: Mapping[str, ToolDefinition]) -> None:
        """Coerce by the schemas of `tools`."""
        super().__init__(parser)
        self._tools = tools
        self._held: dict[int, list[ArgumentsDelta]] = {}

    def _passed(self, events: list[Event]) -> list[Event]:
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
