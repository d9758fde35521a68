"""Work on large values in threads, so that it keeps no other client waiting."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from anyio import to_thread

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.model import JsonValue

T = TypeVar("T")
_LARGE: Final = 2**18
"""Bytes of a request or an answer from which on it is read and converted in a thread."""
_SEPARATORS: Final = ",[{"
"""What is before each value but the first and those of keys."""
_PARTS: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([,\[{])', re.DOTALL)


async def worked(size: int, work: Callable[[], T]) -> T:
    """Return what `work` makes of a value of `size` bytes."""
    return await to_thread.run_sync(work) if size > _LARGE else work()


def decode(data: bytes | bytearray | str, most: int, said: Callable[[str], str] = str) -> JsonValue:
    """Decode JSON of at most so many values; raises `ParseError`. `said` makes the text that is decoded."""
    try:
        text = said(data if isinstance(data, str) else data.decode())
    except UnicodeDecodeError as error:
        raise ParseError(f"not UTF-8 at byte {error.start}") from None
    if sum(map(text.count, _SEPARATORS)) > most and _is_more(text, most):
        raise LimitExceededError(f"more than {most} values")
    return jsontext.loads(text)


def _is_more(text: str, most: int) -> bool:
    """Whether a text has more values, not counting what is inside strings: each takes far more memory than text."""
    return any(count > most for count, _ in enumerate(filter(_is_separator, _PARTS.finditer(text)), 1))


def _is_separator(part: re.Match[str]) -> bool:
    return part.lastindex is not None
