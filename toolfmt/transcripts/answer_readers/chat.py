"""Chat Completions' answers and chunks, of OpenAI and of all who copy it.

{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}
{"choices": [{"message": {"role": "assistant", "tool_calls": [
    {"id": "call_A1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "finish_reason": "tool_calls"}]}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answer_readers.steps import StepShape, ended, inner, objects
from toolfmt.transcripts.answer_usage import read_chat

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.assembling import Assembler


_BESIDE: Final = {"annotations": "citations", "audio": "provider_part", "images": "provider_part"}
"""What a message may hold that no event tells."""


def _read(value: JsonObject, made: Assembler) -> None:
    if not made.info.id:
        made.about(value.get("id"), value.get("model"), value.get("created"))
    if value.get("usage"):
        made.tokens(value["usage"], read_chat)
    if value.get("error"):
        made.fail(value)
    for choice in objects(value, "choices"):
        if choice.get("index"):
            made.note("choice", str(choice["index"]))  # another answer to the same question
        else:
            _choice(choice, made)


def _choice(choice: JsonObject, made: Assembler) -> None:
    said = choice.get("delta") or inner(choice, "message")
    made.reasoning(said.get("reasoning_content") or said.get("reasoning"))
    _content(said.get("content"), made)
    made.refusal(said.get("refusal"))
    for key, kind in _BESIDE.items():
        if said.get(key):
            made.note(kind, key)
    if said.get("tool_calls") or said.get("function_call"):
        _calls(said, made)
    if choice.get("error"):
        made.fail(choice)
    ended(made, choice.get("finish_reason") or ("message" in choice and "stop"))
    if choice.get("finish_reason") or "message" in choice:
        made.finish(cut=made.info.stop == "length")


def _content(content: JsonValue, made: Assembler) -> None:
    """Read a message's content: text, or, as Mistral has it, a list of parts, of which one may be thinking."""
    if not is_array(content):
        made.text(content)
        return
    for part in filter(is_object, content):
        match part.get("type"):
            case "text":
                made.text(part.get("text"))
            case "thinking":
                for thought in objects(part, "thinking"):
                    made.reasoning(thought.get("text"))
            case other:
                made.note("provider_part", str(other))


def _calls(said: JsonObject, made: Assembler) -> None:
    for at, call in enumerate(objects(said, "tool_calls")):
        key = at if call.get("index") is None else call["index"]
        custom = call.get("type") == "custom" or not is_object(call.get("function"))
        body = inner(call, "custom" if custom else "function")
        if body.get("name") or call.get("id"):
            made.call(key, body.get("name"), call.get("id"), form="text" if custom and body else "json")
        made.arguments(key, body.get("arguments", body.get("input")))
    only = inner(said, "function_call")  # from before there were several
    if only.get("name"):
        made.call("function_call", only["name"], None)
    made.arguments("function_call", only.get("arguments"))


SHAPES: Final = (StepShape(lambda value: is_array(value.get("choices")), _read),)
