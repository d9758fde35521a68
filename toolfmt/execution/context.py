"""What a tool or a hook may know of the call that it serves.

    async def search(query: str, context: ToolContext) -> list[str]:
        context.tell(0.5, message="half of the index")

A parameter of this type is given by the executor; a model never sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolfmt.model import ToolInvocation


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call, who makes it, and the state of the run, which is to be read only."""

    call: ToolInvocation
    execution: str
    """The execution's id."""
    state: Any = None
    agent: str | None = None
    """Who calls, as the program says; what the call itself claims is `call.agent`."""
    _tell: Callable[[float | None, float | None, str], None] | None = field(default=None, repr=False, compare=False)

    injected_as: ClassVar[str] = "context"

    def tell(self, progress: float | None = None, total: float | None = None, message: str = "") -> None:
        """Tell how far the tool is, of `total` where it knows; after its call has ended, it is dropped.

        May be called from any thread. A tool in a process of its own is not heard.
        """
        if self._tell is not None:
            self._tell(progress, total, message)

    def __reduce__(self) -> tuple[type[ToolContext], tuple[Any, ...]]:
        """Travel to another process, without the way back."""
        return ToolContext, (self.call, self.execution, self.state, self.agent)
