"""Streams of blocks: each block of text, of reasoning or of a call begins, grows and ends.

    response.output_item.added, ...delta, response.output_item.done    Responses
    contentBlockStart, contentBlockDelta, contentBlockStop             Bedrock
    content-start, content-delta, content-end                          Cohere
    step.start, step.delta, step.stop                                  Gemini Interactions
    text-start, text-delta, text-end                                   AI SDK
    {"delta": {"content": "Hi"}}                                       Chat Completions: only deltas

The functions that write the events of an API are a table in its module of `apis`; the sink decides when each is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolfmt.transcripts.answer_info import UNFINISHED
from toolfmt.transcripts.citations import cited_at

if TYPE_CHECKING:
    from toolfmt.conversation import TextPart
    from toolfmt.model import JsonObject, JsonValue, ToolInvocation
    from toolfmt.transcripts.answer_ending import AnswerEnding, AnswerHead
    from toolfmt.transcripts.answer_info import Cited, Failure, Proof, Usage

StreamBlockKind: TypeAlias = Literal["text", "refusal", "reasoning", "hidden", "call", "custom"]
"""`hidden` is reasoning that only its owner can read, `custom` a call of free text."""


@dataclass(slots=True)
class StreamBlock:
    """A block under way; `id` and `name` are a call's, `number` counts the calls."""

    kind: StreamBlockKind
    head: AnswerHead
    index: int
    id: str
    name: str = ""
    number: int = 0
    pieces: list[str] = field(default_factory=list[str])
    call: ToolInvocation | None = None
    """The call, when it is complete."""
    encrypted: str | None = None
    """Reasoning that only its owner can read."""
    cut: bool = False
    """The answer ended in the block before the model was done."""
    before: int = 0
    """How many characters of text come before the block."""
    cited: int = 0
    """How many citations the texts have before the next one."""
    annotations: list[JsonObject] = field(default_factory=list["JsonObject"])
    """The citations that were written, where the end of the block repeats them."""
    place: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """How events name the block, where that is more than its index."""

    @property
    def text(self) -> str:
        """What the block says so far."""
        return "".join(self.pieces)


