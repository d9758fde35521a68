r"""Extracts from a rendered prompt what the model would have written in one turn.

    <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<tool_call>...</tool_call><|im_end|>\n
    `------------- the prompt, with what begins an answer ------------'`------ wrote ------'`-- end --'

A template writes a turn as the model should. So the answer is what its prompt lacks, without the end of every answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from toolfmt.errors import TemplateError
from toolfmt.workshop.chat_templates.answers import beginning, ending
from toolfmt.workshop.chat_templates.messages import fitted
from toolfmt.workshop.chat_templates.needs import NO_TOKENS, needs
from toolfmt.workshop.chat_templates.sandbox import SMALL, STILL, render
from toolfmt.workshop.doctor.scenarios import SAID, TOOLS, USER, answer, user

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolfmt.model import JsonObject, JsonValue

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
class Pen:
    """Renders conversations with a template, in the form that it takes."""

    source: str
    tokens: Mapping[str, str]
    variables: Mapping[str, JsonValue] = field(default_factory=dict[str, "JsonValue"])

    def write(self, messages: Sequence[JsonObject], *, tools: bool = True, prompt: bool = False) -> str:
        """Render messages; `prompt` adds what begins an answer."""
        data: JsonObject = {
            "documents": None,
            **NO_TOKENS,
            **self.tokens,
            **self.variables,
            "messages": fitted(messages, needs(self.source))[0],
            "tools": [*TOOLS] if tools else None,
            "add_generation_prompt": prompt,
        }
        return render(self.source, data, now=STILL, limits=SMALL)

    def turn(self, said: JsonObject) -> TemplateTurn:
        """Write an answer to the first question."""
        asked = [user(USER)]
        prompt, whole = self.write(asked, prompt=True), self.write([*asked, said])
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
        """Return what ends an answer of text alone."""
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
