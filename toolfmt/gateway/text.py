"""Tools for a model that only writes text: shown in its instructions, called in its answer, in a dialect.

request   tools and calls of a Chat Completions request -> a chat of texts with a manifest
answer    "<tool_call>{...}</tool_call>"                -> tool_calls

A call that cannot be read, or does not fit its tool, is not given to the client: the model is shown what is wrong with
it and asked again, as often as the back's `retries` say; what does not fit then is given as it is, unless the tool is
strict. So a call reaches the client when it is complete; as it is written without retries, or where a grammar lets the
model write no invalid one and its server has not ignored one yet. An answer that has to be JSON is asked for in the
instructions, held to its schema by a grammar where the server takes one, and else asked for again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from toolfmt import jsontext
from toolfmt.agents.drivers.chats import Chats
from toolfmt.agents.drivers.unread import with_unread
from toolfmt.agents.output import WRONG, JsonOutput
from toolfmt.conversation import CallPart, ToolChoice
from toolfmt.correcting import feedback, no_call_feedback
from toolfmt.dialect.record import AnyDialect, Parser
from toolfmt.errors import ToolFmtError
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
from toolfmt.gateway.backs import Upstream
from toolfmt.gateway.config import Constraint
from toolfmt.gateway.failing import bad_answer
from toolfmt.gateway.journal import log_line
from toolfmt.jsontext import is_array, is_object
from toolfmt.lookup.choice import Choice, chosen
from toolfmt.lookup.registry import AUTO, default_registry
from toolfmt.model import JsonObject, JsonValue, ToolInvocation
from toolfmt.parsing import ParseResult, open_parser
from toolfmt.schema.validation import problems
from toolfmt.tools import tools as definitions
from toolfmt.transcripts.answers import read_answer
from toolfmt.transcripts.format import reraise_as_parse_error
from toolfmt.transcripts.formats import find
from toolfmt.workshop.grammars import grammar

CallEvent: TypeAlias = CallStart | ArgumentsDelta | CallEnd | CallFailed


class TextReading:
    """Reads the text of an answer with a parser, if there is one; the server's own calls pass, with other numbers.

    A call keeps the id that the model wrote only if no other call of the conversation has it.
    """

    def __init__(self, parser: Parser[str] | None, taken: Iterable[str] = (), *, parallel: bool = True) -> None:
        """Begin an answer; `taken` are the ids of the conversation's earlier calls.

        Without `parallel`, calls after the first one are left out, each with a notice.
        """
        self._parallel = parallel
        self._only: tuple[bool, int] | None = None
        self._parser = parser
        self._taken = set(taken)
        self._ids: dict[int, str | None] = {}
        self._pieces: list[str] = []
        self._numbers: dict[tuple[bool, int], int] = {}

    @property
    def text(self) -> str:
        """What the model has written so far."""
        return "".join(self._pieces)

    def feed(self, event: Event) -> list[Event]:
        """Read one event of the server's answer; what is neither text nor a call is left out."""
        if isinstance(event, CallEvent):
            return self._numbered([event], own=False)
        if not isinstance(event, TextDelta):
            return []
        self._pieces.append(event.text)
        return [event] if self._parser is None else self._numbered(self._parser.feed(event.text), own=True)

    def close(self) -> list[Event]:
        """Say that the answer has ended."""
        return [] if self._parser is None else self._numbered(self._parser.close(), own=True)

    def _numbered(self, events: Iterable[Event], *, own: bool) -> list[Event]:
        """Count the calls of the text and of the server together."""
        found: list[Event] = []
        for event in events:
            if not isinstance(event, CallEvent):
                found.append(event)
                continue
            call = (own, event.index)
            if self._parallel or self._only in {None, call}:
                number = self._numbers.setdefault(call, len(self._numbers))
                found.append(self._identified(replace(event, index=number)))
                self._only = None if isinstance(event, CallFailed) else call
            elif isinstance(event, CallEnd | CallFailed):
                found.append(Notice(_FURTHER, "a further call, which the request rules out", event.span))
        return found

    def _identified(self, event: CallEvent) -> CallEvent:
        """Take away an id that another call has, or that its own beginning did not have; who writes gives another."""
        if isinstance(event, CallStart):
            ident = None if event.id in self._taken else event.id
            self._ids[event.index] = ident
            self._taken.update({ident} if ident else ())
            return replace(event, id=ident)
        if isinstance(event, CallEnd) and event.call.id != (ident := self._ids.get(event.index)):
            return replace(event, call=event.call.model_copy(update={"id": ident}))
        return event


