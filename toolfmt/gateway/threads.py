"""Work on large values in threads, so that it keeps no other client waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from anyio import to_thread

T = TypeVar("T")
_LARGE: Final = 2**18
"""Bytes of a request or an answer from which on it is read and converted in a thread."""


async def worked(size: int, work: Callable[[], T]) -> T:
    """Return what `work` makes of a value of `size` bytes."""
    return await to_thread.run_sync(work) if size > _LARGE else work()
