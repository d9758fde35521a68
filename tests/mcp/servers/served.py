"""A registry as a server: `served.py stdio`, or `served.py streamable-http`, which tells its address on stderr."""

from __future__ import annotations

import base64
import contextvars
import sys
import threading
from datetime import date
from pathlib import Path
from typing import Any

import anyio

from toolfmt import ToolRegistry
from toolfmt.execution.executor import Executor
from toolfmt.execution.hooks import ToolContext
from toolfmt.model import Media

registry = ToolRegistry()
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@registry.register
def weather(city: str, days: int = 1) -> dict[str, Any]:
    """Look up the weather.

    Args:
        city: The city's name.
        days: How many days ahead.
    """
    return {"city": city, "days": days, "at": date(2026, 1, 2), "big": 12345678901234567890, "half": 0.5}


@registry.register
def shout(text: str) -> str:
    """Say it louder."""
    print("to nobody")  # noqa: T201 - a tool may print
    return text.upper()


@registry.register
def same(value: Any) -> Any:
    """Give it back."""
    return value


@registry.register
def numbers() -> list[int]:
    """Count."""
    return [1, 2, 3]


@registry.register
def nothing() -> None:
    """Do it."""


@registry.register
def show() -> list[Any]:
    """Show a dot and a file."""
    return [Media.of(PIXEL, "image/png"), Media.of(b"%PDF-", "application/pdf", "a b.pdf"), "a dot"]


@registry.register
def fail() -> None:
    """Fail."""
    raise ValueError("no luck")


@registry.register
def count(context: ToolContext) -> str:
    """Tell how far it is, from a thread of its own."""

    def tell() -> None:
        context.tell(1, 2, "half")
        context.tell(2, 2)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(tell,))
    thread.start()
    thread.join()
    return "counted"


@registry.register
async def sleep(note: str, context: ToolContext) -> None:
    """Sleep, and note when it is woken."""
    try:
        context.tell(1)
        await anyio.sleep(60)
    finally:
        Path(note).write_text("woken", encoding="utf-8")  # noqa: ASYNC240 - a few bytes


executor = Executor(registry, timeout=30)

if __name__ == "__main__":
    from toolfmt.mcp import serve

    serve(executor, name="served", instructions="Be brief.", transport=sys.argv[1], port=0)  # pyright: ignore[reportArgumentType]
