"""The reader of text dialects: text, reasoning and calls, separated by their markers.

    Let me look.<tool_call>{"name": "f", "arguments": {}}</tool_call>
    ^ text      ^ section  ^ the body decides where it ends

One machine for every syntax. It holds back only what may still become a marker,
and knows no dialect: everything comes from the compiled grammar.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from toolfmt.dialect.record import ParserOptions
from toolfmt.model import JsonObject
from toolfmt.parsers.bodies.claims import no_call_follows
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.compiled.sections import FormGrammar, Section
from toolfmt.parsers.driving import GrammarDriver
from toolfmt.parsers.exact.text_before import TextBefore
from toolfmt.parsers.reading.bare import BareReader
from toolfmt.parsers.reading.calls import CallReader
from toolfmt.parsers.reading.quotations import QUOTES, Quotations
from toolfmt.parsers.reading.recovering import Recovery
from toolfmt.parsers.reading.skipping import Skipper
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import cut_off, first_match, match_first, match_next, search_on
from toolfmt.parsers.scanning.sink import Draft, Sink

if TYPE_CHECKING:
    import regex


class TextParser(GrammarDriver):
    """Parses one answer of a text dialect, in any number of pieces."""

    _around: int | None = None  # the kind of reasoning block around a real call
    _before = ""  # the character before the section's marker
    _stopped = False

    def __init__(self, grammar: CompiledSyntax, options: ParserOptions) -> None:
        self._grammar = grammar
        cur, sink = Cursor(), Sink(options, grammar.opens, grammar.ends, hides=grammar.syntax.unclaimed == "hidden")
        self._passed = TextBefore(grammar, options.tools)
        self._recovery = Recovery(cur, sink, self._passed)
        self._skipper = Skipper(cur)
        self._bare_reader = BareReader(cur, sink, grammar.bare, self._skipper) if grammar.bare else None
        self._outside = True  # whether arguments outside a call may still have an end
        self._unclosed: set[int] = set()  # kinds of reasoning block without a further closer
        self.show = sink.show
        """Returns the events of a piece of plain text."""
        super().__init__(cur, sink)

    @property
    def ended(self) -> bool:
        """Whether the end of the turn has been read."""
        return self._stopped

    def _answer(self) -> Reading[None]:
        yield from self._beginning()
        limit = self._sink.options.limits.calls
        quotations = Quotations(self._cur, self._sink, self._passed, self._recovery)
        while not self._stopped and self._sink.calls <= limit:
            found = yield from self._find(self._grammar.marker)
            if found is None:
                return
            group = str(found.lastgroup)
            if group[0] in "scmruh" and (mentioned := quotations.mentioned(found)) is not False:
                if mentioned is None:
                    yield
                continue
            if group[0] in "scmb" and self._sink.prose.around() is not None:
                stopped, read = self._stopped, partial(self._handlers[group[0]], self, found, group)
                if (yield from quotations.shown(found, read)):
                    self._stopped = stopped
                    continue
            bare = group[0] == "b" or (group[0] == "s" and self._grammar.sections[int(group[1:])].bare)
            foreign = bare and (self._passed.in_markup() or self._passed.in_value())
            if foreign and (yield from quotations.foreign(partial(self._handlers[group[0]], self, found, group))):
                continue
            quoted = group[0] in "sc" and self._passed.in_value()
            yield from self._handlers["q" if quoted else group[0]](self, found, group)
            if self._around is not None and not self._stopped:
                number, self._around = self._around, None
                yield from self._reasoning(number)
        yield from self._discard()

    def _beginning(self) -> Reading[None]:
        """Read reasoning at the beginning of an answer."""
        options, openers = self._sink.options, [opener for opener, _ in self._grammar.syntax.reasoning]
        if (options.reasoning_open or self._grammar.syntax.starts_in_reasoning) and openers:
            number = openers.index(options.reasoning_opener) if options.reasoning_opener in openers else -1
            again = yield from match_next(self._cur, self._grammar.reasoning_again[number])
            if again is not None:  # the model repeated the opener of the prompt
                self._cur.pos = again.end()
            self._sink.edge = "\r\n" if again is None else WHITE  # the thought continues
            if (yield from match_next(self._cur, self._grammar.answer)) is None:
                yield from self._reasoning(number)
        while (yield from self._grammar.leading.read(self._cur, self._sink)):
            pass

    def _find(self, pattern: regex.Pattern[str]) -> Reading[regex.Match[str] | None]:
        """Emit text up to the pattern's next match; return None at the end of the input."""
        cur, text, firsts = self._cur, self._sink.text, self._grammar.first.finditer
        while True:
            buf, pos = cur.buf, cur.pos
            found = first_match(pattern, firsts(buf, pos), partial=not cur.eof)
            end = len(buf) if found is None else found.start()
            cut = self._grammar.cut_heads.find(pattern, buf, firsts(buf, pos)) if found is None and cur.eof else None
            end = end if cut is None else cut[0]
            if end > pos:
                text(buf[pos:end], cur.base + pos)
                self._passed.add(buf[pos:end])
                cur.pos = end
            if found is not None and not found.partial:
                kept = str(found.lastgroup) if not cur.eof or str(found.lastgroup)[0] in "sc" else ""
                rival = self._grammar.earlier(kept)
                other = rival and rival.match(buf, found.start(), partial=True)
                if other is None or (cur.eof and not other.partial):
                    return found
                cut = (found.start(), "") if cur.eof else None
            if cut is not None:
                draft = Draft(self._sink, cur.at)
                draft.name = cut[1]
                raw, cur.pos = buf[cur.pos :], len(buf)
                draft.fail(raw, *self._cut(draft.name), cur.at)
                return None
            if cur.eof:
                return None
            if found is None and not (self._grammar.breaks and buf.endswith(self._grammar.breaks)):
                cur.wait(self._grammar.stop, self)
            yield

    def _cut(self, name: str) -> tuple[str, str]:  # noqa: ARG002 - a reader of steps looks at it
        return "truncated", "the input ends inside the call"

    def keep(self, text: str) -> None:
        """Store emitted text."""
        self._passed.add(text)

    def _open_section(self, found: regex.Match[str], group: str) -> Reading[None]:
        cur = self._cur
        self._before = cur.buf[cur.pos - 1 : cur.pos]
        cur.mark()
        cur.pos = found.end()
        section, calls = self._grammar.sections[int(group[1:])], self._sink.calls
        known = not section.bare or self._offered(section)
        if not (section.bare and self._passed.in_code()) and (known or not self._sink.has_text):
            yield from self._section(section, confirmed=known)
        else:
            self._sink.text(found.group(), cur.mark_at)
            cur.release()
        if self._sink.calls == calls:
            self._passed.add(found.group())

    def _open_broken(self, found: regex.Match[str], group: str) -> Reading[None]:
        cur, section = self._cur, self._grammar.sections[int(group[1:].partition("_")[0])]
        cur.mark()
        draft = Draft(self._sink, cur.at)
        if cut_off(cur, *section.next):
            yield from self._recovery.failed(section, draft, Truncated(), cur.at)
        else:
            cur.pos = found.end()
            yield from self._recovery.broken(section, draft, cur.at)

    def _offered(self, section: Section) -> bool:
        """Whether the first call of an unmarked list names an offered tool; without tools, any name counts."""
        tools, (form, *_), buf = self._sink.options.tools, section.forms, self._cur.buf
        head = form.head_pattern.match(buf, len(buf) - len(buf[self._cur.pos :].lstrip(WHITE)))
        return not tools or (head is not None and head["name"] in tools)

    def _open_call(self, _: regex.Match[str], group: str) -> Reading[None]:
        self._cur.mark()
        yield from self._section(self._grammar.sections[int(group[1:].partition("_")[0])])

    def _quoted(self, found: regex.Match[str], group: str) -> Reading[None]:
        """Fail a call in a value of another call whose beginning was not recognised."""
        section = self._grammar.sections[int(group[1:].partition("_")[0])]
        yield from self._recovery.quoted(section.inner if group[0] == "c" else section.nesting, found.end())

    def _argument(self, found: regex.Match[str], group: str) -> Reading[None]:
        """Fail arguments whose call has no opening marker; arguments that prose quotes are text."""
        elements, section = self._grammar.arguments[int(group[1:])]
        key = elements.key(elements.opener.match(found.string, found.start()))
        fails = self._outside and self._sink.prose.around() is None and self._passed.names_no_call(key)
        if fails:
            fails = self._outside = yield from self._recovery.outside(section, found.end())
        if not fails:
            self._sink.text(found.group(), self._cur.at)
            self._passed.add(found.group())
            self._cur.pos += len(found.group())  # the window may have moved since the match

    def _section(self, section: Section, *, confirmed: bool = True, empty: bool = True) -> Reading[None]:  # noqa: C901, PLR0912, PLR0915 - one loop over what a section may hold
        """Read the calls of a section; if it is `empty`, its opening marker was read since the mark."""
        cur, sink = self._cur, self._sink
        reader = CallReader(cur, sink, self._skipper)
        reader.provenance = "fenced" if sink.prose.quotes_call() else "bare" if section.bare else "marker"
        reader.confirmed = not section.bare or (confirmed and bool(sink.options.tools))
        count, body = sink.calls - (not empty), cur.at
        pending: tuple[JsonObject, int, FormGrammar] | None = None
        while True:
            found = yield from match_first(cur, section.next)
            group = "" if found is None else str(found.lastgroup)
            if found is not None and group == "close":
                self._close(section, found)
            cut = cur.eof and not empty and section.cuts_head(cur, found)
            shape = section.forms[int(group[1:])].shape if pending is not None and group[:1] == "f" else None
            if shape is not None:  # this may wait for more text, which replaces the buffer of the match
                torn = yield from no_call_follows(cur, shape)
                found = None if torn else (yield from match_first(cur, section.next))
            if found is None and pending is not None:
                goes_on = yield from self._recovery.fail_rest(section, pending[2], reader.draft)
                if goes_on is False:
                    return
                if goes_on:
                    pending = None
                    continue
            if found is None and not empty:
                yield from self._recovery.unclosed(section, reader.draft if pending is not None else None)
            reader.several = pending is not None and group[:1] == "f" and section.one
            if pending is not None:
                reader.note_several()
                reader.draft.end(pending[0], cur.at if group == "close" else pending[1])
            if cut:
                yield from self._recovery.failed(section, Draft(sink, cur.at), Truncated(), cur.at)
                return
            if found is None or group in {"close", "again"}:
                break
            if sink.full:
                sink.refuse(cur.at)
                return
            pending, body = None, cur.base + found.end()
            if sink.calls > count:
                cur.mark()
            group = str(found.lastgroup)
            cur.pos = found.start(group)
            form = section.forms[int(group[1:])]
            try:
                arguments = yield from reader.read(form, cur.mark_at)
            except (Malformed, Truncated) as problem:
                if not reader.confirmed and empty and not reader.meant(problem):
                    self._recovery.text(body if isinstance(problem, Malformed) else cur.end)
                    return
                arguments = yield from reader.unclosed(form, problem, section.resync.markers)
                if arguments is None:
                    if not (yield from self._recovery.failed(section, reader.draft, problem, body, form)):
                        return
                    empty = False
                    continue
            empty, reader.confirmed = False, True
            self._passed.clear()
            if arguments is not None and section.closer is None:
                reader.draft.end(arguments, cur.at)
            elif arguments is not None:
                pending = (arguments, cur.at, form)
        if (found is None or group == "again") and empty:
            yield from self._recovery.mention(section, body, self._before)
            return
        if empty:
            sink.note("empty_calls", f"{cur.marked()[:60]!r} holds no call", (cur.mark_at, cur.at))
        if section.bracketed:
            yield from self._recovery.surplus(section)
        cur.release()
        self._stopped = self._grammar.syntax.ends_after_calls and group == "close"

    def _close(self, section: Section, found: regex.Match[str]) -> None:
        """Read a section's closer, or the available part of a longer one at the input's end."""
        cur, start = self._cur, found.start("close")
        if cur.buf[cur.pos : start].strip(WHITE):
            detail = "surplus closing brackets" if found["extra"] else "a surplus comma"
            self._sink.note("repaired_json", detail, (cur.at, cur.base + found.end()))
        cur.pos = found.end()
        longer = [pattern for pattern in section.ends if cur.eof and cur.pos < len(cur.buf)]
        if any((cut := end.match(cur.buf, start, partial=True)) and cut.partial for end in longer):
            self._sink.note("missing_close", "the closing marker of the calls is cut off", (cur.at, cur.end))
            cur.pos = len(cur.buf)

    def _bare(self, found: regex.Match[str], _: str) -> Reading[None]:
        if self._bare_reader is not None:  # otherwise no pattern finds one
            yield from self._bare_reader.read(found)

    def _open_reasoning(self, found: regex.Match[str], group: str) -> Reading[None]:
        self._sink.settle()
        self._cur.pos = found.end()
        yield from self._reasoning(int(group[1:]))

    def _reasoning(self, number: int) -> Reading[None]:
        """Read a reasoning block. A call in it is reasoning if the block is closed, else it ended the block."""
        cur, sink = self._cur, self._sink
        sink.reasoning = sink.layout = True
        while True:
            found = yield from self._find(self._grammar.in_reasoning[number])
            if found is None:
                sink.settle()
                break
            if found.lastgroup == "end":
                cur.pos = found.end()
                self._passed.clear()
                break
            if self._grammar.reasoning_ends[number] is None:
                break
            if self._grammar.syntax.calls_in_reasoning == "call":
                self._around = number
                break
            cur.mark()
            start = cur.at
            closed = None
            if number not in self._unclosed:
                closed = yield from search_on(cur, self._grammar.reasoning_ends[number])
            if closed is None:
                self._unclosed.add(number)
                cur.rewind(start)
                sink.note("open_reasoning", "a call follows in reasoning that was not closed", (start, start))
                break
            text = cur.marked()
            sink.text(text, start)
            sink.note("draft_in_reasoning", "a call in closed reasoning is not a call", (start, start + len(text)))
            cur.release()
        sink.drop()
        sink.reasoning = False
        sink.layout = True

    def _hidden(self, found: regex.Match[str], group: str) -> Reading[None]:
        cur = self._cur
        start, cur.pos = cur.at, found.end()
        cur.mark()
        end = yield from search_on(cur, self._grammar.hidden_ends[int(group[1:])])
        text = cur.marked()
        cur.pos = cur.pos if end is None else end.end()
        cur.release()
        if text.strip(WHITE):
            self._sink.note("hidden_block", text, (start, cur.at))

    def _unwrap(self, found: regex.Match[str], group: str) -> Reading[None]:
        cur, sink = self._cur, self._sink
        cur.pos = found.end()
        ends = self._grammar.wrapped_ends[int(group[1:])]
        if self._grammar.syntax.wrapped == "mixed" or ends is None:
            return
        sink.settle()
        sink.claimed = True
        end = yield from self._find(ends)
        cur.pos = cur.pos if end is None else end.end()
        sink.claimed = False

    def _stray(self, found: regex.Match[str], group: str) -> Reading[None]:
        cur, recovery, argument = self._cur, self._recovery, group == "tv"
        start, before, cur.pos = cur.at, cur.buf[cur.pos - 1 : cur.pos], found.end()
        around, tag = self._sink.prose.around(), found.group().lstrip().startswith("</")  # no special token is in code
        shown = around is not None and (around.block or (tag and around.fenced))
        while not shown and (argument or before in QUOTES) and cur.pos == len(cur.buf) and not cur.eof:
            yield
        after = cur.buf[cur.pos : cur.pos + 1]
        if shown or (argument and (self._passed.in_value() or self._passed.mentions(after))):
            self._sink.text(found.group(), start)
            self._passed.add(found.group())
            return
        self._passed.clear(begun=argument)
        if before == "`" or (before in QUOTES and before == after) or recovery.mentions:
            self._sink.text(found.group(), start)
            recovery.mentions -= recovery.mentions > 0
        elif group[:2] != "xu":
            self._sink.note("stray_closer", f"{found.group()!r} closes nothing", (start, cur.at))

    def _stop(self, found: regex.Match[str], _: str) -> Reading[None]:
        self._cur.pos = found.end()
        self._stopped = True
        yield from ()

    def _discard(self) -> Reading[None]:
        """Report what follows the end of the turn in one notice, and leave it out of the answer."""
        cur = self._cur
        self._sink.settle()
        cur.mark()
        while not cur.eof:
            cur.pos = len(cur.buf)
            yield
        cur.pos = len(cur.buf)
        text = cur.marked()
        if text.strip(WHITE):
            self._sink.note("after_end", text, (cur.mark_at, cur.at))

    _handlers: ClassVar = {
        "s": _open_section,
        "c": _open_call,
        "m": _open_broken,
        "r": _open_reasoning,
        "h": _hidden,
        "u": _unwrap,
        "x": _stray,
        "o": _stray,
        "t": _stray,
        "e": _stop,
        "b": _bare,
        "q": _quoted,
        "v": _argument,
    }
    """The reader after each marker, by the first letter of its group."""
