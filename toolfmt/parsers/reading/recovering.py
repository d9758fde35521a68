"""Handles failed calls and markers without a call: where the failure ends and where reading resumes.

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
"""The number of broken calls that are read again from a possible earlier fault; each may reach to the end."""
_STRUCTURE = regex.compile(rf"[)\]}}]|{KEYWORD}\s{{0,64}}=")
"""What an unquoted text does not begin with."""
_NEXT_LINE = regex.compile(
    r'[ \t]{0,64}\r?\n\s{0,64}(?=\{\s{0,64}"\w{1,32}"\s{0,64}:\s{0,64}"(?P<name>[^"\\\n]{1,256})")'
)
"""The next call of a section in which each call is an object on its own line."""
_NEAR = 512
"""Characters after a call that are searched for its closer."""
_JSON = regex.compile(r'["{}\[\]]').search
_PARTS = regex.compile(r'["{}\[\]]|<[A-Za-z]').search
"""Structure in the rest of a call before its closer; words do not count."""
_IN_SENTENCE = regex.compile(r"[ \t](?P<word>[A-Za-z]{1,32})(?:[ \t]{1,8}[A-Za-z]|[.,;:!?)](?:\s|\Z))")
"""What follows a marker that a sentence mentions: a word, and another one or the sentence's end."""
_LONGEST_WORD = 64
"""More characters than that may match."""
_BROKEN_CALL = regex.compile(BROKEN_CALL)
_WORD = regex.compile(r"\w").search


