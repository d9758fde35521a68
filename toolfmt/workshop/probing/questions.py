"""The questions for a server, as data: what is sent, and what a faithful answer contains.

Question("one call", "What is the weather in Paris? …", (WEATHER,), calls=("get_weather",))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from toolfmt.formatters.json_schemas import openai_tool
from toolfmt.model import JsonObject, JsonValue, ToolDefinition


def _schema(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": [*properties]}


def _tool(name: str, description: str, **properties: JsonObject) -> ToolDefinition:
    return ToolDefinition(name=name, description=description, parameters=_schema(**properties))


_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
WEATHER: Final = _tool("get_weather", "Look up the weather in a city.", city=_STRING)
TIME: Final = _tool("get_time", "Tell the time. Takes no arguments.")
SAVE: Final = _tool("save_text", "Save a text, exactly as it is.", text=_STRING)
MEETING: Final = _tool(
    "plan_meeting",
    "Plan a meeting.",
    title=_STRING,
    people={"type": "array", "items": _schema(name=_STRING, age=_INTEGER)},
    place=_schema(room=_INTEGER, remote={"type": "boolean"}),
)
ODD_TEXT: Final = 'Zürich 東京 🎉 "quoted" C:\\new'
CODE: Final = "7391"


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `calls` are the names of the tools that the answer calls, in any order."""

    name: str
    ask: str
    tools: tuple[ToolDefinition, ...]
    calls: tuple[str, ...] = ()
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, Any])
    """The call's arguments, if the question states them exactly."""
    choice: JsonValue = None
    history: tuple[JsonObject, ...] = ()
    """Messages after the question."""
    text: bool = False
    """Whether the answer has text."""
    says: str = ""
    """What its text contains."""

    @property
    def forced(self) -> bool:
        """Whether the request demands a call."""
        return self.choice not in (None, "auto", "none")

    def request(self, model: str) -> JsonObject:
        """Write the request as Chat Completions has it."""
        messages = [{"role": "user", "content": self.ask}, *self.history]
        choice = {} if self.choice is None else {"tool_choice": self.choice}
        return {"model": model, "messages": messages, "tools": [*map(openai_tool, self.tools)], **choice}


def _called(*calls: tuple[str, str, str]) -> JsonObject:
    """Write the turn of an assistant: id, name and arguments of each call."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": ident, "type": "function", "function": {"name": name, "arguments": arguments}}
            for ident, name, arguments in calls
        ],
    }


def _result(ident: str, content: str) -> JsonObject:
    return {"role": "tool", "tool_call_id": ident, "content": content}


QUESTIONS: Final = (
    Question(
        "one call", "What is the weather in Paris? Look it up with the tool.", (WEATHER, TIME), calls=("get_weather",)
    ),
    Question(
        "no call",
        "Say hello in one short sentence. You need no tool for that, so call none.",
        (WEATHER, TIME),
        text=True,
    ),
    Question(
        "two calls",
        "What is the weather in Paris, and what is it in Rome? Call the tool for both cities at once, in one turn.",
        (WEATHER,),
        calls=("get_weather", "get_weather"),
    ),
    Question(
        "text and a call",
        "First write the sentence 'Let me look.', then, in the same turn, look up the weather in Paris.",
        (WEATHER,),
        calls=("get_weather",),
        text=True,
    ),
    Question(
        "nested arguments",
        "Plan a meeting with the tool. The title is Review. The people are Ann, 31 years old, and Bob, 45 years "
        "old. The place is room 4, not remote.",
        (MEETING,),
        calls=("plan_meeting",),
        arguments={
            "title": "Review",
            "people": [{"name": "Ann", "age": 31}, {"name": "Bob", "age": 45}],
            "place": {"room": 4, "remote": False},
        },
    ),
    Question(
        "odd characters",
        f"Save exactly this text with the tool, with nothing before or after it: {ODD_TEXT}",
        (SAVE,),
        calls=("save_text",),
        arguments={"text": ODD_TEXT},
    ),
    Question("no arguments", "What time is it? Look it up with the tool.", (TIME,), calls=("get_time",)),
    Question(
        "forced call",
        "What is the weather in Paris?",
        (WEATHER, TIME),
        calls=("get_time",),
        choice={"type": "function", "function": {"name": "get_time"}},
    ),
    Question(
        "any call",
        "Tell me something about the weather in Paris.",
        (WEATHER,),
        calls=("get_weather",),
        choice="required",
    ),
    Question(
        "forbidden call",
        "What is the weather in Paris? Look it up with the tool.",
        (WEATHER,),
        choice="none",
        text=True,
    ),
    Question(
        "results",
        "What code does the weather station in Paris send today? Look it up, then tell me the code.",
        (WEATHER,),
        history=(
            _called(("call_1", "get_weather", '{"city": "Paris"}'), ("call_2", "get_weather", '{"city": "Rome"}')),
            _result("call_1", f'{{"city": "Paris", "code": "{CODE}"}}'),
            _result("call_2", '{"city": "Rome", "code": "none"}'),
        ),
        text=True,
        says=CODE,
    ),
)
"""Each is asked twice: for the whole answer, and for a stream."""
