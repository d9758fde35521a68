r"""Detects a call that the end of an answer cuts off after its opening marker, or after its tool's name.

I look.\n<tool_call>\n<function=get_weather
        ^ a call that was cut off, and not text
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import regex

from toolfmt.dialect.syntax import Syntax
from toolfmt.parsers.compiled.sections import BODY, is_named, lead_of
from toolfmt.parsers.scanning.patterns import Head, first_match, literal

if TYPE_CHECKING:
    import re


class CutHeads:
    """Beginnings of calls outside a section that are recognised although they are cut off."""

    def __init__(self, syntax: Syntax, head: Callable[[str], Head], flags: int) -> None:
        """Set the syntax; `head` compiles the beginning of a call."""
        self._syntax, self._head, self._flags = syntax, head, flags

    @cached_property
    def _heads(self) -> list[tuple[regex.Pattern[str], regex.Pattern[str] | None]]:
        return list(self._compiled())

    def _compiled(self) -> Iterator[tuple[regex.Pattern[str], regex.Pattern[str] | None]]:
        """Yield each head with its first marker."""
        line = r"[ \t]{0,8}" if self._syntax.lines else ""
        for form in self._syntax.forms:
            opening = BODY.split(form.call, maxsplit=1)[0].strip()
            lead = lead_of(form)
            named = opening.rpartition("{name}")[2].strip("\"' >")
            if (form.section == "{calls}" or form.alone) and (form.tentative or named or lead is not None):
                marker = regex.compile(line + literal(lead.group()), self._flags) if lead is not None else None
                yield regex.compile(line + self._head(opening).source, self._flags), marker

    def find(self, pattern: regex.Pattern[str], text: str, firsts: Iterable[re.Match[str]]) -> tuple[int, str] | None:
        """Find a call cut off by the text's end after its opening marker or its name; return its offset and name."""
        part = first_match(pattern, firsts, partial=True) if self._heads else None
        if part is None or not part.partial:
            return None
        for opening, lead in self._heads:
            found = opening.match(text, part.start(), partial=True)
            if found is not None and (
                not found.partial or is_named(found) or (lead and lead.match(text, part.start()))
            ):
                return part.start(), found.groupdict().get("name") or ""
        return None
