"""The reader of formats whose messages have headers, which determine where each body goes.

    <|channel|>analysis<|message|>Hm.<|end|><|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>

A body of text ends at an end marker before a header or the end of the
input; a call's body determines its own end.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex

from toolfmt import jsontext
from toolfmt.dialect.frames import Frame, Route
from toolfmt.dialect.record import ParserOptions
from toolfmt.model import JsonObject
from toolfmt.parsers.bodies.element_values import StringText
from toolfmt.parsers.bodies.json_values import skip_space
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.driving import GrammarDriver
from toolfmt.parsers.reading.call_ends import refuse_argument, skip_odd_closer
from toolfmt.parsers.reading.calls import CallReader
from toolfmt.parsers.reading.skipping import Skipper
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import cut_off, match_next, search_on, search_open, skip_cut
from toolfmt.parsers.scanning.pieces import IGNORED, Pieces, Taker
from toolfmt.parsers.scanning.sink import Draft, Sink, Spoken
from toolfmt.parsers.scanning.surroundings import Surroundings
from toolfmt.schema import property_names

_LEAD = regex.compile(r"[^\s<>|]{1,16}=(?=.*\{name\})").findall
_WORDS = regex.compile(r"[\w.\-]{1,256}").findall
_BLANKS = 8
"""The largest number of blanks before a header."""
_BLANK = regex.compile(r"\s{0,256}").match


class FrameGrammar:
    """A format's headers, compiled."""

    def __init__(self, frame: Frame, grammar: CompiledSyntax) -> None:
        """Compile the patterns; `grammar` describes the bodies."""
        self.frame = frame
        self.forms: list[FormGrammar] = [form for section in grammar.sections for form in section.forms]
        self.header = regex.compile(frame.header)
        self.breaks = regex.compile("|".join(map(regex.escape, (*frame.ends, frame.start))))
        self.lead = next(iter(_LEAD(frame.call)), "")
        """The text before the recipient in the header of a call, with which the header may begin."""
        loose = [*map(regex.escape, (*frame.ends, frame.start, *frame.opens))]
        loose += [rf"{regex.escape(self.lead)}(?=[^\s<|]{{1,256}}[ \t]{{0,8}}<\|)"] if self.lead else []
        self.loose_breaks = regex.compile("|".join(loose))
        """Matches what may end text without a header."""
        elements = [form.elements.value_starts[:1] for form in self.forms if form.elements is not None]
        self.values = [start for starts in elements for start in starts] or ['{"', "<|"]
        self.opens = regex.compile("|".join(map(regex.escape, frame.opens)) or r"(?!)")
        self.broken_ends = regex.compile("|".join(map(regex.escape, (frame.body, *frame.ends, frame.start))))
        firsts = "".join({regex.escape(one[0]) for one in (*frame.ends, frame.start, *frame.opens, self.lead) if one})
        self.stop = regex.compile(rf"[{firsts}]|[ \t]\Z" if self.lead else f"[{firsts}]").search
        result = grammar.syntax.result.partition("{content}")[0].partition(frame.body)[0]
        self.result = regex.compile(r"[^\s<|]{1,256}".join(map(regex.escape, result.split("{name}"))) or "(?!)")
        """Matches the header of a tool's result."""
        self.begins = regex.compile(rf"\s{{0,64}}{regex.escape(frame.start)}")
        self.close = regex.compile(
            r"\s{0,64}(?:" + "|".join(map(regex.escape, frame.ends)) + ")" if frame.ends else r"(?!)"
        )

    def before_lead(self, text: str, pos: int, end: int, found: regex.Match[str] | None) -> int:
        """Return where text ends before a call's header, whose blanks are held back while one may follow."""
        if not self.lead or (found is not None and not found.partial and found.group() != self.lead):
            return end
        return max(end - _BLANKS, pos + len(text[pos:end].rstrip(" \t")))


