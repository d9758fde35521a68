"""Patterns for the end of unquoted text, for one place in a format.

    <arg name="content">if (a < b) print("</arg>");</arg></arguments></tool>
                                            text ^  the end ^ ^ structure follows

They are compiled once for each place and used by `raw_text`.
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
    """The closer of an element: its pattern, and the element's name if the pattern fits any name."""

    source: str
    name: str = ""
    ignore_case: bool = False
    ending: str = ""
    """The closer's last characters: an unclosed value that ends with them may end with a broken closer."""
    beginning: str = ""
    """The closer's first characters if they are unusual in text: an unclosed value may contain a broken closer."""
    text: str = ""
    """The closer as written."""

    def ends(self, found: str) -> bool:
        """Whether a closing tag that the pattern matches is this element's."""
        name = found.rpartition("</")[2][:-1].strip()
        return self.name in {"", name} or (self.ignore_case and self.name.casefold() == name.casefold())


TAIL = Closer("")
"""A closer that is identified by its pattern alone."""


@dataclass(frozen=True, slots=True)
class Opening:
    """A possible beginning of an argument inside a value."""

    certain: bool
    """If the value lacks its closer, this is an argument; otherwise it may also be text."""
    given: bool
    """The argument was already given, so this is text."""
    given_on_line: bool
    """The argument was already given, so this is text unless it begins a line, as the format's own do."""
    nests: bool
    """The value's closer would also close this argument."""


@dataclass(frozen=True, slots=True)
class Around:
    """Patterns of what surrounds the values in a form's calls."""

    begins: tuple[str, ...]
    """The beginnings of calls of any form."""
    begin: str
    """The beginning of a call of this form, which `tail` closes."""
    tail: str
    inside: str = ""
    """What follows the beginning of a non-empty call of this form."""
    section: str = ""
    """The opener of the section around the call."""
    section_end: str = ""
    wrapper_end: str = ""
    lead: str = ""
    """The marker at a call's beginning, which may also be mentioned or belong to another format."""

    @property
    def after(self) -> str:
        """What may follow a call without its closer: the section's closer, or the next call."""
        section = f"(?:{self.section}{GAP})?" if self.section else ""
        following = rf"{section}(?:{self.begin}){LAYOUT}(?:{_either(self.inside, self.tail)})" if self.begin else ""
        return _either(self.section_end, following)


NOTHING = Around((), "", "")


