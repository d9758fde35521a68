"""Calls, events and results of parsing as JSON."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final, cast

from toolfmt.model import ToolInvocation

if TYPE_CHECKING:
    from toolfmt.detection import Detection, DialectMatch
    from toolfmt.events import Event
    from toolfmt.model import JsonObject
    from toolfmt.parsing import ParseResult

_OPTIONAL: Final = ("id", "server", "agent")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")


def call_record(call: ToolInvocation) -> JsonObject:
    """Give a call as `render` reads it."""
    given = {key: value for key in _OPTIONAL if (value := getattr(call, key)) is not None}
    marks = {"provenance": call.provenance, "certainty": call.certainty}
    return {"name": call.name, "arguments": call.arguments, **given, **marks}


def event_record(event: Event) -> JsonObject:
    """Give an event: its kind, such as `call_end`, under `event`, and its fields."""
    return {"event": _WORD.sub("_", type(event).__name__).lower(), **_fields(event)}


def detection_record(detection: Detection) -> JsonObject:
    """Give the dialect that was found, the place that shows it, and who else reads that place."""
    candidates = [_fields(one) for one in detection.candidates]
    return {"dialect": detection.dialect, "span": list(detection.span), "candidates": candidates}


def result_record(result: ParseResult) -> JsonObject:
    """Give what an answer holds."""
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
