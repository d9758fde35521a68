"""An agent as a tool of another: it is given a task in words, and its last words are the result.

registry.register(as_tool(researcher, "research", "Look something up in the library."))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolfmt.errors import ExecutionError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from toolfmt.agents.loop import AgentLoop


def as_tool(loop: AgentLoop, name: str, description: str) -> Callable[[str], Awaitable[str]]:
    """Turn an agent into a tool for a `ToolRegistry`: an async function of `task`.

    Each call is a separate run with a new conversation. A run that does not complete is an error of the tool; its
    events go to the agent's own listeners.
    """

    async def ask(task: str) -> str:
        state = await loop.run(task)
        if state.status != "completed":
            raise ExecutionError(f"the agent {name!r} {state.status}: {state.reason}")
        return state.text

    function: Any = ask
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{description}\n\nArgs:\n    task: What the agent is to do, with all that it needs to know.\n"
    return ask
