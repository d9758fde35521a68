r"""Cohere's chat, version 2: a request, or the messages alone.

{"messages": [
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "tool_plan": "Checking.", "tool_calls": [
        {"id": "get_weather_a1", "type": "function", "function":
            {"name": "get_weather", "arguments": "{\"city\":\"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "get_weather_a1", "content": [
        {"type": "document", "document": {"id": "0", "data": {"temp": "18C"}}}]},
    {"role": "assistant", "content": [
        {"type": "thinking", "thinking": "One call."}, {"type": "text", "text": "18C."}]}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}],
 "tool_choice": "REQUIRED", "strict_tools": true}

Answers and the events of streams; what announces calls is text:
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

from functools import partial
from typing import Final

from toolfmt.dialect.record import Provenance
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only, open_message
from toolfmt.transcripts.answering.answer_info import AnswerEnding, TokenCounting, endings
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.known_fields import Fields, fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_request import messages_in, parts_in, read_request, write_request
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.citations import grounded, grounds
from toolfmt.transcripts.parts.values import object_at, objects_at, word
from toolfmt.transcripts.tables.request import objects_in

NAME: Final = "cohere"
SHAPE: Final = ChatShape(
    owner=NAME,
    provider=NAME,
    custom=False,
    refusals=False,
    names=False,
    parameters=True,
    reasoning_part="text",
    plan="tool_plan",
    no_content="absent",
    documents=True,
    annotations="citations",
    cites=grounded,
    strict="request",
    choices={"REQUIRED": "required", "NONE": "none"},
    named="",
    parallel=False,
)


def recognise(value: JsonValue) -> bool:
    """Recognise a request by a plan before calls, a document among parts, a thought in text without a signature."""
    if is_object(value) and (value.get("tool_choice") in ("REQUIRED", "NONE") or "strict_tools" in value):
        return bool(messages_in(value))
    return any("tool_plan" in message for message in messages_in(value)) or any(
        is_object(part.get("document")) or (isinstance(part.get("thinking"), str) and "signature" not in part)
        for part in parts_in(value)
    )


FORMAT: Final = TranscriptFormat(
    name=NAME,
    summary="Cohere chat v2: as OpenAI's, with a plan before calls and documents as results.",
    read=partial(read_request, shape=SHAPE),
    rereads=True,
    write=partial(write_request, shape=SHAPE),
    recognise=recognise,
    relative_of="openai-chat",
    rules=Rules(
        roles=frozenset({"system", "user", "assistant", "tool"}),
        result_kinds=frozenset({"text", "json"}),
        owners=frozenset({NAME}),
        neighbours="answers",
        interleaved=False,
        empty_messages=False,
    ),
    aliases=("cohere-v2", "cohere_v2"),
    sources=(
        Provenance("cohere, cohere.types (ChatMessageV2)", "source", "7.3.1", "MIT"),
        Provenance("Cohere API reference, Chat v2", "documentation"),
    ),
)


_COUNT: Final = TokenCounting(
    {"input": "tokens.input_tokens", "output": "tokens.output_tokens", "cached": "cached_tokens"}
)
_STOPS: Final = endings(
    "COMPLETE", tool_calls="TOOL_CALL", stop_sequence="STOP_SEQUENCE", length="MAX_TOKENS", content_filter="ERROR"
)


def _weight(item: JsonObject) -> JsonObject | None:
    """Read the probability of a piece of text that is one token; pieces of several are not taken apart."""
    found = item.get("logprobs")
    if not is_array(found) or len(found) != 1 or not isinstance(item.get("text"), str):
        return None
    return {"token": item["text"], "logprob": found[0]}


def _weights(item: JsonObject) -> Fields:
    return fields("" if _weight(item) is None else "text logprobs")


_AROUND: Final = fields("id finish_reason message error", usage=_COUNT.known, logprobs=_weights)
_CALL: Final = fields("id type", function=fields("name arguments"))
_MESSAGE: Final = fields("role citations tool_plan", content=fields("type text thinking"), tool_calls=_CALL)


def _answer(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), None)
    made.logprobs([*map(_weight, objects_in(value, "logprobs"))])
    assistant = object_at(value, "message")
    for part in objects_at(assistant, "content"):
        _say(part, made)
    for citation in objects_in(assistant, "citations"):
        made.cite(citation)
    made.text(assistant.get("tool_plan"))
    for call in objects_at(assistant, "tool_calls"):
        body = object_at(call, "function")
        made.whole_call(body.get("name"), call.get("id"), body.get("arguments"))
    _end(value, made)


def _say(content: JsonObject, made: Assembler) -> None:
    made.reasoning(content.get("thinking"))
    made.text(content.get("text"))
    if content and content.keys().isdisjoint(("text", "thinking")):
        made.note("provider_part", str(content.get("type")))


def _end(value: JsonObject, made: Assembler) -> None:
    made.ended(value.get("finish_reason"))
    if value.get("error"):
        made.fail(value["error"])
    if value.get("usage"):
        made.tokens(value["usage"], _COUNT.read)


def _event(value: JsonObject, made: Assembler) -> None:
    delta = object_at(value, "delta")
    assistant = object_at(delta, "message")
    call = object_at(assistant, "tool_calls")
    body = object_at(call, "function")
    key = value.get("index")
    match value["type"]:
        case "message-start":
            made.about(value.get("id"), None)
        case "content-start" | "content-delta":
            if value["type"] == "content-start":
                made.piece()
            made.logprobs([_weight(object_at(value, "logprobs"))])
            _say(object_at(assistant, "content"), made)
        case "tool-plan-delta":
            made.text(assistant.get("tool_plan"))
        case "tool-call-start":
            made.call(key, body.get("name"), call.get("id"), spare=True)
            made.arguments(key, body.get("arguments"))
        case "tool-call-delta":
            made.arguments(key, body.get("arguments"))
        case "tool-call-end":
            made.end(key)
        case "message-end":
            _end(delta, made)
        case "citation-start":
            made.cite(assistant.get("citations"))
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


_EVENT: Final = fields(
    "type id index", delta=fields("finish_reason error", message=_MESSAGE, usage=_COUNT.known), logprobs=_weights
)


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    message: JsonObject = {"role": "assistant", **only(choices[0])}
    content = message.get("content")
    if isinstance(content, str):
        message["content"] = [{"type": "text", "text": content}]
    made: JsonObject = {"id": ending.head.id, "finish_reason": _STOPS[ending.stop], "message": message}
    return made | ending.counted("usage", _COUNT)


def _part(kind: str, block: StreamBlock, **fields: JsonValue) -> list[JsonObject]:
    """Write an event of a block; without fields it has no delta."""
    return [{"type": kind, "index": block.index} | ({"delta": {"message": fields}} if fields else {})]


def _start(block: StreamBlock) -> list[JsonObject]:
    call = {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": ""}}
    return _part("tool-call-start", block, tool_calls=call)


def _end_content(block: StreamBlock) -> list[JsonObject]:
    return _part("content-end", block)


def _cite(block: StreamBlock, made: JsonObject) -> list[JsonObject]:
    begin: JsonObject = {"type": "citation-start", "index": block.cited, "delta": {"message": {"citations": made}}}
    return [begin, {"type": "citation-end", "index": block.cited}]


def _finish(ending: AnswerEnding, _: object) -> list[JsonObject]:
    delta: JsonObject = {"finish_reason": _STOPS[ending.stop], **ending.counted("usage", _COUNT)}
    return [{"type": "message-end", "id": ending.head.id, "delta": delta}]


API: Final = AnswerApi(
    name="cohere",
    event_name="type",
    shapes=(
        StepShape(lambda value: word(value, "type") in _EVENTS, _event, _EVENT),
        StepShape(
            lambda value: is_object(value.get("message")) and "finish_reason" in value,
            _answer,
            {**_AROUND, "message": _MESSAGE},
        ),
    ),
    open=open_message,
    close=_close,
    known=_AROUND,
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
        end={"text": _end_content, "reasoning": _end_content, "call": lambda block: _part("tool-call-end", block)},
        cite=citing(grounded, grounds, _cite),
        finish=_finish,
        fail=lambda head, failure, _: [
            {"type": "message-end", "id": head.id, "delta": {"finish_reason": "ERROR", "error": failure.message}}
        ],
    ),
)
