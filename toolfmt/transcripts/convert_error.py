"""Errors of one API as another's.

convert_error({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, target="gemini")
{"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolfmt.errors import UnknownFormatError
from toolfmt.transcripts.failures import WRITERS, read_error, usual_status
from toolfmt.transcripts.formats import find, known_as

if TYPE_CHECKING:
    from toolfmt.model import JsonObject, JsonValue
    from toolfmt.transcripts.answer_info import Failure


def write_error(failure: Failure, target: str) -> JsonObject:
    """Write an error as an API does; raises `UnknownFormatError` for a format that has none."""
    known = known_as(target, WRITERS)
    if not known:
        raise UnknownFormatError(target, sorted(WRITERS))
    return WRITERS[known](failure)


def convert_error(value: JsonValue, *, target: str, status: int = 0) -> JsonObject:
    """Write one API's error as another's: the kind, the message and what else both have.

    `status` is the HTTP status that came with it; `error_status` gives the one to answer with.
    """
    return write_error(read_error(value, status=status), target)


def error_status(failure: Failure, target: str) -> int:
    """Give the HTTP status that an API answers an error with."""
    own = {("anthropic", "overloaded"): 529}  # anthropic 2.12, _exceptions.py: OverloadedError
    return own.get((find(target).name, failure.kind), usual_status(failure))
