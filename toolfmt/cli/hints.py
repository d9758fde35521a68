"""What else may be meant where an answer holds no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.cli.errors import note
from toolfmt.detection import lookalikes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolDefinition


def note_no_call(chosen: str, text: str, offered: Sequence[ToolDefinition]) -> bool:
    """Say which formats an answer looks like in which no call was found; whether there is one."""
    found = lookalikes(text, tuple(offered))
    if found:
        note(f"no call found as {chosen}, but it looks like {' or '.join(found)}: choose with --dialect or --provider")
    return bool(found)
