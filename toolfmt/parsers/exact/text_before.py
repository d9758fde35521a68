r"""The text emitted since the last call, and whether it ends inside a value of an unrecognised call.

<tool_cal>write\n<arg_key>text</arg_key><arg_value>I call <tool_call>rm...</tool_call>
^ text, as its marker is misspelt       ^ its value       ^ quoted: this call must not run
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from toolfmt import jsontext
from toolfmt.errors import ToolFmtError
from toolfmt.model import ToolDefinition
from toolfmt.parsers.compiled.grammar import CompiledSyntax
from toolfmt.parsers.compiled.sections import FormGrammar
from toolfmt.parsers.scanning.damage import differs_by_one_character, letters, mentioned
from toolfmt.parsers.scanning.pieces import Pieces
from toolfmt.schema import declares

_LONGEST = 4096
"""The largest number of characters of a line that are examined."""
_QUOTED = re.compile(r"""(?<=[=(\[{,:])(\s{0,8})(["'])(?:\\.|(?!\2).)*+(?P<end>\2)?""", re.DOTALL)
_STRING = re.compile(r"""(?<=[=(\[{,:])[ \t]{0,8}(["'])(?:\\[^\n]|(?!\1)[^\\\n])*+(?P<end>[\s\S])?""")
_STRING_ENDS = {quote: re.compile(rf"(?:\\[^\n]|[^\\\n{quote}])*+(?P<end>[\s\S])?") for quote in "'\""}
_BRACKETS = re.compile(r"[()\[\]{}]")
_LOOKED_AT = 128
"""Characters before a call that are searched for a marker."""
_NEAR = 300
"""Characters before an argument that are searched for a tool's name."""
_WORDS = re.compile(r"[\w.\-]+").findall
_WITHIN = re.compile(r"""[\w"'=(\[{\\]\Z""").search
"""Characters that show that what follows is part of a word, a string or an expression."""


_HEAD = re.compile(
    r"""(?:(?<![ \t`"'(])<[^<>\n]{0,64}?[ =:/|.\uff5c]?|[=>\]\uff5c]|(?<=[=:])\s{0,8})["']?([\w.\-]{1,64})"""
    r"""(?=(?:["']?\s{0,8}[\]/|\uff5c]{0,2}>|["']\s{0,8},\s{0,8}["']|(?=\s{0,8}(?:<(?!/)|[{(\[])))"""
    r"""(?![ \t]+\w|[.,;:!?)`"']))"""
)
"""A name as in the head of a call, with any markers around it: `<invoke name="write">`, `tool_call>write<`."""
_ARGUMENT = re.compile(
    r"""(?<![ \t`"'(])</?(?:[|\uff5c]?\w{1,16}[|\uff5c:])?(?:param|arg)\w{0,12}(?:[ =]\s{0,8}[^<>\n]{1,64})?>"""
    r"""(?![ \t]+\w|[.,;:!?)`"'])"""
)
"""An argument's marker, in the forms of all formats."""
_NAMED_TAG = re.compile(r"\s*<([\w.\-]++)[^<>]*\{name\}").match
"""A call's marker that has the tool's name in it."""
_BLOCK = re.compile(r"^[ \t]{0,64}([\w.\-]{1,64}):[ \t]{1,8}[|>][+\-]?[ \t]{0,8}\n", re.MULTILINE)
"""The beginning of a block scalar in YAML."""
_MARKS = re.compile("[<>:]").search
_FENCED = re.compile(r"`{3}(?:[^`]|`(?!``))*`{3}")
_MARKER = re.compile(r"<(?!/|\W?(?:/|end|eo))[^<>\s][^<>\n]{0,80}>|\[[A-Z_]{3,64}\]")
_OPENS_MARKUP = re.compile(rf"(?:{_MARKER.pattern})\s*\Z").search


class TextBefore:
    """The text since the last call. Each piece is scanned once, when the beginning of a call is found after it."""

    def __init__(self, grammar: CompiledSyntax, tools: Mapping[str, ToolDefinition]) -> None:
        """Look for this format's values; element names count as keys only if one of `tools` declares them."""
        self._grammar, self._tools = grammar, tools
        self._pieces = Pieces()
        self.add = self._pieces.add
        self._line = self._quote = self._near = ""
        self._open = 0
        self._begun = False

    def clear(self, *, begun: bool = False) -> None:
        """Start over after a call or a closer; `begun`: an argument of a broken call was closed."""
        self._pieces.take()
        self._line = self._quote = self._near = ""
        self._open = 0
        self._begun = begun

    def add_failed(self, text: str) -> None:
        """Add the text of a failed call that has ended, so that the next call is not part of it."""
        self._scan()
        begun = self._begun
        self.add(text)
        self._scan()
        self._near, self._begun = "", begun

    def state(self) -> tuple[str, str, str, int, bool]:
        """Return a snapshot for `restore`."""
        self._scan()
        return self._line, self._quote, self._near, self._open, self._begun

    def restore(self, state: tuple[str, str, str, int, bool]) -> None:
        """Restore a snapshot."""
        self._pieces.take()
        self._line, self._quote, self._near, self._open, self._begun = state

    def in_code(self) -> bool:
        """Whether what follows is quoted on its line, or part of an expression."""
        self._scan()
        return inside_code(self._line)

    def in_markup(self) -> bool:
        """Whether the place is right after an opening marker that is not this format's, misspelt or not."""
        self._scan()
        marker = opens_markup(self._near)
        own = (letters(one) for text in self._own() for one in _MARKER.findall(text))
        return bool(marker) and not any(differs_by_one_character(letters(marker), one) for one in own)

    def _own(self) -> Iterator[str]:
        """Yield the format's markers."""
        syntax = self._grammar.syntax
        yield from (section.own for section in self._grammar.sections)
        yield from (opener for opener, _ in (*syntax.leading, *syntax.reasoning, *syntax.unwrap))
        yield from syntax.special

    def in_value(self) -> bool:
        """Whether what follows is inside a value: an unclosed string of its line, an element, or a broken call."""
        self._scan()
        return bool(self._open or self._quote or self._begun)

    def names_no_call(self, key: str) -> bool:
        """Whether an argument follows at the start of a line, or after a tag, without a tool's name before it."""
        self._scan()
        line = self._line.rstrip()
        known = not self._tools or any(declares(tool.parameters, key) for tool in self._tools.values())
        return (
            known
            and not (self._open or self._quote)
            and line[-1:] in {"", ">"}
            and self._tools.keys().isdisjoint(_WORDS(self._near))
        )

    def nameless(self, forms: Iterable[FormGrammar]) -> str:
        """Return the marker of a call that this text ends with, tags after it aside, if it has no name; else ""."""
        self._scan()
        for form in forms:
            tag = _NAMED_TAG(form.form.call)
            found = tag and re.search(
                rf"<{re.escape(tag[1])}(?![\w.\-])[^<>]{{0,64}}>(?=(?:\s|<[^<>]{{0,64}}>)*\Z)", self._near
            )
            if found:
                return found.group()
        return ""

    def mentions(self, after: str) -> bool:
        """Whether a closing tag, followed by `after`, is only mentioned."""
        self._scan()
        return mentioned(self._line, after)

    def _scan(self) -> None:
        text = self._pieces.take()
        if not text:
            return
        self._begun = self._begun or self._begins_call(self._near[-_LOOKED_AT:] + text)
        # A mark after a word's blank or a quote opens nothing, however the text was cut.
        before = self._near[-1:] if self._line.strip() else f"\n{self._line[-64:]}"
        self._near = (self._near + text)[-_NEAR:]
        self._line = line_of(self._line + text)
        if self._quote or '"' in text or "'" in text:
            self._scan_strings(text)
        if self._grammar.elements:
            self._scan_elements(before + text, len(before))
        if (quote := self._grammar.own_quote) is not None:
            for found in quote.finditer(text):
                self._open = int(not self._open and found["opens"] is not None)

    def _begins_call(self, text: str) -> bool:
        """Whether a text contains what looks like a call's name or argument."""
        if _MARKS(text) is None or self._grammar.syntax.unclaimed == "hidden":  # then the text contains headers
            return False
        text = _FENCED.sub("", text)
        if _ARGUMENT.search(text) or any(map(self._known, _BLOCK.findall(text))):
            return True
        end = 0  # the end of a complete object: a tool's definition, not the beginning of a broken call
        for found in _HEAD.finditer(text) if self._tools else ():
            if found.start() < end or self._tools.keys().isdisjoint({found[1], found[1].rpartition(".")[2]}):
                continue
            try:
                end = jsontext.raw_value(text, text.rindex("{", end, found.start()))[1]
            except (ValueError, ToolFmtError):
                return True
        return False

    def _scan_strings(self, text: str) -> None:
        at = 0
        if self._quote:
            rest = _STRING_ENDS[self._quote].match(text)
            at = len(text) if rest is None or rest["end"] is None else rest.end()
        if at < len(text) or not self._quote:
            self._quote = ""
            for string in _STRING.finditer(text, at):
                self._quote = "" if string["end"] else string[1]

    def _scan_elements(self, text: str, at: int) -> None:
        for elements in self._grammar.elements:
            if not self._open and not any(map(text.__contains__, elements.value_starts)):
                continue
            for found in elements.value_marks.finditer(text, at):
                if found["inside"] and not self._open:
                    continue
                key = found.groupdict().get("key")
                if key is None or elements.special or self._known(key):
                    self._open = max(self._open + (-1 if found["close"] else 1), 0)

    def _known(self, key: str) -> bool:
        return key in self._tools or any(declares(tool.parameters, key) for tool in self._tools.values())


def line_of(text: str) -> str:
    """Return the last line of a text."""
    return text[text.rfind("\n") + 1 :][-_LONGEST:]


def opens_markup(text: str) -> str:
    """Return the opening marker at the end of a text, or ""."""
    found = _OPENS_MARKUP(text[-_LOOKED_AT:])
    return found.group() if found is not None else ""


def opens_string(text: str) -> bool:
    """Whether a text opens a string as in code."""
    return _STRING.search(text) is not None


def inside_code(line: str) -> bool:
    """Whether what follows the beginning of a line is quoted there, or part of an expression."""
    if _WITHIN(line) or any(found["end"] is None for found in _QUOTED.finditer(line)):
        return True
    depth = 0
    for bracket in _BRACKETS.findall(_QUOTED.sub("", line)):
        depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
    return depth > 0
