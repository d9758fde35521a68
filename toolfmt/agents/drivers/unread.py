"""Find calls that could not be read, so that a run does not end on one.

    Action: search_docs("x")                            the chosen format, gone wrong
    <toolcall>{"name": "search_docs", ...}</toolcall>   a misspelt marker
    ```json
    {"name": "search_docs", "arguments": {"q": "x"}}    another format
    ```

An answer without calls and failures gets a failure `unread_call` if its text looks like a call: a dialect reads a call
of an offered tool in it, or the name of an offered tool is in the place of a call, which is on a line of its own or
beside text that is similar to a marker of any dialect. A marker or a tool that is only mentioned in a sentence does not
count.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from toolfmt.events import CallFailed
from toolfmt.lookup.registry import default_registry
from toolfmt.parsing import ParseResult, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from toolfmt.lookup.registry import Registry
    from toolfmt.model import ToolDefinition

REASON: Final = "unread_call"
_READ: Final = 65536
"""Characters of an answer that are searched."""
_AROUND: Final = 300
"""Characters before and after a tool's name that may show that it is called."""
_CLOSE: Final = 0.75
"""How much of a marker must be right."""
_SHORTEST: Final = 3
"""Letters that a marker needs for a comparison."""
_MARKUP: Final = r"[^\w\n]{0,8}"
"""Bold, quotes, brackets around a word."""
_LABEL: Final = (
    r"(?:<[^<>\s]{1,64}>|\[[A-Z_]{2,32}\])?"
    rf"(?:{_MARKUP}(?:[0-9]{{1,3}}[.)]{_MARKUP})?"
    rf"(?:action|tool|function|call|tool[ _]call|function[ _]call|tool[ _]name)(?P<said>){_MARKUP})?[\"'`*\[]{{0,4}}"
)
_GIVEN: Final = (
    r"[\"'`*]{0,4}(?:[ \t]{0,4}(?:\([^\n]*\)|\[[^\n]*\])[^\w\n]{0,8}$|\s{0,8}\{(?!\w{1,40}\})"
    rf"|{_MARKUP}\n{_MARKUP}(?:(?:action[ _])?input|arguments|args|parameters)\b)"
)
"""After the name of a called tool: arguments in brackets to the line's end, an object, or a line for the input."""
_TAG: Final = r"(?:<[^<>\n]{1,80}>|&lt;[^<>\n]{1,80}?&gt;|\[{1,2}/?\w{3,40}\]{1,2})"
_FENCED: Final = r"(?:`{3,8}\w{0,16}\s{0,8})?"
_KEY: Final = r'"[^"\n]{0,40}"\s{0,4}:\s{0,4}'
_VALUE: Final = r'"[^"\n]{0,80}"'
_PLACES: Final = tuple(
    (re.compile(rf"{before}\Z"), re.compile(after))
    for before, after in (
        # <fnction=NAME>, <tol name="NAME">
        (
            r"(?P<mark><[^<>\n]{1,60}?)[\"']?",
            rf"[\"']?(?:[^<>\n]{{0,60}}>\s{{0,8}}{_FENCED}\S|\s[^<>\n]{{1,200}}=[^<>\n]{{1,200}}>)",
        ),
        # <tol_call>NAME{, [TOL_CALLS]NAME[ARGS], <|oen|>call tool="NAME" index="1"<|sep|>
        (
            rf"(?P<mark>{_TAG})\s{{0,8}}\[?(?:\w{{1,16}}[ ._:=])?(?:\w{{1,16}}[.:=] ?)?[\"']?",
            rf"[^<>{{(\[\n]{{0,40}}\s{{0,8}}(?:{_FENCED}[<{{(\[]|\n\s{{0,8}}\w{{1,40}}\s{{0,4}}[:=])",
        ),
        # Ation: NAME, ✿FNCTION✿: NAME, Cll: NAME(
        (
            r"(?:\A|\n)[^\w\n]{0,8}(?P<mark>\w[\w ]{1,20}?)[^\w\n]{0,4}:[^\w\n]{0,4}",
            (
                rf"{_MARKUP}(?:\(\s{{0,4}}(?:\w{{1,40}}\s{{0,4}}[=:]|[\"'\d{{\[)])"
                rf"|\n{_MARKUP}\w[\w ]{{1,20}}{_MARKUP}:\s{{0,4}}(?:\[|\{{(?!\w{{1,40}}\}})))"
            ),
        ),
        # to=functions.NAME<|channel|>
        (rf"(?:\A|\n|{_TAG})[\w ]{{0,24}}?to=[\w.]{{0,24}}", rf"[\w ]{{0,24}}(?:{_TAG}|\{{\s{{0,8}}\")"),
        # <toolcall>{"name": "NAME", [[SEG_SART {"tool_name": "NAME",
        (
            (
                rf"(?:\A|\n|(?:{_TAG}\s{{0,8}}){{1,3}}|[\[<]{{1,2}}\w{{3,40}})\s{{0,8}}{_FENCED}"
                rf"(?:[\[{{]\s{{0,16}}){{1,4}}(?:{_KEY}(?:{_VALUE}\s{{0,4}},|\{{|(?=\s*\"\Z))\s{{0,8}}){{0,6}}\s{{0,8}}\""
            ),
            r'"\s{0,8}(?:[,}]|:\s{0,4}\{)',
        ),
    )
)
"""What is before and after the name of a called tool; the group `mark` is compared with markers."""


