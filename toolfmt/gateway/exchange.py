"""One exchange: a client's request to a back, and the back's answer to the client.

face's request -> convert_request -> back          back's answer -> converted_answer -> face
                                                   back's stream -> read_stream -> write_stream -> face

A back whose API does not allow the client's names of tools is sent others; the client gets its own names back.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias
from uuid import uuid4

from toolfmt.errors import ParseError, ToolFmtError
from toolfmt.events import Event
from toolfmt.gateway.apis import NAMED
from toolfmt.gateway.backs import Upstream, Whole
from toolfmt.gateway.echoing import completing
from toolfmt.gateway.failing import ExchangeError, UpstreamError, bad_answer, refusal
from toolfmt.gateway.handling import Asked, GatewayAnswer, Handler
from toolfmt.gateway.journal import log_line
from toolfmt.gateway.streaming import (
    UNREADABLE,
    complete_batches,
    in_batches,
    named,
    read_batches,
    single,
    written_batches,
)
from toolfmt.gateway.text import TextRequest
from toolfmt.gateway.text_stream import AsyncEvents
from toolfmt.gateway.threads import worked
from toolfmt.gateway.unread import unread_notices
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_info import AnswerHead
from toolfmt.transcripts.answers import AnswerReader, AsyncAnswerEvents, aread_stream
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.convert import Conversion
from toolfmt.transcripts.convert_answer import converted_answer, error_status, write_answer, write_error
from toolfmt.transcripts.formats import find, known_of
from toolfmt.transcripts.streams.emitter import Emitter

Look: TypeAlias = Callable[[Iterable[Event]], Awaitable[dict[str, str]]]
"""Gives the notices of an answer's events."""
_IDS: Final[Mapping[str, str]] = {"openai-chat": "chatcmpl-", "openai-responses": "resp_", "anthropic": "msg_"}
"""What an answer's id begins with, where the format says it."""


