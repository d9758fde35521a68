"""Tools that run in a process of their own: such a function stands at the top of a module."""

from __future__ import annotations

import os
import sys
import time

from toolfmt.execution.records import AgentStop


def pid() -> int:
    return os.getpid()


async def later(value: str) -> dict[str, object]:
    return {"value": {value}, "odd": object}


def die() -> None:
    os._exit(7)


def leave() -> None:
    sys.exit(3)


def fail() -> None:
    raise KeyError(object)


def stop() -> None:
    raise AgentStop("enough")


def hang() -> None:
    time.sleep(60)
