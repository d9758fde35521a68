"""Failures of calls that could not be read, so that a run does not end on one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from toolfmt.detection.misnamed import misnamed_call
from toolfmt.detection.unread_calls import UNREAD, is_shown, unread_call
from toolfmt.events import CallFailed
from toolfmt.model import ToolDefinition
from toolfmt.parsing import ParseResult, call_reader
from toolfmt.schema import property_names

_STRAY: Final = frozenset({"stray_closer", "stray_header"})
_TOKEN: Final = re.compile(r"<\|\w{2,40}\|>")
"""A special token, which no text has."""
_STRUCTURE: Final = frozenset(">}])")
"""What a call may end with before its closer."""


def with_unread(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> ParseResult:
    """Add a failure if an answer without a call looks like one; `text` is the answer as the model wrote it."""
    if not tools or result.calls or result.failures:
        return result
    looked = result.text if result.text.strip() else text  # a call drafted in closed reasoning is no call
    offered = {tool.name: tool for tool in tools}
    read = call_reader(offered)
    found = unread_call(looked, offered, read) or _closed(result, text, tools)
    if found is not None:
        reason, raw, detail = UNREAD, found[0], f"it looks like a call of {found[1]!r}, but not in the expected format"
    elif any(notice.kind == "empty_calls" for notice in result.notices) and not result.text.strip():
        reason, raw, detail = "missing_answer", text, "the markers of a call hold no call"
    elif (misnamed := misnamed_call(looked, offered, result.dialect, read)) is not None:
        reason, (raw, detail) = "unknown_tool", misnamed
    else:
        return result
    start = max(0, text.find(raw))
    failure = CallFailed(0, raw, reason, detail, (start, start + len(raw)))
    return ParseResult((*result.events, failure), result.dialect, result.detection)


def _closed(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> tuple[str, str] | None:
    """Find a call without its beginning, by a stray marker of the format.

    The marker names a tool, or structure with the name of a tool or of an argument is before it.
    """
    starts = {word: tool.name for tool in tools for word in (*property_names(tool.parameters), tool.name)}
    word = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, starts))})(?!\w)")
    closers = [(text, *notice.span) for notice in result.notices if notice.kind in _STRAY]
    tokens = [(result.text, *found.span()) for found in _TOKEN.finditer(result.text)]
    for source, start, end in (*closers, *tokens):
        before = source[:start].rstrip()
        begun = before.rfind("\n\n") + 1
        named = word.search(source, start, end)
        found = word.search(before, begun) if before[-1:] in _STRUCTURE else named
        if found is not None and not is_shown(source, start):
            return source[begun:end].strip(), starts[found.group()]
    return None