class Recovery:
    """Fails what cannot be read, and finds where reading resumes."""

    def __init__(self, cur: Cursor, sink: Sink, before: TextBefore) -> None:
        """Continue reading `cur`; failures go to `sink`, and what they leave open to `before`."""
        self._cur = cur
        self._sink = sink
        self._before = before
        self._looks = MOST_SECOND_LOOKS
        self._nothing: dict[Resync, int] = {}
        """For each search, the offset from which no marker follows."""
        self.mentions = 0
        """The number of opening markers that were text and whose closers may follow."""

    def text(self, end: int) -> None:
        """Emit what was read from the mark to `end` as text."""
        cur = self._cur
        cur.rewind(start := cur.mark_at)
        self._sink.text(cur.buf[cur.pos : end - cur.base], start)
        cur.go(end)
        cur.release()

    def mention(self, section: Section, body: int, before: str) -> Reading[None]:
        """Continue after a section's marker without a call; it ends at `body`, after the character `before`.

        A quoted marker is text, and one before the same marker is surplus. Before an apparent broken call, all up to
        the section's closer fails; otherwise the marker fails alone, with what follows up to a closer.
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
        # a call's beginning may be longer than its marker or not, depending on how the text was cut
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
            while len(cur.buf) - cur.pos < _LONGEST_WORD and not cur.eof:
                yield
            said = _IN_SENTENCE.match(cur.buf, cur.pos)
            if said and before in {" ", "\t"} and self._may_mention(marker, said["word"]):
                self._note("quoted_call", f"{marker!r} in a sentence is text", draft.start, body)
                self.mentions += 1
                return self.text(body)
        return self._without_call(draft, body, "no call follows {}")

    def _may_mention(self, marker: str, word: str) -> bool:
        """Whether a sentence may go on with `word` after a marker: neither is a special token or a tool's name."""
        return (
            self._sink.has_text
            and "|" not in marker
            and "\uff5c" not in marker
            and word not in self._sink.options.tools
        )

    def broken(self, section: Section, draft: Draft, body: int) -> Reading[None]:
        """Fail a call with a broken beginning, after a marker that ends at `body`."""
        yield from section.nesting.leave(self._cur)
        self._without_call(draft, body, "what follows {} is not a call of this format")

    def quoted(self, nesting: Nesting, after: int) -> Reading[None]:
        """Fail the call at the cursor, which is in a value of a broken call; continue at `after`."""
        cur = self._cur
        cur.mark()
        draft, cur.pos = Draft(self._sink, cur.at), after
        yield from nesting.leave(cur)
        detail = f"quoted in a call of which the beginning is broken, at offset {draft.start}"
        draft.fail(cur.since(draft.start), "malformed", detail, cur.at)
        cur.release()

    def outside(self, section: Section, after: int) -> Reading[bool]:
        """Fail the arguments at the cursor, outside any call, up to a call's end; return False without an end."""
        cur = self._cur
        cur.mark()
        draft, cur.pos = Draft(self._sink, cur.at), after
        closed = yield from section.inner.leave(cur)
        if closed:
            marker = self._before.nameless(section.forms)
            detail = (
                f"{marker!r} does not name the tool"
                if marker
                else "an argument outside a call: the call's opening marker is missing"
            )
            detail += f", at offset {draft.start}"
            draft.fail(cur.since(draft.start), "missing_name", detail, cur.at)
            self._before.clear()
        else:
            cur.rewind(draft.start)
        cur.release()
        return closed

    def unclosed(self, section: Section, last: Draft | None) -> Reading[None]:
        """Report an unclosed section; if its last call is still open, the slip belongs to that."""
        if section.closer is None:
            return
        at, cut = self._cur.at, skip_cut(self._cur, section.next[-1])
        note = self._note if last is None else last.note
        note("missing_close", f"the closing marker of the calls is {'cut off' if cut else 'missing'}", at, self._cur.at)
        yield from skip_odd_closer(self._cur, note, [section.closing], section.own)

    def surplus(self, section: Section) -> Reading[None]:
        """Report surplus brackets and a misspelt marker after calls that a bracket closed."""
        yield from skip_surplus(self._cur, self._sink)
        yield from skip_odd_closer(self._cur, self._note, [section.closing], section.own)

    def _note(self, kind: str, detail: str, start: int, end: int) -> None:
        self._sink.note(kind, detail, (start, end))

    def fail_rest(self, section: Section, form: FormGrammar, draft: Draft) -> Reading[bool | None]:
        """Fail a complete call if what follows may be the rest of it.

        The rest may be an argument's element, and after JSON also JSON-like text on its line or before its closer.
        Returns whether its section continues at the cursor; None if nothing is wrong.
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
        """Search for the next marker a little way ahead, without reading."""
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
        """Fail a call of `form` whose arguments begin at `body`; return whether its section continues at the cursor.

        Otherwise reading resumes after a closer, or before the next opener. With JSON's quotes, markers
        in an open string do not count; in a text of unknown end, calls do not count.
        """
        cur = self._cur
        self._looks -= 1
        if isinstance(problem, Truncated):
            resume = problem.suspect if self._looks >= 0 else None
            reason, detail = "truncated", "the input ends inside the call"
        else:
            resume, reason, detail = problem.resume, problem.reason, problem.placed
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
        """Skip to the end of a failed call while more of its arguments follow its apparent end."""
        cur, schema, elements = self._cur, self._schema(draft), None if form is None else form.elements
        for _ in range(MOST_SECOND_LOOKS):
            if elements is None:
                return
            found = yield from match_next(cur, elements.child)
            if found is None or not (elements.alone or declares(schema, elements.key(found))):
                return
            at, after = cur.at, cur.base + found.end()
            cur.go(after - len(found.group().lstrip(WHITE)))
            end = yield from match_next(cur, section.resync.markers)  # may be another call
            if end is None:
                cur.go(after)
                end = yield from self._marker(section.resync)
            if end is None or end.lastgroup != "end":
                cur.go(at)
                return
            cur.pos = end.end()

    def _past_closer(self, section: Section | None, form: FormGrammar | None, draft: Draft) -> Reading[None]:
        """Read the closer of a section that ends with a failed call, if it follows the call's closer."""
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
        """Whether a body counted as JSON only for its bracket, and may also be elements with a slip."""
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
                    break  # otherwise the call that begins here is in a value
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
            cur.go(resume)  # without an end, what follows is text
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
        """Skip a call whose brackets do not match, if the calls plainly continue or end after it."""
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
