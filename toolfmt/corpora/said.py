"""The answer at a place of a row, and what the row says of it.

said_at({"status": 200, "response": {"choices": [...]}}, "/response")     {"choices": [...]}
said_at({"status": 502, "response": "Bad Gateway"}, "/response")          ParseError: ... the status is 502: Bad Gateway
ended_at({"finish_reason": "length", "output": "Once"}, "/output")        "length"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from toolfmt.errors import ParseError
from toolfmt.jsontext import is_object, token
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.failures import read_error
from toolfmt.transcripts.comparing.loss import short
from toolfmt.transcripts.exchanges import inside
from toolfmt.transcripts.parts.endings import STOPS, Stop, ended_word, plain_key
from toolfmt.transcripts.parts.values import json_text

_STATUS: Final = frozenset({"status", "statuscode", "httpstatus", "httpstatuscode", "responsestatus"})
_REFUSED: Final = re.compile(r"(?:HTTP/[\d.]+ )?([45]\d\d)(?:\s.*)?", re.DOTALL)
"""An HTTP status that is an error's, alone or with its words."""
_ERRORS: Final = frozenset({"error", "errormessage"})
_RESPONSES: Final = frozenset({"response", "http", "result"})
"""Keys, beside an answer, of what is said of the HTTP response that it came in."""


def said_at(row: JsonValue, pointer: str) -> JsonValue:
    """Return the answer at a JSON pointer; raises ParseError for an error in its place, and if there is none."""
    around = list(_around(row, pointer))
    said = around[-1][1]
    beside = row.items() if is_object(row) else ()
    looked = [*around, *((f"/{token(key)}", one) for key, one in beside if plain_key(key) in _RESPONSES)]
    holders = [(path, found) for path, found in looked if is_object(found)]
    failed = [(path, *_error(found, whole=path == pointer)) for path, found in holders]
    failed += [(path, *_status(found, said)) for path, found in holders]  # less telling
    for path, key, words in failed:
        if key:
            raise ParseError(f"{path or f'/{token(key)}'}: an API's error: {words}")
    if said is None:
        kind = next((found["type"] for _, found in holders if isinstance(found.get("type"), str)), "")
        raise ParseError(f"{pointer}: the row has no answer there{f': it is {kind}' if kind else ''}")
    return said


def ended_at(row: JsonValue, pointer: str) -> Stop | None:
    """Return why an answer ended, if the row says so beside it."""
    beside = [found for path, found in _around(row, pointer) if path != pointer and is_object(found)]
    words = (ended_word(value, key) for found in beside for key, value in found.items() if isinstance(value, str))
    return next((STOPS[word] for word in words if word), None)


def _around(row: JsonValue, pointer: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the values on the way to a place, each with its JSON pointer."""
    steps = pointer.split("/")
    for end in range(1, len(steps) + 1):
        path = "/".join(steps[:end])
        try:
            yield path, inside(row, path)
        except ParseError:
            yield path, None


def _error(found: JsonObject, *, whole: bool) -> tuple[str, str]:
    """Return the key and the words of an object's error, or of the message of a `whole` answer; "" if it has none."""
    for key, value in found.items():
        if value and plain_key(key) in _ERRORS:
            nested = value if is_object(value) and is_object(value.get("error")) else found
            words = read_error(nested).message if is_object(value) else value if isinstance(value, str) else ""
            return key, words or json_text(value)
    return ("message", read_error(found).message) if whole and isinstance(found.get("message"), str) else ("", "")


def _status(found: JsonObject, said: JsonValue) -> tuple[str, str]:
    """Return the key and the words of an object's HTTP status if it is an error's; "" if it is not."""
    for key, value in found.items():
        status = _REFUSED.fullmatch(str(value)) if plain_key(key) in _STATUS and type(value) in (int, str) else None
        if status is not None:
            words = said if isinstance(said, str) else read_error(said).message if _complains(said) else ""
            return key, f"the status is {status[1]}{': ' if words else ''}{short(' '.join(words.split()))}"
    return "", ""


def _complains(said: JsonValue) -> bool:
    return is_object(said) and any(isinstance(said.get(key), str) for key in ("message", "detail", "error"))
