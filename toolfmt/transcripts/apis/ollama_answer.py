"""Ollama's answers and chunks, which have the same shape; calls come whole.

{"model": "m", "message": {"role": "assistant", "thinking": "Hm.", "content": "Hi"}, "done": false}
{"model": "m", "message": {"content": ""}, "done": true, "done_reason": "stop",
    "prompt_eval_count": 12, "eval_count": 9}

Every chunk says whose it is; the last one says why the answer ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_api import AnswerApi, AnswerEnding, Envelope, endings, known, only, timestamp
from toolfmt.transcripts.answer_steps import StepShape, ended, inner, objects, whole_call
from toolfmt.transcripts.answer_usage import TokenCounting
from toolfmt.transcripts.apis.cohere_answer import open_message
from toolfmt.transcripts.failures import WRITERS
from toolfmt.transcripts.sinks.blocks import Blocks, StreamBlock

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answer_info import Stop, Usage
    from toolfmt.transcripts.assembling import Assembler
    from toolfmt.transcripts.sinks.sink import AnswerHead

NAME: Final = "ollama"
_COUNT: Final = TokenCounting({"input": "prompt_eval_count", "output": "eval_count"})
_STOPS: Final = endings("stop", length="length")


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(None, value.get("model"))
    said = inner(value, "message")
    made.reasoning(said.get("thinking"))
    made.text(said.get("content"))
    if said.get("images"):
        made.note("provider_part", "images")
    for call in objects(said, "tool_calls"):
        function = inner(call, "function")
        whole_call(made, function.get("name"), call.get("id"), function.get("arguments"))
    if value.get("done"):
        ended(made, value.get("done_reason") or "stop")
        made.tokens(value, _COUNT.read)


def _chunk(head: AnswerHead, message: JsonObject, *, done: bool = False, **beside: JsonValue) -> JsonObject:
    about: JsonObject = {"model": head.model, "created_at": timestamp(head.created)}
    return {**about, "message": {"role": "assistant", "content": "", **message}, "done": done, **beside}


def _last(head: AnswerHead, stop: Stop, usage: Usage | None, message: JsonObject) -> JsonObject:
    counted = {} if usage is None else _COUNT.write(usage)
    return _chunk(head, message, done=True, done_reason=_STOPS[stop], **counted)


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    return _last(ending.head, ending.stop, ending.info.usage, only(choices[0]))


def _call(block: StreamBlock) -> list[JsonObject]:
    if block.call is None:
        return []
    function = {"name": block.call.name, "arguments": block.call.arguments}
    return [_chunk(block.head, {"tool_calls": [{"function": function}]})]


API: Final = AnswerApi(
    name=NAME,
    wire="lines",
    shapes=(StepShape(lambda value: is_object(value.get("message")) and "model" in value, _read),),
    envelope=Envelope(
        open=open_message,
        close=_close,
        known=known("model", "created_at", "message", "done", "done_reason", "prompt_eval_count", "eval_count")
        | known("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"),
    ),
    stream=Blocks(
        call_prefix="",
        interleaved=True,
        delta={
            "text": lambda block, text: [_chunk(block.head, {"content": text})],
            "reasoning": lambda block, text: [_chunk(block.head, {"thinking": text})],
        },
        end={"call": _call},
        finish=lambda head, stop, _, usage: [_last(head, stop, usage, {})],
        fail=lambda _, failure: [WRITERS[NAME](failure)],
    ),
)
