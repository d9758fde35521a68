"""A request: its model and route, the backs that are asked, and the answer for the client.

A `Handler` finds the route and asks its backs in turn; its subclasses say what they ask.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from anyio import to_thread

from toolfmt import jsontext
from toolfmt.corpora.tokens import count_tokens, load
from toolfmt.errors import ToolFmtError
from toolfmt.gateway.apis import NAMED
from toolfmt.gateway.failing import ExchangeError, UnreachedError, UpstreamError, refusal
from toolfmt.gateway.redacting import Redactor
from toolfmt.gateway.threads import worked
from toolfmt.jsontext import is_array, is_object
from toolfmt.transcripts.answer_apis import APIS
from toolfmt.transcripts.answering.answer_info import Failure
from toolfmt.transcripts.comparing.loss import Loss
from toolfmt.transcripts.convert import Conversion, convert_request
from toolfmt.transcripts.format import reraise_as_parse_error
from toolfmt.transcripts.formats import find, known_of
from toolfmt.transcripts.settings.carrying import required_settings, settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AsyncExitStack

    from toolfmt.gateway.access import Caller
    from toolfmt.gateway.backs import Upstream
    from toolfmt.gateway.config import Config, ModelRoute
    from toolfmt.gateway.keeping import Keeper
    from toolfmt.gateway.tracing import Tracing
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answering.answer_info import AnswerInfo


NOTICES: Final = "x-toolfmt-notices"
"""The header that says what the gateway did beside converting: how often it asked the model, what it tolerated and
redacted. A client that sends the header itself gets it after a stream too, in a comment."""


@dataclass(slots=True)
class GatewayAnswer:
    """An answer for the client: a whole value, or the events of a stream, in batches that are sent at once."""

    value: JsonValue = None
    events: AsyncIterator[list[JsonObject]] | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    notices: dict[str, str] = field(default_factory=dict[str, str])
    """What the gateway did beside converting."""
    info: AnswerInfo | None = None
    """What is known of the model's answer; of a stream's, so far."""
    error: str = ""
    """What went wrong in a stream, for the log."""
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that has a route."""

    body: JsonObject
    settings: Mapping[str, JsonValue]
    """What it sets, by the names of all APIs; what its path says is among them."""
    model: str
    """As the client names it."""
    route: ModelRoute
    caller: Caller
    """Who sends it."""
    size: int
    """The bytes of what the client sent, and of the earlier exchanges that it continues from."""
    sent: JsonObject = field(default_factory=dict[str, "JsonValue"])
    """The request as the client sent it."""
    before: int = 0
    """How many of its messages are those of an earlier exchange, which it continues from."""
    lost: tuple[Loss, ...] = ()
    """What the gateway itself does not do for its clients."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The client's names of tools, by those that the back was sent instead."""

    @property
    def offers(self) -> bool:
        """Whether the model may call tools."""
        return bool(self.body.get("tools") or self.body.get("functions"))

    @property
    def sent_model(self) -> str:
        """The name that the back knows the model by."""
        return self.route.as_model or self.model


_LONGEST_NAME: Final = 200
_BACKGROUND: Final = "background"
"""The field of a request whose answer the client will fetch later."""
SUMMARY: Final = "This is a summary of the conversation so far:\n\n"
"""What the summary of a compacted conversation begins with, which the gateway itself has made."""


def _summary(item: JsonValue) -> str:
    """Return the text of a compaction item of the gateway; "" for anything else."""
    content = item.get("encrypted_content") if is_object(item) and item.get("type") == "compaction" else None
    return content if isinstance(content, str) and content.startswith(SUMMARY) else ""


