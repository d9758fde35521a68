"""How often a model is asked again whose answer was lost on the way, and how long that waits.

Asking again is safe: nothing is run before an answer is whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from toolfmt.errors import DriverError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

LOST: Final = (ConnectionError, TimeoutError)
"""What Python itself raises for a connection that was lost; clients say `DriverError(retryable=True)`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """At most `tries` requests, with `pause` seconds between them, doubled each time up to `longest`.

    If the server says how long to wait, that counts.
    """

    tries: int = 3
    pause: float = 0.5
    longest: float = 60.0

    def __post_init__(self) -> None:
        """Refuse what would never ask."""
        if self.tries < 1 or self.pause < 0:
            raise ValueError(f"tries must be at least 1 and pause at least 0, not {self.tries} and {self.pause}")

    async def ask(self, once: Callable[[int], Awaitable[T]]) -> T:
        """Call `once` with the number of the attempt, from 1, until it returns or raises a permanent error."""
        number = 1
        while True:
            try:
                return await once(number)
            except (DriverError, *LOST) as error:
                if number >= self.tries or not getattr(error, "retryable", True):
                    raise
                asked = getattr(error, "retry_after", None)
            await anyio.sleep(min(self.pause * 2 ** (number - 1) if asked is None else asked, self.longest))
            number += 1
