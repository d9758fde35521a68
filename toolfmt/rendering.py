"""Writing calls and results in a dialect's own form.

render_calls([ToolInvocation(name="f", arguments={"a": 1})], dialect="tool-json")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.registry import default_registry
from toolfmt.tools import tools as definitions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.dialect import AnyDialect
    from toolfmt.model import ToolInvocation, ToolResult
    from toolfmt.registry import Registry


def render_calls(  # noqa: PLR0913 - the choice of a format, as everywhere
    calls: Sequence[ToolInvocation],
    *,
    dialect: AnyDialect | str | None = None,
    provider: str | None = None,
    model: str | None = None,
    use_xml: bool = False,
    tools: object = None,
    registry: Registry | None = None,
) -> str:
    """Write calls as the model would have written them.

    `tools` tell types where the wire does not. What the format cannot hold
    raises `UnrepresentableError`.
    """
    chosen = (registry or default_registry()).resolve(dialect=dialect, provider=provider, model=model, use_xml=use_xml)
    offered = {tool.name: tool for tool in definitions(tools)} if tools else {}
    return chosen.calls(calls, offered)


def render_results(  # noqa: PLR0913 - the choice of a format, as everywhere
    results: Sequence[ToolResult],
    *,
    dialect: AnyDialect | str | None = None,
    provider: str | None = None,
    model: str | None = None,
    use_xml: bool = False,
    registry: Registry | None = None,
) -> str:
    """Write results as the model is shown them, in call order; markers inside them are made harmless."""
    chosen = (registry or default_registry()).resolve(dialect=dialect, provider=provider, model=model, use_xml=use_xml)
    return chosen.results(results)
