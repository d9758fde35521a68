"""Bedrock Converse's answers and events.

{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}}
{"output": {"message": {"role": "assistant", "content": [{"text": "Hi"}]}}, "stopReason": "end_turn"}
"""

from __future__ import annotations

from typing import Final

from toolfmt.jsontext import is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_api import AnswerApi, StepShape, only
from toolfmt.transcripts.answering.answer_info import AnswerEnding, Proof, TokenCounting, endings
from toolfmt.transcripts.answering.assembling import Assembler
from toolfmt.transcripts.answering.known_fields import fields
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.apis.bedrock import OURS, OWNER, SIGNER, cites
from toolfmt.transcripts.parts.citations import converse
from toolfmt.transcripts.parts.endings import UNFINISHED
from toolfmt.transcripts.parts.values import inner, object_at, objects_at
from toolfmt.transcripts.tables.request import objects_in

_COUNT: Final = TokenCounting(
    {
        "input": "inputTokens",
        "output": "outputTokens",
        "total": "totalTokens",
        "cached": "cacheReadInputTokens",
        "cache_written": "cacheWriteInputTokens",
    },
    beside=("cached", "cache_written"),
)
_STOPS: Final = endings(
    "end_turn",
    tool_calls="tool_use",
    malformed_call="malformed_tool_use",
    stop_sequence="stop_sequence",
    length="max_tokens",
    content_filter="content_filtered",
)
_EXCEPTIONS: Final = {
    **dict.fromkeys(("invalid", "too_large", "not_found"), "validationException"),
    "rate_limit": "throttlingException",
    "overloaded": "serviceUnavailableException",
}
"""The events of errors, except those of the server itself."""
_READ: Final = frozenset({"text", "citationsContent", "reasoningContent", "toolUse"})
_DELTAS: Final = frozenset({"text", "citation", "reasoningContent", "toolUse"})
_USE: Final = fields("toolUseId name input type")
_THOUGHT: Final = fields("text signature redactedContent", reasoningText=fields("text signature"))
_CONTENT: Final = fields(
    "text", toolUse=_USE, reasoningContent=_THOUGHT, citationsContent=fields("citations", content=fields("text"))
)
_AROUND: Final = fields(
    "stopReason ResponseMetadata", output=fields("message"), usage=_COUNT.known, metrics=fields("latencyMs")
)
_KNOWN: Final = {
    **_AROUND,
    "output": fields(
        "", message=fields("role", content=lambda block: None if block.keys().isdisjoint(_READ) else _CONTENT)
    ),
}
_EVENTS: Final = fields(
    "",
    messageStart=fields("role"),
    contentBlockStart=fields("contentBlockIndex", start=fields("", toolUse=_USE)),
    contentBlockDelta=fields(
        "contentBlockIndex",
        delta=lambda delta: None if delta.keys().isdisjoint(_DELTAS) else {**_CONTENT, "citation": None},
    ),
    contentBlockStop=fields("contentBlockIndex"),
    messageStop=fields("stopReason"),
    metadata=fields("", usage=_COUNT.known, metrics=fields("latencyMs")),
)


def _messages(value: JsonObject) -> list[JsonValue]:
    """Return an answer's message, if there is one."""
    message = object_at(value, "output").get("message")
    return [{"role": "assistant", "content": [], **message}] if is_object(message) else []


def _read(value: JsonObject, made: Assembler) -> None:
    for block in objects_at(object_at(object_at(value, "output"), "message"), "content"):
        use = object_at(block, "toolUse")
        made.text(block.get("text"))
        made.piece()
        for cited in objects_in(inner(block, "citationsContent"), "content"):
            made.text(cited.get("text"))
        for citation in objects_in(inner(block, "citationsContent"), "citations"):
            made.cite(citation)
        thought = object_at(block, "reasoningContent")
        _reasoning({**object_at(thought, "reasoningText"), **thought}, made)
        if block.keys().isdisjoint(_READ):
            made.note("provider_part", ", ".join(block))
        if use.get("type", OURS) != OURS:
            made.note("provider_part", str(use["type"]))
        elif use:
            made.whole_call(use.get("name"), use.get("toolUseId"), use.get("input"))
    made.ended(value.get("stopReason") or (_messages(value) and "stop"))
    made.tokens(value.get("usage"), _COUNT.read)


