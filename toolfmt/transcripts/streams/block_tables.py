"""The streams of blocks, one table for each API: what it writes where a block begins, grows and ends.

Events are those of the SDKs' types (botocore 1.44.5, cohere 7.3.1, google-genai 3.4), of the AI SDK's schema of chunks
(vercel/ai, packages/ai/src/ui-message-stream/ui-message-chunks.ts, Apache-2.0) and of AG-UI's events
(ag-ui-protocol/ag-ui, sdks/python/ag_ui/core/events.py, MIT).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_info import WRITTEN, Stop, Usage
from toolfmt.transcripts.answer_usage import write_bedrock, write_cohere, write_interactions
from toolfmt.transcripts.envelopes import timestamp
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.gemini_parts import PROVIDER
from toolfmt.transcripts.streams.blocks import Blocks, StreamBlock

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import Proof
    from toolfmt.transcripts.streams.sink import AnswerHead


def _nothing(_: StreamBlock) -> list[JsonObject]:
    return []


def _converse(block: StreamBlock, delta: JsonObject) -> list[JsonObject]:
    return [{"contentBlockDelta": {"contentBlockIndex": block.index, "delta": delta}}]


def _converse_start(block: StreamBlock) -> list[JsonObject]:
    use = {"toolUseId": block.id, "name": block.name}
    return [{"contentBlockStart": {"contentBlockIndex": block.index, "start": {"toolUse": use}}}]


def _converse_stop(block: StreamBlock) -> list[JsonObject]:
    return [{"contentBlockStop": {"contentBlockIndex": block.index}}]


def _converse_proof(block: StreamBlock, proof: Proof) -> list[JsonObject]:
    said = {"signature": proof.signature} if proof.encrypted is None else {"redactedContent": proof.encrypted}
    return _converse(block, {"reasoningContent": said})


def _converse_end(_: AnswerHead, stop: Stop, __: str | None, usage: Usage | None) -> list[JsonObject]:
    counted = write_bedrock(usage or Usage())
    return [
        {"messageStop": {"stopReason": WRITTEN["bedrock"][stop]}},
        {"metadata": {"usage": counted, "metrics": {"latencyMs": 0}}},
    ]


_EXCEPTIONS: Final = {
    "invalid": "validationException",
    "too_large": "validationException",
    "not_found": "validationException",
    "rate_limit": "throttlingException",
    "overloaded": "serviceUnavailableException",
}

BEDROCK: Final = Blocks(
    owner="anthropic",
    begin=lambda _: [{"messageStart": {"role": "assistant"}}],
    start={"text": _nothing, "reasoning": _nothing, "call": _converse_start},
    delta={
        "text": lambda block, text: _converse(block, {"text": text}),
        "reasoning": lambda block, text: _converse(block, {"reasoningContent": {"text": text}}),
        "call": lambda block, text: _converse(block, {"toolUse": {"input": text}}),
    },
    end=dict.fromkeys(("text", "reasoning", "call"), _converse_stop),
    prove=_converse_proof,
    finish=_converse_end,
    fail=lambda _, failure: [{_EXCEPTIONS.get(failure.kind, "internalServerException"): {"message": failure.message}}],
)


def _cohere(kind: str, block: StreamBlock, content: JsonObject | None = None) -> list[JsonObject]:
    made: JsonObject = {"type": kind, "index": block.index}
    return [made if content is None else {**made, "delta": {"message": content}}]


def _cohere_call(block: StreamBlock) -> list[JsonObject]:
    call = {"id": block.id, "type": "function", "function": {"name": block.name, "arguments": ""}}
    return _cohere("tool-call-start", block, {"tool_calls": call})


def _cohere_end(head: AnswerHead, stop: Stop, _: str | None, usage: Usage | None) -> list[JsonObject]:
    delta: JsonObject = {"finish_reason": WRITTEN["cohere"][stop]}
    if usage is not None:
        delta["usage"] = write_cohere(usage)
    return [{"type": "message-end", "id": head.id, "delta": delta}]


COHERE: Final = Blocks(
    begin=lambda head: [{"type": "message-start", "id": head.id, "delta": {"message": {"role": "assistant"}}}],
    start={
        "text": lambda block: _cohere("content-start", block, {"content": {"type": "text", "text": ""}}),
        "reasoning": lambda block: _cohere("content-start", block, {"content": {"type": "thinking", "thinking": ""}}),
        "call": _cohere_call,
    },
    delta={
        "text": lambda block, text: _cohere("content-delta", block, {"content": {"text": text}}),
        "reasoning": lambda block, text: _cohere("content-delta", block, {"content": {"thinking": text}}),
        "call": lambda block, text: _cohere(
            "tool-call-delta", block, {"tool_calls": {"function": {"arguments": text}}}
        ),
    },
    end={
        "text": lambda block: _cohere("content-end", block),
        "reasoning": lambda block: _cohere("content-end", block),
        "call": lambda block: _cohere("tool-call-end", block),
    },
    finish=_cohere_end,
    fail=lambda head, failure: [
        {"type": "message-end", "id": head.id, "delta": {"finish_reason": "ERROR", "error": failure.message}}
    ],
)


def _step(event: str, block: StreamBlock, **fields: JsonObject) -> list[JsonObject]:
    return [{"event_type": event, "index": block.index, **fields}]


def _interaction(head: AnswerHead, status: str, **fields: JsonObject) -> JsonObject:
    created = timestamp(head.created)
    return {"id": head.id, "object": "interaction", "model": head.model, "status": status, "created": created, **fields}


def _interaction_end(head: AnswerHead, stop: Stop, _: str | None, usage: Usage | None) -> list[JsonObject]:
    counted = {} if usage is None else {"usage": write_interactions(usage)}
    made = _interaction(head, WRITTEN["gemini-interactions"][stop], **counted)
    return [{"event_type": "interaction.completed", "interaction": made}]


def _called(block: StreamBlock) -> JsonObject:
    return {"type": "function_call", "id": block.id, "name": block.name, "arguments": {}}


INTERACTIONS: Final = Blocks(
    owner=PROVIDER,
    begin=lambda head: [{"event_type": "interaction.created", "interaction": _interaction(head, "in_progress")}],
    start={
        "text": lambda block: _step("step.start", block, step={"type": "model_output", "content": []}),
        "reasoning": lambda block: _step("step.start", block, step={"type": "thought"}),
        "call": lambda block: _step("step.start", block, step=_called(block)),
    },
    delta={
        "text": lambda block, text: _step("step.delta", block, delta={"type": "text", "text": text}),
        "reasoning": lambda block, text: _step(
            "step.delta", block, delta={"type": "thought_summary", "content": {"type": "text", "text": text}}
        ),
        "call": lambda block, text: _step("step.delta", block, delta={"type": "arguments_delta", "arguments": text}),
    },
    end=dict.fromkeys(("text", "reasoning", "call"), lambda block: _step("step.stop", block)),
    prove=lambda block, proof: _step(
        "step.delta", block, delta={"type": "thought_signature", "signature": proof.signature}
    ),
    finish=_interaction_end,
    fail=lambda _, failure: [{"event_type": "error", **write_error(failure, "gemini-interactions")}],
)


def _ui(kind: str, block: StreamBlock, **fields: str) -> list[JsonObject]:
    return [{"type": kind, "id": block.id, **fields}]


def _ui_call(block: StreamBlock) -> list[JsonObject]:
    about: JsonObject = {"toolCallId": block.id, "toolName": block.name}
    if block.call is not None:
        return [{"type": "tool-input-available", **about, "input": block.call.arguments}]
    text = "".join(block.pieces)
    return [{"type": "tool-input-error", **about, "input": text, "errorText": "the call is not complete"}]


_UI_STOPS: Final[dict[Stop, str]] = {
    "stop": "stop",
    "stop_sequence": "stop",
    "tool_calls": "tool-calls",
    "length": "length",
    "content_filter": "content-filter",
    "pause": "other",
}


def _ui_end(_: AnswerHead, stop: Stop, __: str | None, ___: Usage | None) -> list[JsonObject]:
    return [{"type": "finish-step"}, {"type": "finish", "finishReason": _UI_STOPS[stop]}]


AI_SDK: Final = Blocks(
    begin=lambda head: [{"type": "start", **({"messageId": head.id} if head.id else {})}, {"type": "start-step"}],
    start={
        "text": lambda block: _ui("text-start", block),
        "reasoning": lambda block: _ui("reasoning-start", block),
        "call": lambda block: [{"type": "tool-input-start", "toolCallId": block.id, "toolName": block.name}],
    },
    delta={
        "text": lambda block, text: _ui("text-delta", block, delta=text),
        "reasoning": lambda block, text: _ui("reasoning-delta", block, delta=text),
        "call": lambda block, text: [{"type": "tool-input-delta", "toolCallId": block.id, "inputTextDelta": text}],
    },
    end={
        "text": lambda block: _ui("text-end", block),
        "reasoning": lambda block: _ui("reasoning-end", block),
        "call": _ui_call,
    },
    finish=_ui_end,
    fail=lambda _, failure: [{"type": "error", "errorText": failure.message}],
)


def _agui(kind: str, block: StreamBlock, **fields: str) -> list[JsonObject]:
    return [{"type": kind, "messageId": block.id, **fields}]


def _agui_run(kind: str, head: AnswerHead) -> list[JsonObject]:
    return [{"type": kind, "threadId": head.id, "runId": head.id}]


AG_UI: Final = Blocks(
    begin=lambda head: _agui_run("RUN_STARTED", head),
    start={
        "text": lambda block: _agui("TEXT_MESSAGE_START", block, role="assistant"),
        "reasoning": lambda block: [
            *_agui("REASONING_START", block),
            *_agui("REASONING_MESSAGE_START", block, role="assistant"),
        ],
        "call": lambda block: [{"type": "TOOL_CALL_START", "toolCallId": block.id, "toolCallName": block.name}],
    },
    delta={
        "text": lambda block, text: _agui("TEXT_MESSAGE_CONTENT", block, delta=text),
        "reasoning": lambda block, text: _agui("REASONING_MESSAGE_CONTENT", block, delta=text),
        "call": lambda block, text: [{"type": "TOOL_CALL_ARGS", "toolCallId": block.id, "delta": text}],
    },
    end={
        "text": lambda block: _agui("TEXT_MESSAGE_END", block),
        "reasoning": lambda block: [*_agui("REASONING_MESSAGE_END", block), *_agui("REASONING_END", block)],
        "call": lambda block: [{"type": "TOOL_CALL_END", "toolCallId": block.id}],
    },
    finish=lambda head, _, __, ___: _agui_run("RUN_FINISHED", head),
    fail=lambda _, failure: [{"type": "RUN_ERROR", "message": failure.message, "code": failure.kind}],
)
