"""Anthropic's answers and events.

{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
{"type": "message", "content": [{"type": "tool_use", "id": "toolu_A1", "name": "f", "input": {}}],
    "stop_reason": "tool_use"}

What a limit cut off has a block like any other: arguments count as whole only if the reason to end allows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, kind, objects
from toolfmt.transcripts.answer_usage import read_anthropic
from toolfmt.transcripts.anthropic import OWNER

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


_EVENTS: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
)


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), value.get("model"))
    ended(made, "stop")
    _end(value, value, made)
    *blocks, last = objects(value, "content") or [{}]
    for block in blocks:
        _block(block, made)
    if last:
        _block(last, made, cut=made.info.stop == "length")


def _end(delta: JsonObject, value: JsonObject, made: Assembler) -> None:
    ended(made, delta.get("stop_reason"))
    if isinstance(delta.get("stop_sequence"), str):
        made.info.stop_sequence = delta["stop_sequence"]
    made.tokens(value.get("usage"), read_anthropic)


def _block(block: JsonObject, made: Assembler, *, cut: bool = False) -> None:
    match block.get("type"):
        case "text":
            made.text(block.get("text"))
            if block.get("citations"):
                made.note("citations", str(len(block["citations"])))
        case "thinking":
            made.reasoning(block.get("thinking"))
            made.prove(OWNER, block.get("signature"))
        case "redacted_thinking":
            made.prove(OWNER, encrypted=block.get("data"))
        case "tool_use":
            key = object()
            made.call(key, block.get("name"), block.get("id"), form="value")
            made.arguments(key, block.get("input"))
            made.end(key, cut=cut)
        case other:
            made.note("provider_part", str(other))


def _event(value: JsonObject, made: Assembler) -> None:
    at = value.get("index")
    match value["type"]:
        case "message_start":
            message = inner(value, "message")
            made.about(message.get("id"), message.get("model"))
            made.tokens(message.get("usage"), read_anthropic)
        case "message_delta":
            _end(inner(value, "delta"), value, made)
            made.finish(cut=made.info.stop == "length")
        case "content_block_start":
            block = inner(value, "content_block")
            if block.get("type") == "tool_use":
                made.call(at, block.get("name"), block.get("id"))
                given = block.get("input")  # an empty object stands for what the deltas will say
                made.arguments(at, None if given == {} else given)
            else:
                _block(block, made)
        case "content_block_delta":
            delta = inner(value, "delta")
            made.text(delta.get("text"))
            if delta.get("citation"):
                made.note("citations", str(inner(delta, "citation").get("type")))
            made.reasoning(delta.get("thinking"))
            made.prove(OWNER, delta.get("signature"))
            made.arguments(at, delta.get("partial_json"))
        case "content_block_stop":
            made.stop(at)
        case _:  # message_stop
            made.info.stop = made.info.stop or "stop"


SHAPES: Final = (
    StepShape(lambda value: kind(value) in _EVENTS, _event),
    StepShape(lambda value: value.get("type") == "message" and is_array(value.get("content")), _read),
)
