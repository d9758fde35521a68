r"""Decides how the text of a broken string was meant, and writes it as JSON.

"a.txt], "n": 1      the bracket may be the quote, misspelt: unclear
"it\'s"              `it's`
"""

from __future__ import annotations

import re

from toolfmt import jsontext

ODD_ENDS = frozenset("\"'`\u201c\u201d\u2018\u2019")
_ODD_LAST = ODD_ENDS | frozenset(",:;=([{\\")
_OPENERS = {")": "(", "]": "[", "}": "{"}
_STRAY = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|(\\(?!\'))|(")|([\x00-\x1f])|\\')
_UNCLEAR_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{1,3}(?=[^\w])|'')").search


class NoSingleReading(Exception):  # noqa: N818 - control flow inside the menders, never seen by callers
    """The text has no reading, or more than one."""


def within(held: str) -> bool:
    """Whether a text is entirely in quotes."""
    held = held.strip()
    return {held[:1], held[-1:]} <= ODD_ENDS


def odd_end(text: str) -> bool:
    """Whether a text ends with a possible misspelt quote, or with what may follow the quote."""
    text = text.rstrip()
    last = text[-1:]
    opener = _OPENERS.get(last)
    return last in _ODD_LAST or (opener is not None and text.count(last) > text.count(opener))


def encoded(held: str, *, single: bool = False) -> str:
    """Write a string's text, including its escapes, as a JSON string."""
    if single:
        held = held.replace("\\'", "'")
    elif _UNCLEAR_ESCAPE(held):
        raise NoSingleReading

    def strict(found: re.Match[str]) -> str:
        if found[1]:
            return "\\\\"
        if found[2]:
            return '\\"'
        if found.group() == "\\":
            return ""  # before a single quote
        return jsontext.escape(found[3]) if found[3] else found.group()

    return f'"{_STRAY.sub(strict, held)}"'
