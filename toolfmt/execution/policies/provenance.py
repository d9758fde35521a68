"""A dangerous tool wants a call that was clearly marked as one.

    {"name": "delete_all", "arguments": {}}                    bare: refused
    <tool_call>{"name": "delete_all", ...}</tool_call>         marker: runs

A model that quotes a document may quote a call in it. An executor asks this
policy whether it is listed or not; `ProvenancePolicy(refuse=())` lets everything pass.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final, cast

from toolfmt.execution.hooks import Blocked

if TYPE_CHECKING:
    from toolfmt.execution.policies.policy import Candidate
    from toolfmt.model import CallProvenance, ToolDefinition

WEAK: Final[tuple[CallProvenance, ...]] = ("bare", "fenced")
"""A JSON object in the text, in a code fence or not: anybody may have written it."""


class ProvenancePolicy:
    """Refuses weakly marked calls of dangerous tools."""

    step = "provenance"

    def __init__(self, refuse: Collection[CallProvenance] = WEAK) -> None:
        """`refuse` lists the marks to refuse."""
        self._refuse = frozenset(refuse)

    def check(self, candidate: Candidate) -> Blocked | None:
        """Check how the call was marked."""
        call = candidate.call
        if call.provenance not in self._refuse or candidate.tool is None or not is_dangerous(candidate.tool):
            return None
        return Blocked(
            f"{call.name!r} is dangerous, and the call was not marked as one ({call.provenance}): write it as the "
            "format says",
            "weak_provenance",
        )


def is_dangerous(tool: ToolDefinition) -> bool:
    """Whether a tool's metadata says so: `dangerous`, or MCP's hint that it destroys something."""
    notes = tool.metadata.get("annotations")
    hint = cast("dict[str, object]", notes).get("destructiveHint") if isinstance(notes, dict) else None
    return bool(tool.metadata.get("dangerous", hint))  # whatever is there, but false and null: when in doubt, it is
