"""A context that can be entered with `async with`, or with `with` where no event loop runs.

The second runs an event loop in a thread of its own for as long as the context lasts.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from typing import TYPE_CHECKING, Generic, TypeVar

from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

_OpenT = TypeVar("_OpenT")


class OpenedOnEntry(Generic[_OpenT]):
    """Opens something when it is entered, and closes it at the end."""

    def __init__(self, make: Callable[[], AbstractAsyncContextManager[_OpenT]]) -> None:
        """Keep how to open it."""
        self._make = make
        self._entered: list[AsyncExitStack | ExitStack] = []

    async def __aenter__(self) -> _OpenT:
        """Open it in the event loop that runs."""
        async with AsyncExitStack() as stack:
            opened = await stack.enter_async_context(self._make())
            self._entered.append(stack.pop_all())
            return opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it."""
        stack = self._entered.pop()
        return await stack.__aexit__(kind, error, trace) if isinstance(stack, AsyncExitStack) else None

    def __enter__(self) -> _OpenT:
        """Open it in a thread."""
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            opened = stack.enter_context(portal.wrap_async_context_manager(self._make()))
            self._entered.append(stack.pop_all())
            return opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Close it and end the thread."""
        stack = self._entered.pop()
        return stack.__exit__(kind, error, trace) if isinstance(stack, ExitStack) else None