class Quoting(Spoken):
    """Receives text, and knows whether a message at its end is only quoted in it.

    A quotation in which a message begins contains all messages up to its own end.
    """

    def __init__(self, sink: Sink, at: int, values: Sequence[str] = ()) -> None:
        """Emit the text to `sink`; it begins at the absolute offset `at`. With `values` arguments begin."""
        super().__init__(sink, at)
        self._pieces = Pieces()
        self._around = Surroundings()
        self._ticks, self._code = 0, False  # code may extend over several lines
        self._values, self.in_call = values, False
        """Arguments begin in the text, which may be the rest of a broken call."""

    def add(self, text: str) -> None:
        """Emit a piece."""
        super().add(text)
        self._pieces.add(text)

    def keep(self, text: str) -> None:
        """Store pieces whose events were already emitted."""
        super().keep(text)
        self._pieces.add(text)

    def holds(self, *, begins: bool) -> bool:
        """Whether the next marker is quoted; `begins`: it begins a message."""
        around, text = self._around, self._pieces.take()
        around.read(text)
        self.in_call = self.in_call or any(map(text.__contains__, self._values))
        self._ticks += (ticks := text.count("`"))
        self._code = bool(self._ticks % 2) and (begins or (self._code and not ticks))
        if begins and around.shows:
            around.hold_open()
        return around.held or self._code


