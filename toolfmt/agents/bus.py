"""Callbacks for one kind of event, or for all events.

    bus = Bus()
    bus.on(ToolCallCompleted, lambda event: print(event.execution.name))
    bus.wiretap(log.append)

An exception that a callback raises is logged as a warning; the other callbacks still run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from toolfmt.arguments import checked
from toolfmt.execution.events import ExecutionEvent, Listener
from toolfmt.execution.hooks import check_listener

EventT = TypeVar("EventT")
_log = logging.getLogger("toolfmt.agents")


class Bus:
    """Callbacks for events, called in the order of registration."""

    def __init__(self) -> None:
        self._callbacks: list[tuple[type[Any], Callable[[Any], object]]] = []

    @checked
    def on(self, kind: type[EventT], callback: Callable[[EventT], object]) -> Callable[[], None]:
        """Call `callback` for every event of a kind; returns a function that removes it."""
        if not issubclass(kind, ExecutionEvent):
            raise TypeError(f"{kind.__name__} is not an event: they are in toolfmt.execution.events")
        return self._add(kind, callback)

    def _add(self, kind: type[Any], callback: Callable[[Any], object]) -> Callable[[], None]:
        check_listener(callback, "a callback")
        entry = (kind, callback)
        self._callbacks.append(entry)
        return lambda: self._callbacks.remove(entry) if entry in self._callbacks else None

    def wiretap(self, callback: Listener) -> Callable[[], None]:
        """Call `callback` for every event; returns a function that removes it."""
        return self._add(object, callback)

    def emit(self, event: ExecutionEvent) -> None:
        """Call every callback for this kind of event."""
        for kind, callback in tuple(self._callbacks):
            if isinstance(event, kind):
                try:
                    callback(event)
                except Exception:  # noqa: BLE001 - anybody's code
                    _log.warning("a callback failed on %s", type(event).__name__, exc_info=True)
