"""Reads unquoted text: a value that ends only at its closing tag.

    <arg name="content">if (a < b) print("</arg>");</arg></arguments>

A closer counts only if structure follows it: the next argument or the parent's
own closer. So the first `</arg>` above is text, and the second ends the value.
Verbatim quotes such as CDATA are supported, and entities are decoded.
"""

from __future__ import annotations

from collections.abc import Callable

import regex

from toolfmt.events import Span
from toolfmt.parsers.scanning.cursor import WHITE, Cursor, Malformed, Reading, Truncated
from toolfmt.parsers.scanning.damage import ends_as, ends_in_tag, ends_nearly, mentioned, part_of
from toolfmt.parsers.scanning.patterns import PARTIAL, decode_entities, match_next
from toolfmt.parsers.scanning.pieces import Pieces, Taker
from toolfmt.parsers.scanning.raw_ends import TAIL, Closer, Ends, Opening
from toolfmt.parsers.scanning.value_text import ValueText

_UNFOLLOWED = "a value's closing tag is followed by neither the next value nor the end of what is around it"
MOST_BACK = 16
"""The number of times the input may be read again for missing closers; after that, such calls fail."""
_LATER = frozenset({"closer", "inner", "lead", "near", "opener"})
_SECOND_END = regex.compile(r">\r?\n")
_BREAK = regex.compile(r"\r?\n")


