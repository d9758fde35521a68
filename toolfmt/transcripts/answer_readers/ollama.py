"""Ollama's answers and chunks, which have the same shape; calls come whole.

{"model": "m", "message": {"role": "assistant", "thinking": "Hm.", "content": "Hi"}, "done": false}
{"model": "m", "message": {"content": ""}, "done": true, "done_reason": "stop",
    "prompt_eval_count": 12, "eval_count": 9}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_object
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, objects, whole_call
from toolfmt.transcripts.answer_usage import read_ollama

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.assembling import Assembler


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(None, value.get("model"))
    said = inner(value, "message")
    made.reasoning(said.get("thinking"))
    made.text(said.get("content"))
    for call in objects(said, "tool_calls"):
        function = inner(call, "function")
        whole_call(made, function.get("name"), call.get("id"), function.get("arguments"))
    if value.get("done"):
        ended(made, value.get("done_reason") or "stop")
        made.tokens(value, read_ollama)


SHAPES: Final = (StepShape(lambda value: is_object(value.get("message")) and "model" in value, _read),)