def _no_words() -> dict[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What one API writes; each function gives the events."""

    delta: Mapping[StreamBlockKind, Callable[[StreamBlock, str], list[JsonObject]]]
    """A refusal or a call of free text without a row is text, or an ordinary call.

    Without a row for calls, a call is written when it is complete, so one that fails has never begun.
    """
    finish: Callable[[AnswerEnding, Sequence[StreamBlock]], list[JsonObject]]
    fail: Callable[[AnswerHead, Failure, Sequence[StreamBlock]], list[JsonObject]]
    begin: Callable[[AnswerHead, Usage | None], list[JsonObject]] = lambda _, __: []
    start: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    end: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    prove: Callable[[StreamBlock, Proof], list[JsonObject]] = lambda _, __: []
    cite: Callable[[StreamBlock, JsonObject, int], list[JsonObject]] = lambda _, __, ___: []
    """The citation's places count from so many characters after the block's beginning; nothing without a place."""
    owner: str = ""
    """Whose proofs of reasoning have a place."""
    call_prefix: str = "call_"
    """How the id begins that a call without one is given; empty: calls need none."""
    interleaved: bool = False
    """Several blocks may be open at a time."""
    numbered: str = ""
    """The key under which every event has its number."""


def citing(
    form: Callable[[JsonObject, TextPart], JsonObject],
    own: Callable[[JsonObject], bool],
    write: Callable[[StreamBlock, JsonObject], list[JsonObject]],
    *,
    of_message: bool = False,
) -> Callable[[StreamBlock, JsonObject, int], list[JsonObject]]:
    """Make `cite` of a format's citations and their events; places count from the block, or from the message."""

    def cite(block: StreamBlock, citation: JsonObject, before: int) -> list[JsonObject]:
        made = cited_at(citation, before + (block.before if of_message else 0), block.text, form, own)
        return [] if made is None else write(block, made)

    return cite


class BlockSink:
    """Writes one answer as a stream of blocks; each step appends its events to `out`.

    begin    say("text", "Let me look.")    prove(Proof(...))
    start(0, "get_weather", "call_1")    arguments(0, '{"city": "Paris"')    end(0, call)    or: cut(0, raw)
    finish(ending)    or: fail(Failure(...))

    Calls are numbered from 0 without gaps.
    """

    def __init__(self, table: Blocks, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        self.head, self.table, self.out = head, table, out
        self.custom_calls = "custom" in table.delta
        self.whole_calls = "call" not in table.delta
        self._events = self._length = self._cited = 0
        self._blocks: list[StreamBlock] = []
        self._words: StreamBlock | None = None
        self._calls: dict[int, StreamBlock] = {}

    def begin(self, usage: Usage | None) -> None:
        """Write what comes first."""
        self._emit(self.table.begin(self.head, usage))

    def say(self, kind: StreamBlockKind, text: str) -> None:
        """Write text, a refusal or reasoning, in the block that is open if that is of the same kind."""
        kind = kind if kind in self.table.delta else "text"
        block = self._words
        self._grow(block if block is not None and block.kind == kind else self._open(kind), text)

    def prove(self, proof: Proof) -> None:
        """Write what proves the reasoning before it, which ends its block, or reasoning that is hidden."""
        if proof.encrypted is not None and "hidden" in self.table.start:
            self._open("hidden", encrypted=proof.encrypted)
        else:
            block = self._words
            if block is None or block.kind != "reasoning":
                block = self._open("reasoning")
            self._emit(self.table.prove(block, proof))
        self._close(self._words)

    def cite(self, cited: Cited) -> bool:
        """Write a source of the text so far, where its block is open; whether it has a place."""
        block = self._words
        if block is None or block.kind != "text":
            return False
        block.cited, self._cited = self._cited, self._cited + 1
        written = self.table.cite(block, cited.citation, cited.before - block.before)
        self._emit(written)
        return bool(written)

    def start(self, number: int, name: str, ident: str) -> None:
        """Begin a call."""
        self._calls[number] = self._open("call", ident, name, number)

    def arguments(self, number: int, piece: str) -> None:
        """Write a piece of the arguments."""
        if not self.whole_calls:
            self._grow(self._calls[number], piece)

    def end(self, number: int, call: ToolInvocation) -> None:
        """End a call."""
        block = self._calls.pop(number)
        block.call = call
        self._close(block)

    def cut(self, number: int, raw: str) -> None:  # noqa: ARG002 - what there is of it is written already
        """End a call that is not complete."""
        self._close(self._calls.pop(number))

    def custom(self, number: int, name: str, ident: str, text: str) -> None:
        """Write a call of free text; only where `custom_calls` says so."""
        block = self._open("custom", ident, name, number)
        self._grow(block, text)
        self._close(block)

    def finish(self, ending: AnswerEnding) -> None:
        """Write what comes last."""
        self._close(self._words, cut=ending.stop in UNFINISHED or ending.stop == "content_filter")
        self._emit(self.table.finish(ending, self._blocks))

    def fail(self, failure: Failure) -> None:
        """Write, in place of what comes last, that the answer ends in an error."""
        self._close(self._words, cut=True)
        self._emit(self.table.fail(self.head, failure, self._blocks))

    def _grow(self, block: StreamBlock, text: str) -> None:
        block.pieces.append(text)
        self._length += len(text) if block.kind in ("text", "refusal") else 0
        self._emit(self.table.delta[block.kind](block, text))

    def _open(
        self, kind: StreamBlockKind, ident: str = "", name: str = "", number: int = 0, *, encrypted: str | None = None
    ) -> StreamBlock:
        """Begin a block, where the words before it end."""
        self._close(self._words)
        index = len(self._blocks)
        ident = ident or self.head.mint("block_", index)
        block = StreamBlock(kind, self.head, index, ident, name, number, encrypted=encrypted, before=self._length)
        if kind not in ("call", "custom"):
            self._words = block
        self._blocks.append(block)
        if kind in self.table.start:
            self._emit(self.table.start[kind](block))
        return block

    def _close(self, block: StreamBlock | None, *, cut: bool = False) -> None:
        if block is None:
            return
        block.cut = cut
        if block is self._words:
            self._words = None
        if block.kind in self.table.end:
            self._emit(self.table.end[block.kind](block))

    def _emit(self, events: list[JsonObject]) -> None:
        if self.table.numbered:
            for event in events:
                event[self.table.numbered] = self._events
                self._events += 1
        self.out.extend(events)