class RawText:
    """Reads one raw value; its text from an inner argument on is held back until that is known to be text."""

    def __init__(  # noqa: PLR0913 - what a place is made of
        self,
        out: Taker,
        closer: Closer = TAIL,
        parent: Closer = TAIL,
        opens: Callable[[regex.Match[str]], Opening | None] | None = None,
        *,
        nested: bool = False,
        padded: bool = False,
    ) -> None:
        """Emit the value's text to `out`, piece by piece; all-blank text is layout.

        `opens` classifies what begins inside it; `nested`: the value is not an argument itself;
        `padded`: one line break on each side belongs to its markers.
        """
        self._text = ValueText(out, closer.beginning, padded=padded)
        self._closer = closer
        self._parent = parent
        self._opens = opens
        self._nested = nested
        self._blank: list[str] = []
        self._open = True  # whether blank text here may still be layout
        self._begun = ""  # the last characters before a declared argument
        self._levels = [0]  # the open arguments of each call that the text itself opened
        self._opened: int | None = None  # where the first argument inside the value begins
        self._opening: Opening | None = None  # what the candidate opens
        self._certain = False  # whether it is one, if the value lacks its closer
        self._given = False
        self._before: list[str] = []  # the white space before it
        self._own = ""  # the last characters before the inner argument
        self._led = False  # whether it contains the first marker of a call
        self._ended: int | None = None  # where a call ends that the text did not open
        self._quote = ""
        self._nameless = 0  # the number of argument tags without a name
        self._doubt: int | None = None  # where an unopened, unmentioned closer is in the text
        self.unclosed = False
        """Whether the value has no closing tag: it ended with its call, or before the next argument."""
        self.verbatim = False
        """Whether a verbatim quote protected the value."""
        self.bare = False
        """Whether there is text outside a quote that may contain markup: in an escaped format, text with a `<`."""
        self.misspelt: Span | None = None
        """The span of a misspelt closer."""
        self.ambiguous: Span | None = None
        """The first closer that was read as text, because no structure followed it."""

    def read(self, cur: Cursor, ends: Ends) -> Reading[None]:
        """Read the value with its closer; raises `Truncated`, or `Malformed` if the call ends before."""
        yield from self._begin(cur, ends)
        while True:
            found = self._candidate(cur, ends)
            if found is not None:
                done = self._decide(cur, ends, found)
                if done:
                    return
                if done is False:
                    quote, self._quote = self._quote, ""
                    if quote:
                        yield from self._quoted(cur, ends, quote)
                    continue
            if cur.eof and self._opened is not None and self._given:
                self._take_as_text(cur, self._opened)
                continue
            if cur.eof:
                if self._ended is not None and (self.ambiguous is not None or self._opened is not None):
                    raise self._unclosed(self._ended)
                raise Truncated(self._ended)
            if found is None:
                cur.take = lambda: self._candidate(cur, ends) is None
            yield

    def _begin(self, cur: Cursor, ends: Ends) -> Reading[None]:
        """Read what can only begin a value: a quote that is a word, or a part of the tag before it."""
        if ends.words is not None:
            word = yield from match_next(cur, ends.words)
            if word is not None:
                cur.pos = word.end()
                line = yield from match_next(cur, _BREAK)
                cur.pos = cur.pos if line is None else line.end()
                yield from self._quoted(cur, ends, str(word.lastgroup))
        if ends.near_quote is not None and (yield from match_next(cur, ends.near_quote)) is not None:
            raise Malformed("malformed", "the quote around a value is misspelt", cur.at, inside=True)
        padded = self._text.padded and (yield from match_next(cur, _SECOND_END)) is not None
        if padded or (yield from match_next(cur, ends.second_end)) is not None:
            raise Malformed("malformed", "the tag before a value ends twice", cur.at, inside=True)

    def _candidate(self, cur: Cursor, ends: Ends) -> regex.Match[str] | None:
        """Return the next candidate for a decision, or None if only text is available."""
        buf = cur.buf
        at, end = cur.pos, len(buf)
        while (near := ends.hint(buf, at)) is not None:
            found = ends.candidate.match(buf, near.start(), partial=not cur.eof)
            if found is not None and found.partial:
                end = near.start()
                break
            if found is not None and found.lastgroup in _LATER and not cur.eof:
                begun = ends.rivals.match(buf, near.start(), partial=True)
                if begun is not None and begun.partial:
                    end = near.start()
                    break
            at = max(near.end(), near.start() + 1)  # a hint may be empty
            if found is not None and found.lastgroup == "opener" and self._opens is not None:
                self._opening = self._opens(found)
                if self._opening is None:
                    at = found.end()
                    continue
            if found is not None and (found.lastgroup != "closer" or self._closer.ends(found.group())):
                return found
        self._pass(cur, end, ends)
        if cur.pos == len(buf) and not self._open:
            self._text.wait(cur, ends.stop)
        return None

    def _decide(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool | None:  # noqa: PLR0911 - one per kind
        """Decide a candidate: True for the end, False if it was read as text, None if undecided."""
        group = str(found.lastgroup)
        if group in {"closer", "near"} or (
            group in {"end", "inner"} and self._closer.name and self._closer.ends(found.group())
        ):
            return self._closes(cur, ends, found)
        if group == "begin":
            return self._call_begins(cur, ends, found)
        if group == "inner" and found.end() == len(cur.buf) and not cur.eof:
            return None  # what follows decides whether it is only mentioned
        if group == "inner":
            if found.group().replace("</", "<") not in self._before_tag(cur, ends, found):
                self._unbalanced(cur, ends, found)
            return self._literal(cur, found, ends)
        if group == "nameless":
            self._nameless += 1
            return self._literal(cur, found, ends)
        if group == "opener":
            return self._argument_begins(cur, ends, found)
        self._led = self._led or group == "lead"
        if group == "lead":
            return self._literal(cur, found, ends)
        if group == "end":
            return self._call_ends(cur, ends, found)
        self._pass(cur, found.start(), ends, whole=True)
        cur.pos = found.end()
        self._quote = group
        return False

    def _closes(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool | None:
        """Decide a closer like the value's own: it closes an inner argument, or ends the value if it can."""
        exact = found.lastgroup != "near"
        if self._levels[-1]:
            self._levels[-1] -= exact
            self._refuse_empty(cur, found)
            return self._literal(cur, found, ends)
        follow = self._follow(cur, ends, found)
        foreign = follow is not None and follow.lastgroup == "parent" and not self._parent.ends(follow["parent"])
        if follow is None or (foreign and not follow.partial):
            written, stem = found.group(), self._closer.text[:-1]
            if exact or (written.startswith(stem) and not regex.match(r"\w", written, pos=len(stem))):
                self._unbalanced(cur, ends, found)
            return self._literal(cur, found, ends)
        nested = None if follow.partial else len(self._levels) > 1 and ends.goes_on(cur, found.end())
        if nested:
            return self._literal(cur, found, ends)
        self._pass(cur, found.start(), ends, whole=nested is False)
        if nested is None:
            return None
        self._refuse_slip(cur, ends, found, called_over=follow.lastgroup == "after")
        self._text.finish()
        if not exact:
            self.misspelt = (cur.base + found.start(), cur.base + found.end())
        cur.pos = found.end()
        return True

    def _follow(self, cur: Cursor, ends: Ends, closer: regex.Match[str]) -> regex.Match[str] | None:
        """Match what follows a closer; a partial match if another call may begin that shows that this one ended."""
        found = ends.follow.match(cur.buf, closer.end(), partial=not cur.eof)
        if (self._ended is None and closer.lastgroup != "near") or cur.eof or ends.after is None:
            return found
        after = ends.after.match(cur.buf, closer.end(), partial=True)
        return found if after is None or not after.partial else after

    def _refuse_slip(self, cur: Cursor, ends: Ends, closer: regex.Match[str], *, called_over: bool) -> None:
        """Refuse a value with a slip in it; `called_over`: its call has no closer after it."""
        last = self._text.last
        if not self.verbatim and last.endswith(ends.quote_ends):
            raise Malformed("malformed", "a quote around a value ends that does not begin", cur.at)
        if not self.verbatim and cur.buf[cur.pos - 1] in {closer.group()[0], ">"} and part_of(last, closer.group()):
            raise Malformed("malformed", "the beginning of a closing tag is in the value before it", cur.at)
        if self._doubt is not None:
            raise Malformed("malformed", _UNFOLLOWED, self._doubt, cur.at)
        if self._ended is not None and called_over:
            raise Malformed("malformed", "the call's closing marker is in a value", self._ended, cur.at)
        if called_over and closer.lastgroup == "near":
            raise Malformed("malformed", "the call is cut off in a closing tag", cur.at, cur.base + closer.end())

    def _refuse_empty(self, cur: Cursor, closer: regex.Match[str]) -> None:
        """Refuse an argument inside the value that is empty before its `closer`: swapped tags."""
        if self._text.last == self._begun != "" and not cur.buf[cur.pos : closer.start()].strip(WHITE):
            at = cur.base + closer.start()
            raise Malformed("malformed", "an argument without a value is in another one", at, inside=True)

    def _unbalanced(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> None:
        """Handle a closer that closes nothing: text if it is mentioned; otherwise the value was meant to end there."""
        self.ambiguous = self.ambiguous or (cur.base + found.start(), cur.base + found.end())
        if self._nameless:
            self._nameless -= 1
            return
        if self._doubt is None and not self._mentioned(cur, ends, found):
            self._doubt = cur.base + found.end()

    def _mentioned(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool:
        return mentioned(self._before_tag(cur, ends, found), cur.buf[found.end() : found.end() + 1])

    def _before_tag(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> str:
        """Return the last characters of the value before a tag in it."""
        text = cur.buf[cur.pos : found.start()]
        return "".join((self._text.last, *self._text.white, decode_entities(text) if ends.escaped else text))

    def _argument_begins(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool | None:
        opening = self._opening if self._opens is not None else None
        given = opening is not None and (opening.given or opening.given_on_line)
        if given and found.end() == len(cur.buf) and not cur.eof:
            self._pass(cur, found.start(), ends)
            return None
        mention = given and self._mentioned(cur, ends, found)
        self._pass(cur, found.start(), ends, whole=True)
        if opening is not None:
            if self._opened is None and len(self._levels) == 1:
                if opening.certain and ends_as(self._text.last, self._closer.text):
                    raise Malformed("malformed", "a closing tag before an argument is broken", cur.at, inside=True)
                begins_line = "".join(self._text.white).endswith("\n")
                self._given = mention and (opening.given or not begins_line)
                self._opened, self._certain = cur.at, opening.certain
                self._before, self._own = self._text.white[:], self._text.last
                self._text.held = Pieces()
            self._levels[-1] += opening.nests and not found.group().endswith("/>")
        self._literal(cur, found, ends)
        self._begun = self._text.last if opening is not None and opening.certain and len(self._levels) == 1 else ""
        return False

    def _split(self, cur: Cursor, at: int) -> bool:
        """End the value before the argument inside it, because the call ends at `at` without the value's closer."""
        assert self._opened is not None  # noqa: S101 - asked by the caller
        held = self._text.held.text() if self._text.held is not None else ""
        closed = bool(self._closer.name) and f"</{self._closer.name}" in held  # closed after all, if imperfectly
        if not self._certain or closed or not self._own or self._broken() or cur.back > MOST_BACK * (cur.at + 4096):
            detail = "an argument begins inside another one, which is not closed: either may be text"
            raise Malformed("malformed", detail, self._opened, at)
        self.unclosed = True
        cur.go(self._opened)
        return True

    def _take_as_text(self, cur: Cursor, opened: int) -> None:
        """Resume from `opened`, where an argument seemed to begin that was already given: it is text."""
        self.ambiguous = self.ambiguous or (opened, opened)
        self._opened = self._opens = None
        self._text.held, self._text.last, self._levels = None, self._own, [0]
        self._ended = None
        self._text.white = [*self._before]
        cur.go(opened)

    def _literal(self, cur: Cursor, found: regex.Match[str], ends: Ends) -> bool:
        self._pass(cur, found.end(), ends, whole=True)
        return False

    def _call_begins(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool | None:
        """Decide the beginning of a call inside a value: text, unless the value's own call has ended before."""
        after = ends.in_call.match(cur.buf, found.end(), partial=not cur.eof)
        if after is not None:
            self._pass(cur, found.start(), ends, whole=True)
            if after.partial:
                return None
            if self._ended is not None:
                raise self._unclosed(self._ended)
            if self.verbatim:
                raise Malformed("malformed", "a call begins beside a quoted text", cur.at, inside=True)
        if after is not None and not found.group().endswith("/>"):
            self._levels.append(0)
        return self._literal(cur, found, ends)

    def _unclosed(self, end: int) -> Malformed:
        """Return the error of a value that is still open when its call ends at `end`."""
        if self.ambiguous is not None and self.ambiguous[1] <= end:
            return Malformed("malformed", _UNFOLLOWED, self.ambiguous[1], end)
        return Malformed("malformed", "a value is not closed before the end of its call", end)

    def _call_ends(self, cur: Cursor, ends: Ends, found: regex.Match[str]) -> bool | None:
        """Decide the call's closer inside a value: text, unless no call was opened here and the call has ended."""
        if len(self._levels) > 1:
            self._levels.pop()
            return self._literal(cur, found, ends)
        at = cur.base + found.start()
        over = ends.over.match(cur.buf, found.end(), partial=not cur.eof)
        if over is not None and over.partial:
            self._pass(cur, found.start(), ends)
            return None
        if over is None and not (cur.eof and not cur.buf[found.end() :].strip(WHITE)):
            self._ended = at if self._ended is None else self._ended
            return self._literal(cur, found, ends)
        if self._opened is not None and self._given:
            self._take_as_text(cur, self._opened)
            return False
        self._pass(cur, found.start(), ends, whole=True)
        alone = over is not None or (ends.optional and not self._led)
        if not alone or self._nested or self.ambiguous is not None or (self._ended is not None and not ends.optional):
            raise self._unclosed(at if self._ended is None else self._ended)
        if self._opened is not None:
            return self._split(cur, at)
        if self._broken() or not (self.verbatim or self._text.last):
            raise self._unclosed(at)
        self.unclosed = True
        return True

    def _broken(self) -> bool:
        """Whether the unclosed value ends like its closer, so that it may contain a broken one."""
        last = self._text.last if self._opened is None else self._own
        name, ending = self._closer.name, self._closer.ending
        broken = (bool(ending) and last.endswith(ending)) or (bool(name) and f"</{name}" in last)
        return (
            self._text.marked
            or broken
            or ends_nearly(last, self._closer.text)
            or ends_as(last, self._closer.text)
            or ends_in_tag(last)
        )

    def _quoted(self, cur: Cursor, ends: Ends, group: str) -> Reading[None]:
        end = ends.quotes[group]
        self.verbatim = True
        self._blank.clear()
        self._text.begin_quoted()
        while True:
            found = end.search(cur.buf, cur.pos, partial=not cur.eof)
            at = len(cur.buf) if found is None else found.start()
            text = cur.buf[cur.pos : at]
            cur.pos = at
            if text:
                self._text.put(text)
            if found is not None and not found.partial:
                cur.pos = found.end()
                self._open = True
                return
            if cur.eof:
                raise Truncated
            if at == len(cur.buf):
                self._text.wait(cur, ends.quoted[group])
            yield
            self._text.flush()  # a quote contains no layout

    def _pass(self, cur: Cursor, end: int, ends: Ends, *, whole: bool = False) -> None:
        text = cur.buf[cur.pos : end]
        self.bare = self.bare or ("<" in text if ends.escaped else not self.verbatim)
        if ends.escaped and "&" in text:
            part = None if whole or cur.eof else PARTIAL.search(text)
            if part is not None:
                text = text[: part.start()]
                end = cur.pos + len(text)
            text = decode_entities(text)
        cur.pos = end
        if self._open:
            if ends.escaped and not text.strip(WHITE):
                self._blank.append(text)
                return
            text = "".join((*self._blank, text))
            self._blank.clear()
            self._open = False
        if text:
            self._text.emit(text)
