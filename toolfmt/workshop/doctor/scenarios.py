"""What templates have to write: tools, answers with their calls, and a conversation of several turns.

    ANSWERS["one call"](markers)
    # {"role": "assistant", "tool_calls": [{"id": "call00001", ..., "name": "get_weather", "arguments": {...}}]}

Ids have the nine letters and digits that the strictest family requires. Each text occurs only once, so that a prompt
shows what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolfmt.model import JsonObject


def _tool(name: str, description: str, properties: JsonObject, required: Sequence[str]) -> JsonObject:
    parameters: JsonObject = {"type": "object", "properties": properties, "required": [*required]}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS: Final[tuple[JsonObject, ...]] = (
    _tool(
        "get_weather",
        "Looks up tomorrow's skies.",
        {
            "city": {"type": "string", "description": "The town's name."},
            "days": {"type": "integer", "description": "How far ahead."},
            "exact": {"type": "boolean", "description": "Whether to be exact."},
            "limit": {"type": "number", "description": "How much at most."},
        },
        ["city"],
    ),
    _tool(
        "write_file",
        "Puts words down.",
        {
            "path": {"type": "string", "description": "Where it is."},
            "content": {"type": "string", "description": "What is in it."},
        },
        ["path", "content"],
    ),
    _tool(
        "search",
        "Looks for things.",
        {
            "filter": {
                "type": "object",
                "description": "What to look for.",
                "properties": {
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "range": {"type": "object", "properties": {"low": {"type": "integer"}, "open": {"type": "null"}}},
                },
            },
            "points": {"type": "array", "items": {"type": "integer"}, "description": "Some numbers."},
        },
        ["filter"],
    ),
    _tool("ping", "Answers at once.", {}, []),
)

USER: Final = "Please begin."
THOUGHT: Final = "First the skies must be seen."
SAID: Final = "One moment, I look."


def call(number: int, name: str, arguments: JsonObject) -> JsonObject:
    """Make a call as transformers has it, with an id."""
    return {"id": f"call{number:05}", "type": "function", "function": {"name": name, "arguments": arguments}}


def answer(*calls: JsonObject, text: str = "", reasoning: str = "") -> JsonObject:
    """Make a message of the assistant."""
    made: JsonObject = {"role": "assistant"}
    if text:
        made["content"] = text
    if reasoning:
        made["reasoning_content"] = reasoning
    if calls:
        made["tool_calls"] = [*calls]
    return made


def result(number: int, name: str, content: str) -> JsonObject:
    """Make a tool's result."""
    return {"role": "tool", "tool_call_id": f"call{number:05}", "name": name, "content": content}


def user(text: str) -> JsonObject:
    """Make a message of the user."""
    return {"role": "user", "content": text}


_WEATHER: Final[JsonObject] = {"city": "Lyon", "days": 3}
_DEEP: Final[JsonObject] = {
    "filter": {"tags": ["a", "b c", ""], "range": {"low": -7, "open": None}},
    "points": [0, 12345678901234567890, -1],
}
_UNICODE: Final[JsonObject] = {
    "path": "Zürich/東京/🎉.txt",
    "content": "line one\n  \"quoted\" and 'single' \\ back\n\ttab <b>&amp; {x} [y] %s\n\nend",
}

ANSWERS: Final[Mapping[str, Callable[[Sequence[str]], JsonObject]]] = {
    "one call": lambda _: answer(call(1, "get_weather", _WEATHER)),
    "parallel": lambda _: answer(call(1, "get_weather", _WEATHER), call(2, "search", {"filter": {"tags": ["x"]}})),
    "types": lambda _: answer(call(1, "get_weather", {"city": "7", "days": 0, "exact": False, "limit": 1.5})),
    "nested": lambda _: answer(call(1, "search", _DEEP)),
    "unicode": lambda _: answer(call(1, "write_file", _UNICODE)),
    "markers": lambda markers: answer(
        call(1, "write_file", {"path": "a.md", "content": " ".join(("Write", *markers, "as it is."))})
    ),
    "no arguments": lambda _: answer(call(1, "ping", {})),
    "text": lambda _: answer(call(1, "get_weather", _WEATHER), text=SAID),
    "reasoning": lambda _: answer(call(1, "get_weather", _WEATHER), reasoning=THOUGHT),
    "answer": lambda _: answer(text=SAID, reasoning=THOUGHT),
}
"""The assistant's answers by kind; each is made from the strings with which the dialect marks calls."""

RESULT: Final = "Eighteen degrees & rain."
ERROR: Final = "Error: no such town."
SECOND: Final = "Nine degrees & sun."


def history() -> list[JsonObject]:
    """Make a conversation of two questions, with calls, results, an error and reasoning."""
    return [
        {"role": "system", "content": "You are terse."},
        user("How is Lyon?"),
        answer(call(1, "get_weather", {"city": "Lyon"}), text="Lyon first.", reasoning="Think of Lyon."),
        result(1, "get_weather", RESULT),
        answer(text="It rains there.", reasoning="Think of rain."),
        user("And Oslo?"),
        answer(call(2, "get_weather", {"city": "Osloo"}), text="Oslo now.", reasoning="Think of Oslo."),
        result(2, "get_weather", ERROR),
        answer(call(3, "get_weather", {"city": "Oslo", "days": 2}), reasoning="Think again."),
        result(3, "get_weather", SECOND),
    ]


def plainer(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """Leave out what some templates refuse: instructions, and text or reasoning beside calls."""
    return [
        answer(*message["tool_calls"]) if "tool_calls" in message else message
        for message in messages
        if message["role"] != "system"
    ]
