"""Work on large values in threads, so that it keeps no other client waiting."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from anyio import to_thread
from jiter import from_json
from pydantic_core import to_json

from toolfmt import jsontext
from toolfmt.errors import LimitExceededError, ParseError
from toolfmt.model import JsonValue

T = TypeVar("T")
_LARGE: Final = 2**18
"""Bytes of a request or an answer from which on it is read and converted in a thread."""
_SEPARATORS: Final = (b",", b"[", b"{")
"""What is before each value but the first and those of keys."""
_PARTS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|([,\[{])', re.DOTALL)


async def worked(size: int, work: Callable[[], T]) -> T:
    """Return what `work` makes of a value of `size` bytes."""
    return await to_thread.run_sync(work) if size > _LARGE else work()


def decode(data: bytes | str, most: int, said: Callable[[bytes], bytes] = bytes) -> JsonValue:
    """Decode JSON of at most so many values; raises `ParseError`. `said` makes the bytes that are decoded."""
    data = said(data.encode() if isinstance(data, str) else data)
    if sum(map(data.count, _SEPARATORS)) > most and _is_more(data, most):
        raise LimitExceededError(f"more than {most} values")
    try:
        return _loads(data)
    except UnicodeDecodeError as error:
        raise ParseError(f"not UTF-8 at byte {error.start}") from None


def _loads(data: bytes) -> JsonValue:
    """Read JSON without making a text of the whole, which may be four times as large."""
    with suppress(ValueError):
        value = from_json(data, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
        depth, finite = jsontext.survey(value)
        if finite and depth <= jsontext.MAX_DEPTH:
            return value
    return jsontext.loads(data.decode())  # which says what is wrong, and where


def encode(value: object) -> bytes:
    """Encode a value that a conversion has made of decoded ones: in it is nothing that JSON cannot hold."""
    return to_json(value)


def _is_more(data: bytes, most: int) -> bool:
    """Whether JSON has more values, not counting what is inside strings: each takes far more memory than text."""
    return any(count > most for count, _ in enumerate(filter(_is_separator, _PARTS.finditer(data)), 1))


def _is_separator(part: re.Match[bytes]) -> bool:
    return part.lastindex is not None
