"""Providers' errors: read as one record, written in each API's own shape.

    read_error({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    Failure(kind="overloaded", message="Overloaded", status=503)

    WRITERS["gemini"](Failure(kind="overloaded", message="Overloaded"))
    {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}}

Words and statuses are those of the SDKs' types: anthropic 2.12, types/shared; google.rpc.Code; botocore 1.44.5,
bedrock-runtime's exceptions; openai 3.54, types/shared/error_object.py and the API's recorded errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from toolfmt.errors import ParseError
from toolfmt.jsontext import is_array, is_object
from toolfmt.model import JsonObject, JsonValue
from toolfmt.transcripts.answering.answer_info import Failure, Trouble


class _Row(NamedTuple):
    """An HTTP status, and each API's error type."""

    status: int
    openai: str
    anthropic: str
    google: str
    aws: str


_TABLE: Final[Mapping[Trouble, _Row]] = {
    "invalid": _Row(400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT", "ValidationException"),
    "authentication": _Row(
        401, "authentication_error", "authentication_error", "UNAUTHENTICATED", "AccessDeniedException"
    ),
    "billing": _Row(402, "insufficient_quota", "billing_error", "FAILED_PRECONDITION", "ServiceQuotaExceededException"),
    "permission": _Row(403, "permission_error", "permission_error", "PERMISSION_DENIED", "AccessDeniedException"),
    "not_found": _Row(404, "not_found_error", "not_found_error", "NOT_FOUND", "ResourceNotFoundException"),
    "conflict": _Row(409, "conflict_error", "invalid_request_error", "ABORTED", "ConflictException"),
    "too_large": _Row(413, "request_too_large", "request_too_large", "INVALID_ARGUMENT", "ValidationException"),
    "rate_limit": _Row(429, "rate_limit_error", "rate_limit_error", "RESOURCE_EXHAUSTED", "ThrottlingException"),
    "overloaded": _Row(503, "overloaded_error", "overloaded_error", "UNAVAILABLE", "ServiceUnavailableException"),
    "timeout": _Row(504, "timeout_error", "timeout_error", "DEADLINE_EXCEEDED", "ModelTimeoutException"),
    "server": _Row(500, "server_error", "api_error", "INTERNAL", "InternalServerException"),
}
_FURTHER: Final[Mapping[str, Trouble]] = {
    "OUT_OF_RANGE": "invalid",
    "ALREADY_EXISTS": "conflict",
    "CANCELLED": "timeout",
    "invalid_api_key": "authentication",
    "model_not_found": "not_found",
    "rate_limit_exceeded": "rate_limit",
    **dict.fromkeys(("server_overloaded", "ModelNotReadyException"), "overloaded"),
    **dict.fromkeys(("UNKNOWN", "ModelErrorException", "ModelStreamErrorException"), "server"),
}


def _known() -> dict[str, Trouble]:
    """Invert the table; of several kinds with the same word, the first counts."""
    found: dict[str, Trouble] = {}
    for words in zip(*(row[:0:-1] for row in _TABLE.values()), strict=True):
        for kind, word in zip(_TABLE, words, strict=True):
            found.setdefault(word, kind)
            found.setdefault(word.lower(), kind)
    return found | _FURTHER


_WORDS: Final[Mapping[str, Trouble]] = _known()
_BY_STATUS: Final[Mapping[int, Trouble]] = {
    **{row.status: kind for kind, row in _TABLE.items()},
    408: "timeout",
    422: "invalid",
    502: "server",
    529: "overloaded",
}


def read_error(value: JsonValue, *, status: int = 0) -> Failure:
    """Read an error of any API: an HTTP body, an event of a stream, or bare text; `status` is the response's.

    Raises ParseError for anything else.
    """
    body = _inside(value)
    message = body.get("message", body.get("detail"))
    if isinstance(body.get("error"), str):
        message = body["error"]
    if message is None and not body:
        raise ParseError("an error has a message")
    words = [found for key in ("code", "status", "type", "__type") if isinstance(found := body.get(key), str)]
    named: list[Trouble] = [_WORDS[word] for word in map(_last, words) if word in _WORDS]
    numbers = [found for key in ("code", "status", "status_code") if isinstance(found := body.get(key), int)]
    status = status or next(iter(numbers), 0)
    kind = _of_status(status)
    if named:
        kind = named[0]
    code, param = body.get("code"), body.get("param")
    return Failure(
        kind=kind,
        message=message if isinstance(message, str) else str(message or body),
        code=code if isinstance(code, str) else None,
        param=param if isinstance(param, str) else None,
        status=status or _TABLE[kind].status,
    )


def _last(word: str) -> str:
    """Remove AWS's namespace from an exception's name, which begins in lower case in a stream's event."""
    word = word.rpartition("#")[2]
    return word[0].upper() + word[1:] if word.endswith("Exception") else word


def _inside(value: JsonValue) -> JsonObject:
    if isinstance(value, str):
        return {"message": value}
    if is_array(value):  # Gemini's answer to a failed streaming request
        value = value[0] if value else {}
    if not is_object(value):
        raise ParseError(f"an error is an object or text, not {type(value).__name__}")
    if len(value) == 1 and (key := next(iter(value))).endswith("Exception") and is_object(value[key]):
        return {**value[key], "__type": key}
    inner = value.get("error")
    if is_object(inner):
        return inner
    response = value.get("response")
    failed = response.get("error") if is_object(response) else None
    return failed if is_object(failed) else value


def _of_status(status: int) -> Trouble:
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return "invalid" if 400 <= status < 500 else "server"  # noqa: PLR2004 - HTTP's ranges


def _write_openai(failure: Failure) -> JsonObject:
    kind = _TABLE[failure.kind].openai
    return {"error": {"message": failure.message, "type": kind, "param": failure.param, "code": failure.code}}


WRITERS: Final[Mapping[str, Callable[[Failure], JsonObject]]] = {
    "anthropic": lambda failure: {
        "type": "error",
        "error": {"type": _TABLE[failure.kind].anthropic, "message": failure.message},
    },
    "bedrock": lambda failure: {"message": failure.message, "__type": _TABLE[failure.kind].aws},
    "cohere": lambda failure: {"message": failure.message},
    "gemini": lambda failure: {
        "error": {
            "code": _TABLE[failure.kind].status,
            "message": failure.message,
            "status": _TABLE[failure.kind].google,
        }
    },
    "gemini-interactions": lambda failure: {
        "error": {"code": _TABLE[failure.kind].google.lower(), "message": failure.message}
    },
    "mistral": lambda failure: {"object": "error", **_write_openai(failure)["error"]},
    "ollama": lambda failure: {"error": failure.message},
    "openai-chat": _write_openai,
    "openai-responses": _write_openai,
}
"""The writer of each format's errors."""


def usual_status(failure: Failure) -> int:
    """Return the usual HTTP status of this kind of error; a server error keeps its own."""
    own = failure.kind == "server" and 500 <= failure.status < 600  # noqa: PLR2004 - HTTP's range
    return failure.status if own else _TABLE[failure.kind].status
