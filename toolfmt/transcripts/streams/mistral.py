"""Mistral's chunks: as Chat Completions', with thinking in the content, calls whole, and the usage in the last chunk.

{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {
    "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]}, "finish_reason": null}]}
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from toolfmt import jsontext
from toolfmt.transcripts.answer_info import WRITTEN
from toolfmt.transcripts.answer_usage import write_mistral
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.streams.chat import ChatSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Stop, Usage
    from toolfmt.transcripts.streams.sink import AnswerHead


class MistralSink(ChatSink):
    """Writes chunks."""

    custom_calls = False
    whole_calls = True

    def __init__(self, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        self._ids: dict[int, str] = {}

    def refusal(self, text: str) -> None:
        """Write a refusal as text."""
        self.text(text)

    def reasoning(self, text: str) -> None:
        """Write thinking."""
        self._delta({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]})

    def start(self, number: int, name: str, ident: str) -> None:  # noqa: ARG002 - the whole call says it
        """Keep the id: nine letters and digits, of which others are hashed."""
        fits = len(ident) == 9 and ident.isalnum() and ident.isascii()  # noqa: PLR2004 - mistral-common's validator
        self._ids[number] = ident if fits else sha256(ident.encode()).hexdigest()[:9]

    def arguments(self, number: int, piece: str) -> None:
        """Write nothing yet."""

    def end(self, number: int, call: ToolInvocation) -> None:
        """Write the whole call."""
        text = call.raw_arguments or jsontext.dumps(call.arguments)
        function: JsonObject = {"name": call.name, "arguments": text}
        made: JsonObject = {"index": number, "id": self._ids.pop(number), "type": "function", "function": function}
        self._delta({"tool_calls": [made]})

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:  # noqa: ARG002 - it has no place
        """Write the chunk with the reason to end and the usage."""
        self._delta({"content": ""}, WRITTEN["mistral"][stop])
        if usage is not None:
            self.out[-1]["usage"] = write_mistral(usage)

    def fail(self, failure: Failure) -> None:
        """Write the error in place of a chunk."""
        self.out.append(write_error(failure, "mistral"))
