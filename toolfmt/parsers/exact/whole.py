r"""A fast path for whole answers that hold only plain text and exactly written calls.

    Let me look.\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>

Most answers hold nothing else, and most of a grammar's cost comes from being able to wait for more text. An
answer with anything else, such as a quotation, is read by the grammar from its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolfmt.dialect.record import Parser, ParserOptions
from toolfmt.dialect.syntax import template_slots
from toolfmt.events import ArgumentsDelta, CallEnd, CallStart, Event, TextDelta
from toolfmt.model import ToolDefinition
from toolfmt.parsers.bodies.late_arguments import may_go_on
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.compiled.sections import FormGrammar, Section, with_and_without
from toolfmt.parsers.driving import has_ended
from toolfmt.parsers.exact.text_before import inside_code, line_of, opens_markup, opens_string
from toolfmt.parsers.exact.written import SPACE, NotAtOnce, ReadCall, WrittenForm, as_written
from toolfmt.parsers.scanning.cursor import WHITE
from toolfmt.parsers.scanning.surroundings import QUOTATION_MARKS, may_quote
from toolfmt.schema import problems

if TYPE_CHECKING:
    import regex

_LIST = re.compile(rf"{SPACE}\[").match
_NEXT = re.compile(rf"{SPACE}([,\]])").match
_GOES_ON = re.compile(rf"{SPACE}[,\"}}\]<{{\[]|[ \t]*\S").match
"""What may continue a call without a closing marker: anything on its line, an argument, an object or a bracket."""
_SURPLUS = re.compile(rf"{SPACE}[}}\]<]").match
"""A surplus bracket or another marker after calls that a bracket closes."""
_MARKS = re.compile(f"[`~>{QUOTATION_MARKS}]").search
"""Characters that a text contains if it may quote a call."""


class WrittenSection:
    """The calls of one form, with the markers around them if there are any."""

    def __init__(self, compiled: FormGrammar, rivals: Sequence[regex.Pattern[str]], *, unmarked: bool = False) -> None:
        """Compile a section; `rivals` are patterns that take precedence over a call of the form."""
        data, form = compiled.form, WrittenForm(compiled, bare=compiled.form.bare or unmarked)
        if unmarked and "id" in template_slots(data):
            raise NotAtOnce
        closing = with_and_without(data.section.partition("{calls}")[2])[0]
        between = ";" if unmarked else data.separator.strip()
        self._between = (
            re.compile(SPACE + re.escape(between)).match if between in {",", ";"} and not data.array else None
        )
        self.bare, self._unmarked = data.bare or unmarked, unmarked
        fenced = closing.lstrip().startswith("`")  # a fence may also begin the next call
        if "{" in closing or fenced or (data.array and data.call != "{call}"):
            raise NotAtOnce
        endless = compiled.endless or (compiled.literals is not None and not closing.strip())
        self._goes_on = _GOES_ON if endless else None
        self._form, self._listed = form, data.array
        self._one = compiled.body == "call" and data.each and bool(closing.strip())
        self._rivals = rivals
        self._closer = re.compile(SPACE + as_written(closing.strip())).match if closing.strip() else None
        self._early = None if not closing.strip() or form.begins_with(closing.strip()[0]) else self._closer
        """Matches the closer of the calls, unless a call may begin like it."""
        self.open = self._closer is None
        """Whether no closer ends the calls, so that after each one the next may follow."""

    def read(self, text: str, start: int, at: int, options: ParserOptions, events: list[Event], index: int) -> int:  # noqa: PLR0913, PLR0917 - a place
        """Read the section at `start`, its first call at `at` with this `index`; return its end, or -1 if in doubt."""
        calls: list[ReadCall] = []
        at = self._calls(text, at, options, calls)
        if at < 0 or not calls or (self._one and len(calls) > 1):
            return -1
        if self._closer is not None:
            closed = self._closer(text, at)
            if closed is None:
                return -1
            at = closed.end()
        limits, tools, (called, _, _) = options.limits, options.tools, calls[-1]
        more = self._goes_on is not None and self._goes_on(text, at)
        if more or may_go_on(text, at, called.arguments, tools.get(called.name)):
            return -1
        if self.bare and tools and any(call.name not in tools for call, _, _ in calls):
            return -1
        if index + len(calls) > limits.calls or at - start > limits.call_chars:
            return -1
        last = None if self._listed and not self._unmarked else calls[-1]
        for one in calls:
            call, early, end = one
            end = at if one is last else end
            written = str(call.raw_arguments)
            events += (
                CallStart(index, call.name, early),
                ArgumentsDelta(index, written),
                CallEnd(index, call, (start, end)),
            )
            start, index = end, index + 1
        return at

    def _calls(self, text: str, at: int, options: ParserOptions, calls: list[ReadCall]) -> int:
        """Read the calls at `at` into `calls` and return where they end, or -1."""
        if self._listed:
            begun = _LIST(text, at)
            if begun is None:
                return -1
            at = begun.end()
        more = True
        while more and not (calls and (at == len(text) or (self._early is not None and self._early(text, at)))):
            if self._rivals and any(rival.match(text, at, partial=True) for rival in self._rivals):
                break
            gap = self._between(text, at) if self._between is not None and calls else None
            if self._unmarked and calls and gap is None and not self._listed:
                break
            call = self._form.read(text, at if gap is None else gap.end(), options)
            if call is None and gap is not None:
                return -1
            after = _NEXT(text, call[2]) if call is not None and self._listed else None
            if call is None or (self._listed and after is None):
                break
            calls.append(call)
            more, at = (True, call[2]) if after is None else (after[1] == ",", after.end())
        return -1 if self._listed and more else at


class WholeReader:
    """Reads whole answers of one grammar; shared by all its parsers."""

    def __init__(self, grammar: CompiledSyntax) -> None:
        """Compile the fast patterns of `grammar`."""
        self.grammar = grammar
        syntax = grammar.syntax
        self.reads = not (syntax.lines or syntax.starts_in_reasoning or syntax.unclaimed == "hidden")
        """Whether the format allows the fast path at all."""
        self._first = grammar.first.search
        self._marker = grammar.marker.match
        self._strips, self._drops = grammar.opens[0], grammar.ends[0]
        self._leading = {opener.strip()[:1] for opener, _ in syntax.leading}
        quotes = {quote for form in syntax.forms if form.literals for quote in form.literals.quotes if len(quote) > 1}
        self._values = [*quotes, *(start for one in grammar.elements for start in one.value_starts)]
        self._sections = dict(_written(grammar)) if self.reads and not syntax.ends_after_calls else {}

    def read(self, text: str, options: ParserOptions) -> list[Event] | None:
        """Read an answer; return None if the grammar has to read it."""
        begins = text.lstrip()[:1] in self._leading and self.grammar.leading.may_begin(text)
        if begins or options.reasoning_open or len(text) > options.limits.call_chars:
            return None
        events: list[Event] = []
        at, here, calls, strips = 0, len(text), 0, self._strips
        while at < here:
            first = self._first(text, at)
            start = here if first is None else first.start()
            found = None if first is None else self._marker(text, start)
            known = None if found is None else self._sections.get(str(found.lastgroup))
            if first is not None and known is None:
                return None
            if start > at:
                said = text[at:start]
                if known is not None and self._doubtful(said, known[0], bare=known[1].bare):
                    return None
                if body := said.rstrip(WHITE):
                    said = body if self._drops and known is not None else said
                    body = said.lstrip(WHITE) if strips else said
                    events.append(TextDelta(body, at + len(said) - len(body)))
                    strips = False
            if known is None or found is None:
                break
            section, written, rival = known
            if rival is not None and rival.match(text, start, partial=True):
                return None
            size = len(events)
            at = written.read(text, start, found.end() if section.opener else start, options, events, calls)
            if at < 0 or _is_unfinished(section, written, text, at, here):
                return None
            calls += (len(events) - size) // 3  # a call has three events
        return events

    def _doubtful(self, text: str, section: Section, *, bare: bool) -> bool:
        """Whether this text may quote the call after it, or the call may be part of something else."""
        if _MARKS(text) and (may_quote(text) or opens_string(text)):
            return True
        if any(map(text.__contains__, self._values)):
            return True
        return (bare and bool(opens_markup(text))) or (section.bare and inside_code(line_of(text)))


def _is_unfinished(section: Section, written: WrittenSection, text: str, at: int, end: int) -> bool:
    """Whether the text after the calls, up to `end`, may belong to them."""
    if _SURPLUS(text, at) and section.bracketed:
        return True
    return written.open and at < end and any(one.match(text, at, partial=True) for one in section.next)


def _written(
    grammar: CompiledSyntax,
) -> Iterator[tuple[str, tuple[Section, WrittenSection, regex.Pattern[str] | None]]]:
    """The sections whose calls are read at once: for the group of each opening marker, its reader."""
    for number, section in enumerate(grammar.sections):
        compiled = section.forms[0]
        unmarked = compiled.body == "call" and compiled.head is None and not section.opener
        before = next(at for at, pattern in enumerate(section.next) if "f0" in pattern.groupindex)
        try:
            written = WrittenSection(compiled, () if unmarked else section.next[:before], unmarked=unmarked)
        except NotAtOnce:
            continue
        group = f"s{number}" if section.opener else "bare" if unmarked else f"c{number}_0"
        yield group, (section, written, grammar.earlier(group))


def fits_tools(events: list[Event], tools: Mapping[str, ToolDefinition], *, validate: bool) -> bool:
    """Whether all calls are of the offered tools, if there are any, and have valid arguments, if that is asked."""
    for event in events if tools else ():
        if isinstance(event, CallEnd):
            tool = tools.get(event.call.name)
            if tool is None or (validate and problems(tool, event.call.arguments)):
                return False
    return bool(tools) or not validate  # of an empty list no tool is called


class WholeParser:
    """Parses an answer that is passed in one piece."""

    def __init__(self, reader: WholeReader, options: ParserOptions, opened: Callable[[], Parser[str]]) -> None:
        """Read with `reader`, or with the parser that `opened` returns if `reader` cannot."""
        self._reader, self._options, self._opened = reader, options, opened
        self._parser: Parser[str] | None = None
        self._events: list[Event] | None = None
        self._tried = False

    def read(self, chunk: str) -> list[Event] | None:
        """Try the fast path on the answer that `feed` would get; return None if the grammar has to read it."""
        if not self._tried:
            self._events, self._tried = self._reader.read(chunk, self._options), True
        return self._events

    @property
    def ended(self) -> bool:
        """Whether the answer's own markers have ended it."""
        return self._parser is not None and has_ended(self._parser)

    def feed(self, chunk: str) -> list[Event]:
        """Read the answer."""
        self.read(chunk)
        events, self._events, self._tried = self._events, None, False
        if events is None:
            self._parser = self._opened()
            events = self._parser.feed(chunk)
        return events

    def close(self) -> list[Event]:
        """Finish reading and return the remaining events."""
        return [] if self._parser is None else self._parser.close()
