"""The limits of a key: how many requests a minute, and how many at once, over all workers of a server.

The workers share a file. An open request is a lock on a byte of it, which a worker that dies gives back.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import AsyncExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from struct import Struct
from typing import Any, Final

from toolfmt.gateway.config import ClientKey
from toolfmt.gateway.failing import ExchangeError
from toolfmt.gateway.metrics import SHARED_VARIABLE
from toolfmt.transcripts.answering.answer_info import Failure

_MINUTE: Final = 60
_TIME: Final = Struct("d")
_PLACES: Final = 2**32
"""The bytes that each key may lock: the first for its time, one for each open request."""
_SYSTEM: Final[Any] = import_module("fcntl") if find_spec("fcntl") else None  # which Windows does not have


def shared_file() -> int | None:
    """Open the file that the workers of a server share; None where each counts for itself."""
    folder = os.environ.get(SHARED_VARIABLE)
    return os.open(Path(folder, "limits"), os.O_RDWR | os.O_CREAT, 0o600) if folder and _SYSTEM else None


class KeyLimits:
    """The limits of one key."""

    def __init__(self, rule: ClientKey, number: int, file: int | None) -> None:
        """Take a key's rule, its number among the keys, and the file of the workers."""
        self.rule = rule
        self._file, self._number = file, number
        self._due = 0.0
        self._open: set[int] = set()  # a process is not kept out by its own locks

    def take(self, stack: AsyncExitStack) -> None:
        """Count a request that is open until `stack` is closed; raises `ExchangeError` if it is one too many."""
        if (most := self.rule.concurrent) is not None:
            places = (at for at in range(1, most + 1) if at not in self._open)
            place = next((at for at in places if self._locked(at, "LOCK_EX", "LOCK_NB")), None)
            if place is None:
                raise _limited(f"{most} requests of this key are open already", 1)
            self._open.add(place)
            stack.callback(self._release, place)
        if (rate := self.rule.requests_per_minute) is not None:
            self._locked(0, "LOCK_EX")
            try:
                wait = self._wait(_MINUTE / rate)
            finally:
                self._locked(0, "LOCK_UN")
            if wait > 0:
                raise _limited(f"the key allows {rate} requests in a minute", wait)

    def _wait(self, each: float) -> float:
        """Return how long a request has to wait; as many as a minute's may come together."""
        place = self._number * _TIME.size
        if self._file is not None and (data := os.pread(self._file, _TIME.size, place)):
            (self._due,) = _TIME.unpack(data)
        now = time.monotonic()  # of the machine, so the same in all workers
        due = max(self._due, now) + each
        if due <= now + _MINUTE:
            self._due = due
            if self._file is not None:
                os.pwrite(self._file, _TIME.pack(due), place)
        return due - now - _MINUTE

    def _locked(self, place: int, *how: str) -> bool:
        if self._file is not None:
            flags = sum(getattr(_SYSTEM, name) for name in how)
            try:
                _SYSTEM.lockf(self._file, flags, 1, self._number * _PLACES + place)
            except OSError:  # of another worker
                return False
        return True

    def _release(self, place: int) -> None:
        self._open.discard(place)
        self._locked(place, "LOCK_UN")


def _limited(message: str, seconds: float) -> ExchangeError:
    headers = {"retry-after": str(max(1, math.ceil(seconds)))}
    return ExchangeError(Failure(kind="rate_limit", message=message), headers=headers)
