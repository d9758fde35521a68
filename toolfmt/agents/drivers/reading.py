"""Asking a text model: a chat out, events as they come, and no more of the answer than the format has use for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from toolfmt.agents.clients.pulling import closing
from toolfmt.events import CallEnd, CallFailed, Notice, TextDelta
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted, InferenceResponseReceived
from toolfmt.parsers.driving import has_ended
from toolfmt.parsing import ParseResult
from toolfmt.transcripts.answer_info import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.agents.clients.text import TextSource
    from toolfmt.agents.drivers.patience import Patience
    from toolfmt.agents.runtime import Runtime
    from toolfmt.conversation import Transcript
    from toolfmt.dialect.record import Parser
    from toolfmt.events import Event
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import AnswerInfo
    from toolfmt.transcripts.losses import Loss


@dataclass(frozen=True, slots=True)
class Written:
    """A text model's answer: what it wrote up to its own end, and what that is."""

    raw: str
    result: ParseResult
    info: AnswerInfo

    @property
    def usage(self) -> Usage:
        """The tokens, where the model tells them."""
        return self.info.usage or Usage()


class PlainParser:
    """Reads an answer that is nothing but text."""

    def __init__(self) -> None:
        """Begin an answer."""
        self._at = 0

    def feed(self, chunk: str) -> list[Event]:
        """Read one more piece."""
        start, self._at = self._at, self._at + len(chunk)
        return [TextDelta(chunk, start)] if chunk else []

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return []


class Asker:
    """The requests of one step, counted."""

    def __init__(self, runtime: Runtime, patience: Patience) -> None:
        """Begin a step."""
        self._runtime = runtime
        self._patience = patience
        self._attempts = count(1)

    async def ask(
        self,
        source: TextSource,
        chat: Sequence[JsonObject],
        parser: Callable[[], Parser[str]],
        losses: Sequence[Loss] = (),
        transcript: Transcript | None = None,
    ) -> Written:
        """Ask, and read the answer with a parser of its own; again where the connection is lost."""
        return await self._patience.ask(lambda _: self._once(source, chat, parser(), tuple(losses), transcript))

    async def _once(
        self,
        source: TextSource,
        chat: Sequence[JsonObject],
        parser: Parser[str],
        losses: tuple[Loss, ...],
        transcript: Transcript | None,
    ) -> Written:
        about = {"request": {"messages": list(chat)}, "losses": losses, "transcript": transcript}
        self._runtime.tell(InferenceRequestStarted, attempt=next(self._attempts), **about)
        return await read_answer(source, chat, parser, self._runtime)


async def read_answer(source: TextSource, chat: Sequence[JsonObject], parser: Parser[str], runtime: Runtime) -> Written:
    """Read one answer. The model's stream is closed as soon as the format's own markers say that the turn is over."""
    events: list[Event] = []
    raw: list[str] = []

    def take(found: list[Event]) -> None:
        for event in found:
            events.append(event)
            runtime.tell(AnswerReceived, event=event)

    pieces, info = source(chat)
    async with closing(pieces) as texts:
        async for text in texts:
            raw.append(text)
            take(parser.feed(text))
            if has_ended(parser):
                break
    take(parser.close())
    result = ParseResult(tuple(_complete(_mended(events), info)))
    said = {"text": result.text, "reasoning": result.reasoning, "calls": result.calls, "failures": result.failures}
    runtime.tell(InferenceResponseReceived, info=info, **said)
    return Written(_until_end("".join(raw), events), result, info)


def _mended(events: Sequence[Event]) -> list[Event]:
    """Leave out the failures of calls that were repaired."""
    mended = {event.span for event in events if isinstance(event, Notice) and event.kind == "repaired"}
    return [event for event in events if not (isinstance(event, CallFailed) and event.span in mended)]


def _complete(events: Sequence[Event], info: AnswerInfo) -> list[Event]:
    """Fail a call that the answer ends in where nothing closed it and the model's tokens were at their end."""
    found = list(events)
    last = next((at for at in range(len(found) - 1, -1, -1) if isinstance(found[at], CallEnd)), None)
    event = None if last is None or info.stop != "length" else found[last]
    if last is not None and isinstance(event, CallEnd) and event.call.certainty == "guessed":
        raw = event.call.raw_arguments or ""
        detail = "the answer was cut off; the call may be incomplete"
        found[last] = CallFailed(event.index, raw, "truncated", detail, event.span, event.call.name)
    return found


def _until_end(raw: str, events: Sequence[Event]) -> str:
    """Cut off what was written after the end of the turn."""
    at = next((event.span[0] for event in events if isinstance(event, Notice) and event.kind == "after_end"), None)
    return raw if at is None else raw[:at]
