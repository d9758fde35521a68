"""Asking a text model: a chat out, events as they come, and no more of the answer than the format has use for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from toolfmt.events import CallFailed, Notice
from toolfmt.execution.drivers.patience import closing
from toolfmt.execution.events import AnswerReceived, InferenceRequestStarted, InferenceResponseReceived
from toolfmt.parsers.driving import has_ended
from toolfmt.parsing import ParseOptions, ParseResult, open_parser
from toolfmt.transcripts.answer_info import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.events import Event
    from toolfmt.execution.drivers.text_models import TextSource
    from toolfmt.execution.runtime import Runtime
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


async def read_answer(  # noqa: PLR0913 - what is asked, and how it is read
    source: TextSource,
    chat: Sequence[JsonObject],
    runtime: Runtime,
    *,
    attempt: int,
    losses: Sequence[Loss] = (),
    **options: Unpack[ParseOptions],
) -> Written:
    """Ask once. The model's stream is closed as soon as the dialect's own markers say that the turn is over."""
    runtime.tell(
        InferenceRequestStarted, request={"messages": list(chat)}, attempt=attempt, losses=tuple(losses)
    )
    parser = open_parser(**options)
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
    result = ParseResult(tuple(_mended(events)))
    runtime.tell(InferenceResponseReceived, text=result.text, calls=result.calls, failures=result.failures, info=info)
    return Written(_until_end("".join(raw), events), result, info)


def _mended(events: Sequence[Event]) -> list[Event]:
    """Leave out the failures of calls that were repaired."""
    mended = {event.span for event in events if isinstance(event, Notice) and event.kind == "repaired"}
    return [event for event in events if not (isinstance(event, CallFailed) and event.span in mended)]


def _until_end(raw: str, events: Sequence[Event]) -> str:
    """Cut off what was written behind the end of the turn."""
    at = next((event.span[0] for event in events if isinstance(event, Notice) and event.kind == "after_end"), None)
    return raw if at is None else raw[:at]
