"""Telling a listener what happens, so that nothing it does can break a run."""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolfmt.execution.events import ToolProgress

if TYPE_CHECKING:
    from toolfmt.execution.events import ExecutionEvent, Listener
    from toolfmt.model import ToolInvocation

log = logging.getLogger("toolfmt.execution")


def failed(what: str, error: BaseException) -> str:
    """Say that somebody's code failed by the error's kind alone: its text, which may hold a secret, goes to the log."""
    log.warning("%s failed", what, exc_info=error)
    return f"{what} failed: {type(error).__name__}"


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


class Teller:
    """Passes events to a listener, one at a time, from whatever thread they come."""

    def __init__(self, listener: Listener | None) -> None:
        """Tell this listener, or nobody."""
        self._listener = listener
        self.lock = threading.RLock()

    def __call__(self, event: ExecutionEvent) -> None:
        """Tell of an event; what the listener raises is logged."""
        if self._listener is None:
            return
        with self.lock:
            try:
                self._listener(event)
            except Exception:
                log.warning("a listener failed on %s", type(event).__name__, exc_info=True)


class Progress:
    """Passes on how far a call is, from when it starts to run until it has ended."""

    def __init__(self, teller: Teller, execution: str) -> None:
        """Begin closed."""
        self._teller = teller
        self._execution = execution
        self._call: ToolInvocation | None = None

    def open(self, call: ToolInvocation) -> None:
        """Let the tool be heard."""
        self._call = call

    def close(self, event: ExecutionEvent) -> None:
        """Tell of the call's end; a thread that was abandoned is not heard after it."""
        with self._teller.lock:
            self._call = None
            self._teller(event)

    def __call__(self, progress: float | None, total: float | None, message: str) -> None:
        """Tell of progress."""
        with self._teller.lock:
            if self._call is not None:
                self._teller(ToolProgress(now(), self._call, self._execution, progress, total, message))
