r"""Renders known answers with a chat template: the material from which its format is recognised or inferred.

    answers("...", {"eos_token": "<|im_end|>"}).one.text
    # '<tool_call>\n{"name": "probe_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>'

Small conversations that differ only in the answer are rendered. What follows the conversation before it, without what
begins and ends every turn, is what the model writes. Names, values and the number of calls vary.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Final

from toolfmt import jsontext
from toolfmt.errors import TemplateError
from toolfmt.formatters.json_schemas import openai_tool
from toolfmt.model import JsonObject, JsonValue, ToolDefinition, ToolInvocation
from toolfmt.workshop.chat_templates.needs import NO_CONTENT, NO_TOKENS, needs
from toolfmt.workshop.chat_templates.sandbox import SMALL, STILL, render

ANSWER: Final = "§ probe answer §"
_THOUGHT: Final = "§ probe thought §"
_ASKED: Final = "probe question"
_GAVE: Final = "probe result"
NAMED_ID: Final = "functions.{name}:{index}"
_IDS: Final = ("probe00{number}", NAMED_ID, "{index}")
"""Ids of calls, in the order in which they are tried: some templates write the tool's name only from the id."""
_PROPERTIES: Final[JsonObject] = {
    "city": {"type": "string", "description": "Where."},
    "days": {"type": "integer", "description": "How many."},
    "speed": {"type": "number", "description": "How fast."},
    "exact": {"type": "boolean", "description": "Whether."},
    "stops": {"type": "array", "items": {"type": "string"}, "description": "A list."},
    "options": {"type": "object", "properties": {"mode": {"type": "string"}}, "description": "An object."},
}


def _tools(properties: JsonObject) -> tuple[ToolDefinition, ...]:
    schema: JsonObject = {"type": "object", "properties": properties, "required": []}
    names = ("probe_weather", "find_route")
    return tuple(ToolDefinition(name=name, description=f"The tool {name}.", parameters=schema) for name in names)


