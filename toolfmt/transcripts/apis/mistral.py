r"""Mistral's chat completion: a request, or the messages alone.

{"messages": [
    {"role": "user", "content": [
        {"type": "text", "text": "Weather in Paris?"}, {"type": "image_url", "image_url": "https://e.com/a.png"}]},
    {"role": "assistant",
     "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "One call."}]},
        {"type": "text", "text": "Checking."}],
     "tool_calls": [
        {"id": "A1b2C3d4E", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\": \"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "A1b2C3d4E", "name": "get_weather", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "any", "parallel_tool_calls": true}

Answers and chunks are as Chat Completions', with thinking in the content, and calls whole:
{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {
    "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}, "finish_reason": null}]}
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from toolfmt import jsontext
from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.schema.rules import MISTRAL
from toolfmt.transcripts.answering.answer_info import AnswerEnding, TokenCounting, endings
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock
from toolfmt.transcripts.apis.openai_chat import API as OPENAI
from toolfmt.transcripts.apis.openai_chat import call_delta, completion, delta
from toolfmt.transcripts.comparing.linking import hashed_id
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, parts_in, read_request, write_request
from toolfmt.transcripts.format import NAMES, Rules, Spelling, TranscriptFormat

NAME: Final = "mistral"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    custom=False,
    refusals=False,
    names=False,
    parameters=True,
    no_id="null",
    result_name="name",
    reasoning_part="chunks",
    media="url",
    choices={"auto": "auto", "none": "none", "any": "required", "required": "required"},
    named="one",
    prefix=True,
)


def recognise(value: JsonValue) -> bool:
    """Recognise a request by thoughts in chunks, an address in place of an image, or the choice `any`."""
    if is_object(value) and value.get("tool_choice") == "any":
        return bool(messages_in(value))
    return any(
        is_array(part.get("thinking")) or isinstance(part.get("image_url"), str) or part.get("type") == "document_url"
        for part in parts_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Mistral chat: as OpenAI's, with ids of nine letters and digits and thinking in the content.",
    read=partial(read_request, shape=SHAPE),
    rereads=True,
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        call_id=Spelling(r"[a-zA-Z0-9]", 9, exact=True),
        tool_name=NAMES,
        result_kinds=frozenset({"text", "image", "document"}),
        user_kinds=frozenset({"text", "image", "audio", "document"}),
        owners=frozenset({NAME}),
        neighbours="answers",
        interleaved=False,
        empty_messages=False,
        prefix=True,
        arguments="any",
        schema=MISTRAL,
    ),
    aliases=("mistralai", "mistral-chat"),
    sources=(
        Provenance("mistralai, mistralai.models", "source", "3.7.0", "Apache-2.0"),
        Provenance("mistral-common, protocol/instruct/validator.py", "source", "1.13.1", "Apache-2.0"),
    ),
)


_COUNT: Final = TokenCounting({"input": "prompt_tokens", "output": "completion_tokens", "total": "total_tokens"})
"""The counts in Mistral's types, which have no details."""
_STOPS: Final = endings("stop", tool_calls="tool_calls", length="length")


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = completion(choices, ending.head, _STOPS[ending.stop])
    return {**made, "usage": _COUNT.write(ending.info.usage)}


def _fit_id(ident: str) -> str:
    """Keep an id of nine letters and digits; hash any other."""
    fits = len(ident) == 9 and ident.isalnum() and ident.isascii()  # noqa: PLR2004 - mistral-common's validator
    return ident if fits else hashed_id(ident, 9)


def _call(block: StreamBlock) -> list[JsonObject]:
    call = block.call
    if call is None:
        return []
    text = call.raw_arguments or jsontext.dumps(call.arguments)
    return call_delta(block, id=block.id, type="function", function={"name": call.name, "arguments": text})


def _finish(ending: AnswerEnding, _: object) -> list[JsonObject]:
    (last,) = delta(ending.head, {"content": ""}, _STOPS[ending.stop])
    return [last | ending.counted("usage", _COUNT)]


API: Final = replace(
    OPENAI,
    name=NAME,
    copies=True,
    close=_close,
    stream=Blocks(
        fit_id=_fit_id,
        interleaved=True,
        begin=lambda head, _: delta(head, {"role": "assistant", "content": ""}),
        delta={
            "text": lambda block, text: delta(block.head, {"content": text}),
            "reasoning": lambda block, text: delta(
                block.head, {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]}
            ),
        },
        end={"call": _call},
        finish=_finish,
        fail=lambda _, failure, __: [WRITERS[NAME](failure)],
    ),
)
