"""How text without quoting may end: the patterns of one place in a format.

    <arg name="content">if (a < b) print("</arg>");</arg></arguments></tool>
                                            text ^  the end ^ ^ structure follows

Compiled once for each place; `raw_text` reads with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import regex

from toolfmt.dialect.syntax import Pair
from toolfmt.errors import DialectRecordError
from toolfmt.parsers.scanning.cursor import WHITE, Cursor
from toolfmt.parsers.scanning.patterns import GAP, LAYOUT, plain_start, sieve


@dataclass(frozen=True, slots=True)
class Closer:
    """The end of an element: its pattern, and its name where the pattern fits any."""

    source: str
    name: str = ""
    ignore_case: bool = False
    ending: str = ""
    """Its last characters: a value that ends with them, and has no closer, may end with a broken one."""
    beginning: str = ""
    """Its first characters, where no ordinary text holds them: a value without a closer may hold a broken one."""
    text: str = ""
    """As it is written."""

    def ends(self, found: str) -> bool:
        """Whether a closing tag that the pattern fits is the one."""
        name = found.rpartition("</")[2][:-1].strip()
        return self.name in {"", name} or (self.ignore_case and self.name.casefold() == name.casefold())


TAIL = Closer("")
"""What only the pattern decides."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What looks like the beginning of an argument inside a value."""

    certain: bool
    """It is one, where the value has no closer of its own; else it may also be text."""
    given: bool
    """It was given before, so that it is text."""
    given_on_line: bool
    """It was given before, so that it is text where it does not begin a line, as the format's own do."""
    nests: bool
    """The closer that ends the value also ends it."""


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds the values of a form's calls, as patterns."""

    begins: tuple[str, ...]
    """What begins a call of any form."""
    begin: str
    """What begins a call of this form, which `tail` ends."""
    tail: str
    inside: str = ""
    """What follows the beginning of a call of this form that is not empty."""
    section: str = ""
    """What opens the section that the call is in."""
    section_end: str = ""
    wrapper_end: str = ""
    lead: str = ""
    """The marker that a call begins with, which may also be mentioned or be another format's."""

    @property
    def after(self) -> str:
        """What may follow a call whose own closer is missing: the section's closer, or the next call."""
        section = f"(?:{self.section}{GAP})?" if self.section else ""
        following = rf"{section}(?:{self.begin}){LAYOUT}(?:{_either(self.inside, self.tail)})" if self.begin else ""
        return _either(self.section_end, following)


NOTHING = Around((), "", "")


