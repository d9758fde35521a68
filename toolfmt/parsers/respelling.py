"""Finds misspelt markers by correcting them and reading the text again.

<tool_cal>{"name": "f", "arguments": {}}</tool_call>      write <tool_call> instead of '<tool_cal>'
<|tool calls begin|>                                      the same with other bars, blanks or letter case
{"tool": "f", "arguments": {}}                            write the key "name" instead of "tool"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from difflib import get_close_matches
from functools import cache, lru_cache
from html import unescape
from itertools import permutations
from typing import Concatenate, Final, ParamSpec, TypeVar

from toolfmt.dialect.record import AnyDialect
from toolfmt.dialect.syntax import Form
from toolfmt.model import ToolDefinition, ToolInvocation
from toolfmt.parsers.compiled.sections import any_of
from toolfmt.parsers.mending.mend_tags import TagMender
from toolfmt.parsers.plain_text import UNSEEN, WIDER, plain

_P = ParamSpec("_P")
_ReadT = TypeVar("_ReadT")

LONGEST: Final = 20_000
"""The longest text, in characters, that is read again."""
AGAIN: Final = 32_768
"""The total number of characters read in all attempts on one text."""
_MARK: Final = re.compile(
    r"(<[|\uff5c][^\w\s<>][|\uff5c]>|</?[^<>\s=\"']{1,80}(?:>|(?=[\s=\"']))|&lt;/?[\w|]{2,60}&gt;|\[{1,2}/?\w{3,40}\]{0,2}|✿\w{2,40}✿)"
    r"((?:[\s=\"'][^<>\n]{0,200}>)?)"
)
"""A marker: its beginning, and its content."""
_AROUND: Final = re.compile(
    rf"^([ \t]{{0,8}}(?:`{{3}}\w{{0,16}}|[`*]{{1,3}}))(?P<mark>{_MARK.pattern})[`*]{{0,3}}", re.MULTILINE
)
"""A marker at a line's beginning in code, in bold, or glued to a fence."""
_UNENDED: Final = r"</?[\w:.\-]{1,64}(?:=[\w.\-]{1,64}|(?:\s[\w\-]{1,32}=(?:\"[^\"<>]{0,200}\"|'[^'<>]{0,200}'))*)"
"""A tag in a text without any `>`."""
_CLOSE: Final = 0.75
"""The fraction of a marker that must be right."""
_BAR: Final = r"\\?[|\uff5c\u00a6\u2502]?"
_ALIKE: Final = {
    **dict.fromkeys("_\u2581", r"\\?[_\u2581\uff3f \-]?"),
    **dict.fromkeys("|\uff5c", _BAR),
    " ": "[ _\u2581\u3000]?",
    "/": r"(?:\\?[/\uff0f]|\\)[ \t]?",
}
"""Spellings of a marker's character: a blank for U+2581, an ASCII bar for a full-width one, or nothing."""
_LETTERS: Final = dict(zip("aceopxyis", "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0455", strict=True))
"""Cyrillic letters that look like Latin ones."""
LATIN: Final = {ord(other): letter for letter, other in _LETTERS.items()}
_BEGINS: Final = {
    "<": r"(?:\\?[<\uff1c\u2039\u3008\u300a\u27e8{(\[]|&(?:lt|#60|#x3c);)",
    "[": r"\\?[\[\uff3b\u3010\u3014{(]",
}
_ENDS: Final = {
    ">": r"(?:\\?[>\uff1e\u203a\u3009\u300b\u27e9})\]]|&(?:gt|#62|#x3e);)",
    "]": r"\\?[\]\uff3d\u3011\u3015})]",
}
"""Spellings of the brackets of a marker."""
PLAINLY: Final = "write all markers and punctuation in plain characters"
EXAMPLE: Final = ToolInvocation(name="f", arguments={"a": "b"})
EXAMPLE_TOOL: Final = ToolDefinition(name="f", parameters={"type": "object", "properties": {"a": {"type": "string"}}})


def sparing(read: Callable[Concatenate[str, _P], _ReadT], otherwise: _ReadT) -> Callable[Concatenate[str, _P], _ReadT]:
    """Wrap `read`: once its texts have `AGAIN` characters in total, it returns `otherwise`."""
    left = AGAIN

    def again(text: str, *args: _P.args, **options: _P.kwargs) -> _ReadT:
        nonlocal left
        left -= len(text)
        return read(text, *args, **options) if left >= 0 else otherwise

    return again


def misspelt(dialect: AnyDialect, text: str, reads: Callable[[str], bool], tools: Iterable[ToolDefinition] = ()) -> str:
    """Return advice on a text's misspelt markers, or "" unless `reads` finds a call in the corrected text."""
    if dialect.syntax is None or len(text) > LONGEST:
        return ""
    return respelled(dialect.syntax.forms[0], tools, text.strip(), example(dialect), reads)


def example(dialect: AnyDialect) -> str:
    """Write a short call."""
    return str(dialect.calls([EXAMPLE], {EXAMPLE_TOOL.name: EXAMPLE_TOOL}))


