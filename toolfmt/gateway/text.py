"""Tools for a model that only writes text: shown in its instructions, called in its answer, in a dialect.

request   tools and calls of a Chat Completions request -> a chat of texts with a manifest
answer    "<tool_call>{...}</tool_call>"                -> tool_calls

A call that cannot be read, or does not fit its tool, is not given to the client: the model is shown what is wrong with
it and asked again, as often as the back's `retries` say; what does not fit then is given as it is. So a call reaches
the client when it is complete; without retries, as it is written.
"""

from __future__ import annotations

import logging
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.agents.drivers.chats import Chats
from toolfmt.agents.drivers.unread import with_unread
from toolfmt.correcting import feedback, no_call_feedback
from toolfmt.errors import ToolFmtError
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, ReasoningDelta, TextDelta, coalesce
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.lookup.registry import AUTO, default_registry
from toolfmt.parsing import ParseResult, open_parser
from toolfmt.tools import tools as definitions
from toolfmt.transcripts.format import reraise_as_parse_error
from toolfmt.transcripts.formats import find
from toolfmt.workshop.grammars import grammar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from toolfmt.dialect.record import AnyDialect, Parser
    from toolfmt.events import Event
    from toolfmt.gateway.backs import Upstream
    from toolfmt.gateway.config import Constraint
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answers import AsyncAnswerEvents

log: Final = logging.getLogger("toolfmt.gateway")
_TOOLS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "messages"})
_SHOWN: Final = "hermes"
"""How tools are shown to a model of which nothing is known."""
_CONSTRAINTS: Final[Mapping[Constraint, tuple[str, Callable[[str], JsonObject]]]] = {
    "llama.cpp": ("gbnf", lambda text: {"grammar": text}),
    "vllm": ("structural-tag", lambda text: {"structured_outputs": {"structural_tag": text}}),
}
"""A server's field for a grammar: the grammar's kind, and what makes the field."""


class TextRequest:
    """One request to a model that only writes text."""

    def __init__(self, request: JsonObject, upstream: Upstream, model: str) -> None:
        """Take a request of Chat Completions or a relative; raises as `chosen` does for a dialect not of text."""
        back, format, folder = upstream.back, upstream.format, upstream.folder  # noqa: A001 - the field's name
        dialect = folder.dialect if folder is not None and folder.dialect and back.dialect == AUTO else back.dialect
        self.shown, registry = chosen({"dialect": _shown(model) if dialect == AUTO else dialect})
        choice: Choice = {"dialect": self.shown, "registry": registry}
        with reraise_as_parse_error(format, request):
            transcript = find(format).read(request)
            wanted, offered = request.get("tool_choice"), request.get("tools")
            functions = [tool for tool in offered if _is_function(tool)] if is_array(offered) else []
            self.tools = () if wanted == "none" else definitions(functions)
        self.needed = bool(self.tools) and wanted not in {None, "auto"} if isinstance(wanted, str) else bool(wanted)
        chat, self.losses = Chats(self.shown, choice).write(transcript.messages, self.tools)
        self.options: dict[str, Any] = {
            "tools": self.tools,
            "dialect": AUTO if dialect == AUTO else self.shown,
            "registry": registry,
        }
        self.retries = back.retries
        self.holds = bool(self.tools and back.retries)
        self._folder = folder if upstream.api.prompted else None
        self._transcript, self._chat = transcript, chat
        self._further: list[tuple[str, str]] = []
        self._settings = {key: value for key, value in request.items() if key not in _TOOLS}
        if self.needed and back.constraint is not None:
            parallel = request.get("parallel_tool_calls") is not False
            self._settings |= self._constrained(back.constraint, _named(wanted) or "required", parallel=parallel)
        self.request = self._written()

    def _written(self) -> JsonObject:
        """Write the request: a chat of texts, or the prompt that the model's template renders."""
        if self._folder is None:
            said: list[JsonObject] = [{"role": role, "content": text} for role, text in self._further]
            return {"messages": [*self._chat, *said], **self._settings}
        prompt = self._folder.prompt(self._transcript, self._chat, self.tools, self._further)
        self.losses += tuple(loss for loss in prompt.losses if loss not in self.losses)
        self.options["generation_prompt"] = str(prompt)
        return {"prompt": str(prompt), **self._settings}

    def open(self) -> Parser[str]:
        """Open a parser; while the model can be asked again, a call must fit its tool."""
        return open_parser(**self.options, validate=bool(self.retries))

    def _constrained(self, constraint: Constraint, choice: str, *, parallel: bool) -> JsonObject:
        """Write the field that holds the model to a call; where no grammar can be had, the log says so."""
        target, field = _CONSTRAINTS[constraint]
        try:
            return field(grammar(self.shown, self.tools, choice=choice, parallel=parallel, target=target).text)
        except ToolFmtError as error:
            log.warning("%s", jsontext.dumps({"constraint": constraint, "left_out": str(error)}))
            return {}

    def again(self, text: str, events: list[Event]) -> JsonObject | None:
        """Make the next request where an answer's calls cannot be used; None where the answer counts."""
        result = ParseResult(tuple(coalesce(events)))
        if result.calls or not self.tools or not self.retries:
            return None
        result = with_unread(result, text, self.tools)
        choice: Choice = {"dialect": self.shown}
        if result.failures:
            advice = feedback(result.failures[0], tools=self.tools, **choice)
        elif self.needed:
            advice = no_call_feedback(text, tools=self.tools, **choice)
        else:
            return None
        self.retries -= 1
        self._further += [("assistant", text), ("user", advice)]
        self.request = self._written()
        return self.request

    def answer(self, value: JsonValue) -> tuple[JsonValue, JsonObject | None]:
        """Read a whole answer: one of Chat Completions with the calls of its text, or the request to send next."""
        if not self.tools or not is_object(value) or not is_array(choices := value.get("choices")):
            return value, None
        read = [self._read(choice) for choice in choices]
        if len(read) == 1 and (again := self.again(*read[0])):
            return value, again
        written = [_written(choice, events) for choice, (_, events) in zip(choices, read, strict=True)]
        return {**value, "choices": written}, None

    def _read(self, choice: JsonValue) -> tuple[str, list[Event]]:
        message = choice.get("message") if is_object(choice) else None
        text = message.get("content") if is_object(message) else None
        if not isinstance(text, str):
            return "", []
        parser = self.open()
        return text, [*parser.feed(text), *parser.close()]


