r"""Codex's rollouts: lines around the items of OpenAI's Responses. Read only.

{"timestamp": "2026-06-06T10:00:00.000Z", "type": "session_meta", "payload": {"id": "0199", "cwd": "/repo"}}
{"timestamp": "2026-06-06T10:00:03.000Z", "type": "response_item", "payload":
    {"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "call_1"}}
{"timestamp": "2026-06-06T10:00:06.000Z", "type": "event_msg", "payload": {"type": "token_count", "info": {}}}

The instructions of the first line are a system message, unless a message repeats them. Events repeat the items;
like all other `lines` they are in the transcript's `extra`, with the text that is in no item (`said`).
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
from toolfmt.transcripts.parts.values import tagged, word

NAME: Final = "codex"
_ITEM: Final = "response_item"
_META: Final = "session_meta"
_COMPACTED: Final = "compacted"
"""The type of a line with the compacted earlier items."""
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
        payload, kind = line.get("payload"), line.get("type")
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


def _sourced(message: Message, line: JsonObject, at: int) -> Message:
    """Record the line that a message was read from."""
    further = {f"{NAME}.{key}": found for key, found in line.items() if key not in ("type", "payload")}
    message.extra = {**message.extra, **further}
    message.origin, message.source, message.where = NAME, line, ("", at)
    return message


def recognise(value: JsonValue) -> bool:
    """Recognise a rollout by its lines' `payload`."""
    return any(
        is_object(line.get("payload")) and line.get("type") in ("session_meta", "turn_context", _ITEM, "event_msg")
        for line in first_lines(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Codex rollouts: lines around the items of OpenAI Responses; read only.",
    read=read,
    write=unwritable(NAME),
    writable=False,
    session=True,
    recognise=recognise,
    rules=Rules(),
    sources=(Provenance(reference="openai/codex, rollout files", revision="0.147.0", kind="observation"),),
)
