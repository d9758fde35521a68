"""One call at a time, for streams that cannot interleave: what comes while a call is open waits until it ends.

    start 0, arguments 0, start 1, arguments 1, text, end 0, end 1
    start 0, arguments 0,                             end 0, start 1, arguments 1, end 1, text

Nothing else waits, and each thing waits once, so time is linear.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolfmt.transcripts.sinks.blocks import Blocks, BlockSink, StreamBlockKind

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, ToolInvocation
    from toolfmt.transcripts.answer_ending import AnswerHead
    from toolfmt.transcripts.answer_info import Cited, Proof


@dataclass(slots=True)
class _Words:
    """Text or reasoning that waits."""

    kind: StreamBlockKind
    pieces: list[str]


@dataclass(slots=True)
class _Call:
    """A call that waits, complete or not."""

    number: int
    name: str
    ident: str
    pieces: list[str] = field(default_factory=list[str])
    call: ToolInvocation | None = None
    failed: str | None = None


class InTurn(BlockSink):
    """Writes the steps of an answer in an order in which no two calls are open."""

    def __init__(self, table: Blocks, head: AnswerHead, out: list[JsonObject]) -> None:
        """Write to `out`."""
        super().__init__(table, head, out)
        self._open_call: int | None = None
        self._waiting: deque[_Words | _Call | Proof] = deque()
        self._late: dict[int, _Call] = {}

    def prove(self, proof: Proof) -> None:
        """Write it unless a call is open."""
        if self._open_call is None:
            super().prove(proof)
        else:
            self._waiting.append(proof)

    def cite(self, cited: Cited) -> bool:
        """Write it unless a call is open."""
        return self._open_call is None and super().cite(cited)

    def start(self, number: int, name: str, ident: str) -> None:
        """Begin the call, or let it wait."""
        if self._open_call is None:
            self._open_call = number
            super().start(number, name, ident)
        else:
            self._late[number] = call = _Call(number, name, ident)
            self._waiting.append(call)

    def arguments(self, number: int, piece: str) -> None:
        """Write those of the open call; collect those of others."""
        if number == self._open_call:
            super().arguments(number, piece)
        else:
            self._late[number].pieces.append(piece)

    def end(self, number: int, call: ToolInvocation) -> None:
        """End the open call, and begin what waited for that."""
        if number == self._open_call:
            super().end(number, call)
            self._go_on()
        else:
            self._late.pop(number).call = call

    def cut(self, number: int, raw: str) -> None:
        """End the open call; one that waits has not begun, so it becomes text."""
        if number == self._open_call:
            super().cut(number, raw)
            self._go_on()
        else:
            self._late.pop(number).failed = raw

    def say(self, kind: StreamBlockKind, text: str) -> None:
        """Write it unless a call is open."""
        if self._open_call is None:
            super().say(kind, text)
            return
        last = self._waiting[-1] if self._waiting else None
        if isinstance(last, _Words) and last.kind == kind:
            last.pieces.append(text)
        else:
            self._waiting.append(_Words(kind, [text]))

    def _go_on(self) -> None:
        self._open_call = None
        while self._waiting and self._open_call is None:
            part = self._waiting.popleft()
            if isinstance(part, _Words):
                super().say(part.kind, "".join(part.pieces))
            elif not isinstance(part, _Call):
                super().prove(part)
            elif part.failed is None:
                self._begin(part)
            elif part.failed:
                super().say("text", part.failed)

    def _begin(self, part: _Call) -> None:
        super().start(part.number, part.name, part.ident)
        if part.pieces:
            super().arguments(part.number, "".join(part.pieces))
        if part.call is None:
            del self._late[part.number]
            self._open_call = part.number
        else:
            super().end(part.number, part.call)
