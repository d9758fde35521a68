"""One provider's stream as another's, event by event or as text: what a relay needs between its two connections.

    relay = StreamConverter("anthropic", "openai-chat", id="chatcmpl-1")
    for chunk in response.iter_bytes():
        connection.send(relay.feed_text(chunk))
    connection.send(relay.close_text())
    relay.losses

It does no input or output of its own. An event is held back only if the target's stream cannot express it yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from toolfmt.transcripts.answer_ending import AnswerHead
from toolfmt.transcripts.answers import AnswerReader, plain
from toolfmt.transcripts.loss import Loss
from toolfmt.transcripts.sse import EventText, end_text, event_text
from toolfmt.transcripts.streams.emitter import Emitter
from toolfmt.transcripts.streams.relay import stream_of

if TYPE_CHECKING:
    from toolfmt.events import Event
    from toolfmt.model import JsonObject
    from toolfmt.transcripts.answer_info import AnswerInfo


class StreamConverter:
    """Converts one stream; `info` is what is known of the answer so far."""

    def __init__(
        self,
        source: str,
        target: str,
        *,
        id: str = "",  # noqa: A002 - the field's name
        model: str = "",
        created: int = 0,
    ) -> None:
        """Begin a stream: `source` and `target` are APIs' formats, as `read_stream` and `write_stream` take them.

        `id`, `model` and `created` (seconds since 1970) replace what the answer
        says; without them, a stream that stays in its format stays as it is.
        Raises `UnknownFormatError` for a format without streams.
        """
        api = stream_of(target)
        self._target = api.name
        self._reader = AnswerReader(source)
        self._same = not (id or model or created) and source == target
        self.info: AnswerInfo = self._reader.info
        self._emitter = Emitter(api.stream, self.info, AnswerHead(id, model, created))
        self._text = EventText()

    def feed(self, event: object) -> list[JsonObject]:
        """Convert one event: JSON, its text, or an SDK's object; raises ParseError for any other value."""
        events = self._reader.feed(event)
        return [plain(event)] if self._same else self._written(events)

    def close(self) -> list[JsonObject]:
        """End the stream."""
        events = self._reader.close()
        return [] if self._same else [*self._written(events), *self._emitter.close()]

    def feed_text(self, text: str | bytes) -> str:
        """Convert a piece of a stream's text, cut anywhere."""
        return self._lines(event for data in self._text.feed(text) for event in self.feed(data))

    def close_text(self) -> str:
        """End a stream of text."""
        rest = self._lines(event for data in self._text.close() for event in self.feed(data))
        return rest + self._lines(self.close()) + end_text(self._target)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses so far: what the answer held and the new stream cannot express."""
        dropped = () if self._same else self.info.dropped | self._emitter.dropped
        return tuple(Loss(code, "", "dropped", detail) for code, detail in dropped)

    def _written(self, events: list[Event]) -> list[JsonObject]:
        return [written for event in events for written in self._emitter.feed(event)]

    def _lines(self, events: Iterable[JsonObject]) -> str:
        return "".join(event_text(event, self._target) for event in events)