class Handler(ABC):
    """Serves the requests of one path."""

    converses: ClassVar[bool] = False
    """Whether a model answers."""

    def __init__(
        self,
        config: Config,
        upstreams: Mapping[str, Upstream],
        format: str,  # noqa: A002 - the field's name
        keeper: Keeper | None = None,
        tracing: Tracing | None = None,
    ) -> None:
        self.config = config
        self.upstreams = upstreams
        self.format = format
        self.keeper = keeper
        self.tracing = tracing

    @abstractmethod
    async def asked(self, asked: Asked, upstream: Upstream, stack: AsyncExitStack) -> GatewayAnswer:
        """Ask one back; raises `UpstreamError` if another may be asked."""

    def opened(self, body: JsonObject) -> JsonObject:
        """Return the request that a body contains; the gateway's own summaries in it become messages."""
        name = find(self.format).messages
        items = body.get(name)
        if not is_array(items) or not any(map(_summary, items)):
            return body
        written: list[JsonValue] = [
            {"role": "user", "content": text} if (text := _summary(item)) else item for item in items
        ]
        return {**body, name: written}

    async def answer(
        self, body: JsonObject, given: JsonObject, stack: AsyncExitStack, caller: Caller, size: int
    ) -> GatewayAnswer:
        """Answer a request of a caller, of `size` bytes; `given` are the settings that its path says.

        A stream stays open until `stack` is closed. Raises `ExchangeError`.
        """
        sent, lost = self._at_once(self.opened(body))
        body, before, size = await self._continued(sent, caller, size)
        if not isinstance(body.get("stream"), bool | None):
            raise refusal("invalid", "stream: expected true or false", param="stream")
        settings = await worked(size, partial(self._settings, body, given))
        entry = caller.entry
        entry.model = model = named_model(settings)
        route = self.config.route(model)
        if route is None:
            raise refusal("not_found", f"no route serves the model {model!r}")
        entry.route = route.model
        caller.check(model)
        redactor = Redactor(self.config.redact)
        if self.config.redact:
            body = await to_thread.run_sync(redactor.request, body)
        asked = Asked(body, settings, model, route, caller, size, sent, before, lost)
        try:
            answered = await self._by_backs(asked, stack)
        except ExchangeError as error:
            await self.failed(asked, error)
            raise
        entry.losses = answered.losses
        answered.notices.update({"fallback": str(len(entry.tried))} if entry.tried else {})
        answered.notices.update({"redacted": str(redactor.count)} if redactor.count else {})
        return answered

    async def failed(self, asked: Asked, error: ExchangeError) -> None:  # noqa: B027 - only conversations are recorded
        """Handle the failure of a request, before its client gets the error."""

    async def _by_backs(self, asked: Asked, stack: AsyncExitStack) -> GatewayAnswer:
        """Ask the backs of a route in turn; raises the `UpstreamError` of the last one that was asked."""
        failed, entry = UpstreamError(Failure(kind="server", message="the route has no back")), asked.caller.entry
        for name in _order(asked.route):
            upstream, entry.back = self.upstreams[name].sent_by(asked.caller.key), name
            try:
                await self._fits(asked, upstream)
                answered = await self._asked(asked, upstream, stack)
            except UpstreamError as error:
                failed, entry.tried[name] = error, error.reason
                if not error.elsewhere:
                    break
            else:
                if self.converses:
                    answered.notices |= {name: str(value) for name, value in _defaults(asked, upstream).items()}
                return answered
        raise failed

    def _at_once(self, body: JsonObject) -> tuple[JsonObject, tuple[Loss, ...]]:
        """Ask for an answer at once: nothing runs in the gateway when no client waits for it."""
        if self.format not in NAMED or not body.get(_BACKGROUND):
            return body, ()
        lost = Loss("setting", f"/{_BACKGROUND}", "changed", f"{_BACKGROUND}: true -> false: the answer comes at once")
        return {key: value for key, value in body.items() if key != _BACKGROUND}, (lost,)

    async def _continued(self, body: JsonObject, caller: Caller, size: int) -> tuple[JsonObject, int, int]:
        """Put the messages of an earlier exchange before those of a request; how many those are, and the whole size."""
        field = NAMED.get(self.format, "")
        ident = body.get(field)
        if ident is None:
            return body, 0, size
        if not isinstance(ident, str) or not ident:
            raise refusal("invalid", f"{field} is the id of an earlier answer: a text, not empty", param=field)
        if self.keeper is None:
            return body, 0, size
        body, before, earlier = await self.keeper.continued(body, self.format, caller.name, ident)
        return body, before, size + earlier

    async def _asked(self, asked: Asked, upstream: Upstream, stack: AsyncExitStack) -> GatewayAnswer:
        """Ask one back, in a span of its own."""
        if self.tracing is None or not self.converses:
            return await self.asked(asked, upstream, stack)
        from toolfmt.gateway.tracing import finish, refused

        span = self.tracing.asking(asked.body, asked.sent_model, upstream.back)
        try:
            answered = await self.asked(asked, upstream, stack)
        except ExchangeError as error:
            refused(span, error.failure)
            raise
        except BaseException:
            span.end()
            raise
        stack.callback(finish, span, answered.info)
        return answered

    async def _fits(self, asked: Asked, upstream: Upstream) -> None:
        """Raise `UpstreamError` for a request that is too long for a back; another may take it."""
        back = upstream.back
        if back.context is None or back.tokenizer is None:
            return
        count = await to_thread.run_sync(estimate, asked.body, self.format, back.tokenizer)
        if count > back.context:
            message = f"the request has about {count} tokens, and {asked.model!r} takes {back.context}"
            failure = Failure(kind="invalid", message=message, code="context_length_exceeded")
            raise UnreachedError(failure)

    async def sent(self, asked: Asked, upstream: Upstream, *, streamed: bool) -> Conversion:
        """Convert a request for a back; raises `ExchangeError` for one that cannot be."""
        return await worked(asked.size, partial(self._sent, asked, upstream, streamed=streamed))

    def _sent(self, asked: Asked, upstream: Upstream, *, streamed: bool) -> Conversion:
        """Convert a request for a back; raises `ExchangeError` for one that cannot be.

        A stream holds one answer to a question, so no more are asked for.
        """
        settings: JsonObject = {"model": asked.sent_model, "stream": streamed}
        answers, lost = asked.settings.get("n"), asked.lost
        if streamed and answers not in (None, 1):
            settings["n"] = 1
            lost += (Loss("setting", "/n", "changed", f"n: {answers} -> 1: a stream holds one answer"),)
            if self.config.strict:
                raise refusal("invalid", f"the request cannot be converted: {lost[-1].detail}", param="n")
        try:
            sent = convert_request(
                asked.body,
                source=self.format,
                target=upstream.format,
                settings=settings,
                defaults=_defaults(asked, upstream),
                strict=self.config.strict,
            )
        except ToolFmtError as error:
            raise refusal("invalid", "the request cannot be converted", error) from None
        for loss in sent.losses:
            if loss.code == "context":
                name = loss.path.rpartition("/")[2]
                message = f"{name}: neither the upstream nor the gateway keeps what it refers to: send it whole"
                if name in NAMED.values():
                    message += ", or set `store` in the gateway's configuration"
                raise refusal("invalid", message, param=name)
        weighed = all(known_of(name, APIS).stream.logprobs for name in (self.format, upstream.format))
        if sent.settings.get("logprobs") and not weighed and (streamed or upstream.format != self.format):
            detail = "logprobs: the two APIs write them in different ways"
            lost += (Loss("setting", "/logprobs", "dropped", detail),)
        return replace(sent, losses=lost + sent.losses) if lost else sent

    def _settings(self, body: JsonObject, given: JsonObject) -> Mapping[str, JsonValue]:
        try:
            with reraise_as_parse_error(self.format, body):
                return settings_of(body, self.format) | given
        except ToolFmtError as error:
            raise refusal("invalid", "the request cannot be converted", error) from None


