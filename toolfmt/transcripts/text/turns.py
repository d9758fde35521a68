"""One answer of the assistant as a dialect writes it, and back into its parts.

    (ReasoningPart("One call."), TextPart("Checking."), CallPart("get_weather", {"city": "Paris"}))
    '<think>One call.</think>Checking.<tool_call>{"name": "get_weather", ...}</tool_call>'

What is written is read again at once: text that would be read as a call is made
harmless, and what the dialect cannot hold is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Final, Generic, TypeAlias, TypeVar

from pydantic import ValidationError

from toolfmt import jsontext
from toolfmt.conversation import CallPart, Part, ReasoningPart, RefusalPart, TextPart
from toolfmt.dialect.record import Dialect, ParserOptions
from toolfmt.dialect.syntax import Syntax, markers, spelled
from toolfmt.errors import RenderError
from toolfmt.events import CallEnd, CallFailed, ReasoningDelta, TextDelta
from toolfmt.formatters.untrusted import neutral
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.compiled.disarm import disarmer
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.transcripts.parts.values import argument_object

SpokenPart: TypeAlias = TextPart | ReasoningPart | CallPart
Tools: TypeAlias = Mapping[str, "ToolDefinition"]
T = TypeVar("T")
_ROOM: Final = 1 << 22
"""Characters of the texts for which is kept what was made of them."""


class Remembered(Generic[T]):
    """Keeps what was made of the texts of a conversation that grows, if it `keeps` anything."""

    def __init__(self, *, keeps: bool) -> None:
        self._keeps = keeps
        self._known: tuple[Tools, dict[Hashable, T]] = ({}, {})
        self._room = _ROOM

    def get(self, key: Hashable, tools: Tools, make: Callable[[], T]) -> T:
        """Return what `make` has made for a key with the same tools."""
        if not self._keeps:
            return make()
        offered, known = self._known
        if offered is not tools:  # so that they are compared once for many texts
            known = known if offered == tools else {}
            self._known = tools, known
        if key not in known:
            self._room -= len(str(key))
            if self._room < 0:
                self._known, self._room = (tools, known := {}), _ROOM
            known[key] = make()
        return known[key]


class Turns:
    """Reads and writes answers in one dialect; one that `keeps` them reads an answer that it is shown again once."""

    def __init__(self, dialect: Dialect[str], syntax: Syntax, *, keeps: bool = False) -> None:
        self._kept = Remembered[list[SpokenPart]](keeps=keeps)
        self._dialect = dialect
        self._syntax = syntax
        self._server = syntax.forms[0].defaults.get("server")

    @cached_property
    def _special(self) -> tuple[str, ...]:
        return markers(self._syntax)

    @cached_property
    def _grammar(self) -> CompiledSyntax:
        return CompiledSyntax(self._syntax)

    def read(self, text: str, tools: Tools) -> list[SpokenPart]:
        """Read an answer's parts in order; a call that cannot be used stays the text that it is."""
        parts = self._kept.get(text, tools, lambda: self._read(text, tools))
        return [replace(part) for part in parts]

    def _read(self, text: str, tools: Tools) -> list[SpokenPart]:
        parser = self._dialect.open_parser(ParserOptions(tools=tools))
        parts: list[SpokenPart] = []
        end = 0  # of the text so far: a blank before a call that is none is text again
        for event in (*parser.feed(text), *parser.close()):
            match event:
                case TextDelta(content, start):
                    _extend(parts, TextPart, content)
                    end = start + len(content)
                case CallFailed(raw=raw, span=(start, _)):
                    _extend(parts, TextPart, text[end:start] + raw if text[end:start].isspace() else raw)
                case ReasoningDelta(content, _):
                    _extend(parts, ReasoningPart, content)
                case CallEnd(_, call):
                    made = CallPart.of(call)
                    made.namespace = None if call.server == self._server else call.server
                    parts.append(made)
                case _:
                    pass
        return parts

    def write(self, parts: Sequence[Part], tools: Tools) -> tuple[str, list[CallPart | None]]:
        """Write an answer; beside it, for each of its calls, the call as it is read back, or None if it is left out."""
        content = self._sayable(parts)
        calls = [part for part in content if isinstance(part, CallPart)]
        fine = self._writable(calls, tools) if calls else {}
        content = [part for part in content if not isinstance(part, CallPart) or id(part) in fine]
        text, back = self._said(content, fine, tools)
        left = iter([part for part in back if isinstance(part, CallPart)])
        return text, [next(left, None) if id(call) in fine else None for call in calls]

    def _sayable(self, parts: Sequence[Part]) -> list[SpokenPart]:
        thinks = bool(self._syntax.reasoning)
        return [
            TextPart(part.text) if isinstance(part, RefusalPart) else part
            for part in parts
            if isinstance(part, (TextPart, CallPart, RefusalPart))
            or (isinstance(part, ReasoningPart) and thinks and part.text)
        ]

    def _said(
        self, content: list[SpokenPart], fine: dict[int, ToolInvocation], tools: Tools
    ) -> tuple[str, list[SpokenPart]]:
        for attempt, glue in self._attempts(content):
            try:
                text = glue.join(self._pieces(attempt, fine, tools))
            except RenderError:
                continue
            back = self.read(text, tools)
            if _same(back, attempt, fine, loose=bool(glue)):
                return text, back
        return "", []

    def _attempts(self, content: list[SpokenPart]) -> Iterator[tuple[list[SpokenPart], str]]:
        """Return the forms in which a message can be written, the most complete first."""
        yield content, ""
        yield content, "\n"
        spoken: list[SpokenPart] = [part for part in content if not isinstance(part, ReasoningPart)]
        yield spoken, ""
        harmless: list[SpokenPart] = [self._harmless(part) if isinstance(part, TextPart) else part for part in spoken]
        yield harmless, "\n"
        yield [part for part in spoken if isinstance(part, CallPart)], ""
        yield [part for part in harmless if isinstance(part, TextPart)], ""

    def _harmless(self, part: TextPart) -> TextPart:
        text = neutral(part.text, self._special)
        return TextPart(disarmer(self._grammar)(text) if self._syntax.bare else text)

    def _pieces(self, content: Sequence[SpokenPart], fine: dict[int, ToolInvocation], tools: Tools) -> Iterator[str]:
        for kind, run in groupby(content, key=type):
            if kind is CallPart:
                yield self._dialect.calls([fine[id(part)] for part in run], tools)
                continue
            text = "".join(part.text or "" for part in run)
            opener, closer = map(spelled, self._syntax.reasoning[0]) if kind is ReasoningPart else ("", "")
            # The white space of an opener is soft: written twice it would be read as the text's.
            yield f"{opener.rstrip() if text[:1].isspace() else opener}{text}{closer}"

    def _writable(self, calls: list[CallPart], tools: Tools) -> dict[int, ToolInvocation]:
        """Find the calls that the dialect can hold; where it can't hold them together, that is the first."""
        found = {id(part): call for part in calls if (call := self._one(part, tools)) is not None}
        if len(found) < 2 or self._holds([*found.values()], tools):  # noqa: PLR2004 - one call was tried already
            return found
        return dict([next(iter(found.items()))])

    def _one(self, part: CallPart, tools: Tools) -> ToolInvocation | None:
        """Make a call that can be written: with its id, or where the id does not fit, with the dialect's own."""
        traits = self._dialect.traits
        try:
            call = ToolInvocation(
                name=part.name,
                arguments=argument_object(part),
                id=part.id if traits.carries_ids else None,
                server=part.namespace if traits.carries_server else None,
            )
        except ValidationError:
            return None
        for candidate in (call, call.model_copy(update={"id": None})):
            if self._holds([candidate], tools):
                return candidate
        return None

    def _holds(self, calls: list[ToolInvocation], tools: Tools) -> bool:
        try:
            return bool(self._dialect.calls(calls, tools))
        except RenderError:
            return False


