"""Detects the format of a conversation, or asks one question if several are possible.

recognised([{"role": "user", "content": [{"type": "tool_result", ...}]}])      anthropic: no other has such blocks
recognised([{"role": "user", "content": "Hi."}])                               openai-chat: all read it alike
recognised({"object": "chat.completion", "choices": [...]})                    openai-chat: an answer of that API
recognised({"custom_id": "1", "body": {"messages": [...]}})                    ParseError: ... at /body ...
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from toolfmt import jsontext
from toolfmt.conversation import Transcript
from toolfmt.errors import FormatQuestionError, ParseError, ToolFmtError, some
from toolfmt.jsontext import is_array, is_object, token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answer_apis import ANSWERS
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.format import TranscriptFormat, reraise_as_parse_error
from toolfmt.transcripts.formats import evident, find, formats
from toolfmt.transcripts.parts.values import at, json_at
from toolfmt.transcripts.reading import (
    answered_by,
    described,
    is_column,
    lacks,
    leaves,
    opened,
    says_anything,
    sound,
    understood,
)

_NAME_IT: Final = "name its format"
_SAID: Final = frozenset({"answer", "output", "response"})
"""Keys beside a conversation whose text is its answer."""
_TEXT: Final = "text"
_SPEAKERS: Final = ("system", "user", "assistant")
_DECLARING: Final = frozenset({"function", "functionDeclarations", "inputSchema", "input_schema", "parameters"})
"""Keys of tools' declarations, one of which each has."""
_DEEP: Final = 4
_WIDE: Final = 100
"""The largest number of values in a row that are examined."""


def origin(value: JsonValue, source: str | Collection[str]) -> TranscriptFormat:
    """Return the format of a value: the named one, or the detected one of several (`auto`: of all)."""
    if isinstance(source, str):
        return recognised(value) if source == "auto" else find(source)
    names = tuple(source)
    return find(names[0]) if len(names) == 1 and names[0] != "auto" else recognised(value, names)


def recognised(value: JsonValue, among: Collection[str] = ()) -> TranscriptFormat:
    """Detect a value's format by evidence, or else the most common of the formats that read it alike.

    `among` are the names of possible formats; empty: all. Raises
    `ParseError`, which asks for a choice, if formats differ in
    what they read, if the conversation is a part of the value, or if there is none.
    """
    jsontext.check_depth(value, "a value")
    known = sorted(map(find, among) if among else formats(), key=lambda made: -made.common)
    fits = _first_reader(known, value) if _is_plain(value) else evident(value, known)
    fits = [made for made in fits if not is_column(value, made)]
    if len(fits) != 1:
        fits = _telling(fits or known if _holds_objects(value) else [], value, evidence=bool(fits))
        fits = fits or _of_answer(value, known)
    if len(fits) > 1:
        names = ", ".join(sorted(made.name for made in fits))
        raise FormatQuestionError(f"the conversation may be {names}, which read it differently: {_NAME_IT}")
    if not fits:
        raise _unknown(value)
    beside = None if among else _beside(value, fits[0])
    further = [place for place in _places(beside) if place.format == _TEXT or _adds(value, place, fits[0])]
    if further:
        raise _question(f"the row is {_an(fits[0].name)} conversation with more beside it: ", further, beside=True)
    return fits[0]


@dataclass(frozen=True, slots=True)
class RowPart:
    """A conversation, or an answer, inside a row."""

    path: str
    format: str
    kind: Literal["conversation", "answer"]


def _is_plain(value: JsonValue) -> bool:
    """Whether a value is a list of messages with only a role and a text each."""
    messages = value.get("messages") if is_object(value) and value.keys() == {"messages"} else value
    return (
        is_array(messages)
        and bool(messages)
        and all(
            is_object(item)
            and item.keys() == {"role", "content"}
            and item["role"] in _SPEAKERS
            and isinstance(item["content"], str)
            for item in messages
        )
    )


