"""A call's outcome as the conversation holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.conversation import JsonPart, ResultPart, TextPart

if TYPE_CHECKING:
    from toolfmt.execution.records import ToolExecution


def result_part(execution: ToolExecution) -> ResultPart:
    """Make a part of what a call gave."""
    content = execution.result.content
    part = TextPart(content) if isinstance(content, str) else JsonPart(content)
    return ResultPart((part,), execution.call.id, execution.name, execution.has_error)
