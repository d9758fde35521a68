"""Mends broken calls on request, with a notice for each.

A failed call's text is mended and read again in the same dialect. The failure stays in the events; the mended
call follows with its own index and a `repaired` notice that describes the change. If what follows a
slip does not leave exactly one reading, there is no call.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from toolfmt import jsontext
from toolfmt.dialect.record import Parser
from toolfmt.dialect.syntax import BODY_SLOTS, Form, Syntax, markers, spelled
from toolfmt.events import ArgumentsDelta, CallEnd, CallFailed, CallStart, Event, Notice, ReasoningDelta, TextDelta
from toolfmt.jsontext import is_object
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.bodies.by_schema import may_belong_outside
from toolfmt.parsers.driving import PassingParser
from toolfmt.parsers.mending.mend_json import SINGLE, JsonMender, single_braces
from toolfmt.parsers.mending.mend_literals import LiteralMender
from toolfmt.parsers.mending.mend_tags import Mend, TagMender
from toolfmt.schema import accepts, declares, property_names

_MOST = 100_000
"""The longest call, in characters, that is mended."""
_WORK, _SETUP = 4_000_000, 200
"""The largest number of characters read again in one answer, and the cost of opening a parser in characters."""
_REASONS = frozenset({"truncated", "malformed"})
_FENCE = re.compile(r"(?<!\s)\s*+`{3}(?:json|tool_call|tool_code|python|xml)?\s*+\Z")
_TAG = re.compile(r"<[^<>]{1,256}>")
_QUOTED = re.compile(r"[\"'“]").search
_EMPTY = re.compile(r"\{\s*\}").search
"""What a call without arguments contains; a call that lost its arguments is not mended."""
_REST = re.compile(r"[\s\]});,`>]+")


class RepairingParser(PassingParser):
    """Wraps a parser and tries to mend each call that failed because of how it is written."""

    def __init__(
        self,
        parser: Parser[str],
        reopen: Callable[[], Parser[str]],
        syntax: Syntax | None,
        tools: Mapping[str, ToolDefinition],
    ) -> None:
        """Mend the failures of `parser`; `reopen` opens a new parser of the same dialect."""
        super().__init__(parser)
        self._read = reopen
        self._mender = _Mender(syntax, tools) if syntax is not None else None
        self._extra = 0
        self._left = _WORK

    def _passed(self, events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            moved = event
            if self._extra and isinstance(event, CallStart | ArgumentsDelta | CallEnd | CallFailed):
                moved = replace(event, index=event.index + self._extra)
            out.append(moved)
            if isinstance(moved, CallFailed) and moved.reason in _REASONS and len(moved.raw) <= _MOST:
                out.extend(self._again(moved))
        return out

    def _again(self, failure: CallFailed) -> list[Event]:
        """Mend a failed call if the likeliest readable texts give the same calls."""
        if self._mender is None or self._calls(failure.raw, failure.raw):
            return []  # a text that can be read unchanged failed because of its surroundings: it may be quoted
        known = self._mender.known(failure.name)
        for group in self._mender.texts(failure.raw):
            found: tuple[list[Event], str] | None = None
            for mend in group:
                events = self._calls(mend.text, failure.raw)
                if found is not None and events and _called(events) != _called(found[0]):
                    return []
                if mend.alone and len(_called(events)) > 1:
                    return []
                if known and events and _called(events)[0].name != failure.name:
                    return []  # a call that this one quotes
                if events and found is None:
                    found = events, mend.slip
            if found is not None:
                notice = Notice("repaired", f"{failure.reason}: {found[1]}", failure.span)
                return [notice, *self._numbered(found[0], failure)]
        return []

    def _calls(self, text: str, raw: str) -> list[Event]:
        """Read a text; return no events unless it consists only of calls that fit their tools."""
        self._left -= len(text) + _SETUP
        if self._left < 0 or self._mender is None:
            return []
        parser = self._read()
        events = [*parser.feed(text), *parser.close()]
        calls = [event.call for event in events if isinstance(event, CallEnd)]
        lost = any(
            isinstance(event, CallFailed)
            or (isinstance(event, TextDelta | ReasoningDelta) and event.text.strip())
            or (isinstance(event, Notice) and event.kind == "ambiguous_closer")
            for event in events
        )
        empty = any(not call.arguments for call in calls) and not _EMPTY(raw)
        fits = all(self._mender.fits(call, raw) for call in calls)
        again = any(_begins(one, other) for one, other in itertools.pairwise(calls))
        return events if calls and not (lost or empty or again) and fits else []

    def _numbered(self, events: list[Event], failure: CallFailed) -> Iterator[Event]:
        for event in events:
            if isinstance(event, CallStart | ArgumentsDelta):
                yield replace(event, index=failure.index + 1 + event.index)
            elif isinstance(event, CallEnd):
                self._extra += 1
                call = event.call.model_copy(update={"certainty": "guessed"})
                yield CallEnd(failure.index + 1 + event.index, call, failure.span)


_WIDE = re.compile("[\uff1c\uff1e\uff0f\uff02\uff07]").search
"""Marks of full width, which were meant as marks of the format and are in a value of a mended call."""


class _Mender:
    """Generates the texts that a dialect's broken call may have been meant as."""

    def __init__(self, syntax: Syntax, tools: Mapping[str, ToolDefinition]) -> None:
        self._tools = tools
        self._marker = re.compile("|".join(map(re.escape, markers(syntax))) or r"(?!)")
        self._keys = {key for tool in tools.values() for key in property_names(tool.parameters)}
        self._outer = {key for form in syntax.forms for key in _template_keys(form)}
        self._keys |= self._outer
        self._tags = TagMender(syntax.forms[0], tools.values())
        self._literals = LiteralMender(syntax.forms, self._keys) if tools else None
        self._frames = list(dict.fromkeys(frame for form in syntax.forms if (frame := _frame(form)) is not None))

    def known(self, name: str) -> bool:
        """Whether a tool of this name is offered."""
        return name in self._tools

    def fits(self, call: ToolInvocation, raw: str) -> bool:
        """Whether a call is of an offered tool, with only its arguments, and no tag or other argument inside one."""
        if (
            _WIDE(jsontext.dumps(call.arguments))
            or self._tags.holds(call.arguments)
            or self._tags.closes_after_tag(call.arguments, raw)
        ):
            return False
        if not self._tools:
            return True
        tool = self._tools.get(call.name)
        if tool is None:
            return False
        named = any(True for _ in property_names(tool.parameters))
        fitting = not named or all(declares(tool.parameters, key) for key in call.arguments)
        return fitting and not may_belong_outside(call.arguments, tool.parameters) and _valid(tool, call)

    def texts(self, raw: str) -> Iterator[list[Mend]]:
        """Yield the texts in groups, the likelier groups first."""
        if self._frames:
            if (text := single_braces(raw)) != raw:
                yield [Mend(text, SINGLE)]
            yield from ([mend] for mend in self._json(raw))
        yield from self._tags.mends(raw)
        if self._literals is not None:
            yield from self._literals.mends(raw)

    def _json(self, raw: str) -> Iterator[Mend]:
        at = raw.find("{")
        if at < 0:
            return
        before = raw[:at].rstrip()
        if _QUOTED(_TAG.sub("", before)):
            return  # the bracket is part of a string
        if before.endswith("[") and not before.endswith("[["):
            at = len(before) - 1  # the object is in a list that was cut off with it
        found = JsonMender(raw, at, self._marker, self._keys, self._outer, only=bool(self._tools)).mended()
        if found is None:
            return
        slips = "; ".join(found.slips)
        yield Mend(raw[:at] + found.text + raw[found.end :], slips)
        head = _FENCE.sub("\n", raw[:at])
        if head != raw[:at]:
            slips = "; ".join([*found.slips, "remove the code fence"])
        if _REST.sub("", self._marker.sub("", raw[found.end :])):
            return
        for opener, closer in self._frames:
            yield Mend(head + found.text + closer, slips)
            if opener:
                yield Mend(opener + found.text + closer, slips)


