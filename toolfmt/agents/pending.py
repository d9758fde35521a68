"""The record of a call that has no result yet; `toolfmt.agents.waiting` says what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from toolfmt.model import ToolInvocation  # noqa: TC001 - `stored` makes checks of these annotations


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A call without a result yet."""

    id: str
    """The key of its decision."""
    call: ToolInvocation
    """The call as it would run, after the hooks."""
    why: Literal["approval", "result", "started"]
    """It needs approval, its result comes from elsewhere, or it had started when the program ended."""
    at: int
    """Its position among the calls of its answer, from 0."""
    detail: str = ""
