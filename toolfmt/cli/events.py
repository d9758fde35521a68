"""Events for people: one label and its text each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.cli.output import say
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Notice, ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolfmt.events import Event


def say_event(event: Event) -> None:
    """Write an event of a stream as it comes; text is quoted, so that its line ends are seen."""
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
    """Write what a whole answer holds, in order; blank text is left out."""
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
        case CallFailed(index, _, reason, detail, (start, end)):
            say(f"call {index} failed", f"{reason} at {start}-{end}: {detail}", "bold red")
        case Notice(kind, detail, (start, end)):
            say("notice", f"{kind} at {start}-{end}: {detail.strip()}", "yellow")
        case _:
            pass