class ChannelParser(GrammarDriver):
    """Parses one answer made of messages, in any number of pieces."""

    def __init__(self, grammar: FrameGrammar, options: ParserOptions) -> None:
        cur = Cursor()
        self._grammar = grammar
        self._skipper = Skipper(cur)
        super().__init__(cur, Sink(options))

    def _answer(self) -> Reading[None]:
        cur, sink, grammar = self._cur, self._sink, self._grammar
        if sink.options.reasoning_open:
            yield from self._emit_body("reasoning")
        while True:
            while not cur.eof and cur.pos == len(cur.buf):
                yield
            if cur.pos == len(cur.buf):
                return
            cur.mark()
            start = cur.at
            header = yield from match_next(cur, grammar.header)
            if header is None:
                if not self._cut_header():
                    yield from self._headless()
                continue
            cur.pos = header.end()
            header_fields = {key: value or "" for key, value in header.groupdict().items()}
            route, odd = grammar.frame.route(header_fields), grammar.frame.unknown(header_fields)
            if route.to not in ("call", "raw"):
                cur.release()
                yield from self._emit_body(route.to)
                continue
            if sink.full:
                sink.refuse(start)
                cur.pos = len(cur.buf)
                return
            name = route.name(header_fields["recipient"])
            problem = self._refused(name, odd, needed=bool(header_fields["recipient"]) or route.to == "raw")
            if problem is not None:
                yield from self._failed(self._draft(start, name), problem)
            else:
                yield from self._call(route, name, start, odd)
            cur.release()

    def _refused(self, name: str, odd: str, *, needed: bool) -> Malformed | None:
        """Return the error of a call's header: a missing name that is `needed`, or a possible argument in it."""
        if needed and not name:
            return Malformed("missing_name", "the call names no tool", self._cur.at)
        return Malformed("unclaimed", f"{odd!r} is not part of a header", self._cur.at) if "=" in odd else None

    def _cut_header(self) -> bool:
        """Fail a call whose header is cut off by the end of the input, if its recipient is known."""
        cur, grammar = self._cur, self._grammar
        if not cur.eof:
            return False
        rest = cur.buf[cur.pos :]
        for header in (grammar.header.match(rest + grammar.frame.body), grammar.header.match(rest, partial=True)):
            recipient = header["recipient"] if header is not None else None
            if header is None or not recipient or header.end() < len(rest):
                continue
            marked = rest[: header.start("recipient")] + rest[header.end("recipient") :]
            route = grammar.frame.route({key: value or "" for key, value in header.groupdict().items()})
            if route.to in {"call", "raw"} and marked.strip(WHITE):
                self._failed_at_end(self._draft(cur.at, route.name(recipient)))
                return True
        return False

    def _headless(self) -> Reading[None]:
        """Continue where a header was expected: a broken header is dropped, anything else is text."""
        cur, sink = self._cur, self._sink
        cur.release()
        opened = yield from match_next(cur, self._grammar.opens)
        if opened is None:
            yield from self._body(Quoting(sink, cur.at, self._grammar.values), self._grammar.loose_breaks)
            return
        start = cur.at
        cur.mark()
        cur.pos = opened.end()
        end = yield from search_on(self._cur, self._grammar.broken_ends)
        if end is not None and not end.group().startswith(self._grammar.frame.start):
            cur.pos = end.end()
        name = "" if self._grammar.result.match(cur.since(start)) else self._named(cur.since(start))
        if name:
            broken = Malformed("malformed", "the header of the call is broken", start, cur.at)
            yield from self._failed(self._draft(start, name), Truncated() if end is None else broken)
            cur.release()
            return
        sink.note("stray_header", cur.since(start), (start, cur.at))
        cur.release()
        if end is not None and end.group() == self._grammar.frame.body:
            yield from self._emit_body("text")

    def _named(self, header: str) -> str:
        """Return the name of the offered tool that a broken header holds; "" if there is none."""
        words = (word.rpartition(".")[2] for word in _WORDS(header))
        return next((word for word in words if word in self._sink.options.tools), "")

    def _emit_body(self, to: str) -> Reading[None]:
        """Read a body of text or reasoning, or one to be ignored."""
        sink = self._sink
        if to == "hidden":
            text, start = Pieces(), self._cur.at
            yield from self._body(text)
            sink.note("hidden_block", text.text(), (start, self._cur.at))
            return
        sink.settle()
        sink.reasoning = to == "reasoning"
        yield from self._body(Quoting(sink, self._cur.at))
        sink.reasoning = False

    def _body(self, out: Taker, breaks: regex.Pattern[str] | None = None) -> Reading[bool]:
        """Emit text up to the body's end; return whether an end marker ended it."""
        cur, grammar = self._cur, self._grammar
        breaks = breaks or grammar.breaks
        while True:
            buf, pos = cur.buf, cur.pos
            found = breaks.search(buf, pos) if cur.eof else search_open(breaks, buf, pos)
            end = len(buf) if found is None else found.start()
            end = grammar.before_lead(buf, pos, end, found) if breaks is grammar.loose_breaks else end
            end = len(buf) if cur.eof and found is None else end
            if end > pos:
                out.add(buf[pos:end])
                cur.pos = end
            if found is not None and not found.partial:
                ends, rest = found.group() in grammar.frame.ends, buf[cur.pos : found.end()]
                quoted = isinstance(out, Quoting) and out.holds(begins=not ends)
                if isinstance(out, Quoting) and out.in_call and found.group() == grammar.lead:
                    ended = None
                elif quoted and not ends:
                    yield from self._note_quoted()
                    ended = None
                else:
                    ended = yield from self._ends(found.group(), out)
                if ended and quoted and not (cur.eof and not cur.buf[cur.pos :].strip(WHITE)):
                    cur.pos -= len(found.group())
                elif ended is not None:
                    return ended
                out.add(rest)
                cur.pos += len(rest)
                continue
            if cur.eof:
                return False
            if found is None:
                cur.wait(grammar.stop, out)
            yield

    def _note_quoted(self) -> Reading[None]:
        """Report that the call at the cursor is quoted, and therefore text."""
        header = yield from match_next(self._cur, self._grammar.header)
        if header is None:
            return
        route = self._grammar.frame.route({key: value or "" for key, value in header.groupdict().items()})
        if route.to in {"call", "raw"}:
            span = (self._cur.at, self._cur.base + header.end())
            self._sink.note("quoted_call", "a call in a quotation is text", span)

    def _ends(self, marker: str, out: Taker) -> Reading[bool | None]:
        """Return True if the body ended at its marker, False if at a header, None if it continues."""
        cur, start = self._cur, self._grammar.frame.start
        if marker in {start, self._grammar.lead} or marker in self._grammar.frame.opens:
            header = yield from match_next(cur, self._grammar.header)
            if header is None and marker == self._grammar.lead and isinstance(out, Quoting):
                out.in_call = True  # a broken header: what follows may be in its call
            return None if header is None else False
        while True:
            buf, at = cur.buf, _BLANK(cur.buf, cur.pos + len(marker)).end()  # type: ignore[union-attr] - matches everywhere
            header = self._grammar.header.match(buf, at, partial=not cur.eof)
            if buf.startswith(start, at) or (cur.eof and at == len(buf)) or (header is not None and not header.partial):
                cur.pos += len(marker)
                return True
            if cur.eof or (header is None and not start.startswith(buf[at : at + len(start)])):
                return None
            yield

    def _call(self, route: Route, name: str, start: int, odd: str) -> Reading[None]:
        """Read a call's body; `odd` is the part of the header that the format does not define."""
        cur = self._cur
        reader = CallReader(cur, self._sink, self._skipper)
        reader.named = name
        try:
            arguments = yield from self._arguments(reader, route, name, start)
            yield from self._read_end(reader.draft, route, arguments)
        except (Malformed, Truncated) as problem:
            yield from self._failed(reader.draft, problem)
            return
        if odd:
            reader.draft.note("unclaimed", f"no part of a header: {odd!r}", start)
        if arguments is not None:
            reader.draft.end(arguments, cur.at)

    def _arguments(self, reader: CallReader, route: Route, name: str, start: int) -> Reading[JsonObject | None]:
        cur, form = self._cur, self._grammar.forms[0]
        if route.to == "raw":
            reader.draft = Draft(self._sink, start)
            return (yield from self._raw(reader.draft, route, name))
        if (yield from self._empty()):
            draft = reader.draft = self._draft(start, name)
            draft.announce()
            draft.add("{}")
            draft.note("defaulted", "a call without arguments: it counts as {}", cur.at)
            return {}
        if form.head is not None:  # the reader needs all of it
            yield from skip_space(cur)
            if (yield from match_next(cur, form.head_pattern)) is None and cut_off(cur, form.head_pattern):
                reader.draft = self._draft(start, name)
                raise Truncated
        return (yield from reader.read(form, start))

    def _read_end(self, draft: Draft, route: Route, arguments: JsonObject | None) -> Reading[None]:
        """Read the message's end; if it is missing, the call counts only if its arguments are plainly complete."""
        cur, grammar = self._cur, self._grammar
        closed = yield from match_next(cur, grammar.close)
        if closed is not None:
            cur.pos = closed.end()
            yield from refuse_argument(cur, grammar.forms[0], draft)
        elif route.to == "call" and self._endless():
            cut = cut_off(cur, grammar.close, *grammar.forms[0].openers)
            over = not cut and (yield from match_next(cur, grammar.begins)) is not None
            if not over and not (cut and self._complete(draft.name, arguments)):
                raise Truncated if cut else Malformed("malformed", "expected the end of the message", cur.at)
            skip_cut(cur, grammar.close)
            draft.note("missing_close", "the message's closing marker is missing", cur.at)
        elif skip_cut(cur, grammar.close):
            draft.note("missing_close", "the call's closing marker is cut off", cur.at)
        else:
            frame = grammar.frame
            own = "".join((frame.start, frame.body, *frame.ends, *frame.opens))
            yield from skip_odd_closer(cur, draft.note, frame.ends, own)

    def _draft(self, start: int, name: str) -> Draft:
        draft = Draft(self._sink, start)
        draft.name = name
        return draft

    def _empty(self) -> Reading[bool]:
        """Whether the message ends where a call's JSON arguments are expected."""
        if self._grammar.forms[0].body != "args":
            return False
        return (yield from match_next(self._cur, self._grammar.close)) is not None

    def _endless(self) -> bool:
        """Whether only the end of the message ends a call's arguments."""
        form = self._grammar.forms[0]
        return form.body == "members" and form.tail is None

    def _complete(self, name: str, arguments: JsonObject | None) -> bool:
        """Whether a call has all arguments of its tool, so that nothing can be missing."""
        tool = self._sink.options.tools.get(name)
        return tool is not None and bool(arguments) and set(property_names(tool.parameters)) <= set(arguments or ())

    def _raw(self, draft: Draft, route: Route, name: str) -> Reading[JsonObject]:
        cur, text = self._cur, StringText(draft)
        draft.name = name
        draft.announce()
        draft.add(f'{{{jsontext.dumps(route.argument)}: "')
        if not (yield from self._body(text)) and cur.pos == len(cur.buf):  # otherwise the next header ends it
            raise Truncated
        if not jsontext.encodable(value := text.close()):
            raise Malformed("unsafe", "a lone surrogate in the call", cur.at)
        draft.add('"}')
        return {route.argument: value}

    def _failed_at_end(self, draft: Draft) -> None:
        cur = self._cur
        cur.pos = len(cur.buf)
        draft.fail(cur.since(draft.start), "truncated", "the input ends inside the call", cur.at)

    def _failed(self, draft: Draft, problem: Malformed | Truncated) -> Reading[None]:
        cur = self._cur
        if isinstance(problem, Truncated):
            self._failed_at_end(draft)
            return
        cur.go(max(problem.resume, draft.start))
        yield from self._body(IGNORED)
        draft.fail(cur.since(draft.start), problem.reason, problem.placed, cur.at)
