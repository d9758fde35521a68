r"""Anthropic's events: a message of content blocks, one open at a time.

{"type": "content_block_start", "index": 1,
    "content_block": {"type": "tool_use", "id": "toolu_A1", "name": "get_weather", "input": {}}}
{"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"city\":"}}
{"type": "content_block_stop", "index": 1}

A call that was cut off has a block that stops like any other; only `"stop_reason": "max_tokens"` tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_info import WRITTEN, Usage
from toolfmt.transcripts.answer_usage import write_anthropic
from toolfmt.transcripts.anthropic import OWNER
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.streams.sink import AnswerHead, StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Proof, Stop

_STOPS: Final = WRITTEN["anthropic"]
_TEXT: Final = "text"
_THINKING: Final = "thinking"
_USE: Final = "tool_use"


class AnthropicSink(StreamSink):
    """Writes a message's blocks; a call is ended before anything else begins."""

    owner = OWNER
    call_prefix = "toolu_"

    def __init__(self, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        self._index = -1
        self._kind = ""

    def begin(self, usage: Usage | None) -> None:
        """Write the message's start."""
        message: JsonObject = {
            "id": self.head.id,
            "type": "message",
            "role": "assistant",
            "model": self.head.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_anthropic(usage or Usage()),
        }
        self.out.append({"type": "message_start", "message": message})

    def text(self, text: str) -> None:
        """Write text, in the block that is open if that is one of text."""
        if self._kind is not _TEXT:
            self._block(_TEXT, {"type": "text", "text": ""})
        self._delta({"type": "text_delta", "text": text})

    def reasoning(self, text: str) -> None:
        """Write thinking; its signature is empty if nobody signed it."""
        if self._kind is not _THINKING:
            self._block(_THINKING, {"type": "thinking", "thinking": "", "signature": ""})
        self._delta({"type": "thinking_delta", "thinking": text})

    def prove(self, proof: Proof) -> None:
        """Write a signature, which ends its block, or thinking that only its owner can read."""
        if proof.encrypted is not None:
            self._block("redacted_thinking", {"type": "redacted_thinking", "data": proof.encrypted})
        else:
            if self._kind is not _THINKING:
                self._block(_THINKING, {"type": "thinking", "thinking": "", "signature": ""})
            self._delta({"type": "signature_delta", "signature": proof.signature})
        self._stop()

    def start(self, number: int, name: str, ident: str) -> None:  # noqa: ARG002 - one block is open at a time
        """Open a call's block."""
        self._block(_USE, {"type": "tool_use", "id": ident, "name": name, "input": {}})

    def arguments(self, number: int, piece: str) -> None:  # noqa: ARG002 - as above
        """Write a piece of the arguments."""
        self._delta({"type": "input_json_delta", "partial_json": piece})

    def end(self, number: int, call: ToolInvocation) -> None:  # noqa: ARG002 - as above
        """Close a call's block."""
        self._stop()

    def cut(self, number: int, raw: str) -> None:  # noqa: ARG002 - as above
        """Close a call's block."""
        self._stop()

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:
        """Write the reason to end and the usage."""
        self._stop()
        delta: JsonObject = {"stop_reason": _STOPS[stop], "stop_sequence": sequence}
        self.out.append({"type": "message_delta", "delta": delta, "usage": write_anthropic(usage or Usage())})
        self.out.append({"type": "message_stop"})

    def fail(self, failure: Failure) -> None:
        """Write the error's event, which ends the stream."""
        self.out.append(write_error(failure, "anthropic"))

    def _block(self, kind: str, block: JsonObject) -> None:
        self._stop()
        self._index += 1
        self._kind = kind
        self.out.append({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, delta: JsonObject) -> None:
        self.out.append({"type": "content_block_delta", "index": self._index, "delta": delta})

    def _stop(self) -> None:
        if self._kind:
            self._kind = ""
            self.out.append({"type": "content_block_stop", "index": self._index})
