r"""Anthropic's answers and events: a message of content blocks, one open at a time.

{"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}}
{"type": "message", "content": [{"type": "tool_use", "id": "toolu_A1", "name": "f", "input": {}}],
    "stop_reason": "tool_use"}

A block that a limit cut off stops like any other: its arguments are complete only if the stop reason allows it.
"""

from __future__ import annotations

from typing import Final

from toolfmt import jsontext
from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, TokenCounting, endings
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.known_fields import by_type, fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.apis.anthropic import ID, OWNER, cites
from toolfmt.transcripts.comparing.linking import legal
from toolfmt.transcripts.format import Spelling
from toolfmt.transcripts.parts.citations import located
from toolfmt.transcripts.parts.endings import UNFINISHED
from toolfmt.transcripts.parts.values import inner, object_at, objects_at, word
from toolfmt.transcripts.tables.request import objects_in

_COUNT: Final = TokenCounting(
    {
        "input": "input_tokens",
        "cache_written": "cache_creation_input_tokens",
        "cached": "cache_read_input_tokens",
        "output": "output_tokens",
        "reasoning": "output_tokens_details.thinking_tokens",
    },
    beside=("cached", "cache_written"),
)
_STOPS: Final = endings(
    "end_turn",
    tool_calls="tool_use",
    stop_sequence="stop_sequence",
    length="max_tokens",
    content_filter="refusal",
    pause="pause_turn",
)
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


_AROUND: Final = fields("id type role model content stop_reason stop_sequence", usage=_COUNT.known)
_BLOCK: Final = by_type(
    text=fields("text citations"),
    thinking=fields("thinking signature"),
    redacted_thinking=fields("data"),
    tool_use=fields("id name input"),
)
_KNOWN: Final = {**_AROUND, "content": _BLOCK}
_EVENT: Final = by_type(
    message_start=fields("", message=_KNOWN),
    message_delta=fields("", delta=fields("stop_reason stop_sequence"), usage=_COUNT.known),
    message_stop=fields(""),
    content_block_start=fields("index", content_block=_BLOCK),
    content_block_delta=fields("index", delta=fields("type text citation thinking signature partial_json")),
    content_block_stop=fields("index"),
)

_GROWING: Final = frozenset({"text", "thinking", "signature", "partial_json"})
"""The fields of blocks that grow with each event."""


def _read(value: JsonObject, made: Assembler) -> None:
    made.about(value.get("id"), value.get("model"))
    made.ended("stop")
    _end(value, value, made)
    *blocks, last = objects_at(value, "content") or [{}]
    for block in blocks:
        _block(block, made)
    if last:
        _block(last, made, cut=made.info.stop in UNFINISHED)


def _end(delta: JsonObject, value: JsonObject, made: Assembler) -> None:
    made.ended(delta.get("stop_reason"))
    if isinstance(delta.get("stop_sequence"), str):
        made.info.stop_sequence = delta["stop_sequence"]
    made.tokens(value.get("usage"), _COUNT.read)


def _block(block: JsonObject, made: Assembler, *, cut: bool = False) -> None:
    match block.get("type"):
        case "text":
            made.piece()
            made.text(block.get("text"))
            for citation in objects_in(block, "citations"):
                made.cite(citation)
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
            message = object_at(value, "message")
            made.about(message.get("id"), message.get("model"))
            made.tokens(message.get("usage"), _COUNT.read)
        case "message_delta":
            _end(object_at(value, "delta"), value, made)
            made.finish(cut=made.info.stop in UNFINISHED)
        case "content_block_start":
            block = object_at(value, "content_block")
            if block.get("type") == "tool_use":
                made.call(at, block.get("name"), block.get("id"), spare=True)
                given = block.get("input")  # the deltas replace an empty object
                made.arguments(at, None if given == {} else given)
            else:
                _block(block, made)
        case "content_block_delta":
            delta = object_at(value, "delta")
            made.text(delta.get("text"))
            made.cite(delta.get("citation"))
            made.reasoning(delta.get("thinking"))
            made.prove(OWNER, delta.get("signature"))
            made.arguments(at, delta.get("partial_json"))
        case "content_block_stop":
            made.stop(at)
        case _:  # message_stop
            made.info.stop = made.info.stop or "stop"


