"""What else may be meant where an answer holds no call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.cli.errors import note
from toolfmt.detection.detecting import unread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolfmt.model import ToolDefinition


def note_no_call(chosen: str, text: str, offered: Sequence[ToolDefinition]) -> bool:
    """Say what an answer looks like in which no call was found as `chosen`; whether it looks like anything."""
    found = unread(text, tuple(offered))
    if found is None:
        return False
    read = f"no call found as {chosen}, but it" if chosen else "no call found, but it"
    if found.kind == "api":
        note(f"{read} looks like an API's answer: `toolfmt view` shows it, `toolfmt run --api` runs its calls")
        return True
    if found.kind == "expression":
        note(f"{read} {found.advice().removeprefix('it ')}")
        return True
    others = [name for name in found.dialects if name != chosen]
    if others:
        note(f"{read} looks like {' or '.join(others)}: choose with --dialect or --provider")
    return bool(others)
