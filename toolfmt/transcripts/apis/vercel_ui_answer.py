r"""The AI SDK's stream of UI messages, write only.

{"type": "text-delta", "id": "block_1", "delta": "Hi"}
{"type": "tool-input-available", "toolCallId": "call_A1", "toolName": "get_weather", "input": {"city": "Paris"}}

The SDK's schema of chunks: vercel/ai, packages/ai/src/ui-message-stream/ui-message-chunks.ts, Apache-2.0.
"""

from __future__ import annotations

from typing import Final

from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_api import AnswerApi
from toolfmt.transcripts.answering.answer_info import endings
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, citing
from toolfmt.transcripts.parts.citations import sourced

_STOPS: Final = endings(
    "stop", tool_calls="tool-calls", length="length", content_filter="content-filter", pause="other"
)


def _words(kind: str, block: StreamBlock, **fields: str) -> list[JsonObject]:
    return [{"type": f"{block.kind}-{kind}", "id": block.id, **fields}]


def _call_end(block: StreamBlock) -> list[JsonObject]:
    about: JsonObject = {"toolCallId": block.id, "toolName": block.name}
    if block.call is not None:
        return [{"type": "tool-input-available", **about, "input": block.call.arguments}]
    return [{"type": "tool-input-error", **about, "input": block.text, "errorText": "the call is not complete"}]


API: Final = AnswerApi(
    name="vercel-ui",
    done=True,
    stream=Blocks(
        begin=lambda head, _: [
            {"type": "start", **({"messageId": head.id} if head.id else {})},
            {"type": "start-step"},
        ],
        start={
            **dict.fromkeys(("text", "reasoning"), lambda block: _words("start", block)),
            "call": lambda block: [{"type": "tool-input-start", "toolCallId": block.id, "toolName": block.name}],
        },
        delta={
            **dict.fromkeys(("text", "reasoning"), lambda block, text: _words("delta", block, delta=text)),
            "call": lambda block, text: [{"type": "tool-input-delta", "toolCallId": block.id, "inputTextDelta": text}],
        },
        end={**dict.fromkeys(("text", "reasoning"), lambda block: _words("end", block)), "call": _call_end},
        cite=citing(sourced, lambda _: False, lambda _, made: [made]),
        finish=lambda ending, _: [{"type": "finish-step"}, {"type": "finish", "finishReason": _STOPS[ending.stop]}],
        fail=lambda _, failure, __: [{"type": "error", "errorText": failure.message}],
    ),
)
