r"""A compiled notation of literals: how its strings begin and end, and what may follow its arguments.

[f(city='Paris', n=3), g()]<|tool_call_end|>
               ^ a quote ends a string if an argument or the end of the call follows
                       ^^ a call ends if the next call or the end of the calls follows
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import regex

from toolfmt.dialect.literals import KEYWORD, Literals
from toolfmt.parsers.scanning.patterns import GAP, sieve, strip_groups

_BRACKETS: Final = re.compile(r"[\\()\[\]{}]+").fullmatch
"""Matches a closer that consists of brackets only."""
_NAMED: Final = rf"{KEYWORD}\s{{0,64}}="
_KEY: Final = r"[^\s,:{}\[\]][^,:{}\[\]\n]{0,255}:"
_VALUE: Final = r"""\s{0,64}(?:['"\[{(\d+\-.]|(?:[TtFf]|[Nn](?:one|ull))[a-z]{0,5}\s{0,64}[,)\]}])"""
_INSIDE: Final = {
    "{": r"\s{0,256}(?:\}|,\s{0,256}(?:\}|QUOTE|" + _KEY + "))",
    "[": r"\s{0,256}[\],]",
    "(": r"\s{0,256}[\),]",
    "key": r"\s{0,64}:",
    "set": r"\s{0,256}[\},]",
}
_SURELY_INSIDE: Final = {
    "{": r"\s{0,256}(?:\}\s{0,256}[,)\]}]|,\s{0,256}(?:QUOTE[^'\"]{0,255}QUOTE\s{0,64}:|" + _KEY + "))",
    "[": r"\s{0,256}(?:\]\s{0,256}[,)\]}]|,\s{0,256}(?:QUOTE|" + _VALUE + "))",
    "(": r"\s{0,256}(?:\)\s{0,256}[,)\]}]|,\s{0,256}(?:QUOTE|" + _VALUE + "))",
    "key": r"\s{0,64}:",
    "set": r"\s{0,256}(?:\}\s{0,256}[,)\]}]|,\s{0,256}(?:QUOTE|" + _VALUE + "))",
}
_EXPRESSION: Final = (
    r"(?:\s{0,64}[+%*]\s{0,64}['\"\w(\[{]|\s{1,64}['\"]|\s{0,8}\.[A-Za-z_]\w{0,64}\("
    r"|\s{1,64}if\s[^'\"]{1,256}\selse\s)"
)
"""What follows a string that is part of an expression, such as a sum or a method call: not a literal."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What follows a call's arguments, as sources of patterns without groups."""

    tail: str
    """The call's own closer, or ""."""
    after: str
    """What may follow the closer: the next call, the end of the calls, another marker; "" for anything."""
    unclosed: str
    """What follows unclosed arguments: the call's own marker, or the next call with its `name`."""
    surely: str
    """The same after text with quotes, of which any bracket might be part."""

    @property
    def source(self) -> str:
        """The pattern of everything that may end a call."""
        return f"{GAP}(?:{self.tail})" + (f"{GAP}(?:{self.after})" if self.after else "")

    @property
    def sure(self) -> str:
        """The pattern of what certainly ends a call."""
        return f"{GAP}(?:{self.tail})" + (f"(?:{self.surely})" if self.surely else "")


def ending(tail: str, closer: str, own: str, others: Sequence[str]) -> Ending:
    """Describe what follows a call with this tail and the head `own`, before this closer or `others`."""
    line = r"[ \t]{0,64}(?:" + "|".join((r"\r?\n", *others)) + ")"
    again = rf"(?:[,;]{GAP})?{own}(?=\)|{KEYWORD}\s{{0,64}}=)" if _BRACKETS(tail) else tail
    if not closer:
        return Ending(tail, "", again, line if _BRACKETS(tail) else "")
    following = rf"(?:[,;]{GAP})?(?:{strip_groups(own)})"
    ends = "|".join([following, closer, *others])
    if _BRACKETS(closer):
        closer = f"(?:{closer})(?={line})"
    return Ending(tail, ends, again, GAP + f"(?:{following}|{closer})")


class LiteralGrammar:
    """A notation of literals, compiled for one form of calls."""

    def __init__(self, literals: Literals, ending: Ending) -> None:
        self.literals = literals
        escapes = literals.escapes
        single = dict.fromkeys((*literals.quotes, *("'\"" if escapes else "")))
        self.quotes = sorted([*single, *(3 * quote for quote in single if escapes)], key=len, reverse=True)
        opener = "|".join(map(regex.escape, self.quotes))
        prefix = r"(?P<raw>[rR])?" if escapes else ""
        self.openers = [regex.compile(f"{prefix}(?P<quote>{regex.escape(quote)})") for quote in self.quotes]
        self.starts = frozenset([quote[0] for quote in self.quotes] + (["r", "R"] if escapes else []))
        self.end = regex.compile(ending.source)
        """Matches the end of a call after its arguments."""
        self.braced_end = regex.compile(r"\}" + ending.source)
        """The same after the arguments' brace."""
        self.unclosed = regex.compile(GAP + f"(?:{ending.unclosed})")
        """Matches what follows arguments without their bracket."""
        weak, sure = dict(_INSIDE), dict(_SURELY_INSIDE)
        if literals.keywords:
            weak["top"] = (
                rf"\s{{0,256}}(?:\)|,\s{{0,256}}(?:\)|{_NAMED}|QUOTE|{_VALUE})|(?<=\s){_NAMED}|{strip_groups(ending.unclosed)})"
            )
            sure["top"] = rf"\s{{0,256}}(?:,\s{{0,256}})?(?:{ending.sure}|(?<=[,\s]){_NAMED}{_VALUE})"
        else:
            weak["top"] = rf"(?:{_INSIDE['{']}|\s{{0,256}}(?:{ending.unclosed}))"
            sure["top"] = rf"\s{{0,256}}(?:,\s{{0,256}})?(?:\}}{ending.sure}|(?<=,\s{{0,256}}){_KEY})"
        self.follow = {quote: _follow(quote, opener, weak) for quote in self.quotes}
        """What may follow a string, by its place."""
        self.surely = {quote: _follow(quote, opener, sure) for quote in self.quotes}
        """What must follow a string with quotes inside."""
        over = rf"\s{{0,64}}[\]}})]{{0,8}}{ending.sure}" if literals.keywords else r"(?!)"
        self.over = {quote: regex.compile(regex.escape(quote) + over) for quote in self.quotes}
        """What follows a string at the end of a call with unclosed brackets."""
        self.expression = {quote: regex.compile(regex.escape(quote) + _EXPRESSION) for quote in self.quotes}
        slip = rf",\s{{0,64}}{KEYWORD}\s{{0,64}}:?\s{{0,64}}(?:{opener})" if literals.keywords else r"(?!)"
        self.next_argument = {quote: regex.compile(regex.escape(quote) + slip) for quote in self.quotes}
        """What follows a string if the next argument lacks its sign: `', text'`, `', text: '`."""
        self.plain = {quote: re.compile(_plain(quote, escapes=escapes)).match for quote in self.quotes}
        """Matches text in which nothing needs a closer look."""
        self.raw = {quote: re.compile(_plain(quote, escapes=False)).match for quote in self.quotes}
        self.stop = {quote: re.compile(_stop(quote, escapes=escapes)).search for quote in self.quotes}
        """Finds text in a piece that must be examined."""


def _stop(quote: str, *, escapes: bool) -> str:
    """Return the pattern of possible beginnings of the quote or of an escape."""
    return sieve([quote]) + (r"|\\" if escapes else "")


def _plain(quote: str, *, escapes: bool) -> str:
    """Return the pattern of certain text, up to a possible quote or an escape that is not simple."""
    first = re.escape(quote[0])
    plain = rf"[^{first}\\]*+" if escapes else f"[^{first}]*+"
    others = [r"\\[nrt\\'\"]"] * escapes + [f"(?!{sieve([quote])}){first}"] * (len(quote) > 1)
    return f"{plain}(?:(?:{'|'.join(others)}){plain})*+" if others else plain


def _follow(quote: str, opener: str, sources: dict[str, str]) -> dict[str, regex.Pattern[str]]:
    return {
        kind: regex.compile(regex.escape(quote) + source.replace("QUOTE", f"(?:{opener})"))
        for kind, source in sources.items()
    }
