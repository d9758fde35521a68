"""Claude Code's sessions: a tree of lines, one block of an answer on each. Read only.

{"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "s1", "isSidechain": false,
 "message": {"role": "user", "content": "List the files."}}
{"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s1", "message":
    {"id": "msg_1", "role": "assistant", "content": [{"type": "text", "text": "I look."}]}}
{"type": "assistant", "uuid": "u3", "parentUuid": "u2", "sessionId": "s1", "message":
    {"id": "msg_1", "role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "ls", "input": {}}]}}
{"type": "summary", "summary": "Listing files", "leafUuid": "u3"}

The conversation is the lines that lead to the main chain's last line, with the other lines of their answers and the
results of their calls, across compactions. Local commands and their output are user messages, also where newer
versions have them in a system line, and so is a prompt queued while the model worked. What the program wrote in the
place of an answer, such as an API's error, is none. A line whose
`parentUuid` is missing or unknown follows the previous line. A file may have several sessions one after the other, of
which `begins` finds the first lines. Everything else is in the transcript's `extra`:
`sidechains`, abandoned `branches`, other `lines`, and the text in those (`said`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from toolfmt.conversation import CallPart, Message, OpaquePart, Part, ResultPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.apis.anthropic import BLOCKS, OWNER
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.session_lines import first_lines, kept, read_lines, unwritable
from toolfmt.transcripts.parts.values import json_at

NAME: Final = "claude-code"
_SESSION: Final = re.compile(r'"sessionId": *"([^"]*)"')
_OWN: Final = frozenset(
    {"compact_boundary", "microcompact_boundary", "turn_duration", "stop_hook_summary", "api_error", "informational"}
    | {"summary", "ai-title", "custom-title"}
)
"""The types of lines that the program writes for itself, and of a session's title."""


def read(value: JsonValue) -> Transcript:
    """Read the lines of a session, as a list or as text."""
    lines = list(map(_given, read_lines(value, NAME)))
    spoken = [at for at, line in enumerate(lines) if _speaks(line)]
    main = [at for at in spoken if not lines[at].get("isSidechain")] or spoken  # a subagent's file has only sidechains
    parts = {at: _content(lines[at]["message"].get("content")) for at in main}
    chosen = _chosen(lines, main, parts)
    messages: list[Message] = []
    for _, run in groupby(sorted(chosen), key=lambda at: _answer(lines[at]) or at):
        messages.append(_message(lines, list(run), parts))
    left: dict[str, list[JsonObject]] = {
        "sidechains": [lines[at] for at in spoken if at not in parts],
        "branches": [lines[at] for at in main if at not in chosen],
    }
    others = ((at, line) for at, line in enumerate(lines) if not _speaks(line))
    beside = {f"{NAME}.{key}": found for key, found in left.items() if found}
    return Transcript(tuple(messages), extra=beside | kept(others, messages, NAME, _OWN))


def _given(line: JsonObject) -> JsonObject:
    """Convert a local command, or a queued prompt, to a message."""
    attached = line.get("attachment")
    prompt = line.get("content") if line.get("type") == "system" and line.get("subtype") == "local_command" else None
    if is_object(attached) and attached.get("type") == "queued_command":
        prompt = attached.get("prompt")
    return line | {"message": {"role": "user", "content": prompt}} if prompt else line


def _content(content: JsonValue) -> tuple[Part, ...]:
    """Read a line's content; one odd line does not make a whole log unreadable."""
    try:
        return BLOCKS.read_all(content)
    except ParseError:
        return (OpaquePart(OWNER, content),)


def _speaks(line: JsonObject) -> bool:
    """Whether a line is of the conversation, not what the program wrote in the place of an answer: an API's error."""
    message = line.get("message")
    if not is_object(message) or message.get("role") not in ("user", "assistant"):
        return False
    return line.get("isApiErrorMessage") is not True and message.get("model") != "<synthetic>"


