r"""Chat messages with calls and results written in the text, in any text dialect: `text:hermes`, `text:react`, ...

{"messages": [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Weather in Paris?"},
    {"role": "assistant", "content": "<think>One call.</think>Checking.<tool_call>\n{\"name\": \"get_weather\", ...}"},
    {"role": "tool", "content": "<tool_response>\n18C\n</tool_response>"}],
 "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]}

The tools give a reader the types that the text does not. Results are in
messages of the role `tool`; they are read from the user's too, where some
models' templates write them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, JsonPart, Message, Part, ResultPart, TextPart, ToolDeclaration, Transcript
from toolfmt.dialect.record import Dialect
from toolfmt.dialect.syntax import Syntax
from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonValue, ToolDefinition, ToolResult
from toolfmt.transcripts.comparing.linking import flatten
from toolfmt.transcripts.families.chat import ChatShape
from toolfmt.transcripts.families.chat_messages import messages_of
from toolfmt.transcripts.families.chat_request import functions_of
from toolfmt.transcripts.format import Rules, TranscriptFormat
from toolfmt.transcripts.parts.values import content_text, sound
from toolfmt.transcripts.text.results import ResultReader, result_slots
from toolfmt.transcripts.text.turns import Remembered, Tools, Turns


def offered(tools: Sequence[ToolDeclaration] | None) -> Tools:
    """Return the declared functions by name, as parsers and formatters of calls take them."""
    return {
        tool.name: ToolDefinition(
            name=tool.name, description=tool.description or "", parameters=tool.parameters, server=tool.namespace
        )
        for tool in tools or ()
        if tool.kind == "function" and is_object(tool.parameters)
    }


class Texts:
    """Reads and writes the texts of one dialect for a format of transcripts, the `owner`."""

    def __init__(
        self, dialect: Dialect[str], syntax: Syntax, owner: str, *further: Syntax, keeps: bool = False
    ) -> None:
        """Take a dialect with its description; results are also read as `further` descriptions write them."""
        self._dialect = dialect
        self._owner = owner
        self._turns = Turns(dialect, syntax, keeps=keeps)
        self._results = ResultReader(syntax)
        self._readers = (self._results, *map(ResultReader, further))
        self._written = Remembered[list[str]](keeps=keeps)
        self._found = Remembered[tuple[ResultPart, ...]](keeps=keeps)

    def understand(self, messages: Sequence[Message], tools: Tools) -> None:
        """Take the texts of messages apart that were just read."""
        called = False
        for message in messages:
            self._understand(message, tools, called=called)
            called = any(isinstance(part, CallPart) for part in message.parts)

    def _understand(self, message: Message, tools: Tools, *, called: bool) -> None:
        if message.role == "assistant":
            parts: list[Part] = []
            for part in message.parts:
                parts.extend(self._turns.read(part.text, tools) if isinstance(part, TextPart) else (part,))
            message.parts = tuple(parts)
            return
        match message.parts:
            case (ResultPart(content=(TextPart(text),)) as part,):
                self._answer(message, text, part)
            case (TextPart(text),) if message.role == "user" and called and self._results.marked:
                self._answer(message, text, ResultPart(extra={f"{self._owner}.role": "user"}))
            case _:
                pass

    def _answer(self, message: Message, text: str, part: ResultPart) -> None:
        readers = self._readers
        kept = self._found.get(text, {}, lambda: next(filter(None, (one.read(text) for one in readers)), ()))
        found = tuple(map(replace, kept))
        if not found:
            return
        message.role, message.parts = "tool", found
        for result in found:
            result.name = result.name or part.name
            if not self._dialect.traits.carries_ids:
                result.id = None
        found[0].extra = part.extra

    def written(self, messages: Sequence[Message], tools: Tools) -> Iterator[Message]:
        """Turn answers and results into texts; messages that the owner has read stay as they are."""
        answers = {id(place.part): place.call for place in flatten(messages) if isinstance(place.part, ResultPart)}
        calls: list[CallPart | None] = []
        waiting: list[ResultPart] = []
        for message in messages:
            here = [part for part in message.parts if isinstance(part, CallPart)]
            own = message.origin == self._owner
            if message.role == "tool" and not own:
                waiting.extend(
                    part for part in message.parts if isinstance(part, ResultPart) and _kept(part, answers, calls)
                )
                continue
            yield from self._answers(waiting, answers, calls, tools)
            waiting = []
            if own or message.role != "assistant":
                calls.extend(here)
                yield message
                continue
            text, back = self._turns.write(message.parts, tools)
            calls.extend(back)
            if text or not message.parts:
                yield Message("assistant", (TextPart(text),) if text else (), message.name, message.extra)
        yield from self._answers(waiting, answers, calls, tools)

    def _answers(
        self, parts: list[ResultPart], answers: dict[int, int | None], calls: list[CallPart | None], tools: Tools
    ) -> Iterator[Message]:
        """Write results into one message where they can be separated again, else into one each."""
        if not parts:
            return
        found = [_result(part, None if (at := answers[id(part)]) is None else calls[at]) for part in parts]
        key = tuple(map(_key, found))
        for one in self._written.get(key, tools, lambda: self._result_texts(found, parts, tools)):
            yield Message("tool", (ResultPart((TextPart(one),)),))

    def _result_texts(self, found: list[ToolResult], parts: list[ResultPart], tools: Tools) -> list[str]:
        text = self._dialect.results(found, tools)
        whole = len(found) == 1 or _said(self._results.read(text) or ()) == _said(parts)
        return [text] if whole else [self._dialect.results([result], tools) for result in found]


def _said(parts: Sequence[ResultPart]) -> list[str]:
    return [sound(content_text(part.content, "")) for part in parts]


def _key(result: ToolResult) -> Hashable:
    content = result.content
    whole = content if isinstance(content, str) else (jsontext.dumps(content),)
    return result.name, result.id, result.is_error, whole


def _kept(part: ResultPart, answers: dict[int, int | None], calls: list[CallPart | None]) -> bool:
    """Whether a result's call was written; after another call it would seem to be that one's."""
    at = answers[id(part)]
    return at is None or calls[at] is not None


def _result(part: ResultPart, call: CallPart | None) -> ToolResult:
    content = part.content
    alone = content[0].value if len(content) == 1 and isinstance(content[0], JsonPart) else None
    value: JsonValue = sound(content_text(content, "")) if alone is None or jsontext.unwritable(alone) else alone
    name = part.name or (call.name if call is not None else "")
    return ToolResult(
        name=sound(name), content=value, is_error=part.is_error, id=call.id if call is not None else part.id
    )


PREFIX: Final = "text:"
_formats: dict[str, TranscriptFormat] = {}


def text_format(name: str) -> TranscriptFormat:
    """Return the format of a text dialect, made when it is first asked for; raises `UnknownDialectError`."""
    dialect = default_registry().dialect(name.removeprefix(PREFIX))
    if dialect.name not in _formats:
        if dialect.syntax is None:
            raise ParseError(f"{dialect.name} is no text dialect")
        _formats[dialect.name] = _format(dialect, dialect.syntax)
    return _formats[dialect.name]


def _format(dialect: Dialect[str], syntax: Syntax) -> TranscriptFormat:
    chat = TextChat(dialect, syntax)
    return TranscriptFormat(
        name=chat.owner,
        summary=f"Chat messages with calls and results in the text, as {dialect.name} writes them.",
        read=chat.read,
        write=chat.write,
        recognise=lambda _: False,
        rules=text_rules(dialect, syntax),
        sources=dialect.sources,
    )


def text_rules(dialect: Dialect[str], syntax: Syntax) -> Rules:
    """Describe what a conversation in the text of a dialect can hold."""
    slots = result_slots(syntax)
    linked = dialect.traits.carries_ids and "id" in slots
    return Rules(
        call_ids="optional" if dialect.traits.carries_ids else "none",
        result_names="name" in slots,
        results_in_order=not linked,
        user_kinds=frozenset({"text", "image", "audio", "document"}),
        neighbours="answers",
        arguments="object",
        namespaces=dialect.traits.carries_server,
    )


class TextChat:
    """Reads and writes chat messages in one dialect; `keeps` what it has read of a conversation that grows."""

    def __init__(self, dialect: Dialect[str], syntax: Syntax, *, keeps: bool = False) -> None:
        self.owner = f"{PREFIX}{dialect.name}"
        self._texts = Texts(dialect, syntax, self.owner, keeps=keeps)
        shape = ChatShape(owner=self.owner, provider="", call_ids=False)
        self._table = replace(messages_of(shape), tools=functions_of(shape).listed())

    def read(self, value: JsonValue) -> Transcript:
        """Read an object with `messages`, or a list of messages."""
        found = self._table.read(value)
        self._texts.understand(found.messages, offered(found.tools))
        return found

    def write(self, transcript: Transcript) -> JsonValue:
        """Write an object with `messages`, and `tools` if there are any."""
        messages = self._texts.written(transcript.messages, offered(transcript.tools))
        return self._table.write(replace(transcript, messages=tuple(messages)))
