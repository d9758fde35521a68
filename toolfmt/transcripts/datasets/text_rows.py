r"""Training rows with calls in a text dialect, and with tools in the system text.

{"conversations": [
    {"from": "system", "value": "Be brief.\n\n<tools>\n[{\"type\": \"function\", ...}]\n</tools>"},
    {"from": "human", "value": "Weather in Paris?"},
    {"from": "gpt", "value": "<tool_call>\n{\"name\": \"get_weather\", ...}\n</tool_call>"},
    {"from": "tool", "value": "<tool_response>\n{\"name\": \"get_weather\", \"content\": \"18C\"}\n</tool_response>"}]}

Tools at the end of the system text, as written here, are not text; tools
in its middle are read, and the text stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Message, ResultPart, TextPart, ToolDeclaration, Transcript
from toolfmt.dialect.record import Dialect
from toolfmt.errors import ParseError
from toolfmt.formatters.syntax_calls import result_formatter
from toolfmt.jsontext import is_object
from toolfmt.lookup.registry import default_registry
from toolfmt.model import JsonObject, JsonValue, ToolDefinition
from toolfmt.transcripts.datasets.rows import TURNS, read_turn, row, system_message, texts
from toolfmt.transcripts.format import Rules
from toolfmt.transcripts.parts.values import json_at, json_text, own, rest
from toolfmt.transcripts.tables.declaring import Declaring
from toolfmt.transcripts.tables.request import objects_in
from toolfmt.transcripts.text.chat import Texts, offered

_LIST: Final = re.compile(r"\[\s{0,99}\{")
_NAME: Final = re.compile(r'[\w.]+|.*["\\].*', re.DOTALL)
"""A name that is legal in code, or that JSON would escape."""
_TRIED: Final = 8
"""The number of lists examined in a system text; the first list of tools counts."""


RULES: Final = Rules(
    trained=True,
    roles=frozenset({"system", "user", "assistant", "tool"}),
    system="first",
    call_ids="none",
    result_names=True,
    results_in_order=True,
    result_kinds=frozenset({"text", "json"}),
    user_kinds=frozenset({"text"}),
    neighbours="joined",
    arguments="object",
)
"""The rules of rows with calls and results in the text."""


@dataclass(frozen=True, kw_only=True)
class TextRows:
    """Reads and writes one kind of rows."""

    owner: str
    dialect: str
    names: Mapping[str, str]
    """The names of the roles."""
    results: str
    """The text around a message's results, with `{results}`."""
    separator: str
    result: Mapping[str, object]
    """A result as a JSON object."""
    marks: tuple[str, str]
    """The markers around the tools."""
    system_beside: bool
    """The instructions are beside the turns, not in the first one."""
    tools: Declaring

    @cached_property
    def _texts(self) -> Texts:
        dialect: Dialect[str] = default_registry().dialect(self.dialect)
        assert dialect.syntax is not None  # noqa: S101 - a text dialect of this package
        syntax = replace(dialect.syntax, results=self.results, result_separator=self.separator, result_json=self.result)
        written = replace(dialect, results=result_formatter(syntax, str), syntax=syntax)
        return Texts(written, syntax, self.owner, dialect.syntax)

    def read(self, value: JsonValue) -> Transcript:
        """Read a row, or its turns alone."""
        whole = row(value, self.owner)
        beside = whole.get("system")
        messages = [system_message(beside, self.owner)] if isinstance(beside, str) and beside else []
        messages.extend(read_turn(item, (f"/{TURNS}", at), self.owner) for at, item in enumerate(whole[TURNS]))
        tools: tuple[ToolDeclaration, ...] | None = None
        if messages and messages[0].role == "system":
            tools, words = self._declared(texts(messages[0].parts))
            messages[0].parts = (TextPart(words),) if words else ()
        self._understand(messages, offered(tools))
        known = {TURNS, "system"} if isinstance(beside, str) else {TURNS}
        return Transcript(tuple(messages), tools, extra=rest(whole, known, self.owner))

    def _understand(self, messages: list[Message], tools: Mapping[str, ToolDefinition]) -> None:
        """Read the calls; an illegal name in code, `Get Weather(city="Paris")`, is replaced by a legal one first."""
        answers = [message for message in messages if message.role == "assistant"]
        said = "\n".join(texts(message.parts) for message in answers)
        odd = [name for name in tools if not _NAME.fullmatch(name) and f"{name}(" in said]
        names = {code: name for at, name in enumerate(odd) if (code := f"tool_{at}_") not in said}
        if not names:
            self._texts.understand(messages, tools)
            return
        codes = {name: code for code, name in names.items()}
        for part in (part for message in answers for part in message.parts):
            if isinstance(part, TextPart):
                part.text = _renamed(part.text, codes)
        coded = {code: tools[name].model_copy(update={"name": code}) for code, name in names.items()}
        self._texts.understand(messages, {**tools, **coded})
        for part in (part for message in answers for part in message.parts):
            if isinstance(part, CallPart):
                part.name = names.get(part.name, part.name)
                part.arguments, part.text = json_at(_renamed(part.json, names)), None
            elif isinstance(part, TextPart):
                part.text = _renamed(part.text, names)

    def _declared(self, text: str) -> tuple[tuple[ToolDeclaration, ...] | None, str]:
        """Return the tools in a system text, and the text without the declarations written here."""
        before, after = self.marks
        for number, match in enumerate(_LIST.finditer(text)):
            if number == _TRIED:
                break
            try:
                value, end = jsontext.raw_value(text, match.start())
                tools = tuple(self.tools.read_list(value))
            except ParseError:
                continue
            if any(tool.kind != "function" for tool in tools):
                continue
            words = text[: match.start()].removesuffix(before)
            ends = text[match.start() - len(before) :] == f"{before}{text[match.start() : end]}{after}"
            return tools, words.removesuffix("\n\n") if ends and words[-2:] in ("", "\n\n") else text
        return None, text

    def write(self, transcript: Transcript) -> JsonObject:
        """Write a row."""
        messages = list(transcript.messages)
        leading = 0
        while leading < len(messages) and messages[leading].role in ("system", "developer"):
            leading += 1
        first = self._instructions(messages[:leading], transcript.tools)
        value: JsonObject = own(transcript.extra, self.owner)
        turns: list[JsonValue] = [first] if is_object(first) else []
        written = self._texts.written(messages[leading:], offered(transcript.tools))
        turns += [message.source if message.origin == self.owner else self._turn(message) for message in written]
        if isinstance(first, str):
            value = {"system": first, **value}
        return {**value, TURNS: turns}

    def _turn(self, message: Message) -> JsonValue:
        turns = [
            found for part in message.parts for found in (part.content if isinstance(part, ResultPart) else (part,))
        ]
        return {"from": self.names[message.role], "value": texts(turns), **own(message.extra, self.owner)}

    def _instructions(self, messages: list[Message], tools: tuple[ToolDeclaration, ...] | None) -> JsonValue:
        """Write the system text with the tools, as a turn or beside the turns; return None if there is none."""
        if len(messages) == 1 and messages[0].origin == self.owner:
            found = messages[0].source
            turns = found if isinstance(found, str) else found["value"]
            if self._declared(turns)[0] == tools:
                return found
        text = "\n\n".join(texts(message.parts) for message in messages)
        functions = self.tools.write_list(tools or ())
        if functions and self._declared(text)[0] != tools:
            listed = json_text(functions)
            text = f"{text}\n\n{listed.join(self.marks)}" if text else listed.join(self.marks)
        if not text:
            return None
        return text if self.system_beside else {"from": self.names["system"], "value": text}


def _renamed(text: str, names: Mapping[str, str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(f"{name}(", f"{names[name]}(")
    return text


def turns_of(value: JsonValue) -> list[JsonObject]:
    """List the turns of a possible row, for recognition."""
    turns = objects_in(value, TURNS)
    return [item for item in turns if isinstance(item.get("from"), str) and isinstance(item.get("value"), str)]
