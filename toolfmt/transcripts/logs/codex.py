r"""Codex's rollouts: lines around the items of OpenAI's Responses. Read only.

{"timestamp": "2026-06-06T10:00:00.000Z", "type": "session_meta", "payload": {"id": "0199", "cwd": "/repo"}}
{"timestamp": "2026-06-06T10:00:03.000Z", "type": "response_item", "payload":
    {"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "call_1"}}
{"timestamp": "2026-06-06T10:00:06.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": {}}}

The instructions of the first line are a system message, unless a message repeats them. Events repeat the items;
like all other `lines` they are in the transcript's `extra`, with the text that is in no item (`said`). The program's
first versions wrote items without a line around them, after `{"id": "0199", "timestamp": "...", "instructions": null}`.
"""

from __future__ import annotations

from typing import Final

from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.families.responses_items import link_items, read_item
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.session_lines import first_lines, kept, read_lines, unwritable
from toolfmt.transcripts.parts.values import json_at, tagged, word

NAME: Final = "codex"
_ITEM: Final = "response_item"
_META: Final = "session_meta"
_COMPACTED: Final = "compacted"
"""The type of a line with the compacted earlier items."""
_LINES: Final = (_META, "turn_context", _ITEM, "event_msg")
"""The types of lines around something."""
_BEGINNING: Final = frozenset({"id", "timestamp", "instructions"})
"""The keys of a first line that is around nothing."""
_OWN: Final = frozenset(
    {
        *("ghost_snapshot", _META, "turn_context", "session_configured", _COMPACTED),
        *("error", "warning", "stream_error", "background_event"),
        *("exec_command_begin", "exec_command_end", "patch_apply_begin", "patch_apply_end", "turn_diff"),
        *("mcp_tool_call_begin", "mcp_tool_call_end"),
    }
)
"""Lines, items and events that the program writes for itself, or that repeat calls and their results."""


def read(value: JsonValue) -> Transcript:
    """Read the lines of a rollout, as a list or as text."""
    messages: list[Message] = []
    others: list[tuple[int, JsonObject]] = []
    instructed: dict[str, Message] = {}
    for at, line in enumerate(read_lines(value, NAME)):
        payload, kind = _inside(line)
        if kind == _ITEM and is_object(payload) and payload.get("type") not in _OWN:
            messages.append(_sourced(read_item(payload), line, at))
            continue
        others.append((at, line))
        if kind == _COMPACTED and (summary := word(payload, "message")):
            said = tagged("summary", summary).text
            messages.append(_sourced(read_item({"role": "user", "content": said}), line, at))
        elif kind == _META and is_object(payload):
            words = word(payload.get("base_instructions"), "text") or word(payload, "instructions")
            instructed.setdefault(words, _sourced(Message("system", (TextPart(words),)), line, at))
    texts = [part.text for message in messages for part in message.parts if isinstance(part, TextPart)]
    new = [message for words, message in instructed.items() if words and not any(words in text for text in texts)]
    messages = [*new[:1], *messages]
    link_items(messages)
    return Transcript(tuple(messages), extra=kept(others, messages, NAME, _OWN))


def begins(text: str) -> list[int]:
    """Return the numbers of the lines where rollouts begin that are in a file one after the other, counted from 0.

    A rollout that goes on, or that begins with the history of another, has further first lines of its own.
    """
    starts, spoken = [0], False
    known: set[str] = set()
    for at, line in enumerate(map(json_at, text.split("\n"))):
        payload, kind = _inside(line) if is_object(line) else (None, None)
        spoken |= kind == _ITEM
        if kind == _META:
            identity = word(payload, "id")
            if spoken and identity not in known:
                starts.append(at)
                known, spoken = set[str](), False
            known.add(identity)
    return starts


def _inside(line: JsonObject) -> tuple[JsonValue, JsonValue]:
    """Return what a line is around and its type; an item, or the first line, may have no line around it."""
    kind = line.get("type")
    if "payload" in line or kind in _LINES:
        return line.get("payload"), kind
    return line, _META if line.keys() >= _BEGINNING else _ITEM if isinstance(kind, str) else None


def _sourced(message: Message, line: JsonObject, at: int) -> Message:
    around = line if "payload" in line else {}
    further = {f"{NAME}.{key}": found for key, found in around.items() if key not in ("type", "payload")}
    message.extra = {**message.extra, **further}
    message.origin, message.source, message.where = NAME, line, ("", at)
    return message


def recognise(value: JsonValue) -> bool:
    """Recognise a rollout by its lines' `payload`, or by its first line."""
    lines = first_lines(value)
    return any(is_object(line.get("payload")) and line.get("type") in _LINES for line in lines) or any(
        line.keys() >= _BEGINNING and "type" not in line for line in lines[:1]
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Codex rollouts: lines around the items of OpenAI Responses; read only.",
    read=read,
    write=unwritable(NAME),
    writable=False,
    session=True,
    begins=begins,
    recognise=recognise,
    rules=Rules(),
    sources=(Provenance("openai/codex, rollout files", "observation", "0.147.0"),),
)