def _reasoning(fields: JsonObject, made: Assembler) -> None:
    made.reasoning(fields.get("text"))
    made.prove(SIGNER, fields.get("signature"), fields.get("redactedContent"))


def _event(value: JsonObject, made: Assembler) -> None:
    kind = next(iter(value))
    body = object_at(value, kind)
    at = body.get("contentBlockIndex")
    match kind:
        case "contentBlockStart" if (use := object_at(object_at(body, "start"), "toolUse")).get("type", OURS) != OURS:
            made.note("provider_part", str(use["type"]))
        case "contentBlockStart" if use := object_at(object_at(body, "start"), "toolUse"):
            made.call(at, use.get("name"), use.get("toolUseId"), spare=True)
        case "contentBlockDelta":
            delta = object_at(body, "delta")
            made.text(delta.get("text"))
            _reasoning(object_at(delta, "reasoningContent"), made)
            made.cite(delta.get("citation"))
            made.arguments(at, object_at(delta, "toolUse").get("input"))
            if delta.keys().isdisjoint(_DELTAS):
                made.note("provider_part", ", ".join(delta))
        case "contentBlockStop":
            made.stop(at)
            made.piece()
        case "messageStop":
            made.ended(body.get("stopReason") or "stop")
            made.finish(cut=made.info.stop in UNFINISHED)
        case "metadata":
            made.tokens(body.get("usage"), _COUNT.read)
        case _:
            pass


def _close(choices: list[list[JsonObject]], ending: AnswerEnding) -> JsonObject:
    return {
        "output": {"message": {"role": "assistant", "content": [], **only(choices[0])}},
        "stopReason": _STOPS[ending.stop],
        **_counted(ending),
    }


def _counted(ending: AnswerEnding) -> JsonObject:
    return {"usage": _COUNT.write(ending.info.usage), "metrics": {"latencyMs": 0}}


def _delta(block: StreamBlock, **fields: JsonValue) -> list[JsonObject]:
    return [{"contentBlockDelta": {"contentBlockIndex": block.index, "delta": fields}}]


def _start(block: StreamBlock) -> list[JsonObject]:
    use = {"toolUseId": block.id, "name": block.name}
    return [{"contentBlockStart": {"contentBlockIndex": block.index, "start": {"toolUse": use}}}]


def _stop(block: StreamBlock) -> list[JsonObject]:
    return [{"contentBlockStop": {"contentBlockIndex": block.index}}]


def _prove(block: StreamBlock, proof: Proof) -> list[JsonObject]:
    fields = {"signature": proof.signature} if proof.encrypted is None else {"redactedContent": proof.encrypted}
    return _delta(block, reasoningContent=fields)


API: Final = AnswerApi(
    name=OWNER,
    wire="binary",
    shapes=(
        StepShape(lambda value: is_object(value.get("output")) and "message" in value["output"], _read, _KNOWN),
        StepShape(lambda value: len(value) == 1 and next(iter(value)) in _EVENTS, _event, _EVENTS),
    ),
    open=lambda value: [{"messages": _messages(value)}],
    close=_close,
    known=_AROUND,
    proves=SIGNER,
    stream=Blocks(
        owner=SIGNER,
        begin=lambda _, __: [{"messageStart": {"role": "assistant"}}],
        start={"call": _start},
        delta={
            "text": lambda block, text: _delta(block, text=text),
            "reasoning": lambda block, text: _delta(block, reasoningContent={"text": text}),
            "call": lambda block, text: _delta(block, toolUse={"input": text}),
        },
        end={"text": _stop, "reasoning": _stop, "call": _stop},
        prove=_prove,
        cite=citing(converse, cites, lambda block, made: _delta(block, citation=made)),
        finish=lambda ending, _: [{"messageStop": {"stopReason": _STOPS[ending.stop]}}, {"metadata": _counted(ending)}],
        fail=lambda _, failure, __: [
            {_EXCEPTIONS.get(failure.kind, "internalServerException"): {"message": failure.message}}
        ],
    ),
)
