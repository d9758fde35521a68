r"""Follows the values that are open in a text before any call was found.

<tol_call>write<arg_key>text</arg_key><arg_value>I call [TOOL_CALLS]rm[ARGS]{}
^ no format's marker                  ^ its value      ^ quoted in it: no call
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from toolfmt.dialect.syntax import Form
from toolfmt.model import ToolDefinition
from toolfmt.schema import property_names

_NAME = r"[A-Za-z_][\w.\-]{0,64}"
_SLOT = re.compile(r"\{[?\w]")


def value_marks(forms: Iterable[Form]) -> re.Pattern[str]:
    """Compile what opens and closes a value in any of the forms; the group `key` is a name that is also a key's.

    After a blank that indents no line, or in quotes, an opener is `inside`: it opens one only in another, as prose
    speaks of it.
    """
    found = {pair for form in forms for pair in _pairs(form)}
    opens, closes = (
        "|".join(sorted({re.escape(one[at]).replace(r"\ ", r"\s+") for one in found}, key=len, reverse=True))
        for at in (0, 1)
    )
    both = "|".join(sorted(map(re.escape, {one for one, other in found if one == other}))) or "(?!)"
    closer = rf"(?P<both>{both})|(?P<close>(?:{closes or '(?!)'})|</(?P<ended>{_NAME})>)"
    opener = rf"(?:{opens or '(?!)'})|<(?P<key>{_NAME})>(?![ \t])"
    return re.compile(rf"{closer}|(?:^[ \t]+|(?P<inside>(?<=[ \t`\"'(]))|)(?:{opener})", re.MULTILINE)


def _pairs(form: Form) -> Iterator[tuple[str, str]]:
    """What opens and closes a value, where a key's name is not all of it."""
    for quote in form.literals.quotes if form.literals is not None else ():
        if len(quote) > 1:
            yield quote, quote
    elements = form.elements
    if elements is None:
        return
    before, _, after = elements.member.partition("{value}")
    opener, closer = _SLOT.split(before[before.rfind("<") :])[0].strip().rstrip("\"'"), after.strip()
    if opener in closer:
        opener = _SLOT.split(before)[0].strip().rstrip("\"'")
    yield from elements.quotes
    if opener and "{key}" not in after:
        yield opener, closer


def values_of(tools: Mapping[str, ToolDefinition]) -> frozenset[str]:
    """Name the elements that are values where a key is an element's name."""
    return frozenset(key for tool in tools.values() for key in property_names(tool.parameters))


class OpenValues:
    """Counts the values that are open in a text that comes in pieces."""

    def __init__(self, marks: re.Pattern[str], keys: frozenset[str]) -> None:
        """Count by `marks`; elements whose names are these `keys` are values too."""
        self._marks = marks
        self._keys = keys
        self.open = 0
        """How many are open."""

    def go(self, text: str) -> None:
        """Read on; no mark is cut off at the end of the text."""
        for found in self._marks.finditer(text) if "<" in text else ():
            if found["both"]:
                self.open = int(not self.open)
                continue
            name = found["key"] or found["ended"]
            if (not name or name in self._keys) and (self.open or found["inside"] is None):
                self.open = max(self.open + (-1 if found["close"] else 1), 0)
