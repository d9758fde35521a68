"""Events, calls and results of parsing: as lines for people, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, cast

from toolfmt import jsontext
from toolfmt.cli.output import as_options, say
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, Notice, ReasoningDelta, TextDelta
from toolfmt.model import JsonObject, ToolInvocation

if TYPE_CHECKING:
    from toolfmt.detection import Detection, DialectMatch
    from toolfmt.parsing import ParseResult

_OPTIONAL: Final = ("id", "server", "agent")
_WORD: Final = re.compile(r"(?<!^)(?=[A-Z])")


def call_record(call: ToolInvocation) -> JsonObject:
    """Return a call as `render` reads it."""
    given = {key: value for key in _OPTIONAL if (value := getattr(call, key)) is not None}
    marks = {"provenance": call.provenance, "certainty": call.certainty}
    return {"name": call.name, "arguments": call.arguments, **given, **marks}


def kind_of(event: object) -> str:
    """Return the kind of an event, such as `call_end`."""
    return _WORD.sub("_", type(event).__name__).lower()


def event_record(event: Event) -> JsonObject:
    """Return an event's kind, under `event`, and its fields."""
    return {"event": kind_of(event), **_fields(event)}


def detection_record(detection: Detection) -> JsonObject:
    """Return the detected dialect, the place that shows it, and the other dialects that read that place."""
    candidates = [_fields(one) for one in detection.candidates]
    return {"dialect": detection.dialect, "span": list(detection.span), "candidates": candidates}


def result_record(result: ParseResult) -> JsonObject:
    """Return the content of an answer."""
    found = {} if result.detection is None else {"detection": detection_record(result.detection)}
    return {
        "dialect": result.dialect,
        **found,
        "text": result.text,
        "reasoning": result.reasoning,
        "calls": [call_record(call) for call in result.calls],
        "failures": [_fields(failure) for failure in result.failures],
        "notices": [_fields(notice) for notice in result.notices],
    }


def _fields(record: Event | DialectMatch) -> JsonObject:
    return {field.name: _plain(getattr(record, field.name)) for field in fields(record)}


def _plain(value: Any) -> Any:
    if isinstance(value, ToolInvocation):
        return call_record(value)
    return list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value


def say_event(event: Event) -> None:
    """Write an event of a stream; text is quoted, so that its line ends are visible."""
    match event:
        case TextDelta(text):
            say("text", jsontext.dumps(text))
        case ReasoningDelta(text):
            say("reasoning", jsontext.dumps(text), "dim")
        case CallStart(index, name):
            say(f"call {index} starts", name, "cyan")
        case ArgumentsDelta(index, json):
            say(f"call {index} ...", json, "dim cyan")
        case _:
            _say_outcome(event)


def say_events(events: Iterable[Event]) -> None:
    """Write the content of a whole answer, in order, without blank text."""
    for event in events:
        match event:
            case TextDelta(text) if text.strip():
                say("text", text.strip())
            case ReasoningDelta(text) if text.strip():
                say("reasoning", text.strip(), "dim")
            case _:
                _say_outcome(event)


def _say_outcome(event: Event) -> None:
    match event:
        case CallEnd(index, call):
            given = {"server": call.server, "agent": call.agent, "id": call.id, "provenance": call.provenance}
            given |= {} if call.certainty == "exact" else {"reading": call.certainty}
            facts = ", ".join(f"{key} {value}" for key, value in given.items() if value is not None)
            say(f"call {index}", f"{call.name}  ({facts})\n{jsontext.dumps(call.arguments)}", "bold green")
        case CallFailed(index, _, reason, detail, (start, end), name):
            of = f" of {name}" if name else ""
            say(f"call {index} failed", f"{reason}{of} at {start}-{end}: {detail}", "bold red")
        case Notice(kind, detail, (start, end)):
            say("notice", f"{kind} at {start}-{end}: {as_options(detail.strip())}", "yellow")
        case _:
            pass
