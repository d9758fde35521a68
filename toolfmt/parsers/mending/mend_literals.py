"""Calls in a language of literals, mended by one change: a sign of an argument, a quote, a bracket, a comma.

    [f(a: 'x', b: 1)]       [f(a='x', b=1]       [f(a='x', t=[1, 2)]       [f(a='x' b=1)]

Every change that there may be is tried, so that a call which two of them make readable in two ways is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from toolfmt.dialect.literals import KEYWORD
from toolfmt.dialect.syntax import Form, spelled
from toolfmt.parsers.mending.mend_tags import Mend

_MOST: Final = 24
"""Places of a call at which something may be missing, at the most."""
_BRACKET: Final = re.compile(r"[)\]}]")
_PLACE: Final = re.compile(r"\s*[,)\]}]|(?<=[=\[{:])(?=[^\s'\"])")
"""Where a value may end or begin."""
_NEXT: Final = re.compile(rf"(?<=[^\s,(\[{{])(?=\s+{KEYWORD}\s*=)")
_OTHER: Final = re.compile(rf"(?<=[(,])(\s*)([\"']?)({KEYWORD})\2\s*(?::=?|==|=>|=)\s*(?=[^\s=])")
"""An argument's name, and what is written for its sign."""


class LiteralMender:
    """Gives the texts that a broken call of keywords may have been meant as."""

    def __init__(self, forms: Iterable[Form], keys: Collection[str]) -> None:
        """Mend calls of these forms, whose arguments have names among `keys`."""
        forms = [form for form in forms if form.literals is not None and form.literals.keywords]
        self._quotes = sorted({quote for form in forms if form.literals for quote in form.literals.quotes})
        self._ends = tuple({end[-1] for form in forms for end in map(str.strip, (form.call, *_closer(form))) if end})
        self._keys = keys

    def mends(self, raw: str) -> Iterator[list[Mend]]:
        """Return all changes as one group; none for a call that is cut off."""
        if not raw.rstrip().endswith(self._ends):
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
    """The closer of a form's calls, where they have one."""
    return [spelled(form.section.partition("{calls}")[2])]
