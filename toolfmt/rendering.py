"""Writing calls and results in a dialect's own form.

    render_calls([ToolInvocation(name="f", arguments={"a": 1})], dialect="tool-json")

What is written is what a parser of the same dialect reads back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from toolfmt.choice import Choice, chosen_only
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolInvocation, ToolResult


def render_calls(
    calls: Sequence[ToolInvocation],
    *,
    tools: object = None,
    **choice: Unpack[Choice],
) -> str:
    """Write calls as the model would have written them.

    `tools` tell types where the wire does not. Arguments that the format cannot
    hold raise `UnrepresentableError`; an id, server or agent for which it has no
    place is left out, as its traits say (`carries_ids`, ...).
    """
    dialect, _ = chosen_only(choice)
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    return dialect.calls(calls, offered)


def render_results(
    results: Sequence[ToolResult],
    **choice: Unpack[Choice],
) -> str:
    """Write results as the model is shown them, in call order; markers inside them are made harmless."""
    dialect, _ = chosen_only(choice)
    return dialect.results(results)
