"""One call at a time, for streams that cannot interleave: what comes while a call is open waits until it ends.

    start 0, arguments 0, start 1, arguments 1, text, end 0, end 1
    start 0, arguments 0,                             end 0, start 1, arguments 1, end 1, text

Nothing else waits, and each thing waits once, so time is linear.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolfmt.transcripts.streams.sink import StreamSink

if TYPE_CHECKING:
    from toolfmt.model import ToolInvocation
    from toolfmt.transcripts.answer_info import Failure, Proof, Stop, Usage


@dataclass(slots=True)
class _Words:
    """Text or reasoning that waits."""

    write: Callable[[str], None]
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


class InTurn(StreamSink):
    """Hands the steps of an answer on in an order in which no two calls are open."""

    def __init__(self, sink: StreamSink) -> None:
        """Hand on to `sink`."""
        super().__init__(sink.head, sink.out)
        self.owner, self.call_prefix = sink.owner, sink.call_prefix
        self._sink = sink
        self._open: int | None = None
        self._waiting: deque[_Words | _Call | Proof] = deque()
        self._calls: dict[int, _Call] = {}

    def begin(self, usage: Usage | None) -> None:
        """Hand on at once."""
        self._sink.begin(usage)

    def text(self, text: str) -> None:
        """Hand on unless a call is open."""
        self._words(self._sink.text, text)

    def reasoning(self, text: str) -> None:
        """Hand on unless a call is open."""
        self._words(self._sink.reasoning, text)

    def prove(self, proof: Proof) -> None:
        """Hand on unless a call is open."""
        if self._open is None:
            self._sink.prove(proof)
        else:
            self._waiting.append(proof)

    def start(self, number: int, name: str, ident: str) -> None:
        """Begin the call, or let it wait."""
        if self._open is None:
            self._open = number
            self._sink.start(number, name, ident)
        else:
            self._calls[number] = call = _Call(number, name, ident)
            self._waiting.append(call)

    def arguments(self, number: int, piece: str) -> None:
        """Hand on those of the open call; collect those of others."""
        if number == self._open:
            self._sink.arguments(number, piece)
        else:
            self._calls[number].pieces.append(piece)

    def end(self, number: int, call: ToolInvocation) -> None:
        """End the open call, and begin what waited for that."""
        if number == self._open:
            self._sink.end(number, call)
            self._go_on()
        else:
            self._calls.pop(number).call = call

    def cut(self, number: int, raw: str) -> None:
        """End the open call; one that waits has not begun, so it becomes text."""
        if number == self._open:
            self._sink.cut(number, raw)
            self._go_on()
        else:
            self._calls.pop(number).failed = raw

    def finish(self, stop: Stop, sequence: str | None, usage: Usage | None) -> None:
        """Hand on; no call is open any more."""
        self._sink.finish(stop, sequence, usage)

    def fail(self, failure: Failure) -> None:
        """Hand on, as the end is."""
        self._sink.fail(failure)

    def _words(self, write: Callable[[str], None], text: str) -> None:
        if self._open is None:
            write(text)
            return
        last = self._waiting[-1] if self._waiting else None
        if isinstance(last, _Words) and last.write == write:
            last.pieces.append(text)
        else:
            self._waiting.append(_Words(write, [text]))

    def _go_on(self) -> None:
        self._open = None
        while self._waiting and self._open is None:
            part = self._waiting.popleft()
            if isinstance(part, _Words):
                part.write("".join(part.pieces))
            elif not isinstance(part, _Call):
                self._sink.prove(part)
            elif part.failed is None:
                self._begin(part)
            elif part.failed:
                self._sink.text(part.failed)

    def _begin(self, part: _Call) -> None:
        self._sink.start(part.number, part.name, part.ident)
        if part.pieces:
            self._sink.arguments(part.number, "".join(part.pieces))
        if part.call is None:
            del self._calls[part.number]
            self._open = part.number
        else:
            self._sink.end(part.number, part.call)
