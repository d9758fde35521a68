"""Streams of blocks: each block of text, of reasoning or of a call begins, grows and ends.

    contentBlockStart, contentBlockDelta, contentBlockStop        Bedrock
    content-start, content-delta, content-end                     Cohere
    step.start, step.delta, step.stop                             Gemini Interactions
    text-start, text-delta, text-end                              AI SDK
    {"delta": {"content": "Hi"}}                                  Chat Completions: beginning and end say nothing

What each API writes is a table of functions in its module of `apis`; when, is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolfmt.transcripts.sinks.sink import AnswerHead, StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Cited, Failure, Proof, Stop, Usage

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
    """What is hidden."""
    before: int = 0
    """How many characters of text come before the block."""
    cited: int = 0
    """How many sources the texts have named before the next one."""


def _no_words() -> dict[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What one API writes; each function gives the events."""

    delta: Mapping[StreamBlockKind, Callable[[StreamBlock, str], list[JsonObject]]]
    """A refusal or a call of free text without a row is text, or an ordinary call."""
    finish: Callable[[AnswerHead, Stop, str | None, Usage | None], list[JsonObject]]
    fail: Callable[[AnswerHead, Failure], list[JsonObject]]
    begin: Callable[[AnswerHead, Usage | None], list[JsonObject]] = lambda _, __: []
    start: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    end: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]] = field(default_factory=_no_words)
    prove: Callable[[StreamBlock, Proof], list[JsonObject]] = lambda _, __: []
    cite: Callable[[StreamBlock, JsonObject, int], list[JsonObject]] = lambda _, __, ___: []
    """The citation's places count from so many characters after the block's beginning; nothing without a place."""
    owner: str = ""
    call_prefix: str = "call_"
    interleaved: bool = False
    """Several blocks may be open at a time."""


class BlockSink(StreamSink):
    """Writes an answer as a stream of blocks."""

    def __init__(self, table: Blocks, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        self.owner, self.call_prefix = table.owner, table.call_prefix
        self.custom_calls = "custom" in table.delta
        self.whole_calls = "call" not in table.delta
        self._table = table
        self._count = 0
        self._length = 0
        self._cited = 0
        self._words: StreamBlock | None = None
        self._calls: dict[int, StreamBlock] = {}

    def begin(self, usage: Usage | None) -> None:
        """Write what comes first."""
        self.out.extend(self._table.begin(self.head, usage))

    def text(self, text: str) -> None:
        """Write text, in the block that is open if that is one of text."""
        self._say("text", text)

    def refusal(self, text: str) -> None:
        """Write a refusal."""
        self._say("refusal" if "refusal" in self._table.delta else "text", text)

    def reasoning(self, text: str) -> None:
        """Write reasoning."""
        self._say("reasoning", text)

    def prove(self, proof: Proof) -> None:
        """Write what proves the reasoning before it, which ends its block, or reasoning that is hidden."""
        if proof.encrypted is not None and "hidden" in self._table.start:
            self._open("hidden", encrypted=proof.encrypted)
        else:
            block = self._words
            if block is None or block.kind != "reasoning":
                block = self._open("reasoning")
            self.out.extend(self._table.prove(block, proof))
        self._close(self._words)

    def cite(self, cited: Cited) -> bool:
        """Write a source of the text so far, where its block is open."""
        block = self._words
        if block is None or block.kind != "text":
            return False
        block.cited, self._cited = self._cited, self._cited + 1
        written = self._table.cite(block, cited.citation, cited.before - block.before)
        self.out.extend(written)
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
        """Write a call of free text."""
        block = self._open("custom", ident, name, number)
        self._grow(block, text)
        self._close(block)

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:
        """Write what comes last."""
        self._close(self._words)
        self.out.extend(self._table.finish(self.head, stop, sequence, usage))

    def fail(self, failure: Failure) -> None:
        """Write the error."""
        self._close(self._words)
        self.out.extend(self._table.fail(self.head, failure))

    def _say(self, kind: StreamBlockKind, text: str) -> None:
        block = self._words
        self._grow(block if block is not None and block.kind == kind else self._open(kind), text)

    def _grow(self, block: StreamBlock, text: str) -> None:
        block.pieces.append(text)
        self._length += len(text) if block.kind in ("text", "refusal") else 0
        self.out.extend(self._table.delta[block.kind](block, text))

    def _open(
        self, kind: StreamBlockKind, ident: str = "", name: str = "", number: int = 0, *, encrypted: str | None = None
    ) -> StreamBlock:
        """Begin a block, where the words before it end."""
        self._close(self._words)
        ident = ident or self.head.mint("block_", self._count)
        block = StreamBlock(kind, self.head, self._count, ident, name, number, encrypted=encrypted, before=self._length)
        if kind not in ("call", "custom"):
            self._words = block
        self._count += 1
        if kind in self._table.start:
            self.out.extend(self._table.start[kind](block))
        return block

    def _close(self, block: StreamBlock | None) -> None:
        if block is None:
            return
        if block is self._words:
            self._words = None
        if block.kind in self._table.end:
            self.out.extend(self._table.end[block.kind](block))
