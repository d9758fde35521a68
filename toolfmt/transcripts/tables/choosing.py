"""The choice among a request's tools; an unknown value is kept unchanged.

    "auto"                                           {"type": "auto"}
    {"type": "function", "function": {"name": "f"}}  {"type": "tool", "name": "f"}

OpenAI's form, which its relatives share, and an object with a type, as in Anthropic's API and the AI SDK.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from toolfmt.conversation import ToolChoice, ToolDeclaration
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.parts.values import inner, word
from toolfmt.transcripts.tables.request import ChoicePlace

Mode: TypeAlias = Literal["auto", "none", "required"]
MODES: Mapping[str, Mode] = {"auto": "auto", "none": "none", "required": "required"}
"""The words of most formats."""


def spelled(mode: Mode, words: Mapping[str, Mode]) -> str | None:
    """Return the first word for a mode."""
    return next((spelling for spelling, meant in words.items() if meant == mode), None)


def demanded(choice: ToolChoice) -> str:
    """Return the only tool that must be called, or "" for any other choice."""
    return choice.names[0] if len(choice.names) == 1 and choice.mode == "required" else ""


def typed(key: str, name: str, words: Mapping[str, Mode] = MODES, *, elsewhere: Sequence[str] = ()) -> ChoicePlace:
    """Describe a choice with a `type`: a word, or `tool` with a tool's name under a key."""

    def read(value: JsonValue) -> ToolChoice | None:
        kind = value if isinstance(value, str) else word(value, "type")
        if kind == "tool" and word(value, name):
            return ToolChoice("required", (word(value, name),))
        return ToolChoice(words[kind]) if kind in words else None

    def write(choice: ToolChoice, _: object) -> JsonValue:
        tool = demanded(choice)
        return {"type": "tool", name: tool} if tool else {"type": spelled(choice.mode, words)}

    return ChoicePlace(key, read, write, elsewhere=frozenset(elsewhere))


def openai(
    words: Mapping[str, Mode] = MODES,
    *,
    named: Literal["", "one", "several"] = "several",
    nested: bool = True,
    custom: bool = True,
) -> ChoicePlace:
    """Describe OpenAI's `tool_choice`: a word, a tool, or several allowed tools; all forms are read.

    `named` is how many tools may be named; `nested`: they are under their kind, which may be `custom`.
    """

    def read(value: JsonValue) -> ToolChoice | None:
        if isinstance(value, str):
            return ToolChoice(words[value]) if value in words else None
        if not is_object(value):
            return None
        if value.get("type") == "allowed_tools":
            allowed = inner(value, "allowed_tools") or value
            tools, mode = allowed.get("tools"), words.get(str(allowed.get("mode", "auto")))
            names = tuple(_name(tool) or word(tool, "type") for tool in tools) if is_array(tools) else ()
            return ToolChoice(mode, names) if mode is not None and names and all(names) else None
        name = _name(value)
        return ToolChoice("required", (name,)) if name else None

    def write(choice: ToolChoice, tools: Sequence[ToolDeclaration]) -> JsonValue:
        mode, only = spelled(choice.mode, words), demanded(choice)
        if mode is None or not choice.names or not named or (named == "one" and not only):
            return mode
        kinds = {tool.name: tool.kind for tool in tools if tool.kind == "hosted" or custom}
        listed: list[JsonObject] = []
        for name in choice.names:
            kind, body = kinds.get(name, "function"), {"name": name}
            beside = {kind: body} if nested else body
            listed.append({"type": name} if kind == "hosted" else {"type": kind, **beside})
        allowed = {"mode": mode, "tools": listed}
        return listed[0] if only else {"type": "allowed_tools", **({"allowed_tools": allowed} if nested else allowed)}

    return ChoicePlace("tool_choice", read, write)


def _name(item: JsonValue) -> str:
    named = (item.get("function") or item.get("custom") or item) if is_object(item) else None
    return word(named, "name")
