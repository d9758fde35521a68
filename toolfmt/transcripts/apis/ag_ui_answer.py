r"""AG-UI's events, write only (ag-ui-protocol/ag-ui, sdks/python/ag_ui/core/events.py, MIT).

{"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
{"type": "TOOL_CALL_ARGS", "toolCallId": "call_A1", "delta": "{\"city\":"}
"""

from __future__ import annotations

from typing import Final

from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_api import AnswerApi
from toolfmt.transcripts.answering.answer_info import AnswerHead
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock


def _event(kind: str, block: StreamBlock, **fields: str) -> JsonObject:
    return {"type": kind, "messageId": block.id, **fields}


def _call(kind: str, block: StreamBlock, **fields: str) -> list[JsonObject]:
    return [{"type": kind, "toolCallId": block.id, **fields}]


def _run(kind: str, head: AnswerHead) -> list[JsonObject]:
    return [{"type": kind, "threadId": head.id, "runId": head.id}]


API: Final = AnswerApi(
    name="ag-ui",
    stream=Blocks(
        begin=lambda head, _: _run("RUN_STARTED", head),
        start={
            "text": lambda block: [_event("TEXT_MESSAGE_START", block, role="assistant")],
            "reasoning": lambda block: [
                _event("REASONING_START", block),
                _event("REASONING_MESSAGE_START", block, role="assistant"),
            ],
            "call": lambda block: _call("TOOL_CALL_START", block, toolCallName=block.name),
        },
        delta={
            "text": lambda block, text: [_event("TEXT_MESSAGE_CONTENT", block, delta=text)],
            "reasoning": lambda block, text: [_event("REASONING_MESSAGE_CONTENT", block, delta=text)],
            "call": lambda block, text: _call("TOOL_CALL_ARGS", block, delta=text),
        },
        end={
            "text": lambda block: [_event("TEXT_MESSAGE_END", block)],
            "reasoning": lambda block: [_event("REASONING_MESSAGE_END", block), _event("REASONING_END", block)],
            "call": lambda block: _call("TOOL_CALL_END", block),
        },
        finish=lambda ending, _: _run("RUN_FINISHED", ending.head),
        fail=lambda _, failure, __: [{"type": "RUN_ERROR", "message": failure.message, "code": failure.kind}],
    ),
)