def respelled(form: Form, tools: Iterable[ToolDefinition], raw: str, shown: str, reads: Callable[[str], bool]) -> str:
    """Return advice on a call's misspelt markers, by comparing them with those of a `shown` call and of `tools`."""
    marks = [word for word, _ in _MARK.findall("\n".join([shown, *TagMender(form, tools).tags]))]
    slips: dict[str, str] = {}  # each advice, and the text that it is about

    def right(found: re.Match[str], word: str) -> str:
        wrote, spelt = found.group(), f"{word}{plain(found[2])}"
        if wrote != spelt:
            slips[f"write {spelt} instead of {wrote!r}"] = wrote
        return spelt

    @cache  # a text about markers has the same ones many times
    def nearest(wrote: str) -> str:
        same = [word for word in marks if _closes(word) == _closes(unescape(wrote))]
        return next(iter(() if wrote in same else get_close_matches(unescape(wrote), same, 1, _CLOSE)), "")

    def near(found: re.Match[str]) -> str:
        word = nearest(found[1])
        return right(found, word) if word else found.group()

    def bare(found: re.Match[str]) -> str:
        slips[f"leave out {found[1].strip()!r} before {found['mark']}"] = ""
        return found["mark"]

    text = _AROUND.sub(bare, raw) if "`" in raw or "*" in raw else raw
    if ">" not in text and "</" in text:
        slips["write > at the end of each tag"] = ""
        own = any_of(mark[:-1] for mark in marks if mark[-1] == ">")
        text = re.sub(f"(?:{own})|{_UNENDED}", r"\g<0>>", text)
    for loose in (False, True):  # with all of its bars, `<tool_call|>` is not taken for `<|tool_call>`
        for word in sorted(dict.fromkeys(marks), key=_closes, reverse=True):  # the names are the same
            text = _alike(word, loose).sub(
                lambda found, word=word: right(found, found[1] if found[1] in marks else word), text
            )
    text = _MARK.sub(near, text)
    advice = sorted(slips, key=lambda one: raw.find(slips[one]))
    if advice and reads(text):
        return "; ".join(advice)
    copy = plain(text)
    return "; ".join([*advice, PLAINLY]) if copy != text and reads(copy) else ""


def _closes(mark: str) -> bool:
    return _SLASH(mark) is not None


_SLASH: Final = re.compile(r"[^\w/]{1,3}/").match
_WORDS: Final = (
    (r"(?<=<)(/?)({})(?=[\s>/=])", "write <{}> instead of <{}>", r"</?([\w:.\-]{1,64})(?=[\s>/=])"),
    (r"(?<=\s)()({})(?=\s?=\s?[\"'])", "write the attribute {} instead of {}", r"\s([\w:.\-]{1,64})\s?=\s?[\"']"),
    (r'(?<=[{{,\s])(")({})(?="\s{{0,8}}:)', 'write the key "{}" instead of "{}"', r'[{,\s]"([^"\\\n]{1,64})"\s{0,8}:'),
)
"""For names of tags, attributes and keys: the pattern of one name, the advice, and the pattern of all."""
_MOST: Final = 3
"""The largest number of foreign names of one kind that are replaced."""


def renamed(raw: str, shown: str, declared: Collection[str], reads: Callable[[str], bool]) -> str:
    """Return advice on wrong names of tags, attributes or keys, by those that only the `shown` call has.

    Names in `declared` are arguments, and stay.
    """
    for pattern, advice, every in _WORDS:
        wrote, right = (list(dict.fromkeys(re.findall(every, text))) for text in (raw, shown))
        odd = [word for word in wrote if word not in right and word not in declared][:_MOST]
        missing = [word for word in right if word not in wrote and word not in declared]
        for count in range(1, min(len(odd), len(missing)) + 1):
            for words in permutations(odd, count):
                for names in permutations(missing[:_MOST], count):
                    text = raw
                    for word, name in zip(words, names, strict=True):
                        text = re.sub(pattern.format(re.escape(word)), rf"\g<1>{name}", text)
                    if reads(text):
                        return "; ".join(advice.format(name, word) for word, name in zip(words, names, strict=True))
    return ""


@lru_cache(maxsize=1024)
def _alike(word: str, loose: bool) -> re.Pattern[str]:  # noqa: FBT001 - a key of the cache
    """Compile the pattern of texts that look like a marker; if `loose`, bars and one of its brackets may be missing."""
    begin, end = _BEGINS.get(word[0], ""), _ENDS.get(word[-1], "")
    inner = word[bool(begin) : len(word) - bool(end)]
    looks = f"[{UNSEEN}]{{0,2}}".join(map(_spellings, inner))
    if not loose:
        looks = looks.replace(_BAR, _BAR.rstrip("?"))
    rest = "()" if end or not word[-1].isalnum() else rf"([\s=\uff1d\"'][^<>\n]{{0,200}}?{_ENDS['>']})"
    gap = rf"[\s{UNSEEN}]{{0,2}}"
    opened, closed = begin and f"(?:{begin}{gap}){{1,2}}", end and f"(?:{gap}{end}){{1,2}}"
    either = f"{opened}{looks}{closed}"
    if loose and begin and end:
        apart = r"/\uff0f<\uff1c|\uff5c\[\uff3b;\\" + (r"\w" if inner[:1].isalnum() else "")
        either += rf"|{opened}{looks}(?![\w/|\-:]{{0,40}}{end})|(?<![{apart}]){looks}{closed}"
    return re.compile(f"({either}){rest}", re.IGNORECASE)


def _spellings(char: str) -> str:
    """Return the pattern of what looks like a character of a marker."""
    wide = chr(ord(char) + WIDER) if "!" <= char <= "~" else ""
    return _ALIKE.get(char) or f"[{re.escape(char)}{wide}{_LETTERS.get(char.lower(), '')}]"
