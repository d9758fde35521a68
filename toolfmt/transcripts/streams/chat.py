r"""Chat Completions' chunks: deltas of one message; calls are told apart by `index`, so theirs may be interleaved.

{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5.1", "choices": [{"index": 0,
    "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":"}}]}, "finish_reason": null}]}

Reasoning is `reasoning_content`, as most servers of open models write it. The last chunk has the usage and no
choices. The message cannot say what stood between calls: text and calls each keep their own order alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_info import WRITTEN
from toolfmt.transcripts.answer_usage import write_chat
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.streams.sink import StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Stop, Usage

_STOPS: Final = WRITTEN["openai-chat"]


class ChatSink(StreamSink):
    """Writes chunks."""

    custom_calls = True

    def begin(self, usage: Usage | None) -> None:  # noqa: ARG002 - it comes last here
        """Write the chunk with the role."""
        self._delta({"role": "assistant", "content": ""})

    def text(self, text: str) -> None:
        """Write content."""
        self._delta({"content": text})

    def reasoning(self, text: str) -> None:
        """Write reasoning content."""
        self._delta({"reasoning_content": text})

    def start(self, number: int, name: str, ident: str) -> None:
        """Write a call's id and name."""
        function: JsonObject = {"name": name, "arguments": ""}
        self._delta({"tool_calls": [{"index": number, "id": ident, "type": "function", "function": function}]})

    def arguments(self, number: int, piece: str) -> None:
        """Write a piece of a call's arguments."""
        self._delta({"tool_calls": [{"index": number, "function": {"arguments": piece}}]})

    def end(self, number: int, call: ToolInvocation) -> None:
        """Write nothing: a call ends with the message."""

    def cut(self, number: int, raw: str) -> None:
        """Write nothing: the arguments stay as they are."""

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:  # noqa: ARG002 - it has no place
        """Write the chunk with the reason to end, and one with the usage."""
        self._delta({}, _STOPS[stop])
        if usage is not None:
            self.out.append({**self._chunk([]), "usage": write_chat(usage)})

    def refusal(self, text: str) -> None:
        """Write a refusal."""
        self._delta({"refusal": text})

    def custom(self, number: int, name: str, ident: str, text: str) -> None:
        """Write a call of free text."""
        custom: JsonObject = {"name": name, "input": text}
        self._delta({"tool_calls": [{"index": number, "id": ident, "type": "custom", "custom": custom}]})

    def fail(self, failure: Failure) -> None:
        """Write the error in place of a chunk."""
        self.out.append(write_error(failure, "openai-chat"))

    def _delta(self, delta: JsonObject, reason: str | None = None) -> None:
        self.out.append(self._chunk([{"index": 0, "delta": delta, "finish_reason": reason}]))

    def _chunk(self, choices: list[JsonObject]) -> JsonObject:
        head = self.head
        return {
            "id": head.id,
            "object": "chat.completion.chunk",
            "created": head.created,
            "model": head.model,
            "choices": choices,
        }
