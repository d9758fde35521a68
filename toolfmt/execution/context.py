"""The context of a call, for tools and hooks.

    async def search(query: str, context: ToolContext) -> list[str]:
        context.tell(0.5, message="half of the index")

The executor sets a parameter of this type; a model never sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.model import ToolInvocation


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call, its caller, and the state of the run, which is read-only."""

    call: ToolInvocation
    execution: str
    """The execution's id."""
    state: Any = None
    agent: str | None = None
    """The caller that the program named; `call.agent` is the name in the call itself."""
    _tell: Callable[[float | None, float | None, str], None] | None = field(default=None, repr=False, compare=False)

    injected_as: ClassVar[str] = "context"

    def tell(self, progress: float | None = None, total: float | None = None, message: str = "") -> None:
        """Report progress, out of `total` if it is known; reports after the end of the call are dropped.

        May be called from any thread. Reports of a tool in a separate process are dropped.
        """
        if self._tell is not None:
            self._tell(progress, total, message)

    def __reduce__(self) -> tuple[type[ToolContext], tuple[Any, ...]]:
        """Pickle without the callback, which cannot be called from another process."""
        return ToolContext, (self.call, self.execution, self.state, self.agent)
