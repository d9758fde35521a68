"""Gemini's chunks: each a response with the parts that are new; a call is whole, so it comes when it is complete.

{"candidates": [{"content": {"role": "model", "parts": [{"text": "Two calls.", "thought": true}]}, "index": 0}],
    "modelVersion": "gemini-3-pro", "responseId": "r1"}
{"candidates": [{"content": {"role": "model", "parts": [
    {"functionCall": {"id": "a1", "name": "get_weather", "args": {"city": "Paris"}}}]}, "index": 0}]}

The last chunk has no part, `finishReason` and the usage. Calls stand in the order in which they were complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_info import WRITTEN
from toolfmt.transcripts.answer_usage import write_gemini
from toolfmt.transcripts.failures import write_error
from toolfmt.transcripts.gemini_parts import OWNER, PROVIDER
from toolfmt.transcripts.streams.sink import AnswerHead, StreamSink
from toolfmt.transcripts.values import put_own

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Proof, Stop, Usage

_STOPS: Final = WRITTEN["gemini"]


class GeminiSink(StreamSink):
    """Writes chunks of one part each."""

    owner = PROVIDER
    call_prefix = ""
    whole_calls = True

    def __init__(self, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        head_fields = {"modelVersion": head.model, "responseId": head.id}
        self._head_fields: JsonObject = {key: value for key, value in head_fields.items() if value}

    def begin(self, usage: Usage | None) -> None:
        """Write nothing: every chunk says whose it is."""

    def text(self, text: str) -> None:
        """Write a text part."""
        self._part({"text": text})

    def reasoning(self, text: str) -> None:
        """Write a thought."""
        self._part({"text": text, "thought": True})

    def prove(self, proof: Proof) -> None:
        """Write a signature, in an empty thought after what it signs."""
        self._part({"text": "", "thought": True, "thoughtSignature": proof.signature})

    def start(self, number: int, name: str, ident: str) -> None:
        """Write nothing yet."""

    def arguments(self, number: int, piece: str) -> None:
        """Write nothing yet."""

    def end(self, number: int, call: ToolInvocation) -> None:  # noqa: ARG002 - calls have no numbers
        """Write the whole call."""
        made: JsonObject = {"name": call.name, "args": call.arguments}
        if call.id:
            made = {"id": call.id, **made}
        part: JsonObject = {"functionCall": made}
        put_own(part, call.extra, OWNER)
        self._part(part)

    def cut(self, number: int, raw: str) -> None:
        """Write nothing: no call has begun."""

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:  # noqa: ARG002 - it has no place
        """Write the reason to end and the usage."""
        content: JsonObject = {"role": "model", "parts": []}
        last: JsonObject = {"candidates": [{"content": content, "finishReason": _STOPS[stop], "index": 0}]}
        if usage is not None:
            last["usageMetadata"] = write_gemini(usage)
        self.out.append({**last, **self._head_fields})

    def fail(self, failure: Failure) -> None:
        """Write the error in place of a chunk."""
        self.out.append(write_error(failure, "gemini"))

    def _part(self, part: JsonObject) -> None:
        candidate: JsonObject = {"content": {"role": "model", "parts": [part]}, "index": 0}
        self.out.append({"candidates": [candidate], **self._head_fields})
