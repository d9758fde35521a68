"""Writes an answer's events as the blocks of a provider's stream, each as soon as it is certain.

The closing brace of a call's arguments is written with the call's end. A call
that fails after its beginning therefore leaves arguments that are not a JSON object,
and no client can take it for a call; one without arguments
so far gets an opening brace, because no arguments may mean `{}`. A call that fails before
its beginning becomes text, as the model wrote it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from toolfmt import jsontext
from toolfmt.events import (
    ArgumentsDelta,
    CallEnd,
    CallFailed,
    CallStart,
    Event,
    Notice,
    ReasoningDelta,
    TextDelta,
    coalesce,
)
from toolfmt.model import JsonObject
from toolfmt.transcripts.answering.answer_info import (
    AnswerEnding,
    AnswerHead,
    AnswerInfo,
    Failure,
    Proof,
    ended_by,
    stopped,
    unusable,
)
from toolfmt.transcripts.answering.stream_blocks import Blocks, StreamBlock, StreamBlockKind
from toolfmt.transcripts.parts.citations import source
from toolfmt.transcripts.parts.endings import UNFINISHED, Stop
from toolfmt.transcripts.parts.values import lacking

_CLOSING: Final = "} \t\r\n"
"""The characters at the end of a JSON object's text."""


class Emitter:
    """Writes the events of one answer as one provider's stream; calls are numbered from 0 without gaps."""

    def __init__(self, table: Blocks, info: AnswerInfo, known: AnswerHead) -> None:
        """Write the events of `table`; fields missing in `known` come from `info` at the first event."""
        self._table, self._info, self._head = table, info, known
        self._out: list[JsonObject] = []
        self._turns = None if table.interleaved else _InTurn()
        self._begun = False
        self._blocks: list[StreamBlock] = []
        self._words: StreamBlock | None = None
        self._calls: dict[int, StreamBlock] = {}
        self._named: set[int] = set()
        self._cut: Stop | None = None
        self._events = self._length = self._number = self._ended = self._at = self._proved = 0
        self._cited = self._placed = self._weighed = 0
        self.dropped: dict[tuple[str, str], None] = {}
        """Data without a place in the stream, by the code of its loss and its description."""
        self._steps: dict[type, Callable[[Any], None]] = {
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            CallStart: self._start,
            ArgumentsDelta: self._arguments,
            CallEnd: self._end,
            CallFailed: self._failed,
            Notice: self._notice,
        }

    def feed(self, event: Event) -> list[JsonObject]:
        """Process an event and return the stream's events."""
        if type(event) not in self._steps:
            raise TypeError(f"an event of toolfmt is expected, not {type(event).__name__}; see read_stream")
        self._begin()
        if isinstance(event, CallStart) and event.name:
            self._named.add(event.index)
        for one in (event,) if self._turns is None else self._turns.feed(event):
            self._take(one)
        written = self._out[:]
        self._out.clear()
        return written

    def close(self) -> list[JsonObject]:
        """End the answer and return the stream's last events."""
        self._begin()
        if self._info.logprobs and not self._table.logprobs:
            self.dropped["answer_field", "logprobs"] = None
        self._prove()
        while self._calls:
            for index in list(self._calls):
                self._give_up(self._calls.pop(index))
            for event in () if self._turns is None else self._turns.go_on():
                self._take(event)
        if self._info.error is not None:
            self._close(self._words, cut=True)
            failure = self._info.failure or Failure(kind="server", message=self._info.error)
            self._emit(self._table.fail(self._head, failure, self._blocks))
        else:
            stop = stopped(self._info, cut=self._cut, calls=bool(self._ended))
            self._close(self._words, cut=stop in UNFINISHED or stop == "content_filter")
            self._emit(self._table.finish(AnswerEnding(stop, self._info, self._head), self._blocks))
        return self._out

    def _begin(self) -> None:
        if not self._begun:
            self._begun, self._head = True, self._head.filled(self._info)
            self._emit(self._table.begin(self._head, self._info.usage))

    def _take(self, event: Event) -> None:
        if self._proved < len(self._info.proofs):
            self._prove()
        self._steps[type(event)](event)

    def _prove(self) -> None:
        """Write the proof of the reasoning so far, which ends its block, or encrypted reasoning."""
        proofs = self._info.proofs
        while self._proved < len(proofs) and proofs[self._proved].at <= self._at:
            proof = proofs[self._proved]
            self._proved += 1
            reasoning = self._words is not None and self._words.kind == "reasoning"
            if proof.owner == self._table.owner:
                self._put_proof(proof)
            else:
                hidden = proof.encrypted is not None and not reasoning
                self.dropped["reasoning" if hidden else "signature", proof.owner] = None
                if reasoning:
                    self._close(self._words)

    def _put_proof(self, proof: Proof) -> None:
        if proof.encrypted is not None and "hidden" in self._table.start:
            self._open("hidden", encrypted=proof.encrypted)
        else:
            block = self._words
            if block is None or block.kind != "reasoning":
                block = self._open("reasoning")
            self._emit(self._table.prove(block, proof))
        self._close(self._words)

    def _text(self, event: TextDelta) -> None:
        self._at = event.start + len(event.text)
        self._say("refusal" if event.start in self._info.refusals else "text", event.text)

    def _reasoning(self, event: ReasoningDelta) -> None:
        self._at = event.start + len(event.text)
        self._say("reasoning", event.text)

    def _say(self, kind: StreamBlockKind, text: str) -> None:
        """Write text, a refusal or reasoning, in the open block if that is of the same kind."""
        if kind not in self._table.delta:
            self.dropped[kind, "as text"] = None
            kind = "text"
        block = self._words
        self._grow(block if block is not None and block.kind == kind else self._open(kind), text)

    def _notice(self, event: Notice) -> None:
        """Write a citation of the open text; other notices have no place in streams."""
        if event.kind != "citations" or self._cited >= len(self._info.citations):
            return
        cited, block = self._info.citations[self._cited], self._words
        self._cited += 1
        written: list[JsonObject] = []
        if block is not None and block.kind == "text":
            block.cited, self._placed = self._placed, self._placed + 1
            written = self._table.cite(block, cited.citation, cited.before - block.before)
        if not written:
            self.dropped["citations", event.detail] = None
        for key in lacking(cited.citation, [*written, source(cited.citation)]) if written else ():
            self.dropped["answer_field", f"citations.{key}"] = None
        self._emit(written)

    def _is_custom(self, index: int) -> bool:
        return "custom" in self._table.delta and index in self._info.custom

    def _start(self, event: CallStart) -> None:
        if event.name and "call" in self._table.delta and not self._is_custom(event.index):
            self._calls[event.index] = self._call("call", event)

    def _call(self, kind: StreamBlockKind, event: CallStart | CallEnd) -> StreamBlock:
        prefix, number, proof = self._table.call_prefix, self._number, self._info.signed.get(event.index)
        called = event.call if isinstance(event, CallEnd) else event
        self._number += 1
        if event.index in self._info.custom and kind == "call":
            self.dropped["call_kind", called.name] = None
        ident = self._table.fit_id(called.id or (self._head.mint(prefix, number) if prefix else ""))
        signature = proof.signature if proof is not None and proof.owner == self._table.signs else None
        if proof is not None and signature is None:
            self.dropped["signature", proof.owner] = None
        return self._open(kind, id=ident, name=called.name, number=number, signature=signature)

    def _arguments(self, event: ArgumentsDelta) -> None:
        block = self._calls.get(event.index)
        if block is None:
            return
        certain = event.json.rstrip(_CLOSING)
        if certain:
            self._grow(block, "".join((*block.held, certain)))
            block.held.clear()
        if len(certain) < len(event.json):
            block.held.append(event.json[len(certain) :])

    def _end(self, event: CallEnd) -> None:
        call = event.call
        custom = self._is_custom(event.index)
        block = self._calls.pop(event.index, None) or self._call("custom" if custom else "call", event)
        if custom:
            self._grow(block, call.raw_arguments or "")
        elif "call" in self._table.delta and (block.held or not block.pieces):
            self._grow(block, "".join(block.held) or jsontext.dumps(call.arguments))
        self._ended += 1
        block.call = call
        self._close(block)

    def _failed(self, event: CallFailed) -> None:
        self._cut = self._cut or ended_by(event, self._named)
        self.dropped["call", unusable(event)] = None
        block = self._calls.pop(event.index, None)
        if block is not None:
            self._give_up(block)
        elif event.raw:
            self._say("text", event.raw)

    def _give_up(self, block: StreamBlock) -> None:
        self._cut = self._cut or "length"
        if not block.pieces:
            self._grow(block, "{")
        self._close(block)

    def _grow(self, block: StreamBlock, text: str) -> None:
        block.pieces.append(text)
        if block.kind in ("text", "refusal"):
            self._length += len(text)
            block.fresh, self._weighed = self._info.logprobs[self._weighed :], len(self._info.logprobs)
            block.logprobs += block.fresh
        self._emit(self._table.delta[block.kind](block, text))

    def _open(self, kind: StreamBlockKind, **fields: Any) -> StreamBlock:
        """Begin a block, after ending an open block of text."""
        self._close(self._words)
        index = len(self._blocks)
        block = StreamBlock(kind, self._head, index, before=self._length, **fields)
        block.id = block.id or self._head.mint("block_", index)
        if kind not in ("call", "custom"):
            self._words = block
        self._blocks.append(block)
        if kind in self._table.start:
            self._emit(self._table.start[kind](block))
        return block

    def _close(self, block: StreamBlock | None, *, cut: bool = False) -> None:
        if block is None:
            return
        block.cut = cut
        if block is self._words:
            self._words = None
        if block.kind in self._table.end:
            self._emit(self._table.end[block.kind](block))

    def _emit(self, events: list[JsonObject]) -> None:
        if self._table.numbered:
            for event in events:
                event[self._table.numbered] = self._events
                self._events += 1
        self._out.extend(events)


