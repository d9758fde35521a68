"""What was written of a conversation is not written again while it grows, and is what would be written anew."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import wraps
from typing import Any

import pytest

from toolfmt import Message, ToolDefinition, ToolInvocation, parse
from toolfmt.agents.drivers.chats import Chats
from toolfmt.conversation import JsonPart, ResultPart, TextPart
from toolfmt.dialect.record import Dialect
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject

TEXT: JsonObject = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
NUMBER: JsonObject = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def tools(parameters: JsonObject) -> tuple[ToolDefinition, ...]:
    return ToolDefinition(name="get", parameters=parameters), ToolDefinition(name="put", parameters=parameters)


def counted(dialect: Dialect[str]) -> tuple[Dialect[str], Counter[str]]:
    """A dialect that counts what it is asked to write."""
    counts: Counter[str] = Counter()

    def counting(name: str) -> Any:
        function = getattr(dialect, name)

        @wraps(function)
        def call(*arguments: Any) -> Any:
            counts[name] += 1
            return function(*arguments)

        return call

    return replace(dialect, results=counting("results"), schema=counting("schema")), counts


def chats(dialect: Dialect[str]) -> Chats:
    return Chats(dialect, {"dialect": dialect})


def turn(made: Chats, dialect: Dialect[str], number: int, offered: tuple[ToolDefinition, ...]) -> list[Message]:
    """An answer with two calls, and their results: a text that comes again and again, and a value."""
    given = {"get": "1", "put": str(number)}
    calls = [ToolInvocation(name=name, arguments={"a": text}) for name, text in given.items()]
    example = dialect.calls(calls, {tool.name: tool for tool in offered})
    answer = made.answer(example, parse(example, dialect=dialect, tools=offered).events)
    results = (
        ResultPart((TextPart("</tool_response> same"),), name="get"),
        ResultPart((JsonPart({"n": number}),), name="put"),
    )
    return [answer, Message("tool", results)]


@pytest.mark.parametrize("name", ["hermes", "qwen3-xml", "react", "mistral-v11"])
def test_a_chat_that_grows_is_written_as_a_new_one_is(name: str) -> None:
    dialect, counts = counted(default_registry().dialect(name))
    growing = chats(dialect)
    messages = [Message("user", (TextPart("Go"),))]
    for number in range(12):
        offered = tools(NUMBER if number in {5, 6, 7} else TEXT)
        messages += turn(growing, dialect, number, tools(TEXT))
        before = counts.copy()
        written = growing.write(messages, offered)
        spent = counts - before
        assert written == chats(dialect).write(messages, offered)
        assert repr(written) == repr(chats(dialect).write(messages, offered))
        if number not in {0, 5, 8}:  # where the tools change
            assert spent["schema"] == 0
            assert spent["results"] <= 3, "only the last turn's: together, or each alone"
        else:
            assert spent["schema"] >= len(offered)
