r"""Cohere's answers and the events of its streams, chat version 2; what announces calls is text.

{"id": "c1", "finish_reason": "TOOL_CALL", "message": {"role": "assistant",
    "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Hi"}], "tool_plan": "One call.",
    "tool_calls": [{"id": "f_a1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "usage": {"tokens": {"input_tokens": 12, "output_tokens": 9}, "cached_tokens": 5}}
{"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "Hi"}}}}
{"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls":
    {"id": "f_a1", "type": "function", "function": {"name": "f", "arguments": ""}}}}}
{"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}}
{"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"output_tokens": 9}}}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, kind, objects, whole_call
from toolfmt.transcripts.answer_usage import read_cohere

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


def _answer(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), None)
    said = inner(value, "message")
    for part in objects(said, "content"):
        _say(part, made)
    made.text(said.get("tool_plan"))
    for call in objects(said, "tool_calls"):
        body = inner(call, "function")
        whole_call(made, body.get("name"), call.get("id"), body.get("arguments"))
    _end(value, made)


def _say(content: JsonObject, made: Assembler) -> None:
    made.reasoning(content.get("thinking"))
    made.text(content.get("text"))


def _end(value: JsonObject, made: Assembler) -> None:
    ended(made, value.get("finish_reason"))
    if value.get("usage"):
        made.tokens(value["usage"], read_cohere)


def _event(value: JsonObject, made: Assembler) -> None:
    delta = inner(value, "delta")
    said = inner(delta, "message")
    call = inner(said, "tool_calls")
    body = inner(call, "function")
    key = value.get("index")
    match value["type"]:
        case "message-start":
            made.about(value.get("id"), None)
        case "content-start" | "content-delta":
            _say(inner(said, "content"), made)
        case "tool-plan-delta":
            made.text(said.get("tool_plan"))
        case "tool-call-start":
            made.call(key, body.get("name"), call.get("id"))
            made.arguments(key, body.get("arguments"))
        case "tool-call-delta":
            made.arguments(key, body.get("arguments"))
        case "tool-call-end":
            made.end(key)
        case "message-end":
            _end(delta, made)
        case "citation-start":
            made.note("citations", "citation")
        case _:
            pass  # where contents and citations begin and end


_EVENTS: Final = frozenset(
    {
        "message-start",
        "content-start",
        "content-delta",
        "content-end",
        "tool-plan-delta",
        "tool-call-start",
        "tool-call-delta",
        "tool-call-end",
        "citation-start",
        "citation-end",
        "message-end",
    }
)

SHAPES: Final = (
    StepShape(lambda value: kind(value) in _EVENTS, _event),
    StepShape(lambda value: is_object(value.get("message")) and "finish_reason" in value, _answer),
)