TOOLS: Final = _tools(_PROPERTIES)
PLAIN_TOOLS: Final = _tools({"city": _PROPERTIES["city"]})
_ONE: Final = ToolInvocation(name="probe_weather", arguments={"city": "Paris", "days": 3})
_OTHER: Final = ToolInvocation(name="find_route", arguments={"speed": 2.5, "city": "New York", "exact": True})
_NESTED: Final = ToolInvocation(
    name="find_route", arguments={"stops": ["Bonn", "Rome"], "options": {"mode": "walk"}, "city": "Oslo"}
)
_EMPTY: Final = ToolInvocation(name="probe_weather", arguments={})
_CUT_MARKER: Final = re.compile(r"[<\[][^<>\[\]]*\Z")
_CUT_WORD: Final = re.compile(r"(?<![^>\]\s])[^>\]\s]+\Z")
LONGEST: Final = 4096
"""Characters of an answer; the known ones take some hundred."""
_MARKER_BEGINS: Final = re.compile(r"[<\[\]\n][\s\S]*")
_MARKUP: Final = ToolInvocation(name="probe_weather", arguments={"city": "Paris & <b>Rome</b>"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateAnswer:
    """One answer as the template writes it, without what begins and ends every turn."""

    text: str
    calls: tuple[ToolInvocation, ...] = ()
    heads: tuple[str, ...] = ("",)
    """What may be the beginning of the turn: the text without any one of these is the answer."""
    tail: str = ""
    """What the template writes at the end of every answer; not part of the text."""

    def bodies(self) -> list[str]:
        """Return the answer from each possible beginning, the likeliest first."""
        return [self.text[len(head) :] for head in self.heads]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What a template writes for each kind of answer; None if it fails or omits the calls."""

    one: TemplateAnswer | None
    other: TemplateAnswer | None
    two: TemplateAnswer | None
    nested: TemplateAnswer | None
    empty: TemplateAnswer | None
    markup: TemplateAnswer | None
    """A call with markup in an argument."""
    thought: tuple[str, str] | None = None
    """What is before reasoning, and between it and the text."""
    wrapper: str = ""
    """What is before a text, after what begins every turn."""
    results: str = ""
    """What it writes for the result of a call."""
    shown: str = ""
    """What it writes for the tools."""
    problem: str = ""
    """Why there are no calls."""

    def with_calls(self) -> list[TemplateAnswer]:
        """Return the answers with calls, the most informative first."""
        return [answer for answer in (self.one, self.other, self.two, self.nested, self.empty) if answer is not None]


def beginning(*texts: str) -> str:
    """Return what all texts begin with."""
    return commonprefix(texts)  # noqa: RUF071 - of texts, not of paths


def ending(*texts: str) -> str:
    """Return what all texts end with."""
    return beginning(*(text[::-1] for text in texts))[::-1]


def answers(source: str, tokens: Mapping[str, str]) -> Answers:
    """Render a template's answers. Raises `TemplateError` if not even a plain answer comes out."""
    return _Probe(source, tokens).answers()


class _Probe:
    def __init__(self, source: str, tokens: Mapping[str, str]) -> None:
        self._source = source
        self._tokens: JsonObject = {**NO_TOKENS, **tokens}
        self._needs = needs(source)
        self._problem = ""
        self._ends = [token for name, token in tokens.items() if name.startswith("eo") and token]
        self._tools = TOOLS

    def answers(self) -> Answers:
        written = self._written()
        before = self._render([_USER])
        self._prompt = self._tried([_USER], prompt=True) or before
        self._before = before if written.startswith(before) else beginning(before, written)
        at = written.find(ANSWER)
        if at < 0:
            raise TemplateError("the chat template leaves out the words of the assistant")
        self._head, self._tail = written[:at], written[at + len(ANSWER) :]
        plain = self._tried([_USER], tools=False) or before
        wrapper = self._head.removeprefix(self._prompt) if self._head.startswith(self._prompt) else ""
        return Answers(
            wrapper=wrapper,
            one=self._calls(_ONE),
            other=self._calls(_OTHER),
            two=self._calls(_ONE, _OTHER),
            nested=self._calls(_NESTED),
            empty=self._calls(_EMPTY),
            markup=self._calls(_MARKUP),
            thought=self._thought(),
            results=self._results(),
            shown=before if plain != before else "",
            problem=self._problem,
        )

    def _written(self) -> str:
        """Render a plain answer; some templates can only write tools with plain parameters."""
        messages: list[JsonObject] = [_USER, {"role": "assistant", "content": ANSWER}]
        try:
            return self._render(messages)
        except TemplateError:
            self._tools = PLAIN_TOOLS
            return self._render(messages)

    def _calls(self, *calls: ToolInvocation) -> TemplateAnswer | None:
        """Render an answer of calls, with the first kind of ids that shows their names."""
        for pattern in _IDS:
            text = self._tried([_USER, self._message(calls, pattern)])
            written = (text or "")[len(self._before) :]
            if text is None or not all(word in written for call in calls for word in (call.name, *call.arguments)):
                continue
            if len(written) > LONGEST:
                self._problem = f"an answer of more than {LONGEST} characters"
                return None
            return self._cut(text, _with_ids(calls, pattern))
        return None

    def _cut(self, text: str, calls: tuple[ToolInvocation, ...]) -> TemplateAnswer:
        start = len(beginning(self._before, text))
        text = text[start:].rstrip()
        tail = _MARKER_BEGINS.search(ending(self._tail.rstrip(), text))
        ends = [tail.group() if tail is not None else "", *self._ends]
        end = next((end for end in ends if end.strip() and text.endswith(end)), "")
        text = text.removesuffix(end).rstrip()
        shared = beginning(self._head[start:], text)
        likely = {self._prompt[start:], self._head[start:], _CUT_WORD.sub("", _CUT_MARKER.sub("", shared)), ""}
        heads = tuple(sorted((head for head in likely if text.startswith(head)), key=len, reverse=True))
        return TemplateAnswer(text=text, calls=calls, heads=heads, tail=end.strip())

    def _thought(self) -> tuple[str, str] | None:
        """Find what is around reasoning, if the template writes it for the last answer."""
        keys = dict.fromkeys(("reasoning_content", "thinking", "reasoning"), _THOUGHT)
        text = self._tried([_USER, {"role": "assistant", "content": ANSWER, **keys}]) or ""
        at, after = text.find(_THOUGHT), text.find(ANSWER)
        if not 0 <= at < after or len(text) - len(self._before) > LONGEST:
            return None
        before = text[len(beginning(self._before, text)) : at]
        shared = beginning(self._prompt[len(self._before) :], before)
        turn = beginning(self._head[len(self._before) :], before)
        opener = before[len(_CUT_MARKER.sub("", min(shared, turn, key=len))) :]
        return opener, text[at + len(_THOUGHT) : after]

    def _results(self) -> str:
        """Render the result of a call, from the end of the call on."""
        for pattern in _IDS:
            asked = [_USER, self._message([_ONE], pattern)]
            before = self._tried(asked)
            result: JsonObject = {"role": "tool", "name": _ONE.name, "content": _GAVE}
            text = self._tried([*asked, {**result, "tool_call_id": _id(pattern, _ONE, 0)}])
            if text is not None and before is not None and _GAVE in text:
                return text[len(beginning(before, text)) :]
        return ""

    def _message(self, calls: Sequence[ToolInvocation], pattern: str) -> JsonObject:
        write = jsontext.dumps if self._needs.arguments == "text" else dict
        written: list[JsonValue] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": write(call.arguments)}}
            for call in _with_ids(calls, pattern)
        ]
        return {"role": "assistant", **NO_CONTENT[self._needs.no_content], "tool_calls": written}

    def _tried(self, messages: list[JsonObject], *, prompt: bool = False, tools: bool = True) -> str | None:
        try:
            return self._render(messages, prompt=prompt, tools=tools)
        except TemplateError as error:
            self._problem = str(error)
            return None

    def _render(self, messages: list[JsonObject], *, prompt: bool = False, tools: bool = True) -> str:
        declared: list[JsonValue] = [openai_tool(one) for one in (self._tools if tools else ())]
        variables: JsonObject = {"messages": messages, "tools": declared or None, "add_generation_prompt": prompt}
        return render(self._source, {**self._tokens, **variables}, now=STILL, limits=SMALL)


_USER: Final[JsonObject] = {"role": "user", "content": _ASKED}


def _id(pattern: str, call: ToolInvocation, index: int) -> str:
    return pattern.format(name=call.name, index=index, number=f"{index + 1:02}"[-2:])


def _with_ids(calls: Sequence[ToolInvocation], pattern: str) -> tuple[ToolInvocation, ...]:
    return tuple(call.model_copy(update={"id": _id(pattern, call, at)}) for at, call in enumerate(calls))
