"""Mends calls in a notation of literals by one change: an argument's sign, a quote, a bracket or a comma.

    [f(a: 'x', b: 1)]       [f(a='x', b=1]       [f(a='x', t=[1, 2)]       [f(a='x' b=1)]

All possible changes are tried, so that a call with two mended readings stays a failure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from toolfmt.dialect.literals import KEYWORD
from toolfmt.dialect.syntax import Form, spelled
from toolfmt.parsers.mending.mend_tags import Mend

_MOST: Final = 24
"""The largest number of places in a call at which something may be missing."""
_BRACKET: Final = re.compile(r"[)\]}]")
_ODD_QUOTE: Final = re.compile(r"[=(\[{,]\s{0,8}[\u201c\u201d\u2018\u2019]")
"""A typographic quote where a value begins; no reading of its text is certain."""
_PLACE: Final = re.compile(r"(?<!\s)\s*+[,)\]}]|(?<=[=\[{:])(?=[^\s'\"])")
"""A place where a value may end or begin."""
_NEXT: Final = re.compile(rf"(?<=[^\s,(\[{{])(?=\s+{KEYWORD}\s*=)")
_OTHER: Final = re.compile(rf"(?<=[(,])(\s*)([\"']?)({KEYWORD})\2\s*(?::=?|==|=>|=)\s*(?=[^\s=])")
"""An argument's name, with what was written as its sign."""


class LiteralMender:
    """Generates the texts that a broken call may have been meant as."""

    def __init__(self, forms: Iterable[Form], keys: Collection[str]) -> None:
        """Mend calls of these forms with arguments named in `keys`."""
        forms = [form for form in forms if form.literals is not None and form.literals.keywords]
        self._quotes = sorted({quote for form in forms if form.literals for quote in form.literals.quotes})
        self._ends = tuple({end[-1] for form in forms for end in map(str.strip, (form.call, *_closer(form))) if end})
        self._keys = keys

    def mends(self, raw: str) -> Iterator[list[Mend]]:
        """Yield all changes as one group; nothing for a call that was cut off."""
        if not raw.rstrip().endswith(self._ends) or _ODD_QUOTE.search(raw):
            return
        signs = _OTHER.sub(lambda found: f"{found[1]}{found[3]}=" if found[3] in self._keys else found.group(), raw)
        if signs != raw:
            yield [Mend(signs, "write = between the name of an argument and its value")]
            return
        places = {found.start() for found in _PLACE.finditer(raw)}
        if len(places) <= _MOST:
            yield list(self._changed(raw, sorted(places)))

    def _changed(self, raw: str, places: list[int]) -> Iterator[Mend]:
        for found in _NEXT.finditer(raw):
            yield Mend(f"{raw[: found.start()]},{raw[found.start() :]}", "add the missing comma")
        for at in places:
            for mark in (*")]}", *self._quotes):
                yield Mend(raw[:at] + mark + raw[at:], f"add the missing {mark}", alone=mark in self._quotes)
        for found in _BRACKET.finditer(raw):
            yield Mend(raw[: found.start()] + raw[found.end() :], f"remove the {found.group()} too many")


def _closer(form: Form) -> list[str]:
    """Return the closer of a form's calls, if they have one."""
    return [spelled(form.section.partition("{calls}")[2])]
