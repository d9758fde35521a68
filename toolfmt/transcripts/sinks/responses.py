r"""Responses' events: items are added, grow and are done; `output_index` tells them apart, so calls may be interleaved.

{"type": "response.output_item.added", "sequence_number": 3, "output_index": 0, "item": {
    "type": "function_call", "id": "fc_1", "call_id": "call_A1", "name": "f", "arguments": "", "status": "in_progress"}}
{"type": "response.function_call_arguments.delta", "sequence_number": 4, "output_index": 0, "item_id": "fc_1",
    "delta": "{\"city\":"}
{"type": "response.output_item.done", "sequence_number": 6, "output_index": 0, "item": {...}}

Reasoning is a summary. A call that was cut off has the status `incomplete`, and so has the response.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolfmt.transcripts.answer_usage import TokenCounting
from toolfmt.transcripts.citations import cited_at, flat
from toolfmt.transcripts.responses_items import PROVIDER, annotates
from toolfmt.transcripts.sinks.sink import AnswerHead, StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Cited, Failure, Proof, Stop, Usage

_CODES: Final = {"rate_limit": "rate_limit_exceeded", "invalid": "invalid_prompt"}
"""openai 3.54, types/responses/response_error.py: the codes for what is not simply the server's fault."""
COUNT: Final = TokenCounting(
    {
        "input": "input_tokens",
        "cached": "input_tokens_details.cached_tokens",
        "cache_written": "input_tokens_details.cache_write_tokens",
        "output": "output_tokens",
        "reasoning": "output_tokens_details.reasoning_tokens",
        "total": "total_tokens",
    }
)
INCOMPLETE: Final[dict[Stop, str]] = {"length": "max_output_tokens", "content_filter": "content_filter"}


@dataclass(frozen=True, slots=True)
class _Kind:
    """How an item of words is written: the field with its one part, and the events of both."""

    item: Callable[[], JsonObject]
    prefix: str
    field: str
    index: str
    part: Callable[[str], JsonObject]
    part_event: str
    text_event: str
    beside: Callable[[], JsonObject]
    """What the events of a text have beside it."""
    whole: str = "text"
    """The key of the whole text in the event that ends it."""


_MESSAGE: Final = _Kind(
    lambda: {"type": "message", "role": "assistant", "content": []},
    "msg_",
    "content",
    "content_index",
    lambda text: {"type": "output_text", "text": text, "annotations": [], "logprobs": []},
    "response.content_part",
    "response.output_text",
    lambda: {"logprobs": []},
)
_REFUSAL: Final = _Kind(
    lambda: {"type": "message", "role": "assistant", "content": []},
    "msg_",
    "content",
    "content_index",
    lambda text: {"type": "refusal", "refusal": text},
    "response.content_part",
    "response.refusal",
    dict,
    "refusal",
)
_REASONING: Final = _Kind(
    lambda: {"type": "reasoning", "summary": []},
    "rs_",
    "summary",
    "summary_index",
    lambda text: {"type": "summary_text", "text": text},
    "response.reasoning_summary_part",
    "response.reasoning_summary_text",
    dict,
)


@dataclass(slots=True)
class _Item:
    """An item under way, and how its events name it."""

    value: JsonObject
    place: JsonObject
    pieces: list[str] = field(default_factory=list[str])
    kind: _Kind | None = None
    before: int = 0
    """How many characters of text come before the item."""
    annotations: list[JsonObject] = field(default_factory=list["JsonObject"])


