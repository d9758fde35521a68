"""Builds an answer's message from its events.

    message = answer_message(events, info)
    Message("assistant", (ReasoningPart("One call.", signature="…"), TextPart("Checking."), CallPart("f", {"a": 1})))

The proof of reasoning is kept with it, so that it is sent back. An unusable call is included as
written, with its name and id, so that an error can answer it; a call without a name is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolfmt.conversation import CallPart, Message, Part, ReasoningPart, TextPart
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, ReasoningDelta, TextDelta
from toolfmt.transcripts.answering.answer_info import AnswerInfo, Cited, Proof
from toolfmt.transcripts.parts.citations import moved, source


def answer_message(events: Iterable[Event], info: AnswerInfo | None = None) -> Message:
    """Build the assistant's message from an answer's events and its `info`."""
    made = _Parts(info.proofs if info is not None else [])
    for event in events:
        made.add(event)
    return Message("assistant", made.whole(info.citations if info is not None else ()))


def cite(parts: Sequence[Part], citations: Iterable[Cited]) -> None:
    """Add each citation to the text that it refers to, unless the texts already have citations."""
    texts = [part for part in parts if isinstance(part, TextPart)]
    if any(part.citations for part in texts):
        return
    for cited in citations:
        before, found = 0, None
        start = cited.before + source(cited.citation).get("start", 0)
        for part in texts:
            if before <= start:
                found = (part, cited.before - before)
            before += len(part.text)
        if found is not None:
            part, by = found
            part.citations = (*part.citations, moved(cited.citation, by))


class _Parts:
    """The parts so far."""

    def __init__(self, proofs: Iterable[Proof]) -> None:
        self._proofs = list(proofs)[::-1]
        self._parts: list[Part] = []
        self._at = 0
        self._ids: dict[int, str | None] = {}

    def add(self, event: Event) -> None:
        match event:
            case TextDelta(text, start):
                self._text(TextPart, text, start)
            case ReasoningDelta(text, start):
                self._text(ReasoningPart, text, start)
            case CallStart(index, _, ident):
                self._ids[index] = ident
            case CallEnd(_, call):
                self._prove(self._at)
                self._parts.append(CallPart.of(call))
            case CallFailed(index, raw, name=name) if name:
                self._prove(self._at)
                self._parts.append(CallPart(name, None, raw, self._ids.get(index), certainty="guessed"))
            case ArgumentsDelta() | _:
                pass

    def whole(self, citations: Iterable[Cited]) -> tuple[Part, ...]:
        self._prove(None)
        cite(self._parts, citations)
        return tuple(self._parts)

    def _text(self, kind: type[TextPart | ReasoningPart], text: str, start: int) -> None:
        self._prove(start)
        last = self._parts[-1] if self._parts else None
        if isinstance(last, kind) and not (isinstance(last, ReasoningPart) and _proven(last)):
            last.text += text
        else:
            self._parts.append(kind(text))
        self._at = start + len(text)

    def _prove(self, until: int | None) -> None:
        """Add proofs to the reasoning before them; a proof without reasoning becomes a separate part."""
        while self._proofs and (until is None or self._proofs[-1].at <= until):
            proof = self._proofs.pop()
            last = self._parts[-1] if self._parts else None
            if not isinstance(last, ReasoningPart) or _proven(last):
                self._parts.append(last := ReasoningPart(""))
            last.signature, last.encrypted, last.owner = proof.signature, proof.encrypted, proof.owner


def _proven(part: ReasoningPart) -> bool:
    return part.signature is not None or part.encrypted is not None