def named_model(settings: Mapping[str, JsonValue]) -> str:
    """Return the model that a request names; raises `ExchangeError` for what no model is called."""
    model = settings.get("model")
    if not isinstance(model, str) or not model:
        raise refusal("invalid", "the request names no model", param="model")
    if len(model) > _LONGEST_NAME or not model.isprintable() or not model.strip("."):
        raise refusal("invalid", f"a model's name has up to {_LONGEST_NAME} printable characters", param="model")
    return model


def _defaults(asked: Asked, upstream: Upstream) -> JsonObject:
    """Return the settings that a back requires and a request leaves out."""
    given: JsonObject = {"max_tokens": upstream.back.max_tokens}
    wanted = required_settings(upstream.format)
    return {name: value for name, value in given.items() if name in wanted and name not in asked.settings}


def _order(route: ModelRoute) -> list[str]:
    """Return the backs in the order in which they are asked; the first is drawn by the route's weights."""
    if not route.weights:
        return list(route.backs)
    (first,) = random.choices(range(len(route.backs)), route.weights)  # noqa: S311 - a load is spread, nothing is secret
    return [route.backs[first], *(name for at, name in enumerate(route.backs) if at != first)]


def estimate(request: JsonObject, format: str, tokenizer: str) -> int:  # noqa: A002 - the field's name
    """Count the tokens of all that a request says, and of its tools; what a template puts around it is not known.

    Raises `ExchangeError` for a request that cannot be read.
    """
    try:
        with reraise_as_parse_error(format, request):
            transcript = find(format).read(request)
        shown = "\n".join(
            jsontext.dumps({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
            for tool in transcript.tools or ()
        )
        return count_tokens(transcript, tokenizer) + len(load(tokenizer).encode(shown, add_special_tokens=False).ids)
    except ToolFmtError as error:
        raise refusal("invalid", "the request's tokens cannot be counted", error) from None
