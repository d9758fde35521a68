r"""Disarms untrusted text for formats in which a call has no marker of its own.

Result: {"name": "delete", "args": {}}    read as a call where calls may be bare
Result: {"\u006eame": "delete", "args": {}}    the same JSON, read as text
Result: <delete></delete>    read as a call where a tool's name is a tag

Lists of call expressions, and headers that are only a name, get an invisible character.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable

import regex

from toolfmt import jsontext
from toolfmt.dialect.syntax import JsonCall
from toolfmt.model import JsonValue
from toolfmt.parsers.bodies.json_shapes import JsonNode, names_a_call
from toolfmt.parsers.compiled.grammar import CompiledSyntax

ZERO_WIDTH = "\u2060"
"""Word joiner: invisible, but enough to break a marker."""
_SPACE = re.compile(r"\s*+")
_NAMED = re.compile(r"<(?=/?[^\W\d])|(?<![\w.:/\-])[\w.:/\-]{1,256}+(?=[ \t]{0,64}\r?\n\s{0,64}\{)")
_JOINER = "\u2060"
"""A word joiner: invisible, but enough to break a tag or a name."""


def disarm_names(text: str) -> str:
    """Break every tag, and every word before a brace on a line, for readers that know calls by tools' names alone."""
    return _NAMED.sub(lambda found: found.group() + _JOINER, text)


def disarmer(grammar: CompiledSyntax) -> Callable[[str], str]:
    """Make a function that changes every such object in a text so that a parser does not read it as a call."""
    lists = [regex.compile(section.opener, grammar.flags) for section in grammar.sections if section.bare]
    frame = grammar.syntax.frame
    headers = [regex.compile(rf"\A(?:{frame.header})")] if frame is not None else []
    json = _json(*grammar.bare) if grammar.bare is not None else str

    def disarm(text: str) -> str:
        for pattern in (*lists, *headers):
            text = pattern.sub(_unseen, text)
        return json(text)

    return disarm


def _unseen(found: regex.Match[str]) -> str:
    return found.group()[:1] + ZERO_WIDTH + found.group()[1:]


def _json(call: JsonCall, shape: JsonNode) -> Callable[[str], str]:

    def meant(value: JsonValue) -> bool:
        return names_a_call(shape, value) or (jsontext.is_object(value) and call.meant_by in value)

    def disarm(text: str) -> str:
        out: list[str] = []
        start, end, layout = -1, 0, _Layout(text)
        while (start := text.find("{", max(start + 1, end))) >= 0:
            at = layout.end(start + 1) + 1  # the first character of the first key
            if text[at - 1 : at] not in {'"', "'"} or text[at : at + 1] in {"", "\\"}:
                continue
            # A reader may mend broken JSON, or read objects inside it; in doubt it counts as broken.
            value, after = jsontext.try_value(text, start) or (None, at + 1)
            harmless = after > at + 1 and not meant(value)
            out += text[end:at], text[at] if harmless else f"\\u{ord(text[at]):04x}", text[at + 1 : after]
            end = after
        return "".join((*out, text[end:]))

    return disarm


class _Layout:
    """White space and comments in a text; what is after them is found once for each place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, int] = {}
        lines = [found.start() for found in re.finditer(r"\n|\Z", text)]
        self._comments = {"//": lines, "/*": [found.end() for found in re.finditer(r"\*/", text)]}

    def end(self, at: int) -> int:
        """Return the end of all white space and comments that begin at a place."""
        passed: list[int] = []
        while (end := self._known.get(at, -1)) < 0:
            passed.append(at)
            if (end := self._piece(at)) == at:
                break
            at = end
        self._known |= dict.fromkeys(passed, end)
        return end

    def _piece(self, at: int) -> int:
        mark = self._text[at : at + 2]
        if mark not in self._comments:
            found = _SPACE.match(self._text, at)
            return at if found is None else found.end()
        ends = self._comments[mark]
        place = bisect_left(ends, at + (4 if mark == "/*" else 2))
        return ends[place] if place < len(ends) else at