class _InTurn:
    """Reorders events for streams that cannot interleave calls: events during a call are held back until it ends.

    start 0, arguments 0, start 1, arguments 1, text, end 0, end 1
    start 0, arguments 0,                             end 0, start 1, arguments 1, end 1, text

    Each event is held back at most once, so time is linear.
    """

    def __init__(self) -> None:
        self._open: int | None = None
        self._waiting: deque[list[Event]] = deque()
        self._late: dict[int, list[Event]] = {}

    def feed(self, event: Event) -> Iterator[Event]:
        """Yield the events that may be written now."""
        index = event.index if isinstance(event, (CallStart, ArgumentsDelta, CallEnd, CallFailed)) else None
        ends = isinstance(event, (CallEnd, CallFailed))
        if index is not None and index in self._late:
            self._late[index].append(event)
            if ends:
                del self._late[index]
        elif self._open is not None and index != self._open:
            if isinstance(event, CallStart) and event.name:
                self._waiting.append([event])
                self._late[event.index] = self._waiting[-1]
            elif self._waiting and not isinstance(self._waiting[-1][0], CallStart):
                self._waiting[-1].append(event)
            else:
                self._waiting.append([event])
        else:
            if isinstance(event, CallStart) and event.name:
                self._open = event.index
            yield event
            if ends:
                yield from self.go_on()

    def go_on(self) -> Iterator[Event]:
        """End the open call and yield the held-back events; one that failed before its beginning yields its failure."""
        self._open = None
        while self._waiting and self._open is None:
            group = self._waiting.popleft()
            first, last = group[0], group[-1]
            if isinstance(first, CallStart) and first.index in self._late:
                del self._late[first.index]
                self._open = first.index
            failed = isinstance(first, CallStart) and isinstance(last, CallFailed)
            yield from group[-1:] if failed else coalesce(group)
