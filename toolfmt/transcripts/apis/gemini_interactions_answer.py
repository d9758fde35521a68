r"""Gemini Interactions' answers and events: an interaction of steps, whose content comes in deltas.

{"event_type": "step.start", "index": 1, "step": {"type": "function_call", "id": "a1", "name": "f", "arguments": {}}}
{"event_type": "step.delta", "index": 1, "delta": {"type": "arguments_delta", "arguments": "{\"a\": 1}"}}
{"event_type": "step.stop", "index": 1}
{"event_type": "interaction.completed", "interaction": {"id": "i1", "status": "requires_action", "usage": {...}}}
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from toolfmt.jsontext import is_array
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape
from toolfmt.transcripts.answering.answer_info import AnswerEnding, AnswerHead, TokenCounting, endings, timestamp
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.failures import WRITERS
from toolfmt.transcripts.answering.known_fields import ERROR, by_type, fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.apis.gemini_interactions import OWNER as NAME
from toolfmt.transcripts.apis.gemini_interactions import cites
from toolfmt.transcripts.families.gemini_parts import PROVIDER
from toolfmt.transcripts.parts.citations import flat
from toolfmt.transcripts.parts.values import object_at, objects_at
from toolfmt.transcripts.tables.request import objects_in

_COUNT: Final = TokenCounting(
    {
        "input": "total_input_tokens",
        "cached": "total_cached_tokens",
        "output": "total_output_tokens",
        "reasoning": "total_thought_tokens",
        "total": "total_tokens",
    },
    beside=("reasoning",),
    further="total_tool_use_tokens",
)
_STOPS: Final = endings(
    "completed", tool_calls="requires_action", length="incomplete", content_filter="incomplete", pause="incomplete"
)
_AROUND: Final = fields("id object model created updated status steps errors", usage=_COUNT.known)
_TEXT: Final = by_type(text=fields("text annotations"))
_STEP: Final = by_type(
    model_output=fields("content", content=_TEXT),
    thought=fields("signature", summary=fields("type text")),
    function_call=fields("id name arguments signature"),
)
_KNOWN: Final = {**_AROUND, "steps": _STEP}
_DELTA: Final = by_type(
    text=fields("text"),
    text_annotation_delta=fields("annotations"),
    arguments_delta=fields("arguments"),
    thought_summary=fields("", content=fields("type text")),
    thought_signature=fields("signature"),
)
_EVENT: Final = fields(
    "event_type event_id index status interaction_id",
    interaction=_KNOWN,
    step=_STEP,
    delta=_DELTA,
    usage=_COUNT.known,
    error=ERROR,
)
_RUNNING: Final = ("in_progress", "queued", "requires_continuation")
_FAILED: Final = ("failed", "cancelled")


def _read(value: JsonObject, made: Assembler) -> None:
    for at, step in enumerate(objects_at(value, "steps")):
        _step(at, step, made)
        made.end(at)
    _about(value, made)
    if (status := value.get("status")) in _RUNNING:
        made.fail(f"the interaction is not complete: its status is {status}")


def _about(value: JsonObject, made: Assembler) -> None:
    """Read the data of the whole interaction, whose steps are already read."""
    made.about(value.get("id"), value.get("model"))
    made.tokens(value.get("usage"), _COUNT.read)
    status = value.get("status")
    if status in _FAILED:
        errors = objects_in(value, "errors")
        made.fail(errors[0] if errors else f"the interaction was {status}")
    elif status not in _RUNNING:
        made.ended(status)


def _step(at: Hashable, step: JsonObject, made: Assembler) -> None:
    match step.get("type"):
        case "model_output":
            made.piece()
            for content in objects_at(step, "content"):
                _content(content, made)
        case "thought":
            for content in objects_at(step, "summary"):
                made.reasoning(content.get("text"))
            made.prove(PROVIDER, step.get("signature"))
        case "function_call":
            made.call(at, step.get("name"), step.get("id"), signed=(PROVIDER, step.get("signature")), spare=True)
            made.arguments(at, step.get("arguments") or None)  # the deltas replace an empty object
        case other:
            made.note("provider_part", str(other))


def _content(content: JsonObject, made: Assembler) -> None:
    if content.get("type") == "text":
        made.piece()
        made.text(content.get("text"))
        _annotated(content, made)
    else:
        made.note("provider_part", str(content.get("type")))


def _annotated(item: JsonObject, made: Assembler) -> None:
    for citation in objects_in(item, "annotations"):
        made.cite(citation)


def _event(value: JsonObject, made: Assembler) -> None:
    at = value.get("index")
    match value["event_type"]:
        case "interaction.created" | "interaction.completed":
            _about(object_at(value, "interaction"), made)
        case "interaction.status_update":
            _about({"status": value.get("status"), "usage": value.get("usage")}, made)
        case "step.start":
            _step(at, object_at(value, "step"), made)
        case "step.delta":
            _delta(at, object_at(value, "delta"), made)
        case "step.stop":
            made.stop(at)
        case "error":
            made.fail(value.get("error") or value)
        case _:
            pass


def _delta(at: Hashable, delta: JsonObject, made: Assembler) -> None:
    match delta.get("type"):
        case "text":
            made.text(delta.get("text"))
        case "text_annotation_delta":
            _annotated(delta, made)
        case "arguments_delta":
            made.arguments(at, delta.get("arguments"))
        case "thought_summary":
            made.reasoning(object_at(delta, "content").get("text"))
        case "thought_signature":
            made.prove(PROVIDER, delta.get("signature"))
        case other:
            made.note("provider_part", str(other))


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    made = _interaction(ending.head, _STOPS[ending.stop], steps=choices[0])
    return made | ending.counted("usage", _COUNT)


def _interaction(head: AnswerHead, status: str, **fields: JsonValue) -> JsonObject:
    created = timestamp(head.created)
    return {"id": head.id, "object": "interaction", "model": head.model, "status": status, "created": created, **fields}


def _start(block: StreamBlock, kind: str, **fields: JsonValue) -> list[JsonObject]:
    return [{"event_type": "step.start", "index": block.index, "step": {"type": kind, **fields}}]


def _start_call(block: StreamBlock) -> list[JsonObject]:
    signed: JsonObject = {"signature": block.signature} if block.signature else {}
    return _start(block, "function_call", id=block.id, name=block.name, arguments={}, **signed)


def _add(block: StreamBlock, kind: str, **fields: JsonValue) -> list[JsonObject]:
    return [{"event_type": "step.delta", "index": block.index, "delta": {"type": kind, **fields}}]


def _stop(block: StreamBlock) -> list[JsonObject]:
    return [{"event_type": "step.stop", "index": block.index}]


def _finish(ending: AnswerEnding, _: object) -> list[JsonObject]:
    interaction = _interaction(ending.head, _STOPS[ending.stop], **ending.counted("usage", _COUNT))
    return [{"event_type": "interaction.completed", "interaction": interaction}]


API: Final = AnswerApi(
    name=NAME,
    event_name="event_type",
    shapes=(
        StepShape(lambda value: isinstance(value.get("event_type"), str), _event, _EVENT),
        StepShape(lambda value: is_array(value.get("steps")) or value.get("object") == "interaction", _read, _KNOWN),
    ),
    open=lambda value: [{"input": objects_in(value, "steps")}],
    close=_close,
    known=_AROUND,
    stream=Blocks(
        owner=PROVIDER,
        signs=PROVIDER,
        begin=lambda head, _: [{"event_type": "interaction.created", "interaction": _interaction(head, "in_progress")}],
        start={
            "text": lambda block: _start(block, "model_output", content=[]),
            "reasoning": lambda block: _start(block, "thought"),
            "call": _start_call,
        },
        delta={
            "text": lambda block, text: _add(block, "text", text=text),
            "reasoning": lambda block, text: _add(block, "thought_summary", content={"type": "text", "text": text}),
            "call": lambda block, text: _add(block, "arguments_delta", arguments=text),
        },
        end={"text": _stop, "reasoning": _stop, "call": _stop},
        cite=citing(flat, cites, lambda block, made: _add(block, "text_annotation_delta", annotations=[made])),
        prove=lambda block, proof: _add(block, "thought_signature", signature=proof.signature),
        finish=_finish,
        fail=lambda _, failure, __: [{"event_type": "error", **WRITERS[NAME](failure)}],
    ),
)