def with_unread(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> ParseResult:
    """Add a failure if an answer without a call looks like one; `text` is the answer as the model wrote it."""
    if not tools or result.calls or result.failures:
        return result
    looked = result.text if result.text.strip() else text  # a call drafted in closed reasoning is no call
    found = _looks_like_a_call(looked[:_READ], {tool.name for tool in tools}, tools)
    if found is None:
        return result
    raw, name = found
    start = max(0, text.find(raw))
    detail = f"it looks like a call of {name!r}, but not in the expected format"
    failure = CallFailed(0, raw, REASON, detail, (start, start + len(raw)))
    return ParseResult((*result.events, failure), result.dialect, result.detection)


def _looks_like_a_call(text: str, names: set[str], tools: Sequence[ToolDefinition]) -> tuple[str, str] | None:
    """Return the part of the text that looks like a call, and the tool's name."""
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    if found := next(_in_place(text, re.compile(rf"(?<!\w)(?:{either})(?!\w)")), None):
        return found
    for event in parse(text, dialect="auto", tools=tools).ended:
        name = event.name if isinstance(event, CallFailed) else event.call.name
        if name in names:
            return text[slice(*event.span)], name
    # Nothing but the call on its line: a label, the name, then its arguments in parentheses or on the next line.
    line = re.compile(rf"^[ \t]{{0,8}}{_LABEL}(?P<name>{either}){_GIVEN}", re.MULTILINE | re.IGNORECASE)
    match = line.search(text)
    if match is not None and text.count("```", 0, match.start()) % 2 and match["said"] is None:
        match = None  # code that is shown
    return None if match is None else (match.group().strip(), match["name"])


def _in_place(text: str, names: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Find names in the place of a call, by the text around them."""
    for name in names.finditer(text):
        before, after = text[max(0, name.start() - _AROUND) : name.start()], text[name.end() : name.end() + _AROUND]
        for place, given in _PLACES:
            found = place.search(before) if given.match(after) is not None else None
            if found is None:
                continue
            mark = found.groupdict().get("mark")
            start = name.start() - len(before) + found.start()
            if (mark is None or _is_close(mark, default_registry())) and not _shown(text, start):
                yield text[start:].strip(), name.group()


def _shown(text: str, start: int) -> bool:
    """Whether a place is in a quotation: a quoted line, code after words, or a fence that more text follows."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if line.lstrip().startswith(">"):
        return True
    if line.count("`") % 2 and not line.lstrip().startswith("```"):
        return bool(line.strip(" \t`"))
    return text.count("```", 0, start) % 2 == 1 and bool(text[start:].partition("```")[2].strip())


@lru_cache(maxsize=8)
def _markers(registry: Registry) -> tuple[str, ...]:
    """Return the letters of all markers with which calls begin."""
    found: set[str] = set()
    for dialect in registry:
        for form in dialect.syntax.forms if dialect.syntax is not None else ():
            opening = f"{form.section.partition('{calls}')[0]}\n{form.call}"
            found.update(
                _letters(mark) for mark in re.findall(r"[<\[]+[^<>\[\]{}]+|[^\W\d][\w ]+(?=\W{0,2}:)", opening)
            )
    return tuple(sorted(one for one in found if len(one) >= _SHORTEST))


def _letters(text: str) -> str:
    return re.sub(r"&[lg]t;|[\W_]+", "", text).lower()


@lru_cache(maxsize=256)
def _is_close(mark: str, registry: Registry) -> bool:
    """Whether a text is similar to a marker."""
    return bool(get_close_matches(_letters(mark), _markers(registry), 1, _CLOSE))
