"""What becomes of a call that failed, and of a marker without a call: where the failure ends, and reading resumes.

<tool_call>{"name": "f", "arguments": {x</tool_call> Done.
^ the failure, up to the format's own closer        ^ text
"""

from __future__ import annotations

import regex

from toolfmt.dialect.literals import KEYWORD
from toolfmt.model import JsonObject
from toolfmt.parsers.compiled.sections import FormGrammar, Section
from toolfmt.parsers.exact.text_before import TextBefore
from toolfmt.parsers.reading.call_ends import HOLDS_ARGUMENT, skip_odd_closer, skip_surplus
from toolfmt.parsers.reading.passing import pass_call
from toolfmt.parsers.scanning.cursor import NEVER, WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.patterns import BROKEN_CALL, cut_off, match_first, match_next, search_open, skip_cut
from toolfmt.parsers.scanning.resuming import Fault, Nesting, Resync
from toolfmt.parsers.scanning.sink import Draft, Sink
from toolfmt.schema import declares

MOST_SECOND_LOOKS = 16
"""How many broken calls are read again from where they may have gone wrong: each may reach to the end."""
_STRUCTURE = regex.compile(rf"[)\]}}]|{KEYWORD}\s{{0,64}}=")
"""What a text that lacks its quotes does not begin with."""
_NEXT_LINE = regex.compile(
    r'[ \t]{0,64}\r?\n\s{0,64}(?=\{\s{0,64}"\w{1,32}"\s{0,64}:\s{0,64}"(?P<name>[^"\\\n]{1,256})")'
)
"""The next call of a section whose calls are objects, each in a line of its own."""
_NEAR = 512
"""Characters after a call in which its closer is looked for."""
_JSON = regex.compile(r'["{}\[\]]').search
_PARTS = regex.compile(r'["{}\[\]]|<[A-Za-z]').search
"""Structure in the rest of a call before its closer; words do not count."""
_BROKEN_CALL = regex.compile(BROKEN_CALL)
_WORD = regex.compile(r"\w").search