_TOOLS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "messages"})
_SHOWN: Final = "hermes"
"""The dialect that shows tools to an unknown model."""
MALFORMED: Final = "malformed_tool_use"
"""Bedrock's word for an answer that ends with a call that cannot be used; Chat Completions has none."""
_FURTHER: Final = "further_call"
"""The notice of a call that is left out because the request allows only one."""
_IGNORED: Final = "ignored_grammar"
_EXPECTED: Final = frozenset({"dialect_detected"})
"""Notices that report no deviation."""
_CONSTRAINTS: Final[Mapping[Constraint, tuple[str, Callable[[str], JsonObject]]]] = {
    "llama.cpp": ("gbnf", lambda text: {"grammar": text}),
    "llguidance": ("lark", lambda text: {"grammar": text}),
    "vllm": ("structural-tag", lambda text: {"structured_outputs": {"structural_tag": text}}),
    "sglang": ("structural-tag", lambda text: {"response_format": jsontext.loads(text)}),
}
"""A server's field for a grammar: the grammar's kind, and what makes the field.

Sources: llama.cpp's tools/server/README.md and docs/llguidance.md, vLLM's features/structured_outputs, SGLang's
docs/advanced_features/structured_outputs.
"""


class TextRequest:
    """One request to a model that only writes text."""

    def __init__(self, request: JsonObject, upstream: Upstream, model: str) -> None:
        """Take a request of Chat Completions or a relative; raises as `chosen` does for a dialect not of text."""
        back, format, folder = upstream.back, upstream.format, upstream.folder  # noqa: A001 - the field's name
        self._upstream, self._model = upstream, model
        dialect = folder.dialect if folder is not None and folder.dialect and back.dialect == AUTO else back.dialect
        self.shown, registry = chosen({"dialect": _shown(model) if dialect == AUTO else dialect})
        choice: Choice = {"dialect": self.shown, "registry": registry}
        with reraise_as_parse_error(format, request):
            transcript = find(format).read(request)
            wanted, offered = transcript.tool_choice or ToolChoice(), request.get("tools")
            rows = filter(is_object, offered if is_array(offered) else ())
            functions = [tool for tool in rows if tool.get("type") == "function"]
            if wanted.names:  # the model is shown no others, so a call to one is unknown
                functions = [tool for tool in functions if _named(tool) in wanted.names]
            self.tools = () if wanted.mode == "none" else definitions(functions)
            self._strict = {_named(one) for one in functions if _function(one).get("strict") is True}
        parts = [part for message in transcript.messages for part in message.parts]
        self._taken = {part.id for part in parts if isinstance(part, CallPart) and part.id}
        self.output, self._sure = _output(request)
        if self.output is not None:
            transcript = replace(transcript, messages=tuple(self.output.asked(transcript.messages)))
        self.needed = bool(self.tools) and wanted.mode == "required"
        self._parallel = transcript.parallel is not False
        chat, self.losses = Chats(self.shown, choice).write(transcript.messages, self.tools)
        self.options: dict[str, Any] = {
            "tools": self.tools,
            "dialect": AUTO if dialect == AUTO else self.shown,
            "registry": registry,
        }
        self.retries = back.retries
        self.notices: dict[str, str] = {}
        """What was done to get the answer, when it is complete."""
        self._folder, self._transcript, self._chat = folder if upstream.api.prompted else None, transcript, chat
        self._further: list[tuple[str, str]] = []
        self.exact = False
        """Whether a grammar lets the model write no call that does not fit its tool."""
        held = self._held(back.constraint)
        beside = {"response_format"} if held or self.tools else set[str]()  # else the server may hold to it itself
        self._settings = {key: value for key, value in request.items() if key not in _TOOLS | beside} | held
        self.silent = self.needed or (self.output is not None and not held)
        """Whether the whole answer is held back until it is valid."""
        self.holds = bool(back.retries) and (bool(self.tools) or self.silent)
        self.request = self._written()

    def _written(self) -> JsonObject:
        """Write the request: a chat of texts, or the prompt that the model's template renders."""
        if self._folder is None:
            added: list[JsonObject] = [{"role": role, "content": text} for role, text in self._further]
            return {"messages": [*self._chat, *added], **self._settings}
        prompt = self._folder.prompt(self._transcript, self._chat, self.tools, self._further)
        self.losses += tuple(loss for loss in prompt.losses if loss not in self.losses)
        self.options["generation_prompt"] = str(prompt)
        return {"prompt": str(prompt), **self._settings}

    def reading(self, *, exact: bool = False) -> TextReading:
        """Make the reader of an answer; a call must fit its tool if the model can be asked again, unless `exact`."""
        parser = open_parser(**self.options, validate=bool(self.retries) and not exact) if self.tools else None
        return TextReading(parser, self._taken, parallel=self._parallel)

    def _held(self, constraint: Constraint | None) -> JsonObject:
        """Write the field that holds the model to what the client requires; where no grammar can be had, log that."""
        if constraint is None or not (self.needed or self._strict or self.output):
            return {}
        target, field = _CONSTRAINTS[constraint]
        choice = "required" if self.needed else "auto" if self.tools else "none"
        schema = None if self.output is None or self.needed else self.output.schema
        try:
            made = grammar(self.shown, self.tools, choice=choice, parallel=self._parallel, target=target, output=schema)
        except ToolFmtError as error:
            failed = type(error).__name__
            log_line(logging.WARNING, {"no_grammar": constraint, "dialect": self.shown.name, "error": failed})
            return {}
        self.exact = bool(self.tools) and not made.relaxed and (_IGNORED, self._model) not in self._upstream.found
        return field(made.text)

    def again(self, text: str, events: list[Event], *, cut: bool = False) -> JsonObject | None:
        """Make the next request if an answer is invalid, else None. `cut`: it reached the limit of tokens."""
        advice = self._advice(text, events, cut=cut) if self.retries else ""
        if not advice:
            return None
        self._judge(held=cut)
        self.retries -= 1
        self._further += [("assistant", text), ("user", advice)]
        self.request = self._written()
        return self.request

    def _advice(self, text: str, events: list[Event], *, cut: bool) -> str:
        """Describe what is wrong with an answer; "" if it is valid."""
        result = ParseResult(tuple(coalesce(events)))
        if result.calls:
            return ""
        if self.tools:
            result = with_unread(result, text, self.tools, typed=self.output is not None)
            if result.failures:
                return feedback(result.failures[0], tools=self.tools, dialect=self.shown)
            if self.needed:
                return no_call_feedback(text, tools=self.tools, dialect=self.shown)
        if self.output is None or cut:
            return ""
        try:
            self.output.read(self._said(result.text))
        except ValueError as error:
            return WRONG.format(error)
        return ""

    def note(self, events: list[Event]) -> None:
        """Note how often the model was asked, and what was tolerated in its answer."""
        if self._further:
            self.notices["asked"] = str(1 + len(self._further) // 2)
        names = {tool.name for tool in self.tools}
        if self.needed and not any(isinstance(event, CallEnd) and event.call.name in names for event in events):
            self.notices["tool_choice"] = "unmet"
        self._judge(held=not any(isinstance(event, CallFailed) and event.reason != "truncated" for event in events))
        for event in events:
            kind = event.kind if isinstance(event, Notice) else "failed_call" if isinstance(event, CallFailed) else ""
            if kind and kind not in _EXPECTED:
                self.notices[kind] = str(int(self.notices.get(kind, "0")) + 1)

    def _judge(self, *, held: bool) -> None:
        """Remember of a model that its server ignores grammars: its next calls are sent when they are complete."""
        if self.exact and not held:
            advice = "the answer does not fit the grammar: the back's server may not take grammars as its `constraint`"
            self._upstream.find(_IGNORED, self._model, self._upstream.back.constraint, advice)

    def check(self, call: ToolInvocation, *, exact: bool = False) -> None:
        """Raise `UpstreamError` for a call that nobody looks at any more and that does not fit its tool.

        These are calls of strict tools, and those that reached the client in part because a grammar makes them `exact`.
        """
        if not exact and call.name not in self._strict:
            return
        tool = next((tool for tool in self.tools if tool.name == call.name), None)
        wrong = ["there is no such tool"] if tool is None else [one.message for one in problems(tool, call.arguments)]
        if wrong:
            self._judge(held=False)
            rule = "the grammar that its server was sent" if exact else "a strict schema"
            raise bad_answer(f"the model's call does not fit {rule}", f"{call.name}: {wrong[0]}")

    def finished(self, events: list[Event], *, cut: bool) -> list[Event]:
        """Return the events of an answer without calls, its text as the JSON that it has to be.

        Raises `UpstreamError` if it has to be that in any case and is not.
        """
        if self.output is None or cut:
            return events
        whole = "".join(event.text for event in events if isinstance(event, TextDelta))
        text = self._said(whole)
        try:
            value = self.output.read(text)
        except ValueError as error:
            if self._sure:
                raise bad_answer("the model's answer does not fit its schema", error) from None
            self.notices["output"] = "unmet"
            return events
        thought = whole.removesuffix(text)
        before: list[Event] = [ReasoningDelta(thought, 0)] if thought else []
        before += [event for event in events if not isinstance(event, TextDelta)]
        return [*before, TextDelta(value, len(thought))]

    def _said(self, text: str) -> str:
        """Return what follows the reasoning of an answer that no parser has read."""
        closers = [closer.strip() for _, closer in self.shown.syntax.reasoning] if self.shown.syntax is not None else []
        closer = next((one for one in closers if one and one in text), "")
        return text if not closer or text.lstrip()[:1] in {*'{["'} else text.partition(closer)[2]

    def answer(self, value: JsonValue) -> tuple[JsonValue, JsonObject | None]:
        """Read a whole answer: one of Chat Completions with the calls of its text, or the request to send next."""
        if not (self.tools or self.output) or not is_object(value) or not is_array(choices := value.get("choices")):
            return value, None
        read = [self._read(choice) for choice in choices]
        cut = [is_object(choice) and choice.get("finish_reason") == "length" for choice in choices]
        if len(read) == 1 and (again := self.again(*read[0], cut=cut[0])):
            return value, again
        settled = [self._settled(events, cut=short) for (_, events), short in zip(read, cut, strict=True)]
        written = [_written(choice, events) for choice, events in zip(choices, settled, strict=True)]
        return {**value, "choices": written}, None

    def _settled(self, events: list[Event], *, cut: bool) -> list[Event]:
        self.note(events)
        for call in (calls := [event.call for event in events if isinstance(event, CallEnd)]):
            self.check(call)
        return events if calls else self.finished(events, cut=cut)

    def _read(self, choice: JsonValue) -> tuple[str, list[Event]]:
        """Read a choice; what its server has set apart as reasoning stays in the message."""
        reading = self.reading()
        events = [one for event in read_answer({"choices": [choice]}).events for one in reading.feed(event)]
        return reading.text, [*events, *reading.close()]


def _output(request: JsonObject) -> tuple[JsonOutput | None, bool]:
    """Read the JSON that an answer has to be, and whether its schema is strict."""
    wanted = request.get("response_format")
    if not is_object(wanted):
        return None, False
    if wanted.get("type") == "json_object":
        return JsonOutput({"type": "object"}), False
    schema_format = wanted.get("json_schema")
    schema = schema_format.get("schema") if is_object(schema_format) else None
    if not is_object(schema_format) or not is_object(schema):
        return None, False
    return JsonOutput(schema), schema_format.get("strict") is True


def _shown(model: str) -> str | AnyDialect:
    """Choose how tools are shown by the model's name, where it is a known one."""
    try:
        return default_registry().resolve(model=model)
    except ToolFmtError:
        return _SHOWN


def _named(value: JsonValue) -> str:
    """Return the name of a declared function; "" if it has none."""
    name = _function(value).get("name")
    return name if isinstance(name, str) else ""


def _function(value: JsonValue) -> JsonObject:
    function = value.get("function") if is_object(value) else None
    return function if is_object(function) else {}


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
    ended = choice.get("finish_reason")
    if not calls:
        failed = ended == "stop" and any(isinstance(event, CallFailed) for event in merged)
        return {**choice, "message": written, "finish_reason": MALFORMED if failed else ended}
    written["tool_calls"] = [
        {
            **({} if call.id is None else {"id": call.id}),  # who writes the answer gives ids
            "type": "function",
            "function": {"name": call.name, "arguments": jsontext.dumps(call.arguments)},
        }
        for call in calls
    ]
    return {**choice, "message": written, "finish_reason": "tool_calls" if ended == "stop" else ended}
