"""Chat Completions' answers and chunks, of OpenAI and of all who copy it.

{"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": null}]}
{"choices": [{"message": {"role": "assistant", "tool_calls": [
    {"id": "call_A1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
    "finish_reason": "tool_calls"}]}

An `index` distinguishes calls, so theirs may be interleaved. Reasoning is `reasoning_content`, as most servers of open
models write it. The last chunk has the usage and no choices. A message cannot say what was between calls: text and
calls each keep their own order alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answer_api import AnswerApi, AnswerEnding, Envelope, endings, known, only
from toolfmt.transcripts.answer_steps import StepShape, ended, inner, objects
from toolfmt.transcripts.answer_usage import TokenCounting
from toolfmt.transcripts.apis.openai_chat import NAME
from toolfmt.transcripts.citations import cited_at, nested
from toolfmt.transcripts.failures import WRITERS
from toolfmt.transcripts.sinks.blocks import Blocks, StreamBlock

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answer_info import Stop, Usage
    from toolfmt.transcripts.assembling import Assembler
    from toolfmt.transcripts.sinks.sink import AnswerHead

_COUNT: Final = TokenCounting(
    {
        "input": "prompt_tokens",
        "output": "completion_tokens",
        "total": "total_tokens",
        "cached": "prompt_tokens_details.cached_tokens",
        "cache_written": "prompt_tokens_details.cache_write_tokens",
        "reasoning": "completion_tokens_details.reasoning_tokens",
    }
)
_STOPS: Final = endings("stop", tool_calls="tool_calls", length="length", content_filter="content_filter")
KNOWN: Final = known("id", "object", "created", "model", "choices", "usage")
CHOICE: Final = ("choices", known("index", "message", "finish_reason"))

_BESIDE: Final = ("audio", "images")
"""What a message may hold that no event reports."""


def _read(value: JsonObject, made: Assembler) -> None:
    if not made.info.id:
        made.about(value.get("id"), value.get("model"), value.get("created"))
    if value.get("usage"):
        made.tokens(value["usage"], _COUNT.read)
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
    for citation in objects(said, "annotations"):
        made.cite(citation)
    for key in _BESIDE:
        if said.get(key):
            made.note("provider_part", key)
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


def open_choices(value: JsonObject) -> list[JsonValue]:
    """Give the conversation of each choice."""
    return [{"messages": [{"role": "assistant", **inner(choice, "message")}]} for choice in objects(value, "choices")]


def completion(choices: list[list[JsonObject]], head: AnswerHead, reason: str) -> JsonObject:
    """Write an answer without its usage."""
    made: list[JsonObject] = []
    for at, messages in enumerate(choices):
        message = {"role": "assistant", "content": None, **only(messages)}
        made.append({"index": at, "message": message, "finish_reason": reason})
    return {**chunk(head, made), "object": "chat.completion"}


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = completion(choices, ending.head, _STOPS[ending.stop])
    for choice in made["choices"]:
        message = choice["message"]
        message.setdefault("refusal", None)
        parts = message["content"]
        if is_array(parts):  # an answer's content is text, whatever a request's may be
            message["content"] = "".join(part["text"] for part in parts if isinstance(part.get("text"), str)) or None
        choice["logprobs"] = None
    return made | ending.counted("usage", _COUNT)


def chunk(head: AnswerHead, choices: list[JsonObject]) -> JsonObject:
    """Write a chunk of choices."""
    about: JsonObject = {"id": head.id, "object": "chat.completion.chunk", "created": head.created}
    return {**about, "model": head.model, "choices": choices}


def delta(head: AnswerHead, said: JsonObject, reason: str | None = None) -> list[JsonObject]:
    """Write a chunk of one choice."""
    return [chunk(head, [{"index": 0, "delta": said, "finish_reason": reason}])]


def call_delta(block: StreamBlock, **said: JsonValue) -> list[JsonObject]:
    """Write a chunk of a call."""
    return delta(block.head, {"tool_calls": [{"index": block.number, **said}]})


def _start(block: StreamBlock) -> list[JsonObject]:
    return call_delta(block, id=block.id, type="function", function={"name": block.name, "arguments": ""})


def _custom(block: StreamBlock, text: str) -> list[JsonObject]:
    return call_delta(block, id=block.id, type="custom", custom={"name": block.name, "input": text})


def _cite(block: StreamBlock, citation: JsonObject, before: int) -> list[JsonObject]:
    """Write a citation, whose places count from the beginning of the message."""
    made = cited_at(citation, before + block.before, "".join(block.pieces), nested, lambda item: "url_citation" in item)
    return [] if made is None else delta(block.head, {"annotations": [made]})


def _finish(head: AnswerHead, stop: Stop, _: str | None, usage: Usage | None) -> list[JsonObject]:
    counted = [] if usage is None else [{**chunk(head, []), "usage": _COUNT.write(usage)}]
    return [*delta(head, {}, _STOPS[stop]), *counted]


API: Final = AnswerApi(
    name=NAME,
    done=True,
    shapes=SHAPES,
    envelope=Envelope(open=open_choices, close=_close, known=KNOWN, choice=CHOICE, several=True),
    stream=Blocks(
        interleaved=True,
        begin=lambda head, _: delta(head, {"role": "assistant", "content": ""}),
        start={"call": _start},
        delta={
            "text": lambda block, text: delta(block.head, {"content": text}),
            "refusal": lambda block, text: delta(block.head, {"refusal": text}),
            "reasoning": lambda block, text: delta(block.head, {"reasoning_content": text}),
            "call": lambda block, text: call_delta(block, function={"arguments": text}),
            "custom": _custom,
        },
        cite=_cite,
        finish=_finish,
        fail=lambda _, failure: [WRITERS[NAME](failure)],
    ),
)
