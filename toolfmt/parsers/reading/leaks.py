"""Removes text that merely echoes a call, from models that write their arguments twice.

calls   search(q="x")
text    {"q": "x"}          an echo, plain or fenced
text    I sent {"q": "x"}.  a message that quotes it: kept
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolfmt import jsontext
from toolfmt.errors import ParseError, UnrepresentableError
from toolfmt.events import Event, Notice, TextDelta
from toolfmt.model import JsonObject, ToolInvocation

_OPENS = re.compile(r"```\w*+[ \t]*+\n?+")
_ARGUMENTS = ("arguments", "args", "parameters", "input")


def _object_in(text: str) -> JsonObject:
    """Read a text that is one JSON object, plain or fenced; return an empty object for anything else."""
    text = text.strip()
    opens = _OPENS.match(text)
    if opens is not None and text.endswith("```"):
        text = text[opens.end() : -3]
    if not text.lstrip().startswith("{"):
        return {}
    try:
        value = jsontext.loads(text)
    except ParseError:
        return {}
    return value if jsontext.is_object(value) else {}


def _echoes(calls: Iterable[ToolInvocation]) -> frozenset[str]:
    """Return the canonical texts that echo one of the calls: its arguments, unless empty, or the call."""
    found: set[str] = set()
    for call in calls:
        if call.arguments:
            found.add(_canonical(call.arguments))
        found.update(_canonical({"name": call.name, key: call.arguments}) for key in _ARGUMENTS)
    return frozenset(found)


def _canonical(value: JsonObject) -> str:
    try:
        return jsontext.canonical(value)
    except UnrepresentableError:  # no text is ever read as such a value
        return ""


def drop_leaks(events: Iterable[Event], calls: Iterable[ToolInvocation]) -> list[Event]:
    """Replace each text that echoes a call by an `arguments_leak` notice that contains it."""
    echoes = _echoes(calls)
    return [
        Notice("arguments_leak", event.text, (event.start, event.start + len(event.text)))
        if isinstance(event, TextDelta) and (value := _object_in(event.text)) and _canonical(value) in echoes
        else event
        for event in events
    ]