def _extend(parts: list[SpokenPart], kind: type[TextPart | ReasoningPart], text: str) -> None:
    last = parts[-1] if parts else None
    if isinstance(last, kind):
        last.text += text
    elif text:
        parts.append(kind(text))


def _same(back: list[SpokenPart], content: list[SpokenPart], fine: dict[int, ToolInvocation], *, loose: bool) -> bool:
    wanted: list[SpokenPart] = []
    for part in content:
        if isinstance(part, CallPart):
            wanted.append(part)
        else:
            _extend(wanted, type(part), part.text)
    if loose:
        back = [part for part in back if isinstance(part, CallPart) or part.text.strip()]
        wanted = [part for part in wanted if isinstance(part, CallPart) or part.text.strip()]
    return len(back) == len(wanted) and all(_agree(a, b, fine, loose=loose) for a, b in zip(back, wanted, strict=True))


def _agree(back: SpokenPart, wanted: SpokenPart, fine: dict[int, ToolInvocation], *, loose: bool) -> bool:
    if isinstance(back, CallPart) and isinstance(wanted, CallPart):
        call = fine[id(wanted)]
        return back.name == call.name and jsontext.equal(back.arguments, call.arguments)
    if isinstance(back, CallPart) or isinstance(wanted, CallPart) or type(back) is not type(wanted):
        return False
    return back.text.strip() == wanted.text.strip() if loose else back.text == wanted.text