class ResponsesSink(StreamSink):
    """Writes items; text and reasoning end where something else begins."""

    owner = PROVIDER
    custom_calls = True

    def __init__(self, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        self._count = self._length = 0
        self._items: list[JsonObject] = []
        self._words: _Item | None = None
        self._calls: dict[int, _Item] = {}

    def begin(self, usage: Usage | None) -> None:  # noqa: ARG002 - it comes last here
        """Write the response's start."""
        for event in ("response.created", "response.in_progress"):
            self._emit(event, {"response": self._response("in_progress", None, None)})

    def text(self, text: str) -> None:
        """Write text, in the message that is open if there is one."""
        self._say(_MESSAGE, text)

    def refusal(self, text: str) -> None:
        """Write a refusal, in a message of its own."""
        self._say(_REFUSAL, text)

    def reasoning(self, text: str) -> None:
        """Write a summary of reasoning."""
        self._say(_REASONING, text)

    def prove(self, proof: Proof) -> None:
        """Write what only the owner can read of the reasoning, which ends its item."""
        if self._words is None or self._words.kind is not _REASONING:
            self._done()
            self._words = self._add(_REASONING.prefix, _REASONING.item())
        self._words.value["encrypted_content"] = proof.encrypted
        self._done()

    def cite(self, cited: Cited) -> bool:
        """Write a source of the text in the message that is open."""
        item = self._words
        if item is None or item.kind is not _MESSAGE:
            return False
        made = cited_at(cited.citation, cited.before - item.before, "".join(item.pieces), flat, annotates)
        if made is None:
            return False
        place = {**item.place, "annotation_index": len(item.annotations)}
        item.annotations.append(made)
        self._emit("response.output_text.annotation.added", place, {"annotation": made})
        return True

    def start(self, number: int, name: str, ident: str) -> None:
        """Add a call's item."""
        self._done()
        item: JsonObject = {"type": "function_call", "call_id": ident, "name": name, "arguments": ""}
        self._calls[number] = self._add("fc_", item)

    def arguments(self, number: int, piece: str) -> None:
        """Write a piece of the arguments."""
        item = self._calls[number]
        item.pieces.append(piece)
        self._emit("response.function_call_arguments.delta", item.place, {"delta": piece})

    def end(self, number: int, call: ToolInvocation) -> None:  # noqa: ARG002 - its text is written already
        """Write that a call is complete."""
        item = self._calls.pop(number)
        item.value["arguments"] = arguments = "".join(item.pieces)
        self._emit("response.function_call_arguments.done", item.place, {"arguments": arguments})
        self._close(item, "completed")

    def cut(self, number: int, raw: str) -> None:  # noqa: ARG002 - what there is of it is written already
        """Write that a call is incomplete."""
        item = self._calls.pop(number)
        item.value["arguments"] = "".join(item.pieces)
        self._close(item, "incomplete")

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:  # noqa: ARG002 - it has no place
        """Write the whole response."""
        self._done()
        reason = INCOMPLETE.get(stop)
        status = "completed" if reason is None else "incomplete"
        self._emit(f"response.{status}", {"response": self._response(status, reason, usage)})

    def custom(self, number: int, name: str, ident: str, text: str) -> None:  # noqa: ARG002 - its item has an index
        """Write a call of free text."""
        self._done()
        item = self._add("ctc_", {"type": "custom_tool_call", "call_id": ident, "name": name, "input": ""})
        self._emit("response.custom_tool_call_input.delta", item.place, {"delta": text})
        item.value["input"] = text
        self._emit("response.custom_tool_call_input.done", item.place, {"input": text})
        self._close(item, "completed")

    def fail(self, failure: Failure) -> None:
        """Write the response with its error."""
        self._done()
        error = {"code": _CODES.get(failure.kind, "server_error"), "message": failure.message}
        self._emit("response.failed", {"response": {**self._response("failed", None, None), "error": error}})

    def _say(self, kind: _Kind, text: str) -> None:
        item = self._words
        if item is None or item.kind is not kind:
            self._done()
            self._words = item = self._add(kind.prefix, kind.item())
            item.before = self._length
            item.kind, item.place = kind, {**item.place, kind.index: 0}
            self._emit(f"{kind.part_event}.added", item.place, {"part": kind.part("")})
        item.pieces.append(text)
        self._length += len(text) if kind is not _REASONING else 0
        self._emit(f"{kind.text_event}.delta", item.place, {"delta": text}, kind.beside())

    def _done(self) -> None:
        """End the item of words that is open."""
        item, self._words = self._words, None
        if item is None:
            return
        kind = item.kind
        if kind is not None:
            text = "".join(item.pieces)
            part = kind.part(text) | ({"annotations": item.annotations} if item.annotations else {})
            item.value[kind.field] = [part]
            self._emit(f"{kind.text_event}.done", item.place, {kind.whole: text}, kind.beside())
            self._emit(f"{kind.part_event}.done", item.place, {"part": deepcopy(part)})
        self._close(item, "completed")

    def _add(self, prefix: str, value: JsonObject) -> _Item:
        index = len(self._items)
        value = {"id": self.head.mint(prefix, index), **value, "status": "in_progress"}
        self._items.append(value)
        self._emit("response.output_item.added", {"output_index": index, "item": deepcopy(value)})
        return _Item(value, {"item_id": value["id"], "output_index": index})

    def _close(self, item: _Item, status: str) -> None:
        item.value["status"] = status
        self._emit(
            "response.output_item.done", {"output_index": item.place["output_index"], "item": deepcopy(item.value)}
        )

    def _emit(self, event: str, *fields: JsonObject) -> None:
        made: JsonObject = {"type": event, "sequence_number": self._count}
        for some in fields:
            made.update(some)
        self.out.append(made)
        self._count += 1

    def _response(self, status: str, reason: str | None, usage: Usage | None) -> JsonObject:
        return response(self.head, deepcopy(self._items), status, reason, usage)


def response(
    head: AnswerHead, output: list[JsonObject], status: str, reason: str | None, usage: Usage | None
) -> JsonObject:
    """Make a response around its items; `reason` says why it is incomplete."""
    return {
        "id": head.id,
        "object": "response",
        "created_at": head.created,
        "status": status,
        "error": None,
        "incomplete_details": None if reason is None else {"reason": reason},
        "instructions": None,
        "metadata": {},
        "model": head.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None if usage is None else COUNT.write(usage),
    }
