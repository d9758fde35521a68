"""Streams of blocks: each block of text, of reasoning or of a call begins, grows and ends, one after the other.

    contentBlockStart, contentBlockDelta, contentBlockStop        Bedrock
    content-start, content-delta, content-end                     Cohere
    step.start, step.delta, step.stop                             Gemini Interactions
    text-start, text-delta, text-end                              AI SDK
    TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT, TEXT_MESSAGE_END    AG-UI

What each of them writes is a table of functions (`block_tables`); when, is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from toolfmt.transcripts.streams.sink import AnswerHead, StreamSink

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Proof, Stop, Usage

StreamBlockKind: TypeAlias = Literal["text", "reasoning", "call"]


@dataclass(slots=True)
class StreamBlock:
    """A block under way; `id` and `name` are a call's, `number` counts the calls."""

    kind: StreamBlockKind
    index: int
    id: str
    name: str = ""
    number: int = 0
    pieces: list[str] = field(default_factory=list[str])
    call: ToolInvocation | None = None
    """The call, when it is complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """What one API writes; each function gives the events."""

    begin: Callable[[AnswerHead], list[JsonObject]]
    start: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]
    delta: Mapping[StreamBlockKind, Callable[[StreamBlock, str], list[JsonObject]]]
    end: Mapping[StreamBlockKind, Callable[[StreamBlock], list[JsonObject]]]
    finish: Callable[[AnswerHead, Stop, str | None, Usage | None], list[JsonObject]]
    fail: Callable[[AnswerHead, Failure], list[JsonObject]]
    owner: str = ""
    prove: Callable[[StreamBlock, Proof], list[JsonObject]] = lambda _, __: []


class BlockSink(StreamSink):
    """Writes an answer as a stream of blocks, of which one is open at a time."""

    def __init__(self, table: Blocks, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(head, out)
        self.owner = table.owner
        self._table = table
        self._count = 0
        self._block: StreamBlock | None = None

    def begin(self, usage: Usage | None) -> None:  # noqa: ARG002 - it comes last here
        """Write what comes first."""
        self.out.extend(self._table.begin(self.head))

    def text(self, text: str) -> None:
        """Write text, in the block that is open if that is one of text."""
        self._grow("text", text)

    def reasoning(self, text: str) -> None:
        """Write reasoning."""
        self._grow("reasoning", text)

    def prove(self, proof: Proof) -> None:
        """Write what proves the reasoning before it, which ends its block."""
        block = self._block
        if block is None or block.kind != "reasoning":
            block = self._open("reasoning")
        self.out.extend(self._table.prove(block, proof))
        self._close()

    def start(self, number: int, name: str, ident: str) -> None:
        """Begin a call."""
        self._open("call", ident, name, number)

    def arguments(self, number: int, piece: str) -> None:  # noqa: ARG002 - one block is open at a time
        """Write a piece of the arguments."""
        self._grow("call", piece)

    def end(self, number: int, call: ToolInvocation) -> None:  # noqa: ARG002 - as above
        """End a call."""
        if self._block is not None:
            self._block.call = call
        self._close()

    def cut(self, number: int, raw: str) -> None:  # noqa: ARG002 - as above
        """End a call that is not complete."""
        self._close()

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:
        """Write what comes last."""
        self._close()
        self.out.extend(self._table.finish(self.head, stop, sequence, usage))

    def fail(self, failure: Failure) -> None:
        """Write the error."""
        self._close()
        self.out.extend(self._table.fail(self.head, failure))

    def _grow(self, kind: StreamBlockKind, text: str) -> None:
        block = self._block if self._block is not None and self._block.kind == kind else self._open(kind)
        block.pieces.append(text)
        self.out.extend(self._table.delta[kind](block, text))

    def _open(self, kind: StreamBlockKind, ident: str = "", name: str = "", number: int = 0) -> StreamBlock:
        self._close()
        ident = ident or self.head.mint("block_", self._count)
        self._block = block = StreamBlock(kind, self._count, ident, name, number)
        self._count += 1
        self.out.extend(self._table.start[kind](block))
        return block

    def _close(self) -> None:
        block, self._block = self._block, None
        if block is not None:
            self.out.extend(self._table.end[block.kind](block))
