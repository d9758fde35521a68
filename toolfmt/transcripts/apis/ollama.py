r"""Ollama's chat: a request, or the messages alone; no call has an id, results follow the calls in order.

{"model": "qwen3", "think": true, "messages": [
    {"role": "user", "content": "Weather here?", "images": ["iVBORw0KGgo"]},
    {"role": "assistant", "content": "Checking.", "thinking": "One call.", "tool_calls": [
        {"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}]},
    {"role": "tool", "tool_name": "get_weather", "content": "18C"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}

Answers and chunks have the same shape; calls come whole:
{"model": "m", "message": {"role": "assistant", "thinking": "Hm.", "content": "Hi"}, "done": false}
{"model": "m", "message": {"content": ""}, "done": true, "done_reason": "stop",
    "prompt_eval_count": 12, "eval_count": 9}

Every chunk has the model's name; the last one has the reason why the answer ended.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only, open_message
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, TokenCounting, endings, timestamp
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.known_fields import fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.values import object_at, objects_at
from toolfmt.transcripts.tables.request import objects_in

NAME: Final = "ollama"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    arguments="object",
    call_type=False,
    call_ids=False,
    custom=False,
    refusals=False,
    names=False,
    result_name="tool_name",
    reasoning="thinking",
    reasoning_alone=True,
    no_content="empty",
    media="list",
    text_parts=False,
    strict="",
    choices={},
    parallel=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise a request by a result's `tool_name`, images beside the text, or calls without a type and an id."""
    return any(
        "tool_name" in message or is_array(message.get("images")) or any(map(_bare, objects_in(message, "tool_calls")))
        for message in messages_in(value)
    )


def _bare(call: JsonObject) -> bool:
    function = call.get("function")
    return is_object(function) and is_object(function.get("arguments")) and call.keys() == {"function"}


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Ollama chat: no ids, arguments as objects, images beside the text.",
    read=partial(read_request, shape=SHAPE),
    rereads=True,
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        call_ids="none",
        result_names=True,
        url_kinds=frozenset(),
        owners=frozenset({NAME}),
        neighbours="answers",
        interleaved=False,
        arguments="object",
    ),
    sources=(Provenance("ollama-python, ollama/_types.py", "source", "0.6.3", "MIT"),),
)


_COUNT: Final = TokenCounting({"input": "prompt_eval_count", "output": "eval_count"})
_STOPS: Final = endings("stop", length="length")
_AROUND: Final = fields(
    "model created_at message done done_reason prompt_eval_count eval_count logprobs error "
    "total_duration load_duration prompt_eval_duration eval_duration"
)
_CALL: Final = fields("id type", function=fields("name arguments index"))
_KNOWN: Final = {**_AROUND, "message": fields("role content thinking images tool_name", tool_calls=_CALL)}


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(None, value.get("model"))
    body = object_at(value, "message")
    made.reasoning(body.get("thinking"))
    made.logprobs(value.get("logprobs"))
    made.text(body.get("content"))
    if body.get("images"):
        made.note("provider_part", "images")
    for call in objects_at(body, "tool_calls"):
        function = object_at(call, "function")
        made.whole_call(function.get("name"), call.get("id"), function.get("arguments"))
    if value.get("done"):
        made.ended(value.get("done_reason") or "stop")
        made.tokens(value, _COUNT.read)


def _chunk(head: AnswerHead, message: JsonObject, *, done: bool = False, **beside: JsonValue) -> JsonObject:
    about: JsonObject = {"model": head.model, "created_at": timestamp(head.created)}
    return {**about, "message": {"role": "assistant", "content": "", **message}, "done": done, **beside}


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    counted = {} if ending.info.usage is None else _COUNT.write(ending.info.usage)
    tokens = ending.info.logprobs if choices[0] else ()
    beside: JsonObject = {"logprobs": tokens} if tokens else {}
    return _chunk(ending.head, only(choices[0]), done=True, done_reason=_STOPS[ending.stop], **counted, **beside)


def _text(block: StreamBlock, text: str) -> list[JsonObject]:
    beside: JsonObject = {"logprobs": block.fresh} if block.fresh else {}
    return [_chunk(block.head, {"content": text}, **beside)]


def _call(block: StreamBlock) -> list[JsonObject]:
    if block.call is None:
        return []
    function = {"name": block.call.name, "arguments": block.call.arguments}
    return [_chunk(block.head, {"tool_calls": [{"function": function}]})]


API: Final = AnswerApi(
    name=NAME,
    wire="lines",
    shapes=(StepShape(lambda value: is_object(value.get("message")) and "model" in value, _read, _KNOWN),),
    open=open_message,
    close=_close,
    known=_AROUND,
    stream=Blocks(
        call_prefix="",
        logprobs=True,
        interleaved=True,
        delta={"text": _text, "reasoning": lambda block, text: [_chunk(block.head, {"thinking": text})]},
        end={"call": _call},
        finish=lambda ending, _: [_close([[]], ending)],
        fail=lambda _, failure, __: [WRITERS[NAME](failure)],
    ),
)