def _valid(tool: ToolDefinition, call: ToolInvocation) -> bool:
    return accepts(tool, call.arguments, unusable=True)  # such a schema decides nothing


def _begins(one: ToolInvocation, other: ToolInvocation) -> bool:
    """Whether a call is the beginning of the next one, so that it was given up."""
    shared = other.arguments
    kept = all(key in shared and str(shared[key]).startswith(_cut(value)) for key, value in one.arguments.items())
    return one.name == other.name and kept


def _cut(value: object) -> str:
    return str(value).rstrip(" \t\r\n.")


def _called(events: list[Event]) -> list[ToolInvocation]:
    return [event.call for event in events if isinstance(event, CallEnd)]


def _template_keys(form: Form) -> Iterator[str]:
    """Yield the keys of a call that is a JSON object."""
    json = form.json
    stack: list[object] = [json.template, *json.accepts, *json.slips] if json is not None else []
    while stack:
        node = stack.pop()
        if is_object(node):
            yield from (key for key in node if key.isidentifier())
            stack.extend(node.values())


def _frame(form: Form) -> tuple[str, str] | None:
    """Return the text before and after a call's JSON; nothing before it if that contains the name."""
    whole = form.section.replace("{calls}", form.call)
    slot = next((slot for slot in BODY_SLOTS & {"call", "args"} if f"{{{slot}}}" in whole), None)
    if slot is None or form.literals is not None:
        return None
    opener, _, closer = whole.partition(f"{{{slot}}}")
    brackets = ("[", "]") if form.array else ("", "")
    return opener + brackets[0] if slot == "call" else "", brackets[1] + spelled(closer.replace("{payload}", ""))
