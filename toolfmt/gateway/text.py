"""Tools for a model that only writes text: shown in its instructions, called in its answer, in a dialect.

request   tools and calls of a Chat Completions request -> a chat of texts with a manifest
answer    "<tool_call>{...}</tool_call>"                -> tool_calls
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from toolfmt import jsontext
from toolfmt.choice import Choice, chosen
from toolfmt.events import CallEnd, CallFailed, ReasoningDelta, TextDelta, coalesce
from toolfmt.execution.drivers.chats import Chats
from toolfmt.jsontext import is_array, is_object
from toolfmt.parsing import open_parser
from toolfmt.tools import tools as definitions
from toolfmt.transcripts.formats import find

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from toolfmt.events import Event
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answers import AsyncAnswerEvents

_TOOLS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls", "functions", "function_call", "messages"})


class AsyncEvents:
    """Events of a text answer, read in a dialect as they come."""

    def __init__(self, source: AsyncAnswerEvents, options: dict[str, Any]) -> None:
        """Read the text among the events of `source`; reasoning that the API sets apart stays so."""
        self._source = source
        self._parser = open_parser(**options)

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Give the events as soon as they are certain."""
        async for event in self._source:
            if isinstance(event, TextDelta):
                for read in self._parser.feed(event.text):
                    yield read
            elif isinstance(event, ReasoningDelta):
                yield event
        for read in self._parser.close():
            yield read
            if isinstance(read, (CallEnd, CallFailed)) and self._source.info.stop == "stop":
                self._source.info.stop = "tool_calls"


class TextRequest:
    """One request to a model that only writes text."""

    def __init__(self, request: JsonObject, dialect: str) -> None:
        """Take a Chat Completions request apart; raises as `chosen` does for a dialect that is none of text."""
        found, registry = chosen({"dialect": dialect})
        choice: Choice = {"dialect": found, "registry": registry}
        transcript = find("openai-chat").read(request)
        offered: Sequence[JsonValue] = request.get("tools") or ()
        tools = definitions([tool for tool in offered if is_object(tool) and tool.get("type") == "function"])
        if request.get("tool_choice") == "none":
            tools = ()
        chat, self.losses = Chats(found, choice).write(transcript.messages, tools)
        self._options: dict[str, Any] = {"tools": tools, "dialect": found, "registry": registry}
        self.request: JsonObject = {"messages": chat} | {
            key: value for key, value in request.items() if key not in _TOOLS
        }

    def events(self, source: AsyncAnswerEvents) -> AsyncEvents:
        """Read a streamed answer."""
        return AsyncEvents(source, self._options)

    def answer(self, value: JsonValue) -> JsonValue:
        """Read a whole answer: a Chat Completions answer with the calls of its text."""
        if not is_object(value) or not is_array(value.get("choices")):
            return value
        return {**value, "choices": [self._choice(choice) for choice in value["choices"]]}

    def _choice(self, choice: JsonValue) -> JsonValue:
        message = choice.get("message") if is_object(choice) else None
        if not is_object(message) or not isinstance(message.get("content"), str):
            return choice
        parser = open_parser(**self._options)
        events = coalesce([*parser.feed(message["content"]), *parser.close()])
        text = "".join(
            event.text if isinstance(event, TextDelta) else event.raw
            for event in events
            if isinstance(event, TextDelta | CallFailed)
        )
        reasoning = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
        calls = [event.call for event in events if isinstance(event, CallEnd)]
        told: JsonObject = {**message, "content": text or None}
        if reasoning:
            told["reasoning_content"] = f"{message.get('reasoning_content') or ''}{reasoning}"
        if not calls:
            return {**choice, "message": told}
        told["tool_calls"] = [
            {
                "id": call.id or f"call_{at}",
                "type": "function",
                "function": {"name": call.name, "arguments": jsontext.dumps(call.arguments)},
            }
            for at, call in enumerate(calls)
        ]
        ended = "tool_calls" if choice.get("finish_reason") == "stop" else choice.get("finish_reason")
        return {**choice, "message": told, "finish_reason": ended}
