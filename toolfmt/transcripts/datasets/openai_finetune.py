r"""A row of OpenAI's fine-tuning data: chat messages, each of the assistant's with a weight.

{"messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "tool_calls": [
        {"id": "call_A1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}], "weight": 0},
    {"role": "tool", "tool_call_id": "call_A1", "content": "18C"},
    {"role": "assistant", "content": "18C.", "weight": 1}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "parallel_tool_calls": false}

Two answers to compare:
{"input": {"messages": [{"role": "user", "content": "Weather in Paris?"}]},
 "preferred_output": [{"role": "assistant", "content": "18C."}],
 "non_preferred_output": [{"role": "assistant", "content": "No idea."}]}
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import Transcript
from toolfmt.dialect.record import Provenance
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import OPENAI, OPENAI_TUNED_STRICT
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, read_request, write_request
from toolfmt.transcripts.format import NAMES, Rules, Spelling, TranscriptFormat
from toolfmt.transcripts.parts.values import located, rest

NAME: Final = "openai-finetune"
SHAPE: Final = ChatShape(
    owner=NAME, provider="openai", custom=False, signed_by="anthropic", no_content="absent", choices={}
)


_INPUT: Final = "input"
_OUTPUTS: Final = ("preferred_output", "non_preferred_output")


def read(value: JsonValue) -> Transcript:
    """Read a row; a list is its messages alone."""
    if not is_object(value) or _OUTPUTS[0] not in value:
        return read_request(value, SHAPE)
    asked = _read(value, _INPUT)
    chosen, rejected = ((*asked.messages, *_read(value, key).messages) for key in _OUTPUTS)
    extra = asked.extra | rest(value, {_INPUT, *_OUTPUTS}, NAME)
    return replace(asked, messages=chosen, rejected=rejected, extra=extra)


def _read(row: JsonObject, key: str) -> Transcript:
    found = row.get(key)
    if not (is_object(found) if key == _INPUT else is_array(found)):
        raise ParseError(f"/{key}: expected {'an object with messages' if key == _INPUT else 'a list of messages'}")
    try:
        read = read_request(found, SHAPE)
    except ParseError as error:
        listed = "" if key == _INPUT else "/messages"
        raise located(f"/{key}", ParseError(str(error).removeprefix(listed))) from None
    place = f"/{key}/messages" if key == _INPUT else f"/{key}"
    for at, message in enumerate(read.messages):
        message.where = (place, at)
    return read


def write(transcript: Transcript) -> JsonValue:
    """Write a row; what two answers share is their input."""
    chosen = write_request(transcript, SHAPE)
    if transcript.rejected is None:
        return chosen
    sides = chosen["messages"], write_request(Transcript(transcript.rejected), SHAPE)["messages"]
    shared = sum(1 for _ in takewhile(lambda pair: jsontext.equal(*pair), zip(*sides, strict=False)))
    at = min(shared, *(len(side) - 1 for side in sides))
    return {_INPUT: chosen | {"messages": sides[0][:at]}} | {
        key: side[at:] for key, side in zip(_OUTPUTS, sides, strict=True)
    }


def recognise(value: JsonValue) -> bool:
    """Recognise a row by a message's weight, or by its two outputs."""
    compared = is_object(value) and all(is_array(value.get(key)) for key in _OUTPUTS)
    return compared or any("weight" in message for message in messages_in(value))


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="OpenAI fine-tuning data: a conversation a row, messages with weights, or two answers.",
    read=read,
    write=write,
    recognise=recognise,
    rated=True,
    relative_of="openai-chat",
    rules=Rules(
        trained=True,
        answered=True,
        call_id=Spelling(length=40),
        schema=OPENAI,
        strict_schema=OPENAI_TUNED_STRICT,
        tool_name=NAMES,
        owners=frozenset({NAME, "openai"}),
        neighbours="answers",
        interleaved=False,
        empty_messages=False,
    ),
    aliases=("finetune", "openai-finetuning"),
    sources=(
        Provenance("OpenAI API guide, Supervised fine-tuning", "documentation"),
        Provenance("OpenAI API guide, Direct preference optimization", "documentation"),
    ),
)
