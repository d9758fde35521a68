"""What templates have to write: tools, answers with their calls, and a conversation of several turns.

    ANSWERS["one call"](markers)
    # {"role": "assistant", "tool_calls": [{"id": "call00001", ..., "name": "get_weather", "arguments": {...}}]}

Ids have the nine letters and digits that the strictest family requires. Each text occurs only once, so that a prompt
shows what is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from toolfmt.errors import TemplateError
from toolfmt.model import JsonObject, JsonValue
from toolfmt.workshop.chat_templates.answers import beginning, ending
from toolfmt.workshop.chat_templates.needs import NO_TOKENS, fitted, needs
from toolfmt.workshop.chat_templates.sandbox import SMALL, STILL, render


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


_BOUNDARY: Final = re.compile(r".*[\n>\]｜]", re.DOTALL)
_MARKER: Final = re.compile(r"[<\[]")
_PLAIN: Final = answer(text=SAID)


@dataclass(frozen=True, slots=True)
class TemplateTurn:
    """One answer as a template writes it."""

    wrote: str
    prompt: str
    """The text before it; a block of reasoning that it opens continues in the answer."""


@dataclass(frozen=True, slots=True)
class TemplateRenderer:
    r"""Renders conversations with a template, in the form that it takes, and finds in a prompt what a model wrote.

        <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<tool_call>...</tool_call><|im_end|>\n
        `------------- the prompt, with what begins an answer ------------'`------ wrote ------'`-- end --'

    A template writes a turn as the model should: the answer is what its prompt lacks, without the end of every answer.
    """

    source: str
    tokens: Mapping[str, str]
    variables: Mapping[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])

    def write(self, messages: Sequence[JsonObject], *, prompt: bool = False) -> str:
        """Render messages; `prompt` adds what begins an answer."""
        data: JsonObject = {
            "documents": None,
            **NO_TOKENS,
            **self.tokens,
            **self.variables,
            "messages": fitted(messages, needs(self.source))[0],
            "tools": [*TOOLS],
            "add_generation_prompt": prompt,
        }
        return render(self.source, data, now=STILL, limits=SMALL)

    def turn(self, answer: JsonObject) -> TemplateTurn:
        """Write an answer to the first question."""
        asked = [user(USER)]
        prompt, whole = self.write(asked, prompt=True), self.write([*asked, answer])
        start = whole.rfind(USER) + len(USER)
        at = start + _begin(whole[start:], prompt[prompt.rfind(USER) + len(USER) :])
        return TemplateTurn(_without(whole[at:], self._end()), whole[:at])

    def earlier(self, text: str, messages: Sequence[JsonObject], number: int, at: int) -> TemplateTurn:
        """Find an answer in the rendered conversation `text`, of which everything before `at` precedes it."""
        before, after = messages[number - 1]["content"], messages[number + 1]["content"]
        prompt = self.write(messages[:number], prompt=True)
        until = text.find(after, at)
        wrote = text[at : until if until >= 0 else len(text)]
        begin = _begin(wrote, prompt[prompt.rfind(before) + len(before) :])
        alone, followed = self.write(messages[: number + 1]), self.write(messages[: number + 2])
        if followed.startswith(alone):
            wrote = wrote.removesuffix(followed[len(alone) : max(followed.find(after, len(alone)), len(alone))])
        return TemplateTurn(_without(wrote[begin:], self._end()), text[: at + begin])

    def _end(self) -> str:
        try:
            whole = self.write([user(USER), _PLAIN])
        except TemplateError:
            return ""
        return whole.rpartition(SAID)[2] if SAID in whole else ""


def _without(wrote: str, end: str) -> str:
    """Remove what ends every answer: all of it, or the markers that both end with."""
    if not wrote.endswith(end):
        same = ending(wrote, end)
        marker = _MARKER.search(same)
        end = same[marker.start() :] if marker is not None else ""
    return wrote.removesuffix(end)


def _begin(rest: str, lead: str) -> int:
    """Find where an answer begins: after its whole lead, or after the part of the lead that is here."""
    if rest.startswith(lead):
        return len(lead)
    boundary = _BOUNDARY.match(beginning(lead, rest))
    begin = boundary.end() if boundary is not None else 0
    for marker in _MARKER.finditer(lead):
        end = lead[marker.start() :]
        at = rest.find(end, 0, 2 * len(lead))
        if at >= 0:
            return max(begin, at + len(end))
    return begin
