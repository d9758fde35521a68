"""Calls that nobody could read: a run does not end on one.

    Action: search_docs("x")                            the chosen format, gone wrong
    ```json
    {"name": "search_docs", "arguments": {"q": "x"}}    another format
    ```

An answer without a call or a failure gets a failure `unread_call` where its text looks like a call: some dialect
reads a call of an offered tool in it, or a line has nothing but an offered tool's name in the place of a call. The
mere mention of a marker or a tool in a sentence is an answer like any other.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from toolfmt.events import CallFailed
from toolfmt.parsing import ParseResult, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolDefinition

REASON: Final = "unread_call"
_READ: Final = 65536
"""Characters of an answer that are looked at."""
_MARKUP: Final = r"[^\w\n]{0,8}"
"""Bold, quotes, brackets: whatever surrounds a word."""
_LABEL: Final = (
    r"(?:<[^<>\s]{1,64}>|\[[A-Z_]{2,32}\])?"
    rf"(?:{_MARKUP}(?:[0-9]{{1,3}}[.)]{_MARKUP})?"
    rf"(?:action|tool|function|call|tool[ _]call|function[ _]call|tool[ _]name)(?P<said>){_MARKUP})?[\"'`*\[]{{0,4}}"
)
_GIVEN: Final = (
    r"[\"'`*]{0,4}(?:[ \t]{0,4}(?:\([^\n]*\)|\[[^\n]*\])[^\w\n]{0,8}$|\s{0,8}\{"
    rf"|{_MARKUP}\n{_MARKUP}(?:(?:action[ _])?input|arguments|args|parameters)\b)"
)
"""What shows that a name is called: arguments in brackets to the line's end, an object, or a line for the input."""


def with_unread(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> ParseResult:
    """Add a failure where an answer without a call looks like one; `text` is the answer as the model wrote it."""
    if not tools or result.calls or result.failures:
        return result
    looked = result.text if result.text.strip() else text  # a call drafted in closed reasoning is no call
    found = _looks_like_a_call(looked[:_READ], tools)
    if found is None:
        return result
    raw, detail = found
    start = max(0, text.find(raw))
    failure = CallFailed(0, raw, REASON, detail, (start, start + len(raw)))
    return ParseResult((*result.events, failure), result.dialect, result.detection)


def _looks_like_a_call(text: str, tools: Sequence[ToolDefinition]) -> tuple[str, str] | None:
    """Give the part of the text that looks like a call, and why."""
    names = {tool.name for tool in tools}
    other = parse(text, dialect="auto", tools=tools)
    for event in other.ended:
        name = event.name if isinstance(event, CallFailed) else event.call.name
        if name in names:
            return text[slice(*event.span)], f"it looks like a call in the format {other.dialect!r}"
    # Nothing but the call on its line: a label, the name, then its arguments in parentheses or on the next line.
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    line = re.compile(rf"^[ \t]{{0,8}}{_LABEL}(?P<name>{either}){_GIVEN}", re.MULTILINE | re.IGNORECASE)
    value = re.compile(
        rf'^\s{{0,8}}[\[{{]\s{{0,8}}[^{{}}]{{0,200}}:\s{{0,8}}"(?P<name>{either})"\s{{0,8}}[,}}]', re.MULTILINE
    )
    match = line.search(text)
    if match is not None and text.count("```", 0, match.start()) % 2 and match["said"] is None:
        match = None  # code that is shown
    match = match or value.search(text)
    if match is None:
        return None
    return match.group().strip(), f"it looks like a call of {match['name']!r}, but not in the expected format"