def _first_reader(known: Sequence[TranscriptFormat], value: JsonValue) -> list[TranscriptFormat]:
    """Return the first format that reads the whole value."""
    for made in known:
        try:
            found = sound(value, made)
        except ParseError:
            continue
        if says_anything(found) and not leaves(found, made):
            return [made]
    return []


def _telling(known: Sequence[TranscriptFormat], value: JsonValue, *, evidence: bool) -> list[TranscriptFormat]:
    """Return the first format that reads all that any other reads; without one, all formats that read it."""
    read: list[tuple[TranscriptFormat, Transcript]] = []
    for made in known:
        try:
            found = sound(value, made)
        except ParseError:
            continue
        if understood(found) and (evidence or says_anything(found)) and not is_column(value, made):
            read.append((made, found))
    best = next((made for made, mine in read if not any(lacks(mine, theirs) for _, theirs in read)), None)
    return [made for made, _ in read] if best is None else [best]


def _of_answer(value: JsonValue, known: Sequence[TranscriptFormat]) -> list[TranscriptFormat]:
    return list(islice((made for name in ANSWERS for made in known if made.name == name and opened(value, made)), 1))


def _of_stream(value: JsonValue, known: Sequence[TranscriptFormat]) -> list[TranscriptFormat]:
    if is_object(value) or not (names := answered_by(value)) or (is_array(value) and evident(value, known)):
        return []
    return [made for made in known if made.name in names][:1]


def _beside(value: JsonValue, made: TranscriptFormat) -> JsonValue:
    """Return the lists and objects of a row that its format does not read, and the text of an answer that it lacks."""
    if not is_object(value) or value.keys() <= {made.messages, "tools"} or opened(value, made):
        return None
    beside = {
        key: item for key, item in value.items() if key != made.messages and (_is_text(key, item) or _holds(item))
    }
    if not beside:
        return None
    with reraise_as_parse_error(made.name):
        found = made.read(value)
    answered = bool(found.messages) and found.messages[-1].role == "assistant"
    unread = {key: item for key, item in beside.items() if f"{made.name}.{key}" in found.extra}
    return {key: item for key, item in unread.items() if _holds(item) or not answered}


def _is_text(key: str, value: JsonValue) -> bool:
    """Whether a field beside a conversation may be the text of its answer."""
    return key in _SAID and isinstance(value, str) and bool(value.strip())


def _holds(value: JsonValue) -> bool:
    return is_array(value) or is_object(value)


def _adds(value: JsonValue, place: RowPart, made: TranscriptFormat) -> bool:
    """Whether a place contains more than the enclosing conversation, which may end with the same answer."""
    part, other = at(value, place.path[1:].replace("/", ".")), find(place.format)
    said = other.read(part if place.kind == "conversation" else next(iter(opened(part, other)), [part]))
    return lacks(made.read(value), said)


def _unknown(value: JsonValue) -> ParseError:
    if not (is_object(value) or is_array(value) or isinstance(value, str)):
        return ParseError(f"a conversation is a list or an object, not {described(value)}")
    if is_object(value) and "role" in value and ("content" in value or "parts" in value):
        return ParseError("a conversation is a list of messages, and this is one message: put it in a list")
    found = _places(value)
    unknown = f"nothing in the conversation identifies its format ({described(value)})"
    if not found and (other := _other(value)):
        return ParseError(f"this is no conversation, but {other}")
    if complaint := _complaint(value):
        return ParseError(f"no format reads the conversation; the most likely is {complaint}")
    if found:
        return _question(f"{unknown}, but it holds ", found)
    return FormatQuestionError(f"{unknown}: {_NAME_IT}")


