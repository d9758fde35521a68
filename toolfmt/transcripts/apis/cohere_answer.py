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
from toolfmt.transcripts.answer_api import AnswerApi, AnswerEnding, Envelope, endings, known, only
from toolfmt.transcripts.answer_steps import StepShape, ended, inner, kind, objects, whole_call
from toolfmt.transcripts.answer_usage import TokenCounting
from toolfmt.transcripts.citations import cited_at, grounded, grounds
from toolfmt.transcripts.sinks.blocks import Blocks, StreamBlock

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answer_info import Stop, Usage
    from toolfmt.transcripts.assembling import Assembler
    from toolfmt.transcripts.sinks.sink import AnswerHead

_COUNT: Final = TokenCounting(
    {"input": "tokens.input_tokens", "output": "tokens.output_tokens", "cached": "cached_tokens"}
)
_STOPS: Final = endings(
    "COMPLETE", tool_calls="TOOL_CALL", stop_sequence="STOP_SEQUENCE", length="MAX_TOKENS", content_filter="ERROR"
)


def _answer(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), None)
    said = inner(value, "message")
    for part in objects(said, "content"):
        _say(part, made)
    for citation in objects(said, "citations"):
        made.cite(citation)
    made.text(said.get("tool_plan"))
    for call in objects(said, "tool_calls"):
        body = inner(call, "function")
        whole_call(made, body.get("name"), call.get("id"), body.get("arguments"))
    _end(value, made)


def _say(content: JsonObject, made: Assembler) -> None:
    made.reasoning(content.get("thinking"))
    made.text(content.get("text"))
    if content and content.keys().isdisjoint(("text", "thinking")):
        made.note("provider_part", str(content.get("type")))


def _end(value: JsonObject, made: Assembler) -> None:
    ended(made, value.get("finish_reason"))
    if value.get("usage"):
        made.tokens(value["usage"], _COUNT.read)


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
            if value["type"] == "content-start":
                made.piece()
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
            made.cite(said.get("citations"))
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


def open_message(value: JsonObject) -> list[JsonValue]:
    """Give the conversation of an answer whose message is an assistant's of a request."""
    return [{"messages": [{"role": "assistant", **inner(value, "message")}]}]


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    message: JsonObject = {"role": "assistant", **only(choices[0])}
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = [{"type": "text", "text": content}]
    made: JsonObject = {"id": ending.head.id, "finish_reason": _STOPS[ending.stop], "message": message}
    return made | ending.counted("usage", _COUNT)


def _part(kind: str, block: StreamBlock, **said: JsonValue) -> list[JsonObject]:
    """Write an event of a block; one that says nothing has no delta."""
    return [{"type": kind, "index": block.index} | ({"delta": {"message": said}} if said else {})]


def _start(block: StreamBlock) -> list[JsonObject]:
    call = {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": ""}}
    return _part("tool-call-start", block, tool_calls=call)


def _end_content(block: StreamBlock) -> list[JsonObject]:
    return _part("content-end", block)


def _cite(block: StreamBlock, citation: JsonObject, before: int) -> list[JsonObject]:
    made = cited_at(citation, before, "".join(block.pieces), grounded, grounds)
    if made is None:
        return []
    begin: JsonObject = {"type": "citation-start", "index": block.cited, "delta": {"message": {"citations": made}}}
    return [begin, {"type": "citation-end", "index": block.cited}]


def _finish(head: AnswerHead, stop: Stop, _: str | None, usage: Usage | None) -> list[JsonObject]:
    counted = {} if usage is None else {"usage": _COUNT.write(usage)}
    return [{"type": "message-end", "id": head.id, "delta": {"finish_reason": _STOPS[stop], **counted}}]


API: Final = AnswerApi(
    name="cohere",
    event_name="type",
    shapes=(
        StepShape(lambda value: kind(value) in _EVENTS, _event),
        StepShape(lambda value: is_object(value.get("message")) and "finish_reason" in value, _answer),
    ),
    envelope=Envelope(open=open_message, close=_close, known=known("id", "finish_reason", "message", "usage")),
    stream=Blocks(
        begin=lambda head, _: [{"type": "message-start", "id": head.id, "delta": {"message": {"role": "assistant"}}}],
        start={
            "text": lambda block: _part("content-start", block, content={"type": "text", "text": ""}),
            "reasoning": lambda block: _part("content-start", block, content={"type": "thinking", "thinking": ""}),
            "call": _start,
        },
        delta={
            "text": lambda block, text: _part("content-delta", block, content={"text": text}),
            "reasoning": lambda block, text: _part("content-delta", block, content={"thinking": text}),
            "call": lambda block, text: _part("tool-call-delta", block, tool_calls={"function": {"arguments": text}}),
        },
        end={
            "text": _end_content,
            "reasoning": _end_content,
            "call": lambda block: _part("tool-call-end", block),
        },
        cite=_cite,
        finish=_finish,
        fail=lambda head, failure: [
            {"type": "message-end", "id": head.id, "delta": {"finish_reason": "ERROR", "error": failure.message}}
        ],
    ),
)
