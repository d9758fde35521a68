"""Failures of calls that could not be read, so that a run does not end on one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.detection.unread_calls import UNREAD, unread_call
from toolfmt.events import CallFailed
from toolfmt.parsing import ParseResult, call_reader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolDefinition


def with_unread(result: ParseResult, text: str, tools: Sequence[ToolDefinition]) -> ParseResult:
    """Add a failure if an answer without a call looks like one; `text` is the answer as the model wrote it."""
    if not tools or result.calls or result.failures:
        return result
    looked = result.text if result.text.strip() else text  # a call drafted in closed reasoning is no call
    offered = {tool.name: tool for tool in tools}
    found = unread_call(looked, offered, call_reader(offered))
    if found is None:
        return result
    raw, name = found
    start = max(0, text.find(raw))
    detail = f"it looks like a call of {name!r}, but not in the expected format"
    failure = CallFailed(0, raw, UNREAD, detail, (start, start + len(raw)))
    return ParseResult((*result.events, failure), result.dialect, result.detection)
