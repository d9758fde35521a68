"""Turns the events of an answer into the steps of a provider's stream, each as soon as it is certain.

The closing brace of a call's arguments is written with the call's end. So a call
that fails after it has begun leaves arguments that are no JSON object, whatever
they were up to then, and nobody can take it for a call; one that has no arguments
yet gets an opening brace, because none at all may mean `{}`. One that fails before
it has begun becomes text, as the model wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, Notice, ReasoningDelta, TextDelta
from toolfmt.transcripts.answer_ending import AnswerEnding, AnswerHead
from toolfmt.transcripts.answer_info import Failure, ended_by, stopped, unusable
from toolfmt.transcripts.sinks.blocks import BlockSink
from toolfmt.transcripts.sinks.in_turn import InTurn

if TYPE_CHECKING:
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import AnswerInfo, Stop
    from toolfmt.transcripts.sinks.blocks import Blocks

_CLOSING: Final = "} \t\r\n"
"""How the text of a JSON object ends: with these, and a brace among them."""


@dataclass(slots=True)
class _Open:
    """A call that has been begun, and the end of its arguments that waits."""

    number: int
    written: bool = False
    held: list[str] = field(default_factory=list[str])


class Emitter:
    """Writes the events of one answer as one provider's stream."""

    def __init__(self, table: Blocks, info: AnswerInfo, known: AnswerHead) -> None:
        """Write the events of `table`; what `known` leaves open is taken from `info` when the first event comes."""
        self._table = table
        self._info = info
        self._known = known
        self._out: list[JsonObject] = []
        self._sink: BlockSink | None = None
        self._open: dict[int, _Open] = {}
        self._named: set[int] = set()
        self._begun = 0
        self._ended = 0
        self._cut: Stop | None = None
        self._at = 0
        self._proved = 0
        self._cited = 0
        self.dropped: dict[tuple[str, str], None] = {}
        """What the stream has no place for, by the code of its loss and what it is."""
        self._steps: dict[type, Callable[[BlockSink, Any], None]] = {
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            CallStart: self._start,
            ArgumentsDelta: self._arguments,
            CallEnd: self._end,
            CallFailed: self._failed,
            Notice: self._notice,
        }

    def feed(self, event: Event) -> list[JsonObject]:
        """Write what one more event allows to be written."""
        step = self._steps.get(type(event))
        if step is None:
            raise TypeError(f"an event of toolfmt is expected, not {type(event).__name__}; see read_stream")
        sink = self._sink or self._begin()
        if self._proved < len(self._info.proofs):
            self._prove(sink)
        step(sink, event)
        written = self._out[:]
        self._out.clear()
        return written

    def close(self) -> list[JsonObject]:
        """Write what the end of the answer allows to be written."""
        sink = self._sink or self._begin()
        self._prove(sink)
        for call in self._open.values():
            self._give_up(sink, call, "")
        self._open.clear()
        if self._info.error is not None:
            sink.fail(self._info.failure or Failure(kind="server", message=self._info.error))
        else:
            stop = stopped(self._info, cut=self._cut, calls=bool(self._ended))
            sink.finish(AnswerEnding(stop, self._info, sink.head))
        return self._out

    def _begin(self) -> BlockSink:
        known, info = self._known, self._info
        head = AnswerHead(known.id or info.id, known.model or info.model, known.created or info.created)
        self._sink = sink = (BlockSink if self._table.interleaved else InTurn)(self._table, head, self._out)
        sink.begin(info.usage)
        return sink

    def _prove(self, sink: BlockSink) -> None:
        proofs = self._info.proofs
        while self._proved < len(proofs) and proofs[self._proved].at <= self._at:
            proof = proofs[self._proved]
            self._proved += 1
            if proof.owner == sink.table.owner:
                sink.prove(proof)
            else:
                self.dropped["signature", proof.owner] = None

    def _text(self, sink: BlockSink, event: TextDelta) -> None:
        self._at = event.start + len(event.text)
        sink.say("refusal" if event.start in self._info.refusals else "text", event.text)

    def _reasoning(self, sink: BlockSink, event: ReasoningDelta) -> None:
        self._at = event.start + len(event.text)
        sink.say("reasoning", event.text)

    def _start(self, sink: BlockSink, event: CallStart) -> None:
        if event.name:
            self._named.add(event.index)
        if event.name and not sink.whole_calls and not (sink.custom_calls and event.index in self._info.custom):
            self._open[event.index] = self._call(sink, event.name, event.id)

    def _call(self, sink: BlockSink, name: str, ident: str | None) -> _Open:
        call = _Open(self._begun)
        self._begun += 1
        if not ident:
            prefix = sink.table.call_prefix
            ident = sink.head.mint(prefix, call.number) if prefix else ""
        sink.start(call.number, name, ident)
        return call

    def _arguments(self, sink: BlockSink, event: ArgumentsDelta) -> None:
        call = self._open.get(event.index)
        if call is None:
            return
        certain = event.json.rstrip(_CLOSING)
        if not certain:
            call.held.append(event.json)
            return
        call.written = True
        if call.held or len(certain) < len(event.json):
            sink.arguments(call.number, "".join((*call.held, certain)))
            rest = event.json[len(certain) :]
            call.held = [rest] if rest else []
        else:
            sink.arguments(call.number, certain)

    def _notice(self, sink: BlockSink, event: Notice) -> None:
        """Write a source; every other notice is for whoever reads the events, and has no place in a stream."""
        if event.kind == "citations" and self._cited < len(self._info.citations):
            cited = self._info.citations[self._cited]
            self._cited += 1
            if not sink.cite(cited):
                self.dropped["citations", event.detail] = None

    def _end(self, sink: BlockSink, event: CallEnd) -> None:
        if sink.custom_calls and event.index in self._info.custom:
            ident = event.call.id or sink.head.mint(sink.table.call_prefix, self._begun)
            sink.custom(self._begun, event.call.name, ident, event.call.raw_arguments or "")
            self._begun += 1
            self._ended += 1
            return
        call = self._open.pop(event.index, None)
        if call is None:
            call = self._call(sink, event.call.name, event.call.id)
        if call.held:
            sink.arguments(call.number, "".join(call.held))
        elif not call.written:
            sink.arguments(call.number, jsontext.dumps(event.call.arguments))
        self._ended += 1
        sink.end(call.number, event.call)

    def _failed(self, sink: BlockSink, event: CallFailed) -> None:
        self._cut = self._cut or ended_by(event, self._named)
        self.dropped["call", unusable(event)] = None
        call = self._open.pop(event.index, None)
        if call is not None:
            self._give_up(sink, call, event.raw)
        elif event.raw:
            sink.say("text", event.raw)

    def _give_up(self, sink: BlockSink, call: _Open, raw: str) -> None:
        self._cut = self._cut or "length"
        if not call.written:
            sink.arguments(call.number, "{")
        sink.cut(call.number, raw)