class Ends:
    """The possible ends of a raw value, compiled once for each place in a format.

    A quote that is markup (`<![CDATA[`) may appear anywhere in the value and ends
    at its own closer. A quote that is a word (`__START_CONTENT__`) can only open the
    value, with a line break after it, and ends before the value's closer.
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
        """Compile the closer, what must follow it, the quotes, and what is `around` the value.

        If the enclosing closer `parent` follows, its name has to be compared as well.
        `openers` open this or a neighbouring value; `nameless` resembles an opener without a name. The
        `inner` tags appear inside openers or around the values, and never alone in text.
        """
        parts: list[str] = []
        nests = bool(around.begin and around.tail and around.tail != closer)
        closing = f"(?:{around.wrapper_end}{GAP})?" if around.wrapper_end else ""
        if nests:
            parts += [f"(?P<begin>{around.begin})", f"(?P<end>{closing}(?:{around.tail}))"]
        self.rivals = regex.compile("|".join([*parts, *(openers if inner else ())]) or r"(?!)", flags)
        """Patterns that take precedence over another candidate with the same beginning."""
        if nests and optional and around.lead:
            parts.append(f"(?P<lead>{around.lead})")
        parts += [f"(?P<opener>{'|'.join(openers)})"] if openers else []
        parts += [f"(?P<nameless>{nameless})"] if nameless else []
        parts += [f"(?P<inner>{'|'.join(inner)})"] if inner else []
        self.optional = optional
        self.whole_end = regex.compile(f"{GAP}{closing}(?:{around.tail})", flags) if nests else None
        """The end of a call, from a value's closer on."""
        self.section_end = regex.compile(f"{GAP}(?:{around.section_end})", flags) if around.section_end else None
        self.next_call = regex.compile(f"{GAP}(?:{_either(*around.begins)})", flags)
        self.over = regex.compile(f"{GAP}(?:{_either(*around.begins, around.section_end)})", flags)
        """Shows that a call has ended although its value was not closed."""
        self.in_call = regex.compile(f"{LAYOUT}(?:{_either(around.inside, around.tail)})", flags)
        """Distinguishes the beginning of a call from a mention."""
        marks = self._compile_quotes(quotes, closer, parts, flags)
        self.quote_ends = tuple(end for quote, end in quotes if quote in marks and not escaped)
        """Ends of quotes, which unquoted text never ends with."""
        self.second_end = regex.compile(rf">[^\W\d_][^<\n]{{0,64}}(?:\r?\n)?(?:{closer})", flags)
        """Matches a short value that seems to begin with the end of the tag before it."""
        misspelt = [f"(?P<near>{_near(closer)})"] if nests and closer.endswith(">") else []
        self.candidate = regex.compile("|".join([*parts, f"(?P<closer>{closer})", *misspelt]), flags)
        outer = [around.begin, around.tail, around.wrapper_end] if nests else []
        sources = [closer, *openers, *inner, *outer, *map(re.escape, marks)]
        starts = [plain_start(source) for source in sources if source]
        self.hint = re.compile(sieve(starts)).search
        self.stop = re.compile(sieve(starts) + "|[&<]").search if escaped else self.hint
        """Finds text in a piece that must be examined."""
        follows = [
            *([f"(?P<after>{around.after})"] if nests else []),
            follow,
            *([f"(?P<parent>{parent})"] if parent else []),
        ]
        layout = LAYOUT if escaped else GAP
        self.follow = regex.compile(f"{layout}(?:{'|'.join(follows)})", flags)
        self.after = regex.compile(f"{layout}(?:{around.after})", flags) if nests else None
        """What follows an unclosed call; in a text that is cut off in it, `follow` may match something else."""
        if not starts:
            raise DialectRecordError("a value has no closing marker, so that nothing marks where it ends")
        self.escaped = escaped

    def _compile_quotes(self, quotes: Sequence[Pair], closer: str, parts: list[str], flags: int) -> list[str]:
        """Compile the quotes; add those that are markup to `parts` and return them."""
        words: list[str] = []
        marks: list[str] = []
        self.quotes: dict[str, regex.Pattern[str]] = {}
        self.quoted: dict[str, Callable[[str], object]] = {}
        """For each quote, a search for the first character of its end."""
        for number, (quote, end) in enumerate(quotes):
            word = quote[0].isalnum() or quote[0] == "_"
            if not word:
                marks.append(quote)
            (words if word else parts).append(f"(?P<q{number}>{re.escape(quote)})")
            self.quoted[f"q{number}"] = re.compile(f"[{re.escape(end[0])}]").search
            self.quotes[f"q{number}"] = regex.compile(re.escape(end) + (f"(?={GAP}{closer})" if word else ""), flags)
        near_marks = "|".join(f"(?!{re.escape(mark)}){_misspelt(mark)}" for mark in marks)
        self.near_quote = regex.compile(f"{GAP}(?:{near_marks})") if marks else None
        """Matches a misspelt quote at a value's beginning."""
        self.words = regex.compile(f"{GAP}(?:{'|'.join(words)})", flags) if words else None
        return marks

    def goes_on(self, cur: Cursor, at: int) -> bool | None:
        """Whether a call ends at `at`, after a value's closer, and more text follows; None if undecided."""
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
    """Return a pattern of a quote's first character and word with any marks between them."""
    word = max(re.findall(r"\w+", mark), key=len, default="")
    first, rest = re.escape(mark[0]), rf"[\s\S]{{{len(mark) - 1}}}"  # else the end of the text would be the slip
    return rf"(?={first}{rest}){first}[^\w\s]{{1,4}}{word}" if word else r"(?!)"


def _near(closer: str) -> str:
    """Return a pattern of near misses of a closer: more letters, an extra mark before its end, or no end at all."""
    if re.fullmatch(r"</[\w:.\\\-]+(?:\\s\{0,64\})?>", closer):
        return rf"{closer.removesuffix('>')}\w{{0,16}}\s{{0,64}}(?:>|(?=<))"
    before = closer[:-1]
    return rf"{before}(?:[^\w\s<>]>|(?=<))" if before else r"(?!)"  # of one character nothing is near


def _either(*patterns: str) -> str:
    return "|".join(filter(None, patterns)) or "(?!)"