class AsyncEvents:
    """Events of a text answer, read in a dialect as they come."""

    def __init__(
        self,
        request: TextRequest,
        source: AsyncAnswerEvents,
        ask: Callable[[JsonObject], AbstractAsyncContextManager[AsyncAnswerEvents]],
    ) -> None:
        """Read the text among the events of `source`, the answer to the first request; `ask` sends a further one."""
        self._request = request
        self._source = source
        self._ask = ask

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Give the events as soon as they are certain and cannot be taken back."""
        attempt = _Attempt(self._request)
        async for event in attempt.read(self._source):
            yield event
        info = self._source.info
        while again := self._request.again(attempt.text, attempt.events):
            attempt = _Attempt(self._request)
            async with self._ask(again) as source:
                async for event in attempt.read(source):
                    yield event
            for one in fields(info):  # the client's stream has one record, of the answer that counts
                setattr(info, one.name, getattr(source.info, one.name))
        for event in attempt.held:  # of a call that failed, its text alone
            if not isinstance(event, (CallStart, ArgumentsDelta)):
                yield event
        if attempt.called and info.stop == "stop":
            info.stop = "tool_calls"


class _Attempt:
    """One answer of the model: what is given at once, and what is held until it is known to count."""

    def __init__(self, request: TextRequest) -> None:
        self._parser = request.open()
        self._holds = request.holds
        self._pieces: list[str] = []
        self.events: list[Event] = []
        self.held: list[Event] = []
        self.called = False
        self._silent = request.needed and self._holds

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    async def read(self, source: AsyncAnswerEvents) -> AsyncGenerator[Event]:
        """Give what is certain of an answer; reasoning that the API sets apart stays so."""
        async for event in source:
            if isinstance(event, TextDelta):
                self._pieces.append(event.text)
                for read in self._passed(self._parser.feed(event.text)):
                    yield read
            elif isinstance(event, ReasoningDelta):
                yield event
        for read in self._passed(self._parser.close()):
            yield read

    def _passed(self, events: list[Event]) -> Iterator[Event]:
        self.events += events
        for event in events:
            self.called = self.called or isinstance(event, (CallEnd, CallFailed))
            begun = self._silent or self.held or isinstance(event, (CallStart, ArgumentsDelta, CallFailed))
            if self._holds and begun and not isinstance(event, ReasoningDelta):
                self.held.append(event)
            else:
                yield event
            if isinstance(event, CallEnd):  # an answer with a call counts, whatever follows
                self._holds = False
                yield from self.held
                self.held.clear()


def _is_function(tool: JsonValue) -> bool:
    return is_object(tool) and tool.get("type") == "function"


def _shown(model: str) -> str | AnyDialect:
    """Choose how tools are shown by the model's name, where it is a known one."""
    try:
        return default_registry().resolve(model=model)
    except ToolFmtError:
        return _SHOWN


def _named(wanted: JsonValue) -> str:
    """Give the name of the one tool that a request's `tool_choice` wants; "" where it wants any."""
    function = wanted.get("function") if is_object(wanted) else None
    name = function.get("name") if is_object(function) else None
    return name if isinstance(name, str) else ""


def _written(choice: JsonValue, events: list[Event]) -> JsonValue:
    """Write a choice of a Chat Completions answer with what was read of its text."""
    message = choice.get("message") if is_object(choice) else None
    if not is_object(choice) or not is_object(message) or not events:
        return choice
    merged = coalesce(events)
    text = "".join(
        event.text if isinstance(event, TextDelta) else event.raw
        for event in merged
        if isinstance(event, TextDelta | CallFailed)
    )
    reasoning = "".join(event.text for event in merged if isinstance(event, ReasoningDelta))
    calls = [event.call for event in merged if isinstance(event, CallEnd)]
    written: JsonObject = {**message, "content": text or None}
    if reasoning:
        written["reasoning_content"] = f"{message.get('reasoning_content') or ''}{reasoning}"
    if not calls:
        return {**choice, "message": written}
    written["tool_calls"] = [
        {
            "id": call.id or f"call_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": jsontext.dumps(call.arguments)},
        }
        for at, call in enumerate(calls)
    ]
    ended = "tool_calls" if choice.get("finish_reason") == "stop" else choice.get("finish_reason")
    return {**choice, "message": written, "finish_reason": ended}