class Ends:
    """How a raw value may end, compiled once per place in a format.

    A quote that is markup (`<![CDATA[`) may be anywhere in the value and ends
    at its own closer. One that is a word (`__START_CONTENT__`) only opens the
    value, with a line break after it, and ends where the value's closer follows.
    """

    def __init__(  # noqa: PLR0913 - what a place is made of
        self,
        closer: str,
        follow: str,
        quotes: Sequence[Pair],
        *,
        parent: str = "",
        escaped: bool,
        flags: int,
        around: Around = NOTHING,
        openers: Sequence[str] = (),
        nameless: str = "",
        inner: Sequence[str] = (),
        optional: bool = False,
    ) -> None:
        """Compile the closer's pattern, what must follow it, the quotes, and what is `around` the value.

        Where `parent`, the closer around the place, follows, its name is still to be compared.
        `openers` open such a value, or another one beside it; `nameless` looks like one, and names none. The
        `inner` tags are in an opener or around the values: alone, they are in no text.
        """
        parts: list[str] = []
        nests = bool(around.begin and around.tail and around.tail != closer)
        closing = f"(?:{around.wrapper_end}{GAP})?" if around.wrapper_end else ""
        if nests:
            parts += [f"(?P<begin>{around.begin})", f"(?P<end>{closing}(?:{around.tail}))"]
        self.rivals = regex.compile("|".join([*parts, *(openers if inner else ())]) or r"(?!)", flags)
        """What comes before another candidate that begins alike."""
        if nests and optional and around.lead:
            parts.append(f"(?P<lead>{around.lead})")
        parts += [f"(?P<opener>{'|'.join(openers)})"] if openers else []
        parts += [f"(?P<nameless>{nameless})"] if nameless else []
        parts += [f"(?P<inner>{'|'.join(inner)})"] if inner else []
        self.optional = optional
        self.whole_end = regex.compile(f"{GAP}{closing}(?:{around.tail})", flags) if nests else None
        """The ends of a call from a value's closer on."""
        self.section_end = regex.compile(f"{GAP}(?:{around.section_end})", flags) if around.section_end else None
        self.next_call = regex.compile(f"{GAP}(?:{_either(*around.begins)})", flags)
        self.over = regex.compile(f"{GAP}(?:{_either(*around.begins, around.section_end)})", flags)
        """What shows that a call has ended before, although its value was not closed."""
        self.in_call = regex.compile(f"{LAYOUT}(?:{_either(around.inside, around.tail)})", flags)
        """What distinguishes the beginning of a call from a mention of one."""
        marks = self._compile_quotes(quotes, closer, parts, flags)
        self.quote_ends = tuple(end for quote, end in quotes if quote in marks and not escaped)
        """What no text ends with that had no quote."""
        self.second_end = regex.compile(rf">[^\W\d_][^<\n]{{0,64}}(?:\r?\n)?(?:{closer})", flags)
        """Matches a short value that begins with what may be the end of the tag before it."""
        misspelt = [f"(?P<near>{_near(closer)})"] if nests and closer.endswith(">") else []
        self.candidate = regex.compile("|".join([*parts, f"(?P<closer>{closer})", *misspelt]), flags)
        outer = [around.begin, around.tail, around.wrapper_end] if nests else []
        sources = [closer, *openers, *inner, *outer, *map(re.escape, marks)]
        starts = [plain_start(source) for source in sources if source]
        self.hint = re.compile(sieve(starts)).search
        self.stop = re.compile(sieve(starts) + "|&").search if escaped else self.hint
        """Finds what must be looked at in a piece of text."""
        follows = [
            *([f"(?P<after>{around.after})"] if nests else []),
            follow,
            *([f"(?P<parent>{parent})"] if parent else []),
        ]
        self.follow = regex.compile(f"{LAYOUT if escaped else GAP}(?:{'|'.join(follows)})", flags)
        if not starts:
            raise DialectRecordError("a value has no closing marker, so that nothing marks where it ends")
        self.escaped = escaped

    def _compile_quotes(self, quotes: Sequence[Pair], closer: str, parts: list[str], flags: int) -> list[str]:
        """Compile the quotes, and add to `parts` those that are markup, which are returned."""
        words: list[str] = []
        marks: list[str] = []
        self.quotes: dict[str, regex.Pattern[str]] = {}
        self.quoted: dict[str, Callable[[str], object]] = {}
        """What finds a character with which the end of the quote may begin."""
        for number, (quote, end) in enumerate(quotes):
            word = quote[0].isalnum() or quote[0] == "_"
            if not word:
                marks.append(quote)
            (words if word else parts).append(f"(?P<q{number}>{re.escape(quote)})")
            self.quoted[f"q{number}"] = re.compile(f"[{re.escape(end[0])}]").search
            self.quotes[f"q{number}"] = regex.compile(re.escape(end) + (f"(?={GAP}{closer})" if word else ""), flags)
        near_marks = "|".join(f"(?!{re.escape(mark)}){_misspelt(mark)}" for mark in marks)
        self.near_quote = regex.compile(f"{GAP}(?:{near_marks})") if marks else None
        """What begins a value as a misspelt quote does."""
        self.words = regex.compile(f"{GAP}(?:{'|'.join(words)})", flags) if words else None
        return marks

    def goes_on(self, cur: Cursor, at: int) -> bool | None:
        """Whether a call ends at `at`, after a value's closer, and more text follows; None while that is not known."""
        end = None if self.whole_end is None else self.whole_end.match(cur.buf, at, partial=not cur.eof)
        if end is None:
            return False
        for pattern in (self.section_end, self.next_call):
            after = None if pattern is None or end.partial else pattern.match(cur.buf, end.end(), partial=not cur.eof)
            end = after or end
        if end.partial:
            return None
        if after is not None:
            return False
        return not cur.eof or bool(cur.buf[end.end() :].strip(WHITE))


def _misspelt(mark: str) -> str:
    """A quote's first character and its word, with any other marks between them."""
    word = max(re.findall(r"\w+", mark), key=len, default="")
    first, rest = re.escape(mark[0]), rf"[\s\S]{{{len(mark) - 1}}}"  # else the end of what is here would be the slip
    return rf"(?={first}{rest}){first}[^\w\s]{{1,4}}{word}" if word else r"(?!)"


def _near(closer: str) -> str:
    """A closer with more letters in its name, with a mark more before its end, or without that before the next tag."""
    if re.fullmatch(r"</[\w:.\\\-]+(?:\\s\{0,64\})?>", closer):
        return rf"{closer.removesuffix('>')}\w{{0,16}}\s{{0,64}}(?:>|(?=<))"
    return rf"{closer[:-1]}(?:[^\w\s<>]>|(?=<))"


def _either(*patterns: str) -> str:
    return "|".join(filter(None, patterns)) or "(?!)"
