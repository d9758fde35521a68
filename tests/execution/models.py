"""Models that say what they are told to: recorded texts, and an API's recorded streams."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import anyio

from toolfmt import ToolRegistry, jsontext
from toolfmt.execution.records import AgentStop
from toolfmt.model import JsonObject


class Texts:
    """A text model that gives its answers in turn; an exception among an answer's pieces is raised."""

    def __init__(self, *answers: str | Sequence[str | Exception]) -> None:
        self.answers = [[answer] if isinstance(answer, str) else list(answer) for answer in answers]
        self.chats: list[list[JsonObject]] = []
        self.written: list[str] = []
        self.closed = 0

    async def write(self, chat: Sequence[JsonObject]) -> AsyncIterator[str]:
        self.chats.append(list(chat))
        try:
            for piece in self.answers.pop(0):
                await anyio.lowlevel.checkpoint()
                if isinstance(piece, Exception):
                    raise piece
                self.written.append(piece)
                yield piece
        finally:
            self.closed += 1


class Api:
    """A client whose answers are recorded, each a list of the stream's events."""

    def __init__(self, *answers: Sequence[Any], format: str = "openai-chat") -> None:  # noqa: A002 - the field's name
        self.format = format
        self.answers = [list(answer) for answer in answers]
        self.requests: list[JsonObject] = []
        self.closed = 0

    async def send(self, request: JsonObject, *, stream: bool) -> AsyncIterator[object]:
        assert stream
        self.requests.append(jsontext.loads(jsontext.dumps(request)))
        try:
            for event in self.answers.pop(0):
                await anyio.lowlevel.checkpoint()
                if isinstance(event, Exception):
                    raise event
                yield event
        finally:
            self.closed += 1


def said(text: str = "", *calls: tuple[str, str, str], stop: str | None = None) -> list[Any]:
    """The stream of Chat Completions for a text and calls: id, name, argument text."""
    made = [
        {"index": at, "id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
        for at, (ident, name, arguments) in enumerate(calls)
    ]
    delta = {"role": "assistant", "content": text} | ({"tool_calls": made} if made else {})
    end = stop or ("tool_calls" if made else "stop")
    return [
        {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}},
    ]


def toolbox() -> ToolRegistry:
    """Tools that add, fail, hang, and end the run."""
    registry = ToolRegistry()

    @registry.register
    def add(a: int, b: int = 2) -> int:
        """Add two numbers."""
        return a + b

    @registry.register
    def boom() -> None:
        """Fail."""
        raise ValueError("kaput")

    @registry.register
    async def hang() -> None:
        """Never end."""
        await anyio.sleep_forever()

    @registry.register
    def leave() -> None:
        """End the run."""
        raise AgentStop("enough")

    return registry
