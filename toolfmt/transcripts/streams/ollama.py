"""Ollama's chunks: each a message with what is new; a call is whole, and the last chunk says why the answer ended.

{"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": "Hi"}, "done": false}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.transcripts.answer_info import WRITTEN
from toolfmt.transcripts.answer_usage import write_ollama
from toolfmt.transcripts.envelopes import timestamp
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.streams.sink import StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Stop, Usage


class OllamaSink(StreamSink):
    """Writes chunks."""

    call_prefix = ""
    whole_calls = True

    def begin(self, usage: Usage | None) -> None:
        """Write nothing: every chunk says whose it is."""

    def text(self, text: str) -> None:
        """Write content."""
        self._chunk({"content": text})

    def reasoning(self, text: str) -> None:
        """Write thinking."""
        self._chunk({"content": "", "thinking": text})

    def start(self, number: int, name: str, ident: str) -> None:
        """Write nothing yet."""

    def arguments(self, number: int, piece: str) -> None:
        """Write nothing yet."""

    def end(self, number: int, call: ToolInvocation) -> None:  # noqa: ARG002 - calls have no numbers
        """Write the whole call."""
        self._chunk({"content": "", "tool_calls": [{"function": {"name": call.name, "arguments": call.arguments}}]})

    def cut(self, number: int, raw: str) -> None:
        """Write nothing: no call has begun."""

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:  # noqa: ARG002 - it has no place
        """Write the reason to end and the usage."""
        self._chunk({"content": ""}, done=True, done_reason=WRITTEN["ollama"][stop])
        if usage is not None:
            self.out[-1].update(write_ollama(usage))

    def fail(self, failure: Failure) -> None:
        """Write the error in place of a chunk."""
        self.out.append(write_error(failure, "ollama"))

    def _chunk(self, message: JsonObject, *, done: bool = False, **fields: str) -> None:
        head = self.head
        said: JsonObject = {"role": "assistant", **message}
        about: JsonObject = {"model": head.model, "created_at": timestamp(head.created)}
        self.out.append({**about, "message": said, "done": done, **fields})