class Recovery:
    """Fails what cannot be read, and finds where reading goes on."""

    def __init__(self, cur: Cursor, sink: Sink, before: TextBefore) -> None:
        """Read on in `cur`; failures go to `sink`, and to `before` what they leave open."""
        self._cur = cur
        self._sink = sink
        self._before = before
        self._looks = MOST_SECOND_LOOKS
        self._nothing: dict[Resync, int] = {}
        """From where on no marker was found, up to the end of the input."""
        self.mentions = 0
        """Opening markers that were text and whose closers may follow."""

    def text(self, end: int) -> None:
        """Give up what was read from the mark to `end`: it is text."""
        cur = self._cur
        cur.rewind(start := cur.mark_at)
        self._sink.text(cur.buf[cur.pos : end - cur.base], start)
        cur.go(end)
        cur.release()

    def mention(self, section: Section, body: int, before: str) -> Reading[None]:
        """Read on after a section's marker, which ends at `body` and `before` which a character is, without a call.

        In quotes it is text, and before the same marker one too many. Before what looks like a broken call, all up to
        the section's own closer fails; else the marker fails alone, and what follows it up to a closer.
        """
        cur = self._cur
        draft = Draft(self._sink, cur.mark_at)
        after = cur.buf[body - cur.base : body - cur.base + 1]
        if before == "`" or (before in {'"', "'"} and before == after):
            self.mentions += 1
            return self.text(body)
        if cut_off(cur, *section.next):
            yield from self.failed(section, draft, Truncated(), body)
            return None
        marked = yield from match_next(cur, section.resync.markers)
        marker = cur.since(draft.start)[: body - draft.start]
        # what begins a call is longer than its marker, or not, by where the text was cut
        if marked is not None and marked.group().startswith(marker) and _WORD(marker):
            self._sink.note("unclaimed", f"{marker!r} is there twice", (draft.start, body))
            return cur.release()
        if marked is None and (yield from match_next(cur, _BROKEN_CALL)) is not None:
            return (yield from self.broken(section, draft, body))
        found = yield from self._marker(section.resync)
        if found is not None and found.lastgroup == "end":
            cur.pos = found.end()
        else:
            cur.rewind(body)
            self._before.add(marker)
        return self._without_call(draft, body, "no call follows {}")

    def broken(self, section: Section, draft: Draft, body: int) -> Reading[None]:
        """Fail a call whose beginning is broken, after a marker that ends at `body`."""
        yield from section.nesting.leave(self._cur)
        self._without_call(draft, body, "what follows {} is not a call of this format")

    def quoted(self, nesting: Nesting, after: int) -> Reading[None]:
        """Fail the call at the cursor, read on `after` its beginning: it is in a value of one whose own is broken."""
        cur = self._cur
        cur.mark()
        draft, cur.pos = Draft(self._sink, cur.at), after
        yield from nesting.leave(cur)
        detail = f"quoted in a call of which the beginning is broken, at offset {draft.start}"
        draft.fail(cur.since(draft.start), "malformed", detail, cur.at)
        cur.release()

    def outside(self, nesting: Nesting, after: int) -> Reading[bool]:
        """Fail the arguments at the cursor, which are in no call, up to the end of one; False where there is no end."""
        cur = self._cur
        cur.mark()
        draft, cur.pos = Draft(self._sink, cur.at), after
        closed = yield from nesting.leave(cur)
        if closed:
            detail = f"an argument outside a call: the call's opening marker is missing, at offset {draft.start}"
            draft.fail(cur.since(draft.start), "missing_name", detail, cur.at)
            self._before.clear()
        else:
            cur.rewind(draft.start)
        cur.release()
        return closed

    def unclosed(self, section: Section, last: Draft | None) -> Reading[None]:
        """Report that a section does not end: the slip is that of its last call, where that is still open."""
        if section.closer is None:
            return
        at, cut = self._cur.at, skip_cut(self._cur, section.next[-1])
        note = self._note if last is None else last.note
        note("missing_close", f"the closing marker of the calls is {'cut off' if cut else 'missing'}", at, self._cur.at)
        yield from skip_odd_closer(self._cur, note, [section.closing], section.own)

    def surplus(self, section: Section) -> Reading[None]:
        """Report brackets and a misspelt marker after calls that a bracket has closed."""
        yield from skip_surplus(self._cur, self._sink)
        yield from skip_odd_closer(self._cur, self._note, [section.closing], section.own)

    def _note(self, kind: str, detail: str, start: int, end: int) -> None:
        self._sink.note(kind, detail, (start, end))

    def fail_rest(self, section: Section, form: FormGrammar, draft: Draft) -> Reading[bool | None]:
        """Fail a call that was read to its end where what follows may be the rest of it.

        That is an argument's element; after JSON also what looks like JSON in its line, or before its own closer.
        Whether its section goes on at the cursor; None if nothing is wrong.
        """
        cur, start = self._cur, self._cur.at
        if not cur.buf[cur.pos :].strip(WHITE):
            return None
        near = yield from self._near(section.resync)
        rest = cur.buf[cur.pos : start + _NEAR - cur.base if near is None else near.start()]
        closes = near is not None and near.lastgroup == "end"
        json = form.quotes and (_PARTS(rest) if closes else _JSON(rest.partition("\n")[0]))
        if not (json or ((closes or form.quotes) and HOLDS_ARGUMENT(rest))):
            return None
        detail = f"text after the call's {'last brace' if form.quotes else 'end'}"
        if not closes:
            return (yield from self.failed(section, draft, Malformed("malformed", detail, start), start, form))
        end = yield from section.resync.search(cur)
        cur.pos = len(cur.buf) if end is None else end.end()
        draft.fail(cur.since(draft.start), "malformed", f"{detail}, at offset {start}", cur.at)
        cur.release()
        return False

    def _near(self, resync: Resync) -> Reading[regex.Match[str] | None]:
        """Look a little way ahead for the next marker; nothing is read."""
        cur, limit = self._cur, self._cur.at + _NEAR
        while True:
            whole = cur.eof or cur.end >= limit
            text = cur.buf[: limit - cur.base]
            found = resync.markers.search(text, cur.pos) if whole else search_open(resync.markers, text, cur.pos)
            if whole or (found is not None and not found.partial):
                return found
            yield

    def _without_call(self, draft: Draft, body: int, problem: str) -> None:
        cur = self._cur
        raw = cur.since(draft.start)
        detail = problem.format(repr(raw[: body - draft.start].strip()))
        draft.fail(raw, "malformed", f"{detail}, at offset {draft.start}", cur.at)
        cur.release()

    def failed(
        self, section: Section, draft: Draft, problem: Malformed | Truncated, body: int, form: FormGrammar | None = None
    ) -> Reading[bool]:
        """Fail a call of `form` whose arguments begin at `body`; whether its section goes on at the cursor.

        Else reading goes on after a closer, or before the next opener. Where quotes are those of JSON, no marker
        in an open one counts; where a text has no known end, no call in it.
        """
        cur = self._cur
        self._looks -= 1
        if isinstance(problem, Truncated):
            resume = problem.suspect if self._looks >= 0 else None
            reason, detail = "truncated", "the input ends inside the call"
        else:
            resume, reason, detail = problem.resume, problem.reason, f"{problem.detail}, at offset {problem.at}"
        goes_on = False
        if resume is None:
            cur.pos = len(cur.buf)
        elif form is not None and form.literals is not None:
            if isinstance(problem, Malformed) and self._looks >= 0:
                goes_on = yield from self._passed(section, form, body, problem)
            if not goes_on:
                cur.go(max(body, resume))
                yield from section.nesting.leave(cur)
        elif isinstance(problem, Malformed) and (problem.inside or self._no_json(section, form, body)):
            cur.go(start := max(body, resume))
            if not (yield from section.inner.leave(cur)) and section.inner.follows(cur.since(start)):
                cur.go(start)
                goes_on = yield from self._resume(section, draft, body, malformed=reason == "malformed", form=form)
        else:
            cur.go(max(body, resume))
            goes_on = yield from self._resume(section, draft, body, malformed=reason == "malformed", form=form)
        yield from self._past_closer(None if goes_on or resume is None else section, form, draft)
        raw = cur.since(draft.start)
        if reason == "truncated" and section.ends_whole(raw):
            reason, detail = "malformed", "a bracket, a quote or a tag before the end of the call is not closed"
        draft.fail(raw, reason, detail, cur.at)
        if not goes_on:
            cur.release()
        return goes_on

    def _past_arguments(self, section: Section, form: FormGrammar | None, draft: Draft) -> Reading[None]:
        """Read on to the end of a failed call while more of its arguments follow what seemed to be its end."""
        cur, schema, elements = self._cur, self._schema(draft), None if form is None else form.elements
        for _ in range(MOST_SECOND_LOOKS):
            if elements is None:
                return
            found = yield from match_next(cur, elements.child)
            if found is None or not (elements.alone or declares(schema, elements.key(found))):
                return
            at, after = cur.at, cur.base + found.end()
            cur.go(after - len(found.group().lstrip(WHITE)))
            end = yield from match_next(cur, section.resync.markers)  # another call looks like an argument in some
            if end is None:
                cur.go(after)
                end = yield from self._marker(section.resync)
            if end is None or end.lastgroup != "end":
                cur.go(at)
                return
            cur.pos = end.end()

    def _past_closer(self, section: Section | None, form: FormGrammar | None, draft: Draft) -> Reading[None]:
        """Read the closer of a section that ends with a failed call, if it follows the call's own closer."""
        if section is not None:
            yield from self._past_arguments(section, form, draft)
        if section is None or section.closer is None:
            return
        cur = self._cur
        raw = cur.since(draft.start).rstrip(WHITE)
        ended = any(regex.search(rf"(?:{end})\Z", raw) for end in section.closers)
        if ended or not section.ends_whole(raw):
            return
        found = yield from match_first(cur, section.next)
        if found is not None and found.lastgroup == "close":
            cur.pos = found.end()

    def _no_json(self, section: Section, form: FormGrammar | None, body: int) -> bool:
        """Whether a body was taken for JSON by a bracket alone, where it may as well be elements with a slip."""
        elements = any(other.elements is not None for other in section.forms)
        return elements and form is not None and form.quotes and '"' not in self._cur.since(body)

    def _resume(
        self, section: Section, draft: Draft, body: int, *, malformed: bool, form: FormGrammar | None
    ) -> Reading[bool]:
        cur, quotes = self._cur, form is not None and form.quotes
        resume, begun = cur.at, 0
        if quotes:
            listed = form is not None and form.head is None and section.closer is not None
            found = yield from section.resync.after(cur, Fault(cur.since(body)), _NEXT_LINE if listed else None)
        else:
            found = yield from self._marker(section.resync)
            while found is not None and found.lastgroup != "end" and form is not None and form.elements is not None:
                begun = form.elements.open_values(cur.since(resume), self._schema(draft), begun)
                if not begun:
                    break  # else the call that begins here is in a value
                cur.pos = found.end()
                yield from section.inner.leave(cur)
                resume = cur.at
                found = yield from self._marker(section.resync)
        if found is not None and found.lastgroup == "name":
            tools = self._sink.options.tools
            return not tools or found["name"] in tools
        if found is not None and found.lastgroup == "end":
            cur.pos = found.end()
        elif found is not None:
            self._before.add_failed(cur.since(body))
        elif malformed and not quotes:
            cur.go(resume)  # no end of it: what follows is text
        return False

    def _schema(self, draft: Draft) -> JsonObject | None:
        tool = self._sink.options.tools.get(draft.name)
        return tool.parameters if tool else None

    def _marker(self, resync: Resync) -> Reading[regex.Match[str] | None]:
        """Read on to the next marker; do not search again where an earlier search found none."""
        cur = self._cur
        if cur.at >= self._nothing.get(resync, NEVER):
            cur.pos = len(cur.buf)
            return None
        start = cur.at
        found = yield from resync.search(cur)
        if found is None:
            self._nothing[resync] = start
        return found

    def _passed(self, section: Section, form: FormGrammar, body: int, problem: Malformed) -> Reading[bool]:
        """Go past the end of a call whose brackets do not match, if the calls plainly go on or end there."""
        cur = self._cur
        cur.go(problem.at)
        if (yield from match_next(cur, _STRUCTURE)) is None and (
            yield from match_next(cur, section.resync.markers)
        ) is None:
            return False
        cur.go(body)
        if not (yield from pass_call(cur, form)):
            return False
        tail = None if form.tail is None else (yield from match_next(cur, form.tail))
        if tail is None:
            return section.closer is None and (yield from match_next(cur, section.resync.markers)) is not None
        cur.pos = tail.end()
        found = yield from match_first(cur, section.next)
        if found is None:
            return section.closer is None
        if found.lastgroup in {"close", "again"}:
            return True
        head = form.head_pattern.match(cur.buf, found.start(str(found.lastgroup)))
        tools = self._sink.options.tools
        return not tools or (head is not None and head.groupdict().get("name") in tools)
