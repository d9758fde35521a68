"""Call listeners, so that nothing that they do can break a run."""

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
    """Report that code failed, with the exception's type only; its text, which may contain a secret, is logged."""
    log.warning("%s failed", what, exc_info=error)
    return f"{what} failed: {type(error).__name__}"


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


class Listeners:
    """Passes events from any thread to a listener, one at a time."""

    def __init__(self, listener: Listener | None) -> None:
        """Set the listener, if any."""
        self._listener = listener
        self.lock = threading.RLock()

    def __call__(self, event: ExecutionEvent) -> None:
        """Pass an event; an exception of the listener is logged."""
        if self._listener is None:
            return
        with self.lock:
            try:
                self._listener(event)
            except Exception:
                log.warning("a listener failed on %s", type(event).__name__, exc_info=True)


class Progress:
    """Passes on the progress of a call from its start to its end."""

    def __init__(self, listeners: Listeners, execution: str) -> None:
        """Begin closed."""
        self._listeners = listeners
        self._execution = execution
        self._call: ToolInvocation | None = None

    def open(self, call: ToolInvocation) -> None:
        """Begin to report."""
        self._call = call

    def close(self, event: ExecutionEvent) -> None:
        """Report the call's end; later reports, such as those of an abandoned thread, are dropped."""
        with self._listeners.lock:
            self._call = None
            self._listeners(event)

    def __call__(self, progress: float | None, total: float | None, message: str) -> None:
        """Report progress."""
        with self._listeners.lock:
            if self._call is not None:
                self._listeners(ToolProgress(now(), self._call, self._execution, progress, total, message))