def _other(value: JsonValue) -> str:
    """Say whose error, which tools or which servers a value is instead of a conversation; "" if it is none of these."""
    items = list(filter(is_object, value if is_array(value) else [value]))
    first = items[0] if items else {}
    if first.get("type") == "error" or "__type" in first or isinstance(first.get("error") or None, (str, dict)):
        return f"an API's error: {read_error(first).message}"
    if items and all(not item.keys().isdisjoint(_DECLARING) for item in items):
        from toolfmt.tools import tools

        with suppress(ToolFmtError):
            names = some([tool.name for tool in tools(items)])
            return f"declarations of tools: {names}; `manifest` shows them to a model, `parse` checks calls of them"
    if is_object(value) and is_object(value.get("mcpServers")):
        return "a configuration of MCP servers: --tools takes it, and `toolfmt manifest` shows a model their tools"
    return ""


def _complaint(value: JsonValue) -> str:
    """Name the most likely format of an unreadable value, and what it complains about."""
    for made in sorted(formats(), key=lambda made: -made.common):
        messages = value.get(made.messages) if is_object(value) else value
        items = list(filter(is_object, messages[:_WIDE])) if is_array(messages) else []
        if is_array(messages) and not messages and is_object(value):
            return f"{made.name}: there is no message in /{made.messages}"
        if not items:
            continue
        try:
            found = sound(value, made)
        except ParseError as error:
            texts = (text for item in items for text in item.values() if text and isinstance(text, str))
            if _reads_text(items, made) or any(f"not {text!r}" in str(error) for text in texts):
                return f"{made.name}: {error}"
        else:
            if understood(found) and not (says_anything(found) or leaves(found, made)):
                return f"{made.name}: no message has content"
    return ""


def _reads_text(items: Sequence[JsonObject], made: TranscriptFormat) -> bool:
    """Whether a format reads messages if text is put in place of each content: only the contents are wrong."""
    try:
        return says_anything(sound([{**item, "content": "text"} for item in items if "content" in item], made))
    except ParseError:
        return False


def _question(begun: str, found: Sequence[RowPart], *, beside: bool = False) -> FormatQuestionError:
    """Say where conversations and answers are in a row; `beside`: the row itself is a conversation too."""
    places = " and ".join(f"{_an(place.format)} {place.kind} at {place.path}" for place in found)
    asked = [place.path for place in found if place.kind == "conversation"]
    answers = [place.path for place in found if place.kind == "answer"]
    return FormatQuestionError(f"{begun}{places}", [""] * beside + asked, answers)


def _an(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _places(value: JsonValue) -> list[RowPart]:
    """Find the outermost conversations and answers inside a row."""
    found: list[RowPart] = []
    seen = 0
    waiting = [("", value, 0)]
    while waiting and seen < _WIDE:
        path, item, depth = waiting.pop(0)
        seen += 1
        place = _place(path, item) if path else None
        if place is not None:
            found.append(place)
        elif depth < _DEEP:
            inner = item.items() if is_object(item) else enumerate(item[:2]) if is_array(item) else ()
            waiting += [(f"{path}/{token(key)}", json_at(found), depth + 1) for key, found in inner]
    return found


def _place(path: str, value: JsonValue) -> RowPart | None:
    """Describe a place if it contains a conversation, an answer, or one message."""
    known = sorted(formats(), key=lambda made: -made.common)
    answer = _of_answer(value, known) or _of_stream(value, known)
    if answer:
        return RowPart(path, answer[0].name, "answer")
    if _is_text(path[1:], value):
        return RowPart(path, _TEXT, "answer")
    if not _holds_objects(value):
        return None
    fits = evident(value, known)
    best = _telling(fits or known, value, evidence=bool(fits))
    if best:
        return RowPart(path, best[0].name, "conversation")
    message = _telling(evident([value], known) or known, [value], evidence=False) if is_object(value) else []
    return RowPart(path, message[0].name, "answer") if message and message[0].name in ANSWERS else None


def _holds_objects(value: JsonValue) -> bool:
    """Whether a value consists of objects, as every conversation does."""
    return is_object(value) or (is_array(value) and any(map(is_object, value)))