def _whole(events: list[JsonObject]) -> JsonObject | None:
    """Put the blocks of a stream together."""
    blocks: dict[JsonValue, JsonObject] = {}
    for value in events:
        block = blocks.setdefault(value.get("index"), {})
        block |= inner(value, "content_block")
        for key, piece in inner(value, "delta").items() if value["type"] == "content_block_delta" else ():
            if key == "citation":
                block["citations"] = [*objects_in(block, "citations"), piece]
            elif key in _GROWING and isinstance(piece, str):
                block[key] = f"{block.get(key) or ''}{piece}"
            elif key != "type":
                return None
    for block in blocks.values():
        if given := block.pop("partial_json", ""):
            block["input"] = jsontext.loads(given)
    return {"type": "message", "role": "assistant", "content": list(filter(None, blocks.values()))}


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    content: JsonValue = only(choices[0]).get("content") or []
    blocks = content if is_array(content) else [{"type": "text", "text": content}]
    reason = _STOPS[ending.stop]
    return _message(ending.head, _COUNT.write(ending.info.usage)) | {
        # An answer's text block has fields that a request's may omit.
        "content": [{"citations": None, **block} if block.get("type") == "text" else block for block in blocks],
        "stop_reason": reason,
        "stop_sequence": ending.info.stop_sequence if ending.stop == "stop_sequence" else None,
    }


def _message(head: AnswerHead, counted: JsonObject) -> JsonObject:
    return {
        "id": head.id,
        "type": "message",
        "role": "assistant",
        "model": head.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": counted,
    }


def _start(block: StreamBlock, content: JsonObject) -> list[JsonObject]:
    return [{"type": "content_block_start", "index": block.index, "content_block": content}]


def _delta(block: StreamBlock, kind: str, **fields: JsonValue) -> list[JsonObject]:
    return [{"type": "content_block_delta", "index": block.index, "delta": {"type": kind, **fields}}]


def _stop(block: StreamBlock) -> list[JsonObject]:
    return [{"type": "content_block_stop", "index": block.index}]


def _finish(ending: AnswerEnding, _: object) -> list[JsonObject]:
    delta: JsonObject = {"stop_reason": _STOPS[ending.stop], "stop_sequence": ending.info.stop_sequence}
    counted = _COUNT.write(ending.info.usage)
    return [{"type": "message_delta", "delta": delta, "usage": counted}, {"type": "message_stop"}]


def _is_content(content: JsonValue) -> bool:
    """Whether a message's content may be Anthropic's: OpenAI's messages have the same type but other blocks."""
    return is_array(content) and not any(word(block, "type").startswith(("input_", "output_")) for block in content)


API: Final = AnswerApi(
    name=OWNER,
    event_name="type",
    shapes=(
        StepShape(lambda value: word(value, "type") in _EVENTS, _event, _EVENT),
        StepShape(lambda value: value.get("type") == "message" and _is_content(value.get("content")), _read, _KNOWN),
    ),
    open=lambda value: [{"messages": [{"role": "assistant", "content": value.get("content") or []}]}],
    whole=_whole,
    close=_close,
    known=_AROUND,
    proves=OWNER,
    unsigned="",
    stream=Blocks(
        owner=OWNER,
        call_prefix="toolu_",
        fit_id=lambda ident: legal(ident, Spelling(ID), {}),
        begin=lambda head, usage: [{"type": "message_start", "message": _message(head, _COUNT.write(usage))}],
        start={
            "text": lambda block: _start(block, {"type": "text", "text": ""}),
            "reasoning": lambda block: _start(block, {"type": "thinking", "thinking": "", "signature": ""}),
            "hidden": lambda block: _start(block, {"type": "redacted_thinking", "data": block.encrypted}),
            "call": lambda block: _start(block, {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}),
        },
        delta={
            "text": lambda block, text: _delta(block, "text_delta", text=text),
            "reasoning": lambda block, text: _delta(block, "thinking_delta", thinking=text),
            "call": lambda block, text: _delta(block, "input_json_delta", partial_json=text),
        },
        end={"text": _stop, "reasoning": _stop, "hidden": _stop, "call": _stop},
        prove=lambda block, proof: _delta(block, "signature_delta", signature=proof.signature),
        cite=citing(located, cites, lambda block, made: _delta(block, "citations_delta", citation=made)),
        finish=_finish,
        fail=lambda _, failure, __: [WRITERS[OWNER](failure)],
    ),
)