class Conversing(Handler):
    """Gives answers of models: the requests that a face is for."""

    converses = True

    async def asked(self, asked: Asked, upstream: Upstream, stack: AsyncExitStack) -> GatewayAnswer:
        """Ask one back."""
        streamed = asked.settings.get("stream") is True
        model = asked.sent_model
        sent = await self.sent(asked, upstream, streamed=streamed)
        if any(loss.code == "tool" for loss in sent.losses):
            asked = replace(asked, names=client_names(asked.body, self.format, sent.value, upstream.format))
        head = self._head(asked)
        if upstream.api.text:
            try:
                text = await worked(asked.size, partial(TextRequest, sent.value, upstream, model))
            except ToolFmtError as error:
                raise refusal("invalid", "the request cannot be written as text", error) from None
            return await self._text(text, upstream, asked, head, sent.losses, stack if streamed else None)
        look = partial(unread_notices, upstream, sent.value, asked.model) if asked.offers else None
        if not streamed:
            found = await upstream.whole(sent.value, model)
            return await self._converted(found, upstream.format, asked, head, sent.losses, look)
        values, headers = await stack.enter_async_context(upstream.streamed(sent.value, model))
        reader = AnswerReader(upstream.format)
        answered = GatewayAnswer(headers=dict(headers), info=reader.info, losses=sent.losses)
        return self._stream(asked, upstream, read_batches(values, reader), answered, head, look)

    async def failed(self, asked: Asked, error: ExchangeError) -> None:
        """Record an exchange that failed, with its error as its answer."""
        if self.keeper is None or not self.keeper.record:
            return
        answer, status = write_error(error.failure, self.format), error_status(error.failure, self.format)
        try:
            await self._keep(asked, self._head(asked), answer, status)
        except ExchangeError as unkept:  # the client gets the first error
            log_line(logging.WARNING, {"not_recorded": unkept.logged})

    def _head(self, asked: Asked) -> AnswerHead:
        return AnswerHead(f"{_IDS.get(self.format, '')}{uuid4().hex}", asked.model, int(time.time()))

    async def _text(  # noqa: PLR0913, PLR0917 - what an exchange has
        self,
        text: TextRequest,
        upstream: Upstream,
        asked: Asked,
        head: AnswerHead,
        lost: tuple[Loss, ...],
        stack: AsyncExitStack | None,
    ) -> GatewayAnswer:
        """Ask a model that writes text; as a stream where there is a stack that keeps it open."""
        lost += text.losses
        model = asked.sent_model
        if stack is not None:
            values, headers = await stack.enter_async_context(upstream.streamed(text.request, model))
            source = aread_stream(single(values), source=upstream.format)

            @asynccontextmanager
            async def ask(request: JsonObject) -> AsyncGenerator[AsyncAnswerEvents]:
                async with upstream.streamed(request, model) as (values, _):
                    yield aread_stream(single(values), source=upstream.format)

            events = AsyncEvents(text, source, ask) if text.tools or text.output else source
            answered = GatewayAnswer(headers=dict(headers), notices=text.notices, info=source.info, losses=lost)
            return self._stream(asked, upstream, in_batches(events), answered, head)
        again: JsonObject | None = text.request
        while True:
            found = await upstream.whole(again, model)
            with _unreadable():
                value, again = await worked(found.size, partial(text.answer, found.value))
            if again is None:
                break
        found = found._replace(value=value)
        answered = await self._converted(found, upstream.format, asked, head, lost)
        answered.notices = text.notices
        return answered

    def _stream(  # noqa: PLR0913, PLR0917 - what an exchange has
        self,
        asked: Asked,
        upstream: Upstream,
        events: AsyncIterable[list[Event]],
        answered: GatewayAnswer,
        head: AnswerHead,
        look: Look | None = None,
    ) -> GatewayAnswer:
        """Add the stream that the events make to what is known of an answer; `look` gives notices of its events."""
        info = answered.info
        assert info is not None  # noqa: S101 - every stream has it

        async def ended(emitted: list[Event]) -> None:
            if look is not None:
                answered.notices |= await look(emitted)
            if not keeps:
                return
            answer = write_answer(emitted, info, target=self.format, id=head.id, model=head.model, created=head.created)
            await self._keep(asked, head, renamed_object(answer, asked.names))

        keeps = self._keeps(asked)
        events = upstream.concealer.batches(events)
        events = complete_batches(events, answered, info, ended if keeps or look else None, partial(self.failed, asked))
        complete: list[Callable[[JsonObject], JsonObject]] = []
        if asked.names:
            complete.append(partial(renamed_object, names=asked.names))
        if (completing := self._completing(asked)) is not None:
            complete.append(completing)
        answered.events = written_batches(events, Emitter(known_of(self.format, APIS).stream, info, head), complete)
        return answered

    def _completing(self, asked: Asked) -> Callable[[JsonObject], JsonObject] | None:
        return completing(self.format, asked.sent, kept=self._keeps(asked))

    def _keeps(self, asked: Asked) -> bool:
        return self.keeper is not None and self.keeper.wants(asked.body, self.format)

    async def _keep(self, asked: Asked, head: AnswerHead, answer: JsonValue, status: int = 200) -> None:
        """Keep an exchange before the client has all of its answer."""
        if self.keeper is None or not self._keeps(asked) or not is_object(answer):
            return
        from toolfmt.gateway.store import KeptExchange

        request, name = asked.body, find(self.format).messages
        if asked.before and is_array(messages := request.get(name)):
            request = {**request, name: messages[asked.before :]}
        earlier = asked.sent.get(NAMED.get(self.format, "")) if asked.before else None
        exchange = KeptExchange(
            id=head.id,
            owner=asked.caller.name,
            earlier=earlier if isinstance(earlier, str) else None,
            created=head.created,
            model=head.model,
            face=self.format,
            back=asked.caller.entry.back,
            status=status,
            request=request,
            answer=answer,
        )
        await self.keeper.keep(exchange)

    async def _converted(  # noqa: PLR0913, PLR0917 - what an exchange has
        self,
        found: Whole,
        source: str,
        asked: Asked,
        head: AnswerHead,
        lost: tuple[Loss, ...],
        look: Look | None = None,
    ) -> GatewayAnswer:
        """Convert a whole answer, and keep it."""
        reader, value, events = AnswerReader(source), found.value, list[Event]()

        def convert() -> Conversion:
            with _unreadable():
                if not is_object(value):
                    raise ParseError("an answer is an object")
                events.extend(map(named, (*reader.read(value), *reader.close())))
                done = converted_answer(value, events, reader.info, source, self.format, head)
            if reader.info.failure is not None and not reader.info.stop:
                raise UpstreamError(reader.info.failure, logged="the upstream's answer is an error")
            return done

        done = await worked(found.size, convert)
        answer: JsonValue = renamed(done.value, asked.names) if asked.names else done.value
        await self._keep(asked, head, answer)
        complete = self._completing(asked)
        if complete is not None and is_object(answer):
            answer = complete(answer)
        losses = (*lost, *done.losses)
        answered = GatewayAnswer(answer, headers=dict(found.headers), info=reader.info, losses=losses)
        answered.notices |= {} if look is None else await look(events)
        return answered


@contextmanager
def _unreadable() -> Generator[None]:
    """Raise `UpstreamError` for an answer that its API does not define."""
    try:
        yield
    except ToolFmtError as error:
        raise bad_answer(UNREADABLE, error) from None


_ARGUMENTS: Final = frozenset({"arguments", "args", "input"})
"""The keys of calls that hold the model's own values."""


def client_names(request: JsonObject, face: str, sent: JsonObject, back: str) -> Mapping[str, str]:
    """Map the names that a back was sent, where they are not those of the client's tools, to the client's names."""
    before = [tool.name for tool in find(face).read(request).tools or ()]
    after = [tool.name for tool in find(back).read(sent).tools or ()]
    changed = [name for name in before if name not in after]
    made = [name for name in after if name not in before]
    return dict(zip(made, changed, strict=True)) if len(made) == len(changed) else {}


def renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    """Write the client's names into the calls of an answer or of an event."""
    if is_array(value):
        return [renamed(one, names) for one in value]
    return renamed_object(value, names) if is_object(value) else value


def renamed_object(value: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """Write the client's names into the calls of an answer or of an event that is an object."""
    return {
        key: names.get(one, one)
        if key == "name" and isinstance(one, str)
        else one
        if key in _ARGUMENTS
        else renamed(one, names)
        for key, one in value.items()
    }
