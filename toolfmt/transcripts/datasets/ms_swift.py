r"""ms-swift's rows, which are read as the ShareGPT rows that say the same.

{"messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "tool_call", "content": "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Paris\"}}"},
    {"role": "tool_response", "content": "18C"},
    {"role": "assistant", "content": "Paris 18C."}],
 "rejected_response": "No idea.", "tools": "[{\"type\": \"function\", \"function\": {\"name\": \"get_weather\"}}]"}
{"query": "Weather in Rome?", "response": "20C.", "history": [["Weather in Paris?", "18C."]]}
{"conversation": [{"human": "Weather in Paris?", "assistant": "18C."}], "system": "Be brief."}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from toolfmt.conversation import CallPart, Message, OpaquePart, ResultPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.datasets import sharegpt
from toolfmt.transcripts.datasets.hf_chat import SHAPE
from toolfmt.transcripts.datasets.rows import TURNS, json_list
from toolfmt.transcripts.families.chat_request import read_request, write_request
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.parts.values import json_text, word
from toolfmt.transcripts.tables.request import objects_in

NAME: Final = "ms-swift"
_SPEAKERS: Final[Mapping[str, str]] = {
    "system": "system",
    "user": "human",
    "assistant": "gpt",
    "tool_call": "function_call",
    "tool_response": "observation",
    "tool": "observation",
}
_ROLES: Final = {speaker: role for role, speaker in _SPEAKERS.items() if role != "tool"}
_ROW: Final = frozenset({"messages", "conversation", "query", "response", "history", "rejected_response", "label"})
_PAIR: Final = 2
_SIDES: Final = frozenset({"human", "assistant"})


def read(value: JsonValue) -> Transcript:
    """Read a row; a list is its messages alone."""
    row: JsonObject = {"messages": value} if is_array(value) else value
    key = next((key for key in ("messages", "conversation", "query") if is_object(row) and key in row), "")
    if not key:
        raise ParseError(f"{NAME}: expected a row with `messages`, with `conversation`, or with `query` and `response`")
    items = row["messages"] if key == "messages" else _paired(row, key)
    if not is_array(items):
        raise ParseError("/messages: expected a list of messages")
    turns = [_turn(item, at) for at, item in enumerate(items)]
    made: JsonObject = {name: found for name, found in row.items() if name not in _ROW}
    if "rejected_response" in row:
        if not turns or turns[-1]["from"] != "gpt":
            raise ParseError("/rejected_response: the row ends with no answer of the assistant to compare")
        made |= {"chosen": turns.pop(), "rejected": {"from": "gpt", "value": row["rejected_response"]}}
    if "label" in row:
        made["kto_tag" if isinstance(row["label"], bool) else "label"] = row["label"]
    tools = json_list(made.pop("tools", None))
    found = sharegpt.read({TURNS: turns, **made}, at=f"/{key}")
    if tools is not None:
        found = replace(found, tools=read_request({"messages": [], "tools": tools}, SHAPE).tools)
    for message in (*found.messages, *(found.rejected or ())):
        message.origin = ""  # what it was read from is another format's
    said = found.messages[len(found.messages) - len(items) :] if key == "messages" else ()
    for at, message in enumerate(said):
        message.where = ("/messages", at)
        if not any(isinstance(part, OpaquePart) for part in message.parts):
            message.origin, message.source = NAME, items[at]
    return found


def _paired(row: JsonObject, key: str) -> list[JsonValue]:
    """Return the messages that pairs of a query and its response are."""
    pairs: JsonValue = row[key]
    if key == "conversation":
        if not (is_array(pairs) and all(is_object(pair) and pair.keys() <= _SIDES for pair in pairs)):
            raise ParseError("/conversation: expected a list of objects with `human` and `assistant`")
        pairs = [[pair.get("human"), pair.get("assistant")] for pair in pairs if is_object(pair)]
    else:
        pairs = row.get("history") or []
        if not (is_array(pairs) and all(is_array(pair) and len(pair) == _PAIR for pair in pairs)):
            raise ParseError("/history: expected a list of pairs of a query and its response")
        if "response" not in row:
            raise ParseError("/response: a query has a response")
        pairs = [*pairs, [row["query"], row["response"]]]
    said = [zip(("user", "assistant"), pair, strict=True) for pair in pairs]
    return [{"role": role, "content": text} for pair in said for role, text in pair if text is not None]


def _turn(item: JsonValue, at: int) -> JsonObject:
    speaker = _SPEAKERS.get(word(item, "role"))
    if speaker is None or not is_object(item):
        roles = ", ".join(_SPEAKERS)
        raise ParseError(f"/messages/{at}: the role is one of {roles}, not {word(item, 'role')!r}")
    if "tool_calls" in item:
        raise ParseError(f"/messages/{at}: a call is a message `tool_call` of its own; these are of openai-chat")
    beside = {key: found for key, found in item.items() if key not in ("role", "content")}
    return {"from": speaker, "value": item.get("content"), **beside}


def write(transcript: Transcript) -> JsonObject:
    """Write a row with `messages`."""
    rejected = None if transcript.rejected is None else tuple(_apart(transcript.rejected))
    apart = replace(transcript, messages=tuple(_apart(transcript.messages)), rejected=rejected, tools=None)
    row = sharegpt.write(apart)
    turns: list[JsonObject] = [*row.pop(TURNS), *([row.pop("chosen")] if "chosen" in row else [])]
    system = [{"role": "system", "content": row.pop("system")}] if "system" in row else []
    said = [{"role": _ROLES[turn["from"]], "content": turn["value"]} for turn in turns]
    made: JsonObject = {"messages": [*system, *said]}
    if "rejected" in row:
        made["rejected_response"] = row.pop("rejected")["value"]
    if "kto_tag" in row:
        made["label"] = row.pop("kto_tag")
    if transcript.tools is not None:
        made["tools"] = json_text(write_request(Transcript(tools=transcript.tools), SHAPE)["tools"])
    return {**made, **row}


def _apart(messages: Iterable[Message]) -> Iterator[Message]:
    """Give each call and each result a message of its own, the first call with what is said before it."""
    for message in messages:
        several = [part for part in message.parts if isinstance(part, (CallPart, ResultPart))][1:]
        yield replace(message, parts=tuple(part for part in message.parts if not any(part is one for one in several)))
        yield from (Message(message.role, (part,)) for part in several)


def recognise(value: JsonValue) -> bool:
    """Recognise a row by turns `tool_call`, by a rejected answer, by pairs of a conversation, or by its history."""
    if any(item.get("role") in ("tool_call", "tool_response") for item in objects_in(value)):
        return True
    if not is_object(value):
        return False
    pairs = objects_in(value, "conversation")
    messages = objects_in(value)
    rated = "rejected_response" in value or isinstance(value.get("label"), bool)
    return (
        (rated and bool(messages) and not any("tool_calls" in item for item in messages))
        or (bool(pairs) and all("human" in pair for pair in pairs))
        or (isinstance(value.get("query"), str) and ("history" in value or "response" in value))
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="ms-swift rows: tool_call and tool_response as roles, rejected answers beside the messages.",
    read=read,
    write=write,
    recognise=recognise,
    rules=sharegpt.FORMAT.rules,
    rated=True,
    aliases=("swift",),
    sources=(
        Provenance(
            "modelscope/ms-swift, docs/source_en/Customization/Custom-dataset.md",
            "documentation",
            "025fc6b85ba9e026460d27286b6dc27b2a2cf155",
        ),
        Provenance("modelscope/ms-swift, docs/source_en/Instruction/Agent-support.md", "documentation"),
    ),
)
