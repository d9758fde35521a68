"""The tools of a run, each under a name of its own, and where its calls go.

    add                  of the registry
    search               of the server `books`
    files_read           `read` of the server `files`: another server has a `read` too
    mail_read            `read` of the server `mail`

A model tells tools apart by their names alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolfmt.errors import DuplicateToolError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolfmt.model import ToolDefinition, ToolInvocation


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools as a model is shown them."""

    tools: tuple[ToolDefinition, ...] = ()
    meant: Mapping[str, ToolDefinition] = field(default_factory=dict[str, "ToolDefinition"])
    """What each of them is called by whoever runs it, by the name that the model knows."""

    def routed(self, call: ToolInvocation) -> ToolInvocation:
        """Send a call to the tool that it means; one that names a server itself goes there."""
        tool = self.meant.get(call.name)
        if tool is None:
            return call
        changes: dict[str, str] = {}
        if tool.name != call.name:
            changes["name"] = tool.name
        if tool.server is not None and (changes or call.server is None):
            changes["server"] = tool.server
        return call.model_copy(update=changes) if changes else call


def offer(tools: Iterable[ToolDefinition]) -> Offer:
    """Give tools names of their own: of several with one name, those of servers go by their server's too.

    Raises `DuplicateToolError` where that does not tell them apart.
    """
    found = list({(tool.server, tool.name): tool for tool in tools}.values())
    counts = Counter(tool.name for tool in found)
    offered: dict[str, ToolDefinition] = {}
    meant: dict[str, ToolDefinition] = {}
    for tool in found:
        name = f"{tool.server}_{tool.name}" if counts[tool.name] > 1 and tool.server is not None else tool.name
        if name in offered:
            raise DuplicateToolError(f"two tools are named {name!r}: names must be unique")
        offered[name] = tool if name == tool.name else tool.model_copy(update={"name": name})
        meant[name] = tool
    return Offer(tuple(offered.values()), meant)