def _answer(line: JsonObject) -> str | None:
    """Return the id of a line's answer."""
    found = line["message"].get("id")
    return found if isinstance(found, str) and line["message"]["role"] == "assistant" else None


def _chosen(lines: Sequence[JsonObject], main: Sequence[int], parts: dict[int, tuple[Part, ...]]) -> set[int]:
    """Find the lines that lead to the last one, the other lines of their answers, and the results of their calls."""
    if not any(isinstance(lines[at].get("uuid"), str) for at in main):
        return set(main)
    path = _path(lines, main) & set(main)
    answers = {_answer(lines[at]) for at in path} - {None}
    path |= {at for at in main if _answer(lines[at]) in answers}
    called = {part.id for part in _parts(path, parts) if isinstance(part, CallPart)}
    answered = {part.id for part in _parts(path, parts) if isinstance(part, ResultPart)}
    for at in main:
        results = {part.id for part in parts[at] if isinstance(part, ResultPart)}
        if at not in path and results and results <= called - answered:
            path.add(at)
            answered |= results
    return path


def _parts(path: Iterable[int], parts: dict[int, tuple[Part, ...]]) -> Iterable[Part]:
    return (part for at in path for part in parts[at])


def _path(lines: Sequence[JsonObject], main: Sequence[int]) -> set[int]:
    places = {line["uuid"]: at for at, line in enumerate(lines) if isinstance(line.get("uuid"), str)}
    path: set[int] = set()
    before = dict(zip(main[1:], main, strict=False))
    at: int | None = main[-1]
    while at is not None and at not in path:
        path.add(at)
        # Lines that a compaction removed come before it, although it begins a new chain.
        parent = lines[at].get("parentUuid") or lines[at].get("logicalParentUuid")
        begins = "parentUuid" in lines[at] and not parent
        at = None if begins else places.get(parent, before.get(at)) if isinstance(parent, str) else before.get(at)
    return path


def _message(lines: Sequence[JsonObject], run: list[int], parts: dict[int, tuple[Part, ...]]) -> Message:
    found = [lines[at] for at in run]
    message = Message(found[0]["message"]["role"], tuple(_parts(run, parts)))
    around = (
        {key: value for key, value in line["message"].items() if key not in ("role", "content")} for line in found
    )
    message.extra = {f"{NAME}.lines": [line | {"message": beside} for line, beside in zip(found, around, strict=True)]}
    message.origin, message.source, message.where = NAME, found, ("", run[0])
    return message


def begins(text: str) -> list[int]:
    """Return the numbers of the lines where sessions begin that are in a file one after the other, counted from 0."""
    if len(set(_SESSION.findall(text))) < 2:  # noqa: PLR2004 - one session has no second beginning
        return [0]
    starts = [0]
    earlier: set[JsonValue] = set()
    known: set[JsonValue] = set()
    current: JsonValue = None
    for at, line in enumerate(map(json_at, text.split("\n"))):
        if not is_object(line) or not isinstance(line.get("uuid"), str) or line.get("isSidechain"):
            continue
        parent, session = line.get("parentUuid") or line.get("logicalParentUuid"), line.get("sessionId")
        if current is not None and session != current and "parentUuid" in line and not parent and _speaks(line):
            starts.append(at)
            earlier |= known
            known.clear()
        if isinstance(parent, str) and parent in earlier - known:
            return [0]  # one session goes on in another
        current = session
        known.add(line["uuid"])
    return starts


def recognise(value: JsonValue) -> bool:
    """Recognise a session by lines with a `parentUuid`."""
    return any("parentUuid" in line and "sessionId" in line for line in first_lines(value))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Claude Code sessions: lines of a tree, each a piece of an Anthropic message; read only.",
    read=read,
    write=unwritable(NAME),
    writable=False,
    session=True,
    begins=begins,
    recognise=recognise,
    rules=Rules(arguments="any"),
    sources=(Provenance("Claude Code session files", "observation", "2.1.50"),),
)
