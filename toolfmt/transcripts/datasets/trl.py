"""Rows for TRL: a prompt with its completion, with a preferred and a rejected answer, or with a rated answer.

{"prompt": [{"role": "user", "content": "Weather in Paris?"}],
 "completion": [{"role": "assistant", "content": "18C."}]}
{"prompt": [...], "completion": [...], "label": false}
{"prompt": [...], "chosen": [...], "rejected": [...],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}

Messages have the form of chat templates. Rows of plain text are read as a question and its answer, and rows
without a prompt as two whole conversations.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import Message, TextPart, Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.datasets import hf_chat
from toolfmt.transcripts.families.chat_request import read_request, write_request
from toolfmt.transcripts.format import TranscriptFormat
from toolfmt.transcripts.parts.values import rest

NAME: Final = "trl"
SHAPE: Final = replace(hf_chat.SHAPE, owner=NAME, provider=NAME)
_ROW: Final = frozenset({"messages", "prompt", "completion", "chosen", "rejected", "label", "tools"})

_QUESTIONS: Final = ("question", "instruction", "query", "input", "context", "system")
"""The keys of a question, or of a part of it, in other rows of plain text."""


def read(value: JsonValue) -> Transcript:
    """Read a row; a list is only its messages."""
    whole = hf_chat.with_tools(value)
    row: JsonObject = {"messages": value} if is_array(value) else whole if is_object(whole) else {}
    answer = next((key for key in ("completion", "chosen", "messages") if key in row), "")
    if not answer and "prompt" not in row:
        raise ParseError(f"{NAME}: expected `prompt` with `completion`, or `chosen` and `rejected`")
    asked = next((key for key in _QUESTIONS if isinstance(row.get(key), str)), None)
    if asked is not None and "prompt" not in row and isinstance(row.get(answer), str):
        raise ParseError(f"{NAME}: the row has `{asked}`, but no `prompt`: make a `prompt` of it")
    repeated = _is_repeated(row, answer)
    prompt = () if repeated else _side(row, "prompt", "user")
    whole = read_request({"messages": [], **({"tools": row["tools"]} if "tools" in row else {})}, SHAPE)
    label = row.get("label")
    if not (label is None or isinstance(label, bool)):
        raise ParseError(f"/label: expected true or false, not {type(label).__name__}")
    return replace(
        whole,
        messages=(*prompt, *(_side(row, answer, "assistant") if answer else ())),
        rejected=(*prompt, *_side(row, "rejected", "assistant")) if "rejected" in row else None,
        label=label,
        extra=rest(row, _ROW - {"prompt"} if repeated else _ROW, NAME),
    )


def _is_repeated(row: JsonObject, answer: str) -> bool:
    """Whether the prompt is a text that the conversations beside it repeat."""
    items = row.get(answer)
    if not isinstance(row.get("prompt"), str) or not is_array(items):
        return False
    first = next((item for item in items if is_object(item) and item.get("role") != "system"), None)
    return first is not None and first.get("role") == "user"


def _side(row: JsonObject, key: str, role: str) -> tuple[Message, ...]:
    """Read the messages under a key, or its text."""
    found = row.get(key)
    if found is None:
        return ()
    if isinstance(found, str) and key != "messages":
        message = Message("user" if role == "user" else "assistant", (TextPart(found),))
        message.where = (f"/{key}",)
        return (message,)
    if not is_array(found):
        text = "" if key == "messages" else " or text"
        raise ParseError(f"/{key}: expected a list of messages{text}, not {type(found).__name__}")
    messages = read_request({"messages": found}, SHAPE).messages
    for at, message in enumerate(messages):
        message.where = (f"/{key}", at)
    return messages


def write(transcript: Transcript) -> JsonValue:
    """Write a row: the prompt ends with the last user turn that both answers share."""
    whole = write_request(transcript, SHAPE)
    chosen = whole["messages"]
    beside = {key: value for key, value in whole.items() if key != "messages"}
    if transcript.rejected is None:
        at = _asked(chosen)
        label = {} if transcript.label is None else {"label": transcript.label}
        return {"prompt": chosen[:at], "completion": chosen[at:], **label, **beside}
    rejected = write_request(Transcript(transcript.rejected), SHAPE)["messages"]
    shared = sum(1 for _ in takewhile(lambda pair: jsontext.equal(*pair), zip(chosen, rejected, strict=False)))
    at = 0 if "prompt" in beside else _asked(chosen[:shared])
    return {"prompt": chosen[:at], "chosen": chosen[at:], "rejected": rejected[at:], **beside}


def _asked(items: list[JsonValue]) -> int:
    """Count the messages up to the last user message."""
    return max((at + 1 for at, item in enumerate(items) if is_object(item) and item.get("role") == "user"), default=0)


def recognise(value: JsonValue) -> bool:
    """Recognise a row by its two answers, or by a prompt and its completion."""
    if not is_object(value):
        return False
    answers = [value[key] for key in ("completion", "chosen", "rejected") if key in value]
    listed = all(map(is_array, answers))
    if not listed and not all(isinstance(answer, str) for answer in answers):
        return False
    compared = "chosen" in value and "rejected" in value
    prompt = value.get("prompt")
    fits = is_array(prompt) == listed or (compared and (prompt is None or isinstance(prompt, str)))
    return fits and (compared or ("completion" in value and prompt is not None))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="TRL rows: prompt and completion, chosen and rejected answers, or a rated one.",
    read=read,
    write=write,
    recognise=recognise,
    rules=hf_chat.FORMAT.rules,
    messages="prompt",
    rated=True,
    aliases=("trl-preference", "trl-kto", "dpo", "kto"),
    demands={
        **dict.fromkeys(("trl-preference", "dpo"), ("rejected",)),
        **dict.fromkeys(("trl-kto", "kto"), ("label", "rejected")),
    },
    sources=(Provenance("TRL documentation, Dataset formats and types", "documentation"),),
)
